//! The cache of results by their inputs: an unrelated change in a repository does not cause rendering.
//!
//! In: an application of a tree. Out: the response that was made of the same environment and the same files. The files
//! that a result depends on are known only when it has been made, so that they are compared, and no part of its key.
//! Errors are never kept.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use prost::Message as _;
use sha2::{Digest as _, Sha256};
use vfs::{FileKind, Files as _, ReadSet};

use crate::budget::Reservation;
use crate::contents::Digest;
use crate::generator::{Generated, Request, VOLATILE, value};
use crate::messages::{ManifestResponse, Metadata};
use crate::trees::Tree;

/// As many results of one application are kept: those of the branches that are looked at by turns.
const MAX_VARIANTS: usize = 4;

/// Memory of a path in a read set besides its bytes.
const PATH_OVERHEAD: u64 = 64;

/// Memory of a result besides its response and read set.
const OVERHEAD: u64 = 512;

/// An encoded response, counted as long as somebody has it.
pub(crate) struct Made {
    pub(crate) response: Bytes,
    pub(crate) manifests: usize,
    dependencies: Dependencies,
    /// The tree that it was last found to be right for.
    checked: Mutex<Digest>,
    reservation: Reservation,
}

/// The inputs of a result that are not in its key.
pub(crate) struct Dependencies {
    read_set: ReadSet,
    fingerprint: Digest,
    variables: [Option<Option<String>>; VOLATILE.len()],
}

#[derive(Default)]
pub(crate) struct Results(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    by_key: HashMap<Digest, Variants>,
    /// The keys by their last uses.
    order: BTreeMap<u64, Digest>,
    uses: u64,
    /// The total size in bytes.
    bytes: u64,
}

/// The results of one key, the latest first.
#[derive(Default)]
struct Variants {
    used: u64,
    made: Vec<Arc<Made>>,
}

/// Returns what is the same from commit to commit: the application and its environment.
pub(crate) fn key(path: &Path, metadata: &Metadata, engine: &str) -> Digest {
    let mut hash = Sha256::new();
    let mut add = |text: &[u8]| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for part in [engine.as_bytes(), path.as_os_str().as_encoded_bytes(), metadata.app_name.as_bytes()] {
        add(part);
    }
    let variables: BTreeMap<_, _> = metadata.env.iter().map(|entry| (&entry.name, &entry.value)).collect();
    for (name, value) in variables.into_iter().filter(|(name, _)| !VOLATILE.contains(&name.as_str())) {
        add(name.as_bytes());
        add(value.as_bytes());
    }
    hash.finalize().into()
}

/// Returns how many bytes the response has.
pub(crate) fn response_size(generated: &Generated) -> u64 {
    let length = |text: &String| prost::encoding::string::encoded_len(1, text) as u64;
    generated.manifests.iter().map(length).sum::<u64>() + length(&generated.source_type)
}

impl Made {
    /// Encodes a response, for which there must be memory already.
    pub(crate) fn new(generated: Generated, dependencies: Dependencies, reservation: Reservation) -> Self {
        let mut response = Vec::with_capacity(response_size(&generated) as usize);
        let manifests = generated.manifests.len();
        for manifest in generated.manifests {
            // One after the other, so that never both are there as a whole.
            prost::encoding::string::encode(1, &manifest, &mut response);
        }
        let rest = ManifestResponse { manifests: Vec::new(), source_type: generated.source_type };
        response.extend_from_slice(&rest.encode_to_vec());
        let checked = Mutex::new(dependencies.fingerprint);
        Self { response: response.into(), manifests, dependencies, checked, reservation }
    }

    /// Returns what it takes.
    pub(crate) fn memory(response: u64, dependencies: &Dependencies) -> u64 {
        let ReadSet { files, directories, listed, missing } = &dependencies.read_set;
        let paths = [files, directories, listed, missing].into_iter().flatten();
        response + OVERHEAD + paths.map(|path| path.as_os_str().len() as u64 + PATH_OVERHEAD).sum::<u64>()
    }

