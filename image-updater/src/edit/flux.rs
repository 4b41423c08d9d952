//! Flux: scalars marked with `# {"$imagepolicy": "NAMESPACE:NAME[:tag|:name|:digest|:tag@digest]"}`.
//!
//! A file that is YAML is read as such, so that a marker within a text is a text; any other, such as a template, is
//! read line by line. A marker stands behind its value, or alone on the line above. No marker at all is no fault.

mod lines;
mod marker;
mod tree;

use super::{Options, Outcome, Parts, Request, Source, Target, Version};
use diagnostic::{Error, Result};
use marker::Marker;
pub(super) use marker::Part;
pub(crate) use marker::{KEY as MARKER_KEY, Policy};

pub(crate) const TARGET: Target =
    Target { name: "flux", options: Options::Policy, renames: false, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let Some(policy) = &request.policy else { return Ok(Outcome::NotThere) };
    if !source.text.contains(MARKER_KEY) {
        return Ok(Outcome::NotThere);
    }
    match source.parse() {
        Ok(file) => tree::edit(source, &file, &request.version, policy),
        Err(_) => lines::edit(source, &request.version, policy),
    }
}

/// Returns the values at the markers of a policy.
pub(super) fn values_of(source: &Source<'_>, policy: &Policy) -> Vec<(Part, String)> {
    let own = marked(source).into_iter().filter(|(marker, _)| marker.policy == *policy);
    own.map(|(marker, text)| (marker.part, text)).collect()
}

/// The markers of a file, each with the text of its scalar.
fn marked(source: &Source<'_>) -> Vec<(Marker, String)> {
    if !source.text.contains(MARKER_KEY) {
        return Vec::new();
    }
    match source.parse() {
        Ok(file) => tree::marked(source.text, &file),
        Err(_) => lines::marked(source.text),
    }
}

/// The policies whose markers in a file show that they are of an image: a name or a whole reference is marked.
pub(crate) fn policies_of(source: &Source<'_>, version: &Version) -> Vec<Policy> {
    let shows = |(marker, text): &(Marker, String)| {
        matches!(marker.part, Part::Name | Part::Reference) && version.is_of(Parts::split(text).name)
    };
    marked(source).into_iter().filter(shows).map(|(marker, _)| marker.policy).collect()
}

/// Returns the value to write at a marker.
fn wanted(part: Part, version: &Version, written: &str) -> Result<String> {
    Ok(match part {
        Part::Reference => version.reference(written),
        Part::Tag => version.tag.clone(),
        Part::Name if version.is_of(written) => written.to_owned(),
        Part::Name => version.name.clone(),
        Part::Digest => version.digest_for("the marker")?.to_owned(),
        Part::TagAndDigest => {
            version.digest_for("the marker")?;
            version.tag_and_digest()
        }
    })
}

