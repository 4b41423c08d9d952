//! Parses `WWW-Authenticate` headers: there may be several, each with several challenges whose values may contain
//! commas (RFC 9110, 11.6.1).

/// One way to prove who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// In lower case.
    pub(crate) scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// A parameter's value; names have no case.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The challenges of all such headers of an answer, in order. What cannot be read ends its header.
pub(crate) fn parse<'h>(headers: impl IntoIterator<Item = &'h str>) -> Vec<Challenge> {
    let mut challenges = Vec::new();
    for header in headers {
        let mut reader = Reader(header);
        while reader.read_challenge(&mut challenges).is_some() {}
    }
    challenges
}

/// The rest of a header.
struct Reader<'h>(&'h str);

impl<'h> Reader<'h> {
    /// Reads a scheme with its parameters.
    fn read_challenge(&mut self, challenges: &mut Vec<Challenge>) -> Option<()> {
        self.skip(" \t,");
        let scheme = self.token()?.to_ascii_lowercase();
        let mut parameters = Vec::new();
        self.skip(" \t");
        if !self.skip_token68() {
            while let Some(parameter) = self.parameter() {
                parameters.push(parameter);
            }
        }
        challenges.push(Challenge { scheme, parameters });
        Some(())
    }

    /// Reads `name=value`, with the commas before it; nothing where a scheme follows instead.
    fn parameter(&mut self) -> Option<(String, String)> {
        let before = self.0;
        self.skip(" \t,");
        let parameter = self.pair();
        if parameter.is_none() {
            self.0 = before;
        }
        parameter
    }

    fn pair(&mut self) -> Option<(String, String)> {
        let name = self.token()?.to_ascii_lowercase();
        self.skip(" \t");
        self.0 = self.0.strip_prefix('=')?;
        self.skip(" \t");
        let value = match self.0.strip_prefix('"') {
            Some(quoted) => self.quoted(quoted),
            // Some registries leave out the quotes around an address, which is no token.
            None => self.take(|character| !" \t,".contains(character)).to_owned(),
        };
        Some((name, value))
    }

    fn quoted(&mut self, text: &'h str) -> String {
        let mut value = String::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => break,
                '\\' => value.extend(characters.next()),
                other => value.push(other),
            }
        }
        self.0 = characters.as_str();
        value
    }

    /// Skips the one value without a name that a scheme may have instead of parameters.
    fn skip_token68(&mut self) -> bool {
        let mut ahead = Reader(self.0);
        let value = ahead.take(|character| character.is_ascii_alphanumeric() || "-._~+/".contains(character));
        ahead.skip("=");
        ahead.skip(" \t");
        let ends = ahead.0.is_empty() || ahead.0.starts_with(',');
        if value.is_empty() || !ends {
            return false;
        }
        self.0 = ahead.0;
        true
    }

    fn token(&mut self) -> Option<&'h str> {
        let token =
            self.take(|character| character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character));
        (!token.is_empty()).then_some(token)
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'h str {
        let end = self.0.find(|character| !belongs(character)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn skip(&mut self, characters: &str) {
        self.0 = self.0.trim_start_matches(|character| characters.contains(character));
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, proptest};

    use super::*;

    fn shown(headers: &[&str]) -> Vec<String> {
        let challenges = parse(headers.iter().copied());
        challenges
            .iter()
            .map(|challenge| format!("{} {:?}", challenge.scheme, challenge.parameters))
            .collect()
    }

    #[test]
    fn several_challenges_stand_in_several_headers() {
        let bearer = r#"Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull,push""#;
        let want = r#"bearer [("realm", "https://auth.example/token"), ("service", "registry.example"), ("scope", "repository:a/b:pull,push")]"#;
        let basic = r#"basic [("realm", "a, \"b\"")]"#;
        assert_eq!(shown(&[bearer]), [want]);
        assert_eq!(shown(&[bearer, r#"Basic realm="a, \"b\"""#]), [want, basic]);
        assert_eq!(shown(&[&format!(r#"Basic realm="a, \"b\"" , {bearer}"#)]), [basic, want]);
        assert_eq!(
            shown(&["Negotiate, NTLM TlRM==, Basic realm=x"]),
            ["negotiate []", "ntlm []", r#"basic [("realm", "x")]"#]
        );
        assert_eq!(
            shown(&["BEARER Realm = https://a/b?c=d , Service=s"]),
            [r#"bearer [("realm", "https://a/b?c=d"), ("service", "s")]"#]
        );
    }

    proptest! {
        /// Whatever a server sends, reading it comes to an end, with no more challenges than it has words.
        #[test]
        fn any_header_can_be_read(header in "[Basic realm,=\"\\\\ \t/+é]{0,60}") {
            let words = header.split([' ', ',', '\t', '"', '=']).count();
            prop_assert!(parse([header.as_str()]).len() <= words);
        }
    }

    #[test]
    fn what_is_no_challenge_is_passed_over() {
        assert!(shown(&["", ",,,", "=", "\"open"]).is_empty());
        assert_eq!(shown(&["Basic realm=\"open"]), [r#"basic [("realm", "open")]"#]);
        assert_eq!(shown(&["Basic realm=\"a\\"]), [r#"basic [("realm", "a")]"#]);
    }
}
