//! Git's pathspecs, by which `git ls-files` selects files (git's pathspec.c, dir.c and wildmatch.c).
//!
//! Rejects paths outside of the repository, magic that git does not have, and magic that needs attributes.

/// A pathspec without its magic.
#[derive(Debug)]
pub struct Pathspec {
    path: Vec<u8>,
    matching: Matching,
    ignore_case: bool,
    /// Selects all paths except those that match.
    exclude: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matching {
    /// `*` crosses slashes.
    Shell,
    /// `*` and `?` stop at slashes, `**` does not.
    Glob,
    Literal,
}

impl Pathspec {
    /// Parses a pathspec.
    ///
    /// # Errors
    /// The reason why git, or this crate, rejects it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut spec =
            Self { path: Vec::new(), matching: Matching::Shell, ignore_case: false, exclude: false };
        let rest = match text.strip_prefix(':') {
            None => text,
            Some(magic) => match magic.strip_prefix('(') {
                Some(long) => spec.read_long_magic(long)?,
                None => spec.read_short_magic(magic)?,
            },
        };
        spec.path = normalized(rest)?.into_bytes();
        Ok(spec)
    }

    /// `:(name,name)path`.
    fn read_long_magic<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let (names, rest) = text.split_once(')').ok_or("`:(` is without its `)`")?;
        for name in names.split(',').filter(|name| !name.is_empty()) {
            match name {
                "top" => {}
                "icase" => self.ignore_case = true,
                "exclude" => self.exclude = true,
                "literal" => self.matching = Matching::Literal,
                "glob" => self.matching = Matching::Glob,
                _ => return Err(format!("unsupported pathspec magic `{name}`")),
            }
        }
        Ok(rest)
    }

    /// `:/path`, `:!path`, `:^path`, perhaps with another colon before the path.
    fn read_short_magic<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        for (at, character) in text.char_indices() {
            match character {
                '/' => {}
                '!' | '^' => self.exclude = true,
                ':' => return Ok(&text[at + 1..]),
                character if is_magic(character) => {
                    return Err(format!("unknown pathspec magic `{character}`"));
                }
                _ => return Ok(&text[at..]),
            }
        }
        Ok("")
    }

    /// Returns the directory that holds every selected path; empty for the root.
    #[must_use]
    pub fn folder(&self) -> &str {
        let fixed = self.fixed();
        fixed.rfind('/').map_or("", |slash| &fixed[..slash])
    }

    /// Returns true if a directory may hold a selected path.
    #[must_use]
    pub fn leads_into(&self, folder: &str) -> bool {
        let fixed = self.fixed();
        // A path without wildcards may be a directory.
        let end = if fixed.len() == self.path.len() && !fixed.is_empty() { "/" } else { "" };
        let fixed = fixed.trim_end_matches('/').bytes().chain(end.bytes());
        folder.bytes().chain([b'/']).zip(fixed).all(|(ours, theirs)| ours == theirs)
    }

    /// Returns what every chosen path begins with.
    fn fixed(&self) -> &str {
        if self.exclude || self.ignore_case {
            return "";
        }
        let end = match self.matching {
            Matching::Literal => self.path.len(),
            _ => self.path.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(self.path.len()),
        };
        std::str::from_utf8(&self.path[..end]).unwrap_or_default()
    }

    /// Returns true if the pathspec selects a file.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.is_in(path.as_bytes()) != self.exclude
    }

    fn is_in(&self, path: &[u8]) -> bool {
        let (spec, path) = match self.ignore_case {
            true => (self.path.to_ascii_lowercase(), path.to_ascii_lowercase()),
            false => (self.path.clone(), path.to_owned()),
        };
        if spec.is_empty() {
            return true;
        }
        // The path itself, or a directory above it.
        if let Some(rest) = path.strip_prefix(spec.as_slice())
            && (rest.is_empty() || rest[0] == b'/' || spec.ends_with(b"/"))
        {
            return true;
        }
        self.matching != Matching::Literal && wildmatch(&spec, &path, self.matching == Matching::Glob)
    }
}

/// Returns what git keeps for magic to come (ctype.c `pathspec_magic`).
fn is_magic(character: char) -> bool {
    "!\"#%&',-:;<=>@_`~".contains(character)
}

/// A path without `.`, `..` and doubled slashes; a last slash stays.
fn normalized(path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        return Err(format!("`{path}` is not a path in the repository: it starts with a slash"));
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(|| format!("`{path}` leads out of the repository"))?;
            }
            part => parts.push(part),
        }
    }
    let end = if path.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    Ok(parts.join("/") + end)
}