    fn is_right_for(&self, tree: &Tree, metadata: &Metadata) -> bool {
        let same = |(name, seen): (&&str, &Option<Option<String>>)| {
            seen.as_ref().is_none_or(|seen| seen.as_deref() == value(metadata, name))
        };
        if !VOLATILE.iter().zip(&self.dependencies.variables).all(same) {
            return false;
        }
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if *checked == *tree.checksum() {
            return true;
        }
        let same = fingerprint(&self.dependencies.read_set, tree) == self.dependencies.fingerprint;
        if same {
            *checked = *tree.checksum();
        }
        same
    }
}

impl Dependencies {
    pub(crate) fn new(read_set: ReadSet, tree: &Tree, request: &Request<'_>, metadata: &Metadata) -> Self {
        let fingerprint = fingerprint(&read_set, tree);
        let mut variables: [Option<Option<String>>; VOLATILE.len()] = Default::default();
        for ((variable, name), consulted) in variables.iter_mut().zip(VOLATILE).zip(request.consulted()) {
            *variable = consulted.then(|| value(metadata, name).map(str::to_owned));
        }
        Self { read_set, fingerprint, variables }
    }
}

impl fmt::Debug for Results {
    /// Without the manifests, which may have secrets in them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Results {
    /// The result for an application of a tree, if it was made before.
    pub(crate) fn find(&self, key: &Digest, tree: &Tree, metadata: &Metadata) -> Option<Arc<Made>> {
        let variants = {
            let mut kept = self.lock();
            kept.touch(key)?;
            kept.by_key.get(key)?.made.clone()
        };
        variants.into_iter().find(|made| made.is_right_for(tree, metadata))
    }

    /// Keeps a result.
    pub(crate) fn keep(&self, key: Digest, made: Arc<Made>) {
        let mut kept = self.lock();
        let used = kept.next_use();
        kept.bytes += made.reservation.bytes();
        let variants = kept.by_key.entry(key).or_default();
        let before = std::mem::replace(&mut variants.used, used);
        variants.made.insert(0, made);
        let gone = if variants.made.len() > MAX_VARIANTS { variants.made.pop() } else { None };
        kept.order.remove(&before);
        kept.order.insert(used, key);
        kept.bytes -= gone.as_ref().map_or(0, |gone| gone.reservation.bytes());
        drop(kept);
        drop(gone);
    }

    /// Lets go of what was not used for longest; whether there was anything.
    pub(crate) fn evict(&self) -> bool {
        let mut kept = self.lock();
        let Some((_, key)) = kept.order.pop_first() else { return false };
        let gone = kept.by_key.remove(&key).unwrap_or_default();
        kept.bytes -= gone.made.iter().map(|made| made.reservation.bytes()).sum::<u64>();
        drop(kept);
        drop(gone);
        true
    }

    /// Returns what is kept takes so much.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Notes a use of a key, where there is anything of it.
    fn touch(&mut self, key: &Digest) -> Option<()> {
        let now = self.next_use();
        let variants = self.by_key.get_mut(key)?;
        let before = std::mem::replace(&mut variants.used, now);
        self.order.remove(&before);
        self.order.insert(now, *key);
        Some(())
    }

    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

/// All that a read set says of a tree: where paths lead to, what files have in them, which names folders have.
fn fingerprint(set: &ReadSet, tree: &Tree) -> Digest {
    let mut hash = Sha256::new();
    let mut add = |text: &[u8]| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for path in [&set.files, &set.directories, &set.missing].into_iter().flatten() {
        match tree.resolve(path) {
            Ok((real, FileKind::File)) => {
                add(real.as_os_str().as_encoded_bytes());
                add(tree.digest(&real).map_or(&[], |digest| digest));
            }
            Ok((real, FileKind::Directory)) => {
                add(real.as_os_str().as_encoded_bytes());
                add(b"folder");
            }
            Err(_) => add(b"none"),
        }
    }
    for folder in &set.listed {
        match tree.list(folder) {
            Ok(names) => names.iter().for_each(|name| add(name.as_bytes())),
            Err(_) => add(b"none"),
        }
        add(b"");
    }
    hash.finalize().into()
}
