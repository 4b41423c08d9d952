//! The patterns of Helm's `.Files.Glob`: `*`, `**`, `?`, `[a-z]`, `[!a]` and `{a,b}`, where only `**` matches `/`.
//!
//! Rejects classes that are not closed; braces that are not closed end with the pattern.

/// A parsed pattern.
#[derive(Debug)]
pub struct Glob {
    /// Alternatives are jumps between these.
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Char(char),
    /// `?`
    One,
    /// A class: whether it is negated, and its ranges.
    Class(bool, Vec<(char, char)>),
    /// `*`, or `**` if it reaches over a `/`: stays, or goes on.
    Star(bool),
    /// Goes on at each of these.
    Fork(Vec<usize>),
    /// Goes on there.
    Jump(usize),
}

impl Glob {
    /// Parses a pattern. Returns `None` if a class is not closed.
    #[must_use]
    pub fn parse(pattern: &str) -> Option<Self> {
        let mut reader = Reader { rest: pattern.chars().peekable(), steps: Vec::new(), open: Vec::new() };
        reader.read()?;
        while !reader.open.is_empty() {
            reader.close();
        }
        Some(Self { steps: reader.steps })
    }

    /// Returns the pattern that matches every path.
    #[must_use]
    pub fn everything() -> Self {
        Self { steps: vec![Step::Star(true)] }
    }

    /// Returns an estimate of the steps that it takes to match a path.
    #[must_use]
    pub fn cost(&self, path: &str) -> u64 {
        (self.steps.len() as u64).saturating_mul(path.len() as u64) / 16
    }

    /// Returns true if the pattern matches the whole path. Follows all ways through the pattern at once, so that the time
    /// is never exponential.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let mut places = Places::new(self.steps.len());
        places.add(self, 0);
        for c in path.chars() {
            let mut next = Places::new(self.steps.len());
            for &at in &places.list {
                match &self.steps[at..] {
                    [Step::Star(deep), ..] if *deep || c != '/' => next.add(self, at),
                    [step, ..] if step.takes(c) => next.add(self, at + 1),
                    _ => {}
                }
            }
            places = next;
        }
        places.seen[self.steps.len()]
    }
}

impl Step {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Char(wanted) => *wanted == c,
            Self::One => c != '/',
            Self::Class(negated, ranges) => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
            Self::Star(_) | Self::Fork(_) | Self::Jump(_) => false,
        }
    }
}

/// Places in the pattern that a path's beginning leads to.
struct Places {
    list: Vec<usize>,
    seen: Vec<bool>,
}

impl Places {
    fn new(steps: usize) -> Self {
        Self { list: Vec::new(), seen: vec![false; steps + 1] }
    }

    /// Adds a place and all that are reached from it without a character.
    fn add(&mut self, glob: &Glob, at: usize) {
        let mut pending = vec![at];
        while let Some(at) = pending.pop() {
            if std::mem::replace(&mut self.seen[at], true) {
                continue;
            }
            match glob.steps.get(at) {
                Some(Step::Fork(targets)) => pending.extend(targets),
                Some(Step::Jump(target)) => pending.push(*target),
                Some(Step::Star(_)) => {
                    self.list.push(at);
                    pending.push(at + 1);
                }
                Some(_) => self.list.push(at),
                None => {}
            }
        }
    }
}

struct Reader<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    steps: Vec<Step>,
    /// The alternatives that are open: their fork, and the jumps to their end.
    open: Vec<(usize, Vec<usize>)>,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        while let Some(c) = self.rest.next() {
            match c {
                '*' => {
                    let mut deep = false;
                    while self.rest.next_if_eq(&'*').is_some() {
                        deep = true;
                    }
                    self.steps.push(Step::Star(deep));
                }
                '?' => self.steps.push(Step::One),
                '\\' => self.steps.extend(self.rest.next().map(Step::Char)),
                '[' => self.class()?,
                '{' => {
                    self.open.push((self.steps.len(), Vec::new()));
                    let first = self.steps.len() + 1;
                    self.steps.push(Step::Fork(vec![first]));
                }
                ',' if !self.open.is_empty() => self.alternative(),
                '}' if !self.open.is_empty() => self.close(),
                c => self.steps.push(Step::Char(c)),
            }
        }
        Some(())
    }

    fn alternative(&mut self) {
        let end = self.steps.len();
        if let Some((fork, jumps)) = self.open.last_mut() {
            jumps.push(end);
            if let Step::Fork(targets) = &mut self.steps[*fork] {
                targets.push(end + 1);
            }
        }
        // Where to is known at the closing brace.
        self.steps.push(Step::Jump(0));
    }

    fn close(&mut self) {
        let end = self.steps.len();
        for jump in self.open.pop().map(|(_, jumps)| jumps).unwrap_or_default() {
            self.steps[jump] = Step::Jump(end);
        }
    }

    fn class(&mut self) -> Option<()> {
        let negated = self.rest.next_if_eq(&'!').is_some();
        let mut ranges = Vec::new();
        loop {
            let low = match self.rest.next()? {
                ']' if !ranges.is_empty() => break,
                '\\' => self.rest.next()?,
                c => c,
            };
            let mut high = low;
            if self.rest.next_if_eq(&'-').is_some() {
                high = self.rest.next()?;
            }
            ranges.push((low, high));
        }
        self.steps.push(Step::Class(negated, ranges));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `.Files.Glob` of Helm chooses.
    #[test]
    fn patterns_choose_as_in_helm() {
        for (pattern, path, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "d/a.txt", false),
            ("**.txt", "d/a.txt", true),
            ("d/**", "d/e/a", true),
            ("d/*", "d/e/a", false),
            ("d/?", "d/e", true),
            ("{a,b}.txt", "b.txt", true),
            ("{a,b/*}.txt", "b/c.txt", true),
            ("[a-c].txt", "b.txt", true),
            ("[!a-c].txt", "b.txt", false),
            ("\\*.txt", "*.txt", true),
            ("**/a.txt", "a.txt", false),
            ("a,b", "a,b", true),
            ("{b,a.txt", "a.txt", true),
            ("{b,a.txt", "c", false),
            ("{{a,b},d}.txt", "b.txt", true),
            ("{a.txt,}", "", true),
        ] {
            assert_eq!(
                Glob::parse(pattern).is_some_and(|glob| glob.matches(path)),
                expected,
                "{pattern} over {path}"
            );
        }
        assert!(Glob::parse("[a").is_none());
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let glob = Glob::parse(&"*a".repeat(200)).expect("a pattern");
        assert!(!glob.matches(&"a".repeat(199)));
    }
}