/// Returns true if a text matches a pattern as a whole. With `by_path`, `*`, `?` and classes stop at slashes, and `**/`, `/**` and
/// `/**/` do not.
fn wildmatch(pattern: &[u8], text: &[u8], by_path: bool) -> bool {
    // The set of positions in the text that the pattern so far can end at: linear in pattern times text, where going
    // back and forth would be exponential.
    let mut ends = vec![false; text.len() + 1];
    ends[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let (token, len) = Token::read(pattern, at, by_path);
        let Some(token) = token else { return false };
        ends = token.advance(&ends, text, by_path);
        at += len;
    }
    ends[text.len()]
}

enum Token<'p> {
    Byte(u8),
    /// `?`
    Any,
    Class(&'p [u8]),
    /// Anything but a slash.
    Star,
    /// Anything.
    DoubleStar,
    /// `**/`: nothing, or anything that ends with a slash.
    Folders,
}

impl<'p> Token<'p> {
    /// The next token and its length; none for what matches nothing, as an unclosed class.
    fn read(pattern: &'p [u8], at: usize, by_path: bool) -> (Option<Self>, usize) {
        let rest = &pattern[at..];
        match rest[0] {
            b'?' => (Some(Self::Any), 1),
            b'*' => {
                let stars = rest.iter().take_while(|byte| **byte == b'*').count();
                if !by_path {
                    return (Some(Self::DoubleStar), stars);
                }
                let after_slash = at == 0 || pattern[at - 1] == b'/';
                match rest.get(stars) {
                    Some(b'/') if stars > 1 && after_slash => (Some(Self::Folders), stars + 1),
                    None if stars > 1 && after_slash => (Some(Self::DoubleStar), stars),
                    _ => (Some(Self::Star), stars),
                }
            }
            b'\\' => match rest.get(1) {
                Some(byte) => (Some(Self::Byte(*byte)), 2),
                None => (None, 1),
            },
            b'[' => match class_len(rest) {
                Some(len) => (Some(Self::Class(&rest[1..len - 1])), len),
                None => (None, 1),
            },
            byte => (Some(Self::Byte(byte)), 1),
        }
    }

    fn advance(&self, ends: &[bool], text: &[u8], by_path: bool) -> Vec<bool> {
        let mut next = vec![false; ends.len()];
        match self {
            Self::Star | Self::DoubleStar => {
                let mut reached = false;
                for at in 0..ends.len() {
                    let stops = matches!(self, Self::Star) && at > 0 && text[at - 1] == b'/';
                    reached = (reached && !stops) || ends[at];
                    next[at] = reached;
                }
            }
            Self::Folders => {
                let mut reached = false;
                for at in 0..ends.len() {
                    next[at] = ends[at] || (reached && text[at - 1] == b'/');
                    reached |= ends[at];
                }
            }
            _ => {
                for (at, byte) in text.iter().enumerate() {
                    next[at + 1] =
                        ends[at] && self.takes(*byte) && !(by_path && *byte == b'/' && !self.is_slash());
                }
            }
        }
        next
    }

    fn is_slash(&self) -> bool {
        matches!(self, Self::Byte(b'/'))
    }

    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::Byte(wanted) => *wanted == byte,
            Self::Class(class) => in_class(class, byte),
            _ => true,
        }
    }
}

/// The length of a class with its brackets, of which the first inside may be a bracket itself.
fn class_len(pattern: &[u8]) -> Option<usize> {
    let mut at = 1;
    if matches!(pattern.get(at), Some(b'!' | b'^')) {
        at += 1;
    }
    let first = at;
    loop {
        match pattern.get(at)? {
            b']' if at > first => return Some(at + 1),
            b'\\' => at += 2,
            b'[' if pattern.get(at + 1) == Some(&b':') => {
                at += 2 + pattern[at + 2..].windows(2).position(|pair| pair == b":]")? + 2;
            }
            _ => at += 1,
        }
    }
}

