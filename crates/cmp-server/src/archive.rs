//! Unpacks the archive of a repository into memory.
//!
//! In: a gzipped tar as Argo CD's repo-server sends it, which is a walk over a checkout: folders, files and symbolic
//! links. Out: a tree of files, and the digest of each. Hard links, devices and the like are left out, as Argo CD does.
//! Refused: what leads out of the root, what is no archive, and whatever is beyond the [`Limits`].

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{EntryType, PaxExtensions};
use vfs::{Entry, MemoryTree, Tree as _};

use crate::budget::Reservation;
use crate::contents::{self, Digest, Uses};

/// The limits of a repository.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum size of the unpacked archive, in bytes.
    pub tree_bytes: u64,
    /// Files, folders and links.
    pub files: usize,
    /// Folders above a file.
    pub depth: usize,
    /// The length of a path, in bytes.
    pub path_bytes: usize,
    /// Maximum ratio of the unpacked to the packed size.
    pub ratio: u64,
}

impl Default for Limits {
    /// The largest repositories that Argo CD is known to be used with stay below all of them.
    fn default() -> Self {
        Self { tree_bytes: 512 << 20, files: 200_000, depth: 64, path_bytes: 4096, ratio: 200 }
    }
}

/// Archives below this size may inflate as much as they like: a repository of empty files is mostly zeros.
const RATIO_COUNTS_FROM: u64 = 4 << 20;

/// A long name or a set of extended attributes is no larger.
const MAX_EXTENSION: u64 = 64 << 10;

/// Memory of an entry besides its name, which is kept twice: its nodes in the tree and in the table of digests.
const ENTRY_OVERHEAD: u64 = 256;

/// As many links in one path as Linux follows.
const MAX_LINKS: usize = 40;

/// Why an archive was not unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is no archive of a repository, or would lead out of it.
    Invalid(String),
    /// It is larger than it may be.
    TooLarge(String),
    /// There is no memory for it now.
    NoMemory,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(sentence) | Self::TooLarge(sentence) => f.write_str(sentence),
            Self::NoMemory => f.write_str("not enough memory for the repository"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(refusal) => refusal,
            Err(error) => Self::Invalid(format!("the archive is damaged: {error}")),
        }
    }
}

/// A repository in memory.
pub(crate) struct Unpacked {
    pub(crate) files: MemoryTree,
    pub(crate) digests: HashMap<PathBuf, Digest>,
    /// Its contents, which other trees may have too.
    pub(crate) uses: Uses,
    /// The reserved memory.
    pub(crate) reservation: Reservation,
}

impl fmt::Debug for Unpacked {
    /// Without what is in the files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacked").field("files", &self.digests.len()).finish_non_exhaustive()
    }
}

/// Memory for what is unpacked: a number of bytes, or nothing.
pub(crate) type Reserve<'r> = dyn Fn(u64) -> Option<Reservation> + 'r;

/// Reads an archive to the end of its tar, which need not be that of the stream.
pub(crate) fn unpack(
    stream: impl Read,
    limits: &Limits,
    uses: Uses,
    reserve: &Reserve<'_>,
) -> Result<Unpacked, Refusal> {
    let compressed = Counted { stream, bytes: 0 };
    let inflated = Inflated { decoder: GzDecoder::new(compressed), bytes: 0, limits };
    let mut archive = tar::Archive::new(inflated);
    let reservation = reserve(0).ok_or(Refusal::NoMemory)?;
    let tree = Unpacked { files: MemoryTree::new(), digests: HashMap::new(), uses, reservation };
    let mut unpacking = Unpacking { tree, limits, reserve, entries: 0, extensions: Extensions::default() };
    // Extensions are read by ourselves: the crate reads them whole, whatever their size.
    for entry in archive.entries()?.raw(true) {
        unpacking.add(entry?)?;
    }
    unpacking.finish()
}

struct Unpacking<'u> {
    tree: Unpacked,
    limits: &'u Limits,
    reserve: &'u Reserve<'u>,
    entries: usize,
    extensions: Extensions,
}

