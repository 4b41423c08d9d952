//! Warnings, each with a stable code.

diagnostic::warning_codes! {
    /// `lookup` found nothing because there is no cluster to ask.
    LookupOffline = "HELM-W001";
    /// A function's result differs from one rendering to the next: it is random or depends on the time.
    Unstable = "HELM-W002";
    /// A whole number of seven digits or more is printed as a float, such as `1e+06`.
    FloatNotation = "HELM-W003";
    /// A mapping of values holds the same key twice; the last one wins.
    DuplicateKey = "HELM-W004";
    /// A key of values such as `on` or `y` is a boolean in YAML 1.1 and became `true` or `false`.
    BooleanKey = "HELM-W005";
    /// A value that is no map replaces a map of the chart's.
    MapReplaced = "HELM-W006";
    /// `--set` and its like name a value that neither the chart nor its templates know.
    UnknownValue = "HELM-W007";
    /// A value of the chart is ignored because a map stands in its place.
    ValueIgnored = "HELM-W008";
    /// The chart is deprecated.
    DeprecatedChart = "HELM-W009";
    /// A condition or tag of a dependency is no boolean and does not count.
    NotBoolean = "HELM-W010";
    /// A dependency's `import-values` names a map that the dependency does not have.
    MissingImport = "HELM-W011";
    /// A hook's event is not known; the document that has it is left out.
    UnknownHook = "HELM-W012";
    /// A part of the chart has no effect.
    Ignored = "HELM-W013";
    /// A number of values loses digits, as every number of values becomes a float.
    PrecisionLost = "HELM-W014";
}

/// One warning with its location.
pub type Warning = diagnostic::Warning<Code>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_in_order() {
        for (number, code) in (1..).zip(Code::ALL) {
            assert_eq!(code.as_str(), format!("HELM-W{number:03}"));
            assert!(!code.meaning().is_empty());
        }
    }
}