/// Returns true if a byte is in a class, given without its brackets.
fn in_class(class: &[u8], byte: u8) -> bool {
    let (negated, class) = match class {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut found = false;
    let mut at = 0;
    while at < class.len() {
        if let Some(name) = class[at..].strip_prefix(b"[:")
            && let Some(end) = name.windows(2).position(|pair| pair == b":]")
        {
            found |= in_named_class(&name[..end], byte);
            at += end + 4;
            continue;
        }
        let (low, after) = class_byte(class, at);
        let range = class.get(after) == Some(&b'-') && after + 1 < class.len();
        let (high, after) = if range { class_byte(class, after + 1) } else { (low, after) };
        found |= (low..=high).contains(&byte);
        at = after;
    }
    found != negated
}

/// A byte of a class, perhaps behind a backslash, and where the next begins.
fn class_byte(class: &[u8], at: usize) -> (u8, usize) {
    match (class[at], class.get(at + 1)) {
        (b'\\', Some(byte)) => (*byte, at + 2),
        (byte, _) => (byte, at + 1),
    }
}

fn in_named_class(name: &[u8], byte: u8) -> bool {
    match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => byte == b' ' || byte == b'\t',
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[&str] = &[
        ".ci/job.yaml",
        "apps/a/config.yaml",
        "apps/a/deep/config.yaml",
        "apps/b1/config.yaml",
        "apps/x[1]/config.yaml",
        "config.yaml",
    ];

    fn chosen(spec: &str) -> Vec<&'static str> {
        let spec = Pathspec::parse(spec).unwrap();
        FILES.iter().copied().filter(|path| spec.matches(path)).collect()
    }

    /// As `git ls-files` of git 2 prints them.
    #[test]
    fn paths_are_chosen_as_git_does() {
        for (spec, want) in [
            ("config.yaml", &["config.yaml"] as &[&str]),
            ("apps/*/config.yaml", &FILES[1..5]),
            (
                ":(glob)apps/*/config.yaml",
                &["apps/a/config.yaml", "apps/b1/config.yaml", "apps/x[1]/config.yaml"],
            ),
            ("**/config.yaml", &FILES[1..5]),
            (":(glob)**/config.yaml", &FILES[1..]),
            (":(glob)apps/**", &FILES[1..5]),
            (":(glob)apps/**/config.yaml", &FILES[1..5]),
            ("*.yaml", FILES),
            (".", FILES),
            ("./apps//a/", &FILES[1..3]),
            ("apps/a", &FILES[1..3]),
            ("apps/a/../b1", &["apps/b1/config.yaml"]),
            ("apps/?/config.yaml", &["apps/a/config.yaml"]),
            ("apps/[a-b]*/config.yaml", &FILES[1..4]),
            ("apps/[!a]*/config.yaml", &["apps/b1/config.yaml", "apps/x[1]/config.yaml"]),
            ("apps/[[:alpha:]][[:digit:]]/*", &["apps/b1/config.yaml"]),
            ("apps/x[1]", &["apps/x[1]/config.yaml"]),
            ("apps/x\\[1\\]/config.yaml", &["apps/x[1]/config.yaml"]),
            (":(literal)apps/x[1]/config.yaml", &["apps/x[1]/config.yaml"]),
            (":(icase)APPS/A", &FILES[1..3]),
            (":!apps", &[".ci/job.yaml", "config.yaml"]),
            (":(top,exclude)apps", &[".ci/job.yaml", "config.yaml"]),
            (":/config.yaml", &["config.yaml"]),
            ("apps/[a", &[]),
            ("{apps,x}/a/config.yaml", &[]),
            ("app", &[]),
        ] {
            assert_eq!(chosen(spec), want, "{spec}");
        }
    }

    #[test]
    fn what_git_refuses_is_refused() {
        for spec in ["/apps", "../a", "a/../../b", ":(attr:x)a", ":(glob", ":#a"] {
            Pathspec::parse(spec).unwrap_err();
        }
    }

    #[test]
    fn the_walk_begins_where_all_paths_are() {
        for (spec, want) in [
            ("apps/*/config.yaml", "apps"),
            ("apps/a/con*", "apps/a"),
            ("apps/a", "apps"),
            ("*.yaml", ""),
            (":!apps/a", ""),
        ] {
            assert_eq!(Pathspec::parse(spec).unwrap().folder(), want, "{spec}");
        }
        let spec = Pathspec::parse("apps/a/con*").unwrap();
        let into: Vec<&str> = ["apps", "apps/a", "apps/a/con-1", "apps/b", "app", "apps/a/x"]
            .into_iter()
            .filter(|folder| spec.leads_into(folder))
            .collect();
        assert_eq!(into, ["apps", "apps/a", "apps/a/con-1"]);
        assert!(Pathspec::parse("apps/a").unwrap().leads_into("apps/a/deep"));
        assert!(!Pathspec::parse("apps/a").unwrap().leads_into("apps/ab"));
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!wildmatch(pattern.as_bytes(), "a".repeat(2000).as_bytes(), false));
    }
}