/// Extended headers for the next entry.
#[derive(Default)]
struct Extensions {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl Unpacking<'_> {
    fn add(&mut self, mut entry: tar::Entry<'_, impl Read>) -> Result<(), Refusal> {
        self.count_entry()?;
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader || self.extensions.read(&mut entry)? {
            return Ok(());
        }
        let Extensions { path, link } = std::mem::take(&mut self.extensions);
        let name = path.unwrap_or_else(|| entry.path_bytes().into_owned());
        let Some(path) = self.path(&name)? else { return Ok(()) };
        match kind {
            EntryType::Directory => self.tree.files.add_directory(&path),
            // So has a tar without a type for folders.
            EntryType::Regular if name.ends_with(b"/") => self.tree.files.add_directory(&path),
            EntryType::Regular => return self.add_file(path, &mut entry),
            EntryType::Symlink => {
                let link = link.or_else(|| Some(entry.link_name_bytes()?.into_owned())).unwrap_or_default();
                self.tree.files.add_link(&path, PathBuf::from(OsStr::from_bytes(&link)))
            }
            _ => return Ok(()),
        }
        .map_err(|error| misplaced(&path, &error))
    }

    fn add_file(&mut self, path: PathBuf, entry: &mut tar::Entry<'_, impl Read>) -> Result<(), Refusal> {
        let size = entry.size();
        if size > self.limits.tree_bytes {
            return Err(too_large(self.limits));
        }
        let reservation = (self.reserve)(contents::needed(size)).ok_or(Refusal::NoMemory)?;
        let mut content = Vec::with_capacity(size as usize);
        entry.read_to_end(&mut content)?;
        if content.len() as u64 != size {
            return Err(Refusal::Invalid(format!("the archive ends within `{}`", path.display())));
        }
        let (content, digest) = self.tree.uses.add(content, reservation);
        self.tree.files.add_file(&path, content).map_err(|error| misplaced(&path, &error))?;
        self.tree.digests.insert(path, digest);
        Ok(())
    }

    /// The path of an entry from the root, room for which is taken; nothing for the root itself.
    fn path(&mut self, name: &[u8]) -> Result<Option<PathBuf>, Refusal> {
        let named = Path::new(OsStr::from_bytes(name));
        let shown = || String::from_utf8_lossy(&name[..name.len().min(200)]).into_owned();
        if name.len() > self.limits.path_bytes || name.contains(&0) {
            return Err(Refusal::TooLarge(format!("a path in the archive is too long: `{}…`", shown())));
        }
        let mut path = PathBuf::new();
        for part in named.components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    let sentence = format!("a path in the archive leads out of it: `{}`", shown());
                    return Err(Refusal::Invalid(sentence));
                }
            }
        }
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        if path.components().count() > self.limits.depth + 1 {
            let sentence =
                format!("a path in the archive is more than {} deep: `{}`", self.limits.depth, shown());
            return Err(Refusal::TooLarge(sentence));
        }
        self.take_room(&path)?;
        Ok(Some(path))
    }

    /// Takes room for a path and for the folders that come with it.
    fn take_room(&mut self, path: &Path) -> Result<(), Refusal> {
        let mut bytes = room(path);
        for folder in path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty()) {
            if self.tree.files.entry(folder).is_ok() {
                break;
            }
            self.count_entry()?;
            bytes += room(folder);
        }
        self.tree.reservation.join((self.reserve)(bytes).ok_or(Refusal::NoMemory)?);
        Ok(())
    }

    fn count_entry(&mut self) -> Result<(), Refusal> {
        self.entries += 1;
        if self.entries > self.limits.files {
            let sentence = format!("the repository has more than {} files", self.limits.files);
            return Err(Refusal::TooLarge(sentence));
        }
        Ok(())
    }

    fn finish(self) -> Result<Unpacked, Refusal> {
        let files = &self.tree.files;
        if let Some((link, _)) = files.links().find(|(link, _)| leads_out(files, link)) {
            let sentence = format!("the link `{}` leads out of the repository", link.display());
            return Err(Refusal::Invalid(sentence));
        }
        Ok(self.tree)
    }
}

