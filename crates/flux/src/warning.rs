//! Warnings about a rendering, each with a stable code.

diagnostic::warning_codes! {
    /// A Kustomization or HelmRelease is suspended: nothing of it is rolled out.
    Suspended = "FLUX-W001";
    /// A Secret is encrypted with SOPS, so that its values are not known here: `${…}` of its keys stay as they are.
    Encrypted = "FLUX-W002";
    /// A Secret is in no file: `${…}` that may be of it stay as they are, and values of it are left out.
    MissingSecret = "FLUX-W003";
    /// A source has what is only known where Flux runs, and is left out.
    NotFollowed = "FLUX-W004";
}

/// One warning with its location.
pub type Warning = diagnostic::Warning<Code>;

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
