//! What is not wrong but surely not meant, each with a stable code.

use yamltree::Place;

yamltree::warning_codes! {
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

/// One warning with its place.
#[derive(Clone, Debug)]
pub struct Warning {
    /// The stable code.
    pub code: Code,
    /// The sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where, when that is in a file.
    pub place: Option<Place>,
}

impl Warning {
    /// A warning of a kind, in a sentence.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, place: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }
}

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
