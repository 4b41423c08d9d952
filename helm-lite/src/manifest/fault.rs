//! The error of a rendered document that is not valid YAML: the location in the template, and the line that it wrote.
//!
//! The content of a Secret is not shown, only the key of the line.

use diagnostic::Error;

use super::RenderedFile;

/// A line is shown up to this many characters.
const MAX_SHOWN: usize = 100;

/// An error in a document, with its offset.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) reason: String,
    pub(super) at: u32,
}

impl Fault {
    /// The error about a document of a file, whose text is a part of the file's.
    pub(super) fn error(self, document: &str, file: &RenderedFile) -> Error {
        let path = &file.path;
        let error = Error::invalid(format!("YAML parse error on {path}: {}", self.reason));
        let mut offset = (file.offset_of(document) + self.at as usize).min(file.text.len());
        while !file.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &file.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = file.text[line_start..].lines().next().unwrap_or_default();
        let number = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let shown = shown(line, document.contains("Secret"));
        let place = file.writer.as_ref().and_then(|writer| writer.place(path, offset));
        error.at(place).via(format!("it rendered line {number}: `{shown}`"), None)
    }
}

/// A line, or no more than the key of one that may be secret.
fn shown(line: &str, is_secret: bool) -> String {
    let end = if is_secret { line.find(':').map_or(0, |at| at + 1) } else { line.len() };
    let (kept, cut) = line.split_at(end);
    let mut shown: String = kept.chars().take(MAX_SHOWN).collect();
    if !cut.is_empty() || shown.len() < kept.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_secret_is_not_shown() {
        for (line, is_secret, wanted) in [
            ("  a: b: c", false, "  a: b: c"),
            ("  password: hunter2: x", true, "  password:…"),
            ("  hunter2", true, "…"),
            ("  a:", true, "  a:"),
        ] {
            assert_eq!(shown(line, is_secret), wanted);
        }
        assert_eq!(shown(&"é".repeat(200), false).chars().count(), MAX_SHOWN + 1);
    }

    #[test]
    fn the_line_is_that_of_the_file() {
        let text = "kind: A\n---\nkind: B\nx: y: z\n";
        let file = RenderedFile::new("c/templates/a.yaml", text);
        let document = super::super::split(&file.text)[1];
        let error = Fault { reason: "no".to_owned(), at: 12 }.error(document, &file);
        assert_eq!(error.message(), "YAML parse error on c/templates/a.yaml: no");
        assert_eq!(error.chain()[0].note, "it rendered line 4: `x: y: z`");
    }
}
