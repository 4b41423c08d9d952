//! `edit set replicas`: the counts of `replicas`.

use std::collections::HashSet;

use diagnostic::{Error, Result};
use yamledit::Content;

use crate::fields;
use crate::kustomization::Kustomization;

impl Kustomization<'_> {
    /// Sets counts: `NAME=COUNT`.
    ///
    /// # Errors
    /// If there is no argument, or one is malformed.
    pub fn set_replicas(&mut self, arguments: &[impl AsRef<str>]) -> Result<()> {
        if arguments.is_empty() {
            return Err(Error::invalid("no replicas specified"));
        }
        let wanted = arguments.iter().map(|argument| parse(argument.as_ref())).collect::<Result<Vec<_>>>()?;
        let replicas = fields::list(&mut self.fields, "replicas");
        // Of entries with one name the first stays, as in Kustomize.
        let mut seen = HashSet::new();
        replicas.retain(|item| seen.insert(fields::text(fields::entries(item), "name").to_owned()));
        for (name, count) in wanted {
            let is_known = |item: &&mut Content| fields::text(fields::entries(item), "name") == name;
            match replicas.iter_mut().find(is_known).and_then(fields::entries_mut) {
                Some(entries) => fields::set(entries, "count", Content::integer(count)),
                None => replicas.push(Content::Mapping(vec![
                    ("name".to_owned(), name.into()),
                    ("count".to_owned(), Content::integer(count)),
                ])),
            }
        }
        Ok(())
    }
}

fn parse(argument: &str) -> Result<(&str, i64)> {
    let malformed = || Error::invalid("invalid format of replica, use the following format: <name>=<count>");
    let (name, count) = argument.split_once('=').ok_or_else(malformed)?;
    Ok((name, count.parse().map_err(|_| malformed())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_whole_number() {
        assert_eq!(parse("a=3").unwrap(), ("a", 3));
        assert_eq!(parse("=-3").unwrap(), ("", -3));
        for malformed in ["a", "a=", "a=b", "a=1=2", "a=1.5", "a=9223372036854775808"] {
            assert!(parse(malformed).is_err(), "{malformed}");
        }
    }
}
