//! Warnings, each with a stable code.

diagnostic::warning_codes! {
    /// An object is there more than once; the last one is applied (Argo CD's `RepeatedResourceWarning`).
    RepeatedResource = "ARGO-W001";
    /// An object is of a kind that Argo CD is told to leave alone (Argo CD's `ExcludedResourceWarning`).
    ExcludedResource = "ARGO-W002";
    /// An object is a hook of no phase and is never applied.
    NeverApplied = "ARGO-W003";
    /// An annotation that Argo CD reads has a value that it does not know.
    UnknownAnnotationValue = "ARGO-W004";
    /// A field of an Application or ApplicationSet is none of Argo CD's and has no effect.
    UnknownField = "ARGO-W005";
    /// A pattern cannot be read and matches nothing.
    UnusablePattern = "ARGO-W006";
    /// Two parameters of a chart set parts of one another, which Argo CD passes in random order.
    OverlappingParameters = "ARGO-W007";
    /// A variable stands for something that is not known here.
    UnknownVariable = "ARGO-W008";
    /// An Application is in a namespace that its project does not take Applications from.
    ForeignNamespace = "ARGO-W009";
    /// A number or boolean stands where Argo CD has a text; the API server refuses it.
    UntypedText = "ARGO-W010";
    /// A filter asks for paths of a repository that the context does not have.
    PathsNotChecked = "ARGO-W011";
    /// A generated Application has a name that the API server refuses.
    InvalidName = "ARGO-W012";
}

/// One warning with its location.
pub type Warning = diagnostic::Warning<Code>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_and_mean_something() {
        for (at, code) in Code::ALL.iter().enumerate() {
            assert_eq!(code.as_str(), format!("ARGO-W{:03}", at + 1));
            assert!(code.meaning().ends_with('.'));
        }
    }
}