/// An error at the place of a marker.
fn at(source: &Source<'_>, error: &Error, place: usize) -> Error {
    let placed = source.refuse(error.message(), place);
    match error.get_hint() {
        Some(hint) => placed.hint(hint),
        None => placed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::testing::{check, check_refused, request};

    const MARK: &str = "# {\"$imagepolicy\": \"ns:p:tag\"}";

    fn check_marked(rows: &[(&str, &str)]) {
        for (before, after) in rows {
            let (before, after) = (before.replace("MARK", MARK), after.replace("MARK", MARK));
            check("flux", &[("policy", "ns:p")], &[("r.test/a:v2", &before, &after)]);
        }
    }

    #[test]
    fn a_marker_is_of_the_value_before_it_or_below() {
        check_marked(&[
            ("a: v1 MARK\n", "a: v2 MARK\n"),
            ("a: MARK\nb: v1\n", "a: v2 MARK\nb: v1\n"),
            ("a: 'v1'\t MARK \r\n", "a: 'v2'\t MARK \r\n"),
            ("a:\n  v1 MARK\n", "a:\n  v2 MARK\n"),
            ("{a: v1, MARK\n b: v1}\n", "{a: v2, MARK\n b: v1}\n"),
            ("MARK\na: v1\n", "MARK\na: v2\n"),
            ("x:\n  MARK\n  - v1\n", "x:\n  MARK\n  - v2\n"),
            ("MARK\na:\n  v1\n", "MARK\na:\n  v2\n"),
        ]);
    }

    /// As Flux has it: a comment behind the value hides the one above, several comments are one that is no marker, and
    /// what stands above an item is of the whole item.
    #[test]
    fn other_comments_are_of_no_value() {
        for text in [
            "MARK\na: v1 # c\n",
            "# c\nMARK\na: v1\n",
            "MARK\n# c\na: v1\n",
            "MARK\n\na: v1\n",
            "MARK\n- a: v1\n",
            "MARK\na:\n  b: v1\n",
            "a: MARK\n  b: v1\n",
            "a: {b: v1} MARK\n",
            "a: 'v1 MARK'\n",
            "a: |\n  b: v1 MARK\n",
            "a: \"v1\n  MARK\"\n",
        ] {
            check_marked(&[(text, text)]);
        }
    }

    #[test]
    fn templates_are_read_by_lines() {
        check_marked(&[
            ("{{ if x }}\na: v1 MARK\n{{ end }}\n", "{{ if x }}\na: v2 MARK\n{{ end }}\n"),
            ("a: {{ x }}-y\n- - 'v1' MARK\n", "a: {{ x }}-y\n- - 'v2' MARK\n"),
            ("a: {{ x }}-y\n\"b\" : &c \"v1\"   MARK\r\n", "a: {{ x }}-y\n\"b\" : &c \"v2\"   MARK\r\n"),
            ("a: {{ x }}-y\nb: MARK", "a: {{ x }}-y\nb: v2 MARK"),
            ("a: {{ x }}-y\n  MARK\n  - v1\n", "a: {{ x }}-y\n  MARK\n  - v2\n"),
            (
                "a: {{ x }}-y\nb: |\n  c: v1 MARK\n{{ y }}\n  c: v1 MARK\nd: v1 MARK\n",
                "a: {{ x }}-y\nb: |\n  c: v1 MARK\n{{ y }}\n  c: v1 MARK\nd: v2 MARK\n",
            ),
            (
                "a: {{ x }}-y\nb: \"text \\\"\n  c: v1 MARK\n  d\"\ne: v1 MARK\n",
                "a: {{ x }}-y\nb: \"text \\\"\n  c: v1 MARK\n  d\"\ne: v2 MARK\n",
            ),
            (
                "a: {{ x }}-y\nb: \"text\n  c: v1 MARK\n  d\"\ne: v1 MARK\n",
                "a: {{ x }}-y\nb: \"text\n  c: v1 MARK\n  d\"\ne: v2 MARK\n",
            ),
        ]);
        for text in [
            "a: {{ x }}-y\nMARK\nb: v1 # c\n",
            "a: {{ x }}-y\n# c\nMARK\nb: v1\n",
            "a: {{ x }}-y\nMARK\n- b: v1\n",
            "a: {{ x }}-y\n# b: v1 MARK\n",
            "a: {{ x }}-y\nb: 'v1 MARK'\n",
            "a: {{ x }}-y\nb MARK\n",
        ] {
            check_marked(&[(text, text)]);
        }
    }

    #[test]
    fn each_form_gets_its_part() {
        let text = |values: [&str; 5]| {
            let parts = ["", ":name", ":tag", ":digest", ":tag@digest"];
            let line = |(value, part)| format!("- {value} # {{\"$imagepolicy\": \"ns:p{part}\"}}\n");
            values.iter().zip(parts).map(line).collect::<String>()
        };
        let old = text(["nginx:1@OLD", "nginx", "1", "OLD", "1@OLD"]);
        let new = text(["nginx:1.20@NEW", "nginx", "\"1.20\"", "NEW", "1.20@NEW"]);
        check("flux", &[("policy", "ns:p")], &[("docker.io/library/nginx:1.20@NEW", &old, &new)]);
        let other = text(["r.test/b:2@NEW", "r.test/b", "\"2\"", "NEW", "2@NEW"]);
        check("flux", &[("policy", "ns:p")], &[("r.test/b:2@NEW", &old, &other)]);
        check_refused("flux", &[("policy", "ns:p")], &[("nginx:2", &old, "wants a digest")]);
        check("flux", &[("policy", "ns:q")], &[("nginx:2", &old, &old)]);
    }

    #[test]
    fn what_cannot_be_edited_is_refused() {
        for (text, said) in [
            ("x: &x v1\na: *x MARK\n", "alias"),
            ("a: | MARK\n  v1\n", "block scalar"),
            ("x: {{ x }}-y\na: *x MARK\n", "alias"),
            ("x: {{ x }}-y\na: | MARK\n  v1\n", "block scalar"),
            ("x: {{ x }}-y\na: {{ y }} MARK\n", "made by a template"),
            ("x: {{ x }}-y\na: \"{{ y }}\" MARK\n", "made by a template"),
            ("x: {{ x }}-y\na: {b: c} MARK\n", "no scalar"),
        ] {
            check_refused(
                "flux",
                &[("policy", "ns:p")],
                &[("r.test/a:v2", &text.replace("MARK", MARK), said)],
            );
        }
    }

    #[test]
    fn markers_show_which_image_they_are_of() {
        let version = request("r.test/a:v2", &[]).version;
        for (text, wanted) in [
            ("a: r.test/a # {\"$imagepolicy\": \"ns:p:name\"}\n", 1),
            ("a: r.test/a:v1 # {\"$imagepolicy\": \"ns:p\"}\nb: {{ x }}-y\n", 1),
            ("a: r.test/b:v1 # {\"$imagepolicy\": \"ns:p\"}\n", 0),
            ("a: v1 # {\"$imagepolicy\": \"ns:p:tag\"}\n", 0),
        ] {
            assert_eq!(policies_of(&Source { path: "f", text }, &version).len(), wanted, "{text}");
        }
    }
}
