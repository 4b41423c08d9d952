//! What a program said is used again for a while: it may be slow, and it is asked for each of many images.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Credential;
use crate::error::Result;

type Known = HashMap<String, (Instant, Option<Credential>)>;

#[derive(Debug)]
pub(super) struct Memo {
    lifetime: Duration,
    known: Mutex<Known>,
}

impl Memo {
    pub(super) fn new(lifetime: Duration) -> Self {
        Self { lifetime, known: Mutex::default() }
    }

    /// What is known, or what asking gives; who comes meanwhile waits for it.
    pub(super) fn get(
        &self,
        key: &str,
        ask: impl FnOnce() -> Result<Option<Credential>>,
    ) -> Result<Option<Credential>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, credential)) = known.get(key)
            && since.elapsed() < self.lifetime
        {
            return Ok(credential.clone());
        }
        let credential = ask()?;
        known.insert(key.to_owned(), (Instant::now(), credential.clone()));
        Ok(credential)
    }

    pub(super) fn forget(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asked_once_until_it_is_forgotten() {
        let memo = Memo::new(Duration::from_secs(60));
        let give = |password: &str| Ok(Some(Credential::basic("u", password)));
        assert_eq!(memo.get("h", || give("1")).unwrap(), Some(Credential::basic("u", "1")));
        assert_eq!(memo.get("h", || give("2")).unwrap(), Some(Credential::basic("u", "1")));
        assert_eq!(memo.get("other", || Ok(None)).unwrap(), None);
        memo.forget();
        assert_eq!(memo.get("h", || give("2")).unwrap(), Some(Credential::basic("u", "2")));
    }
}
