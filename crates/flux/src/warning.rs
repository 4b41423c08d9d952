//! What is not wrong but to be known of a rendering, each with a stable code.

use yamltree::Place;

yamltree::warning_codes! {
    /// A Kustomization or HelmRelease is suspended: nothing of it is rolled out.
    Suspended = "FLUX-W001";
    /// A Secret is encrypted with SOPS, so that its values are not known here: `${…}` of its keys stay as they are.
    Encrypted = "FLUX-W002";
    /// A Secret is in no file: `${…}` that may be of it stay as they are, and values of it are left out.
    MissingSecret = "FLUX-W003";
    /// A source has what is only known where Flux runs, and is left out.
    NotFollowed = "FLUX-W004";
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
    pub fn new(code: Code, message: impl Into<String>, place: Option<Place>) -> Self {
        Self { code, message: message.into(), hint: None, place }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_and_mean_something() {
        for (at, code) in Code::ALL.iter().enumerate() {
            assert_eq!(code.as_str(), format!("FLUX-W{:03}", at + 1));
            assert!(code.meaning().ends_with('.'));
        }
    }
}
