//! The indexes of known repositories, had anew and kept where Helm keeps them.

use std::fs;
use std::io;
use std::thread::{self, ScopedJoinHandle};

use diagnostic::{Error, Result, redact};

use super::ChartSources;
use super::index::{charts_file, file};
use super::repositories::Repository;
use crate::output;

/// As many repositories are asked side by side.
const MAX_AT_ONCE: usize = 16;

impl ChartSources {
    /// Gets the index of a repository that Helm knows, and keeps it where Helm does.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn refresh(&self, repository: &Repository) -> Result<()> {
        let (index, text) = self.index_and_text(&repository.url, &repository.access())?;
        let folder = &self.homes.repository_cache;
        fs::create_dir_all(folder).map_err(|error| Error::disk("make", folder, &error))?;
        let names: String = index.names().flat_map(|name| [name, "\n"]).collect();
        output::replace(&charts_file(folder, &repository.name), names.as_bytes())?;
        output::replace(&file(folder, &repository.name), &text)
    }

    /// The same for many, side by side. What is said of each is in the order of the list, in Helm's words. Returns the
    /// addresses that gave no index.
    pub(crate) fn refresh_all(&self, repositories: &[&Repository], say: &mut dyn FnMut(&str)) -> Vec<String> {
        let mut failed = Vec::new();
        for batch in repositories.chunks(MAX_AT_ONCE) {
            for (repository, outcome) in batch.iter().zip(self.refresh_batch(batch)) {
                let Repository { name, url, .. } = repository;
                let Err(error) = outcome else {
                    say(&format!("...Successfully got an update from the {name:?} chart repository"));
                    continue;
                };
                let url = redact(url);
                say(&format!("...Unable to get an update from the {name:?} chart repository ({url}):"));
                say(&format!("\t{}", error.message()));
                failed.push(url.into_owned());
            }
        }
        failed
    }

    fn refresh_batch(&self, batch: &[&Repository]) -> Vec<Result<()>> {
        let join = |worker: ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        thread::scope(|scope| {
            let spawn = |repository| scope.spawn(move || self.refresh(repository));
            let workers: Vec<_> = batch.iter().map(|repository| spawn(*repository)).collect();
            workers.into_iter().map(join).collect()
        })
    }

    /// Forgets what Helm keeps of a repository.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub(crate) fn forget(&self, name: &str) -> Result<()> {
        let folder = &self.homes.repository_cache;
        for path in [charts_file(folder, name), file(folder, name)] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::disk("remove", &path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
