//! The engine for patterns that are more than plain text: built in microseconds for the few short
//! texts most patterns see, and again, for speed, once there is much to search.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Input, meta};

use crate::parse::Tree;

/// Maximum memory of the automaton of one pattern. Go allows more but needs less, a hundred times less for `\pL`.
const MAX_SIZE: usize = 32 << 20;

/// Maximum memory for capture groups during a search.
const MAX_SLOTS: usize = 128 << 20;

/// The least memory a state takes.
const STATE_SIZE: usize = 24;

/// Maximum number of bytes to search before a faster engine pays. Building one takes 20 to 200 µs against
/// 5, and saves some 10 ns a byte.
const MUCH: usize = 32 << 10;

/// The compiler calls itself for each level of nesting. Up to this height any stack will do; above
/// it, it gets one of its own, of [`DEEP_STACK`].
const SHALLOW: u32 = 50;

/// Four times what an unoptimised build takes for the highest tree allowed.
const DEEP_STACK: usize = 32 << 20;

pub(crate) struct Automaton {
    tree: Tree,
    quick: meta::Regex,
    /// None inside if it would have been too large.
    fast: OnceLock<Option<meta::Regex>>,
    searched: AtomicUsize,
    config: meta::Config,
}

impl Automaton {
    /// Compiles `tree`, in which are `groups` groups, unless it would be too large.
    pub(crate) fn new(tree: Tree, groups: usize) -> Option<Self> {
        // A search may keep two places for each group in each state.
        let most_states = MAX_SLOTS / (groups * 2 * size_of::<usize>());
        let config = meta::Config::new().nfa_size_limit(Some(MAX_SIZE.min(most_states * STATE_SIZE)));
        let quick = build(&tree, config.clone().hybrid(false).dfa(false).auto_prefilter(false))?;
        Some(Automaton { tree, quick, fast: OnceLock::new(), searched: AtomicUsize::new(0), config })
    }

    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        self.count(text.len());
        self.engine(text.len()).is_match(Input::new(text).earliest(true))
    }

    /// The leftmost match at or after `pos`.
    pub(crate) fn find(&self, text: &[u8], pos: usize) -> Option<Range<usize>> {
        let found = self.engine(text.len() - pos).search(&Input::new(text).range(pos..));
        let found = found.map(|found| found.range());
        self.count(found.as_ref().map_or(text.len(), |found| found.end) - pos);
        found
    }

    /// The same with what each of `groups` groups matched.
    pub(crate) fn captures(
        &self,
        text: &[u8],
        pos: usize,
        groups: usize,
    ) -> Option<Vec<Option<Range<usize>>>> {
        let mut slots = vec![None; 2 * groups];
        let engine = self.engine(text.len() - pos);
        let found = engine.search_slots(&Input::new(text).range(pos..), &mut slots);
        let place = |slot: Option<NonMaxUsize>| slot.map(NonMaxUsize::get);
        let end = slots.get(1).copied().and_then(place);
        self.count(end.unwrap_or(text.len()) - pos);
        found?;
        Some(slots.chunks_exact(2).map(|pair| Some(place(pair[0])?..place(pair[1])?)).collect())
    }

    /// The engine for a search of `len` bytes, or what is left of one.
    fn engine(&self, len: usize) -> &meta::Regex {
        if self.searched.load(Ordering::Relaxed).max(len) <= MUCH {
            return &self.quick;
        }
        let fast = self.fast.get_or_init(|| build(&self.tree, self.config.clone()));
        fast.as_ref().unwrap_or(&self.quick)
    }

    fn count(&self, searched: usize) {
        if self.searched.load(Ordering::Relaxed) <= MUCH {
            self.searched.fetch_add(searched, Ordering::Relaxed);
        }
    }
}

fn build(tree: &Tree, config: meta::Config) -> Option<meta::Regex> {
    let compile = || meta::Builder::new().configure(config).build_from_hir(&tree.hir).ok();
    if tree.height <= SHALLOW {
        return compile();
    }
    thread::scope(|scope| {
        let deep = thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, compile);
        deep.ok()?.join().ok()?
    })
}

#[cfg(test)]
mod tests {
    use crate::Regex;

    #[test]
    fn what_would_take_too_much_is_refused() {
        for pattern in
            [format!("(?:{}){{1000}}", "x".repeat(3400)), "(a)".repeat(5000), "x{1000}".repeat(3000)]
        {
            let error = Regex::new(&pattern).err().map(|e| e.to_string());
            assert_eq!(error, Some(format!("error parsing regexp: expression too large: `{pattern}`")));
        }
    }

    #[test]
    fn what_go_allows_is_mostly_allowed() {
        for pattern in [r"\pL{1,200}", "[^/]{1,1000}", r"(?:\pL[^/]{1,100}/){10}", "((a{10}){10}){10}"] {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
        }
    }
}