impl Extensions {
    /// Reads an entry that says something of the next one; whether it is of that kind.
    fn read(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> Result<bool, Refusal> {
        let kind = entry.header().entry_type();
        if !matches!(kind, EntryType::XHeader | EntryType::GNULongName | EntryType::GNULongLink) {
            return Ok(false);
        }
        let size = entry.size();
        if size > MAX_EXTENSION {
            let sentence = format!("the archive has an extended header of {size} bytes");
            return Err(Refusal::TooLarge(sentence));
        }
        let mut content = Vec::with_capacity(size as usize);
        entry.read_to_end(&mut content)?;
        match kind {
            EntryType::GNULongName => self.path = Some(without_end(&content)),
            EntryType::GNULongLink => self.link = Some(without_end(&content)),
            _ => self.read_records(&content)?,
        }
        Ok(true)
    }

    fn read_records(&mut self, content: &[u8]) -> Result<(), Refusal> {
        for record in PaxExtensions::new(content) {
            let record = record?;
            match record.key_bytes() {
                b"path" => self.path = Some(record.value_bytes().to_owned()),
                b"linkpath" => self.link = Some(record.value_bytes().to_owned()),
                // It is written for what is beyond the eight gigabytes that a head has digits for.
                b"size" => return Err(Refusal::TooLarge("a file in the archive is too large".to_owned())),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A name without the zero that ends it.
fn without_end(name: &[u8]) -> Vec<u8> {
    name.strip_suffix(b"\0").unwrap_or(name).to_owned()
}

fn room(path: &Path) -> u64 {
    2 * path.as_os_str().len() as u64 + ENTRY_OVERHEAD
}

fn too_large(limits: &Limits) -> Refusal {
    Refusal::TooLarge(format!("the repository is larger than {} MiB", limits.tree_bytes >> 20))
}

fn misplaced(path: &Path, error: &io::Error) -> Refusal {
    Refusal::Invalid(format!("invalid path `{}` in the archive: {error}", path.display()))
}

/// Returns true if a link leads out of the tree, by itself or by way of other links.
fn leads_out(tree: &MemoryTree, link: &Path) -> bool {
    let parts = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let mut real = PathBuf::new();
    let mut rest = parts(link);
    rest.reverse();
    let mut links = 0;
    while let Some(part) = rest.pop() {
        match Path::new(&part).components().next() {
            Some(Component::Normal(name)) => real.push(name),
            Some(Component::ParentDir) if !real.pop() => return true,
            Some(Component::RootDir | Component::Prefix(_)) => return true,
            _ => continue,
        }
        if let Ok(Entry::Link(target)) = tree.entry(&real) {
            links += 1;
            if links > MAX_LINKS {
                // Round in a circle is not out; who asks for it is told.
                return false;
            }
            real.pop();
            rest.extend(parts(&target).into_iter().rev());
        }
    }
    false
}

/// Counts what is read.
struct Counted<R> {
    stream: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// The unpacked archive, within the limits.
struct Inflated<'l, R> {
    decoder: GzDecoder<Counted<R>>,
    bytes: u64,
    limits: &'l Limits,
}

impl<R: Read> Read for Inflated<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.bytes += read as u64;
        if self.bytes > self.limits.tree_bytes {
            return Err(io::Error::other(too_large(self.limits)));
        }
        let compressed = self.decoder.get_ref().bytes;
        if self.bytes > RATIO_COUNTS_FROM && self.bytes / self.limits.ratio.max(1) > compressed {
            let sentence = format!("the archive inflates to more than {} times its size", self.limits.ratio);
            return Err(io::Error::other(Refusal::TooLarge(sentence)));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;
    use crate::budget::Budget;

    type Tar = Builder<GzEncoder<Vec<u8>>>;

    fn archive(fill: impl FnOnce(&mut Tar)) -> Vec<u8> {
        let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
        fill(&mut tar);
        tar.into_inner().unwrap().finish().unwrap()
    }

    /// An entry whose name is written as it is, which the crate's own ways refuse to do.
    fn entry(tar: &mut Tar, kind: EntryType, name: &str, link: &str, content: &[u8]) {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, content).unwrap();
    }

    fn file(tar: &mut Tar, name: &str, content: &[u8]) {
        entry(tar, EntryType::Regular, name, "", content);
    }

    fn link(tar: &mut Tar, name: &str, target: &str) {
        entry(tar, EntryType::Symlink, name, target, b"");
    }

    fn unpack_with(bytes: &[u8], limits: &Limits, max: u64) -> Result<Unpacked, Refusal> {
        let budget = Budget::new(max);
        let unpacked = unpack(bytes, limits, Uses::of(&Arc::default()), &|bytes| budget.take(bytes));
        if unpacked.is_err() {
            assert_eq!(budget.used(), 0, "what was refused takes no memory");
        }
        unpacked
    }

    fn unpacked(fill: impl FnOnce(&mut Tar)) -> Result<Unpacked, Refusal> {
        unpack_with(&archive(fill), &Limits::default(), 1 << 30)
    }

    fn names(tree: &Unpacked) -> Vec<&str> {
        tree.files.files().map(|(path, _)| path.to_str().unwrap()).collect()
    }

    #[test]
    fn files_folders_and_links_are_taken_and_nothing_else() {
        let tree = unpacked(|tar| {
            entry(tar, EntryType::Directory, "./", "", b"");
            entry(tar, EntryType::Directory, "app/", "", b"");
            entry(tar, EntryType::Directory, "empty", "", b"");
            file(tar, "app/a.yaml", b"a: 1\n");
            file(tar, "./b/c.yaml", b"");
            link(tar, "app/link", "../b");
            entry(tar, EntryType::Link, "hard", "app/a.yaml", b"");
            entry(tar, EntryType::Char, "null", "", b"");
            entry(tar, EntryType::Fifo, "pipe", "", b"");
        })
        .unwrap();
        assert_eq!(names(&tree), ["app/a.yaml", "b/c.yaml"]);
        assert_eq!(tree.files.entry(Path::new("empty")).unwrap(), Entry::Directory);
        assert_eq!(tree.files.links().collect::<Vec<_>>(), [(Path::new("app/link"), Path::new("../b"))]);
        assert_eq!(tree.digests.len(), 2);
    }

    #[test]
    fn long_names_come_in_both_ways() {
        let long = format!("{}/{}", "d".repeat(150), "n".repeat(140));
        let path = format!("{}/file", "p".repeat(120));
        let tree = unpacked(|tar| {
            let mut header = Header::new_gnu();
            header.set_size(0);
            tar.append_data(&mut header, &long, &b""[..]).unwrap();
            tar.append_pax_extensions([("path", path.as_bytes())]).unwrap();
            file(tar, "short", b"");
        })
        .unwrap();
        assert_eq!(names(&tree), [long, path]);
    }

    #[test]
    fn nothing_leads_out() {
        for name in ["../a", "a/../../b", "/etc/passwd", "a/../b"] {
            let refusal = unpacked(|tar| file(tar, name, b"")).unwrap_err();
            let want = format!("a path in the archive leads out of it: `{name}`");
            assert_eq!(refusal, Refusal::Invalid(want));
        }
        for (name, target) in [
            ("link", ".."),
            ("link", "/etc/passwd"),
            ("app/link", "../../etc"),
            ("app/link", "sub/../../../etc"),
            ("link", "app/up/../.."),
        ] {
            let refusal = unpacked(|tar| {
                entry(tar, EntryType::Directory, "app/sub/deep", "", b"");
                link(tar, "app/up", "sub/deep/..");
                link(tar, name, target);
            });
            let refusal = match (name, target) {
                // Where `app/up` leads to is `app/sub`, two below the root.
                ("link", "app/up/../..") => {
                    refusal.unwrap();
                    continue;
                }
                _ => refusal.unwrap_err(),
            };
            let want = format!("the link `{name}` leads out of the repository");
            assert_eq!(refusal, Refusal::Invalid(want), "{target}");
        }
        let by_way_of_another = unpacked(|tar| {
            link(tar, "a/near", "../b");
            file(tar, "b/file", b"");
            link(tar, "far", "a/near/../..");
        });
        assert!(matches!(by_way_of_another, Err(Refusal::Invalid(_))));
        let through_a_link = unpacked(|tar| {
            link(tar, "a", "b");
            file(tar, "a/file", b"");
        });
        assert!(matches!(through_a_link, Err(Refusal::Invalid(_))));
    }

    #[test]
    fn links_to_nowhere_and_in_circles_stay_within() {
        let tree = unpacked(|tar| {
            link(tar, "one", "two");
            link(tar, "two", "one");
            link(tar, "none", "missing/file");
        });
        assert_eq!(tree.unwrap().files.links().count(), 3);
    }

    #[test]
    fn each_limit_holds() {
        let limits = Limits { tree_bytes: 4096, files: 4, depth: 2, path_bytes: 20, ratio: 200 };
        let too_large = |fill: &dyn Fn(&mut Tar)| match unpack_with(&archive(fill), &limits, 1 << 30) {
            Err(Refusal::TooLarge(sentence)) => sentence,
            other => panic!("{other:?}"),
        };
        assert!(too_large(&|tar| file(tar, "a", &[0; 5000])).contains("larger than"));
        assert!(too_large(&|tar| (0..9).for_each(|_| file(tar, "a", &[0; 512]))).contains("larger than"));
        assert!(too_large(&|tar| (0..5).for_each(|_| file(tar, "a", b""))).contains("more than 4 files"));
        assert!(
            too_large(&|tar| {
                file(tar, "a/b/c", b"");
                file(tar, "d/e", b"");
            })
            .contains("more than 4 files")
        );
        assert!(too_large(&|tar| file(tar, "a/b/c/d", b"")).contains("more than 2 deep"));
        assert!(too_large(&|tar| file(tar, "abcdefghijklmnopqrstuvwxyz", b"")).contains("too long"));
    }

    #[test]
    fn a_bomb_is_stopped_while_it_inflates() {
        let bomb = archive(|tar| {
            let mut header = Header::new_ustar();
            header.set_path("bomb").unwrap();
            header.set_size(5 << 20);
            header.set_cksum();
            tar.append(&header, io::repeat(0).take(5 << 20)).unwrap();
        });
        let refusal = unpack_with(&bomb, &Limits::default(), 1 << 30).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::TooLarge(sentence) if sentence.contains("200 times")),
            "{refusal}"
        );
    }

    #[test]
    fn an_extension_is_not_read_without_end() {
        let refusal = unpacked(|tar| {
            entry(tar, EntryType::XHeader, "pax", "", &vec![b'a'; 70_000]);
            file(tar, "a", b"");
        });
        assert!(matches!(refusal, Err(Refusal::TooLarge(_))));
    }

    #[test]
    fn what_is_cut_off_or_no_archive_is_refused() {
        let whole = archive(|tar| {
            let mut noise = 1_u32;
            let content: Vec<u8> = std::iter::repeat_with(|| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (noise >> 24) as u8
            })
            .take(5000)
            .collect();
            file(tar, "a", &content);
        });
        for end in [0, 5, whole.len() / 2, whole.len() - 700] {
            let refusal = unpack_with(&whole[..end], &Limits::default(), 1 << 30);
            assert!(matches!(refusal, Err(Refusal::Invalid(_))), "{end}");
        }
        let mut text = GzEncoder::new(Vec::new(), Compression::fast());
        text.write_all(&[b'x'; 2000]).unwrap();
        let text = text.finish().unwrap();
        assert!(matches!(unpack_with(&text, &Limits::default(), 1 << 30), Err(Refusal::Invalid(_))));
        assert!(matches!(unpack_with(b"plain", &Limits::default(), 1 << 30), Err(Refusal::Invalid(_))));
    }

    #[test]
    fn memory_ends_before_it_is_taken() {
        let large = archive(|tar| file(tar, "a", &[1; 100_000]));
        assert_eq!(unpack_with(&large, &Limits::default(), 50_000).unwrap_err(), Refusal::NoMemory);
        let many = archive(|tar| (0..100).for_each(|number| file(tar, &format!("{number}"), b"")));
        assert_eq!(unpack_with(&many, &Limits::default(), 20_000).unwrap_err(), Refusal::NoMemory);
    }
}
