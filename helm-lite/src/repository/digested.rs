//! An index in few words: what is needed of it to choose a version and to get it.
//!
//! In: an index that was read, and back from its own text. A public index has thirty megabytes, of which this is a
//! twentieth, and it is read a hundred times as fast.

use gotemplate::semver::Version;

use super::{Index, IndexedChart};

/// The first line; another text is of another program or of another time.
const HEADER: &str = "charts 1";

impl Index {
    /// The index as a text of its own: a line for each chart and each version, with tabs between the fields.
    #[must_use]
    pub fn digested(&self) -> Option<String> {
        let mut text = format!("{HEADER}\n");
        for (name, versions) in &self.charts {
            push_line(&mut text, &[name])?;
            for chart in versions {
                let urls = chart.urls.iter().map(String::as_str);
                let fields: Vec<&str> = ["", &chart.version, &chart.digest].into_iter().chain(urls).collect();
                push_line(&mut text, &fields)?;
            }
        }
        Some(text)
    }

    /// Reads what [`Self::digested`] wrote; nothing where it is something else.
    #[must_use]
    pub fn from_digested(text: &str) -> Option<Self> {
        let mut index = Self::default();
        let mut lines = text.strip_suffix('\n')?.split('\n');
        if lines.next()? != HEADER {
            return None;
        }
        let mut versions = None;
        for line in lines {
            match line.strip_prefix('\t') {
                None => versions = Some(index.charts.entry(line.to_owned()).or_default()),
                Some(fields) => versions.as_mut()?.push(IndexedChart::from_fields(fields)?),
            }
        }
        Some(index)
    }
}

impl IndexedChart {
    fn from_fields(fields: &str) -> Option<Self> {
        let mut fields = fields.split('\t').map(str::to_owned);
        let (version, digest) = (fields.next()?, fields.next()?);
        let parsed = Version::parse(&version).ok()?;
        Some(Self { version, digest, urls: fields.collect(), parsed })
    }
}

/// Appends a line; nothing where a field holds what parts fields and lines.
fn push_line(text: &mut String, fields: &[&str]) -> Option<()> {
    if fields.iter().any(|field| field.contains(['\t', '\n'])) {
        return None;
    }
    text.push_str(&fields.join("\t"));
    text.push('\n');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "apiVersion: v1\nentries:\n  none: []\n  web:\n  \
        - {name: web, version: 1.0.0, digest: abc, urls: [a.tgz, 'b c.tgz']}\n  - {name: web, version: 2.0.0}\n";

    #[test]
    fn what_is_written_reads_back() {
        let index = Index::parse(INDEX.as_bytes()).expect("an index");
        let text = index.digested().expect("it has no tabs");
        assert_eq!(text, "charts 1\nnone\nweb\n\t2.0.0\t\n\t1.0.0\tabc\ta.tgz\tb c.tgz\n");
        let again = Index::from_digested(&text).expect("it is one");
        assert_eq!(again.digested(), Some(text));
        assert_eq!(again.choose("web", Some("^1")).expect("a version").chart.urls, ["a.tgz", "b c.tgz"]);
    }

    #[test]
    fn another_text_is_none() {
        for text in [
            "",
            "charts 1",
            "charts 2\n",
            "charts 1\n\t1.0.0\tabc\n",
            "charts 1\nweb\n\t1.0.0\n",
            "charts 1\nweb\n\tx\t\n",
        ] {
            assert!(Index::from_digested(text).is_none(), "{text:?}");
        }
        let hostile = INDEX.replace("'b c.tgz'", r#""b\tc.tgz""#);
        assert_eq!(Index::parse(hostile.as_bytes()).expect("an index").digested(), None);
    }
}
