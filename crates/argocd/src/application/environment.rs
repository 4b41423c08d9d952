//! The variables that Argo CD gives a source, and how they are put into its fields.
//!
//! In: a text with `$NAME` and `${NAME}`. Out: the text with values in their place. Nothing is refused: an unknown name
//! is empty, `$$` is a dollar, and a dollar before what is no name stays one (Go's `os.Expand`).

/// Names and values, in the order of the repo-server.
#[derive(Clone, Debug, Default)]
pub struct Environment(Vec<(String, String)>);

/// The data of the variables of an Application's source (repository.go `newEnv`).
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The Application's name, with its namespace in front where that is not Argo CD's.
    pub application: &'a str,
    /// The namespace of the destination.
    pub namespace: &'a str,
    /// The project.
    pub project: &'a str,
    /// The commit, or the version of a chart.
    pub revision: &'a str,
    /// The address of the repository.
    pub repo_url: &'a str,
    /// The folder in it.
    pub path: &'a str,
    /// The revision as the source names it.
    pub target_revision: &'a str,
}

impl Environment {
    /// The variables of a source.
    #[must_use]
    pub fn of(identity: &Identity<'_>) -> Self {
        let short = |length: usize| identity.revision.get(..length).unwrap_or(identity.revision);
        let variables = [
            ("ARGOCD_APP_NAME", identity.application),
            ("ARGOCD_APP_NAMESPACE", identity.namespace),
            ("ARGOCD_APP_PROJECT_NAME", identity.project),
            ("ARGOCD_APP_REVISION", identity.revision),
            ("ARGOCD_APP_REVISION_SHORT", short(7)),
            ("ARGOCD_APP_REVISION_SHORT_8", short(8)),
            ("ARGOCD_APP_SOURCE_REPO_URL", identity.repo_url),
            ("ARGOCD_APP_SOURCE_PATH", identity.path),
            ("ARGOCD_APP_SOURCE_TARGET_REVISION", identity.target_revision),
        ];
        Self(variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Variables that somebody else has made.
    pub(crate) fn given(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(variables.into_iter().collect())
    }

    /// The names that a text asks for.
    pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
        text.match_indices('$').map(|(at, _)| name(&text[at + 1..]).0).filter(|name| !name.is_empty())
    }

    /// The value of a variable; the last of two with one name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Names and values.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Puts the variables into a text.
    #[must_use]
    pub fn expand(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let (name, width) = name(rest);
            match name {
                "$" => out.push('$'),
                // `${` and `${}` are eaten; a dollar before anything else, or at the end, stays.
                "" if width == 0 => out.push('$'),
                name => out.push_str(self.get(name).unwrap_or_default()),
            }
            rest = &rest[width..];
        }
        out.push_str(rest);
        out
    }
}

/// The name that a text behind a dollar begins with, and how many bytes stand for it (Go's `getShellName`).
fn name(text: &str) -> (&str, usize) {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'{') => match text.find('}') {
            Some(1) => ("", 2),
            Some(end) => (&text[1..end], end + 1),
            None => ("", 1),
        },
        Some(first) if b"*#$@!?-0123456789".contains(first) => (&text[..1], 1),
        _ => {
            let length =
                bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            (&text[..length], length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_into_texts_as_go_does() {
        let environment = Environment(vec![("A".to_owned(), "one".to_owned())]);
        for (text, want) in [
            ("$A/${A}", "one/one"),
            ("$$A", "$A"),
            ("${$}A", "$A"),
            ("$B/values.yaml", "/values.yaml"),
            ("a$", "a$"),
            ("$/x", "$/x"),
            ("${}x", "x"),
            ("${A", "A"),
            ("$1A", "A"),
            ("$A-$é", "one-$é"),
        ] {
            assert_eq!(environment.expand(text), want, "{text}");
        }
    }

    #[test]
    fn short_revisions_are_cut_and_names_that_are_short_stay() {
        let identity = Identity {
            application: "team_web",
            namespace: "shop",
            project: "default",
            revision: "0123456789abcdef",
            repo_url: "https://git.example.com/a.git",
            path: "apps/web",
            target_revision: "main",
        };
        let environment = Environment::of(&identity);
        assert_eq!(environment.get("ARGOCD_APP_REVISION_SHORT"), Some("0123456"));
        assert_eq!(environment.get("ARGOCD_APP_REVISION_SHORT_8"), Some("01234567"));
        let environment = Environment::of(&Identity { revision: "v1", ..identity });
        assert_eq!(environment.get("ARGOCD_APP_REVISION_SHORT"), Some("v1"));
    }
}
