//! Warnings, each with a stable code.

diagnostic::warning_codes! {
    /// A patch's target selects no resource.
    PatchWithoutTarget = "KUST-W001";
    /// A replacement's target selects no resource, or no field in those that it selects.
    ReplacementWithoutTarget = "KUST-W002";
    /// A mapping holds the same key twice; the last one wins.
    DuplicateKey = "KUST-W003";
    /// A reference names a generated ConfigMap or Secret but stands where names are not rewritten.
    UnrewrittenReference = "KUST-W004";
    /// A field of the kustomization is deprecated.
    DeprecatedField = "KUST-W005";
    /// A list of the resource was kept which Kustomize would have emptied.
    ListKept = "KUST-W006";
    /// A patch directive was obeyed or dropped which Kustomize would have printed.
    PatchDirective = "KUST-W007";
    /// The configuration of a built-in plugin has a field that is not known.
    UnknownPluginField = "KUST-W008";
    /// A kustomization file has more than one document; only the first counts.
    SecondDocument = "KUST-W009";
    /// An option has no effect.
    OptionWithoutEffect = "KUST-W010";
    /// An entry of `images` matches no image.
    ImageWithoutMatch = "KUST-W011";
    /// A number loses precision on its way through the build.
    PrecisionLost = "KUST-W012";
    /// An image's tag suffix is appended more than once.
    TagSuffixTwice = "KUST-W013";
    /// List entries with the same merge key were folded into one.
    EntriesFolded = "KUST-W014";
    /// A var is defined but stands nowhere.
    UnusedVar = "KUST-W015";
    /// A reference could mean several resources and was left alone.
    AmbiguousReference = "KUST-W016";
    /// A part of the input has no effect and is lost without a word by Kustomize.
    Ignored = "KUST-W017";
    /// A key of a generated ConfigMap or Secret is none that Kubernetes takes, or stands without a value.
    GeneratedKey = "KUST-W018";
}

/// One warning with its location.
pub type Warning = diagnostic::Warning<Code>;
