//! Charts in archives: `.tgz` files from anywhere, so nothing in them is believed.
//!
//! In: the bytes of an archive. Out: its files, with paths inside the chart. Refused: paths and links that lead out of
//! the chart, and archives that grow beyond measure.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::File;

/// Maximum size of all files of a chart: Helm's own limit.
pub const MAX_CHART_SIZE: u64 = 100 << 20;
/// Maximum size of one file of a chart: Helm's own limit.
pub const MAX_CHART_FILE_SIZE: u64 = 5 << 20;
/// A chart with more files is an attack: each costs more than its bytes.
pub const MAX_CHART_FILES: usize = 20_000;

const ABSOLUTE: &str = "chart illegally contains absolute paths";

/// The files in an archive.
///
/// # Errors
/// In Helm's words, where Helm refuses too.
pub fn files(bytes: &[u8]) -> Result<Vec<File>, String> {
    files_within(bytes, MAX_CHART_SIZE, MAX_CHART_FILE_SIZE)
}

fn files_within(bytes: &[u8], max_size: u64, max_file_size: u64) -> Result<Vec<File>, String> {
    if bytes.get(..2) != Some(&[0x1f, 0x8b]) {
        return Err("gzip: invalid header".to_owned());
    }
    // What is unpacked is bounded as a whole, headers and padding included.
    let unpacked = MultiGzDecoder::new(bytes).take(max_size + (MAX_CHART_FILES as u64 + 2) * 1024);
    let mut files = Vec::new();
    let mut left = max_size;
    for entry in Archive::new(unpacked).entries().map_err(|error| error.to_string())? {
        let mut entry = entry.map_err(|error| error.to_string())?;
        let kind = entry.header().entry_type();
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if kind.is_dir() || path.ends_with('/') || kind == EntryType::XGlobalHeader {
            continue;
        }
        let name = inner_path(&path)?;
        if let Some(target) = entry.link_name_bytes().filter(|_| kind.is_symlink() || kind.is_hard_link()) {
            let from =
                if kind.is_symlink() { path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { "" };
            refuse_escape(&path, from, &String::from_utf8_lossy(&target))?;
        }
        let size = entry.size();
        if size > left {
            return Err(format!("decompressed chart is larger than the maximum size {max_size}"));
        }
        if size > max_file_size {
            return Err(format!(
                "decompressed chart file {path:?} is larger than the maximum file size {max_file_size}"
            ));
        }
        if files.len() == MAX_CHART_FILES {
            return Err(format!("chart has more than {MAX_CHART_FILES} files"));
        }
        let mut data = Vec::new();
        // A link has no content of its own, and is never followed: to Helm it is an empty file.
        entry.by_ref().take(size).read_to_end(&mut data).map_err(|error| error.to_string())?;
        if (data.len() as u64) < size {
            return Err(format!("decompressed chart is larger than the maximum size {max_size}"));
        }
        left -= size;
        files.push(File::new(name, &data));
    }
    if files.is_empty() {
        return Err("no files in chart archive".to_owned());
    }
    Ok(files)
}

/// The path inside the chart: without the archive's top folder, with `/`, and never out of the chart.
fn inner_path(path: &str) -> Result<String, String> {
    let delimiter = if path.contains('\\') { '\\' } else { '/' };
    let (top, inner) = path.split_once(delimiter).unwrap_or((path, ""));
    // Helm means to refuse these, but looks for the slash behind the top folder only.
    if top.is_empty() {
        return Err(ABSOLUTE.to_owned());
    }
    let inner = inner.replace(delimiter, "/");
    if inner.starts_with('/') {
        return Err(ABSOLUTE.to_owned());
    }
    let clean = clean(&inner);
    if clean.is_empty() {
        return Err(format!("chart illegally contains content outside the base directory: {path:?}"));
    }
    if clean.starts_with("..") {
        return Err("chart illegally references parent directory".to_owned());
    }
    let mut start = clean.chars();
    if start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.as_str().starts_with(":/") {
        return Err("chart contains illegally named files".to_owned());
    }
    if top == "Chart.yaml" {
        return Err("chart yaml not in base directory".to_owned());
    }
    Ok(clean)
}

/// Refuses a link to something that is not in the archive's top folder, as no chart has any. `from` is the folder that
/// the target is told from.
fn refuse_escape(path: &str, from: &str, target: &str) -> Result<(), String> {
    let absolute = target.starts_with(['/', '\\']) || target.contains(':');
    let reached = clean(&format!("{from}/{target}").replace('\\', "/"));
    let top = clean(path).split('/').next().unwrap_or_default().to_owned();
    if absolute || reached.split('/').next() != Some(&top) {
        return Err(format!("chart illegally contains a link out of it: {path:?} leads to {target:?}"));
    }
    Ok(())
}

/// Go's `path.Clean` of a relative path, empty for the folder itself.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, data) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            // The library refuses such paths itself, an attacker does not.
            let name = &mut header.as_old_mut().name;
            name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, *data).expect("it is written to memory");
        }
        builder.into_inner().and_then(GzEncoder::finish).expect("it is written to memory")
    }

    #[test]
    fn the_top_folder_is_no_part_of_a_path() {
        let files = files(&archive(&[
            ("web/Chart.yaml", b"name: web"),
            ("web/./templates//a.yaml", b"\xef\xbb\xbfa"),
        ]))
        .expect("a chart");
        let read: Vec<(&str, &[u8])> = files.iter().map(|file| (file.name.as_str(), &*file.data)).collect();
        assert_eq!(read, [("Chart.yaml", &b"name: web"[..]), ("templates/a.yaml", &b"a"[..])]);
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        for (path, reason) in [
            ("web/../../etc/passwd", "chart illegally references parent directory"),
            ("web//etc/passwd", "chart illegally contains absolute paths"),
            ("web\\..\\..\\x", "chart illegally references parent directory"),
            ("web/c:/x", "chart contains illegally named files"),
            ("Chart.yaml/x", "chart yaml not in base directory"),
            ("web/.", "chart illegally contains content outside the base directory"),
            ("/etc/passwd", "chart illegally contains absolute paths"),
        ] {
            let error = files(&archive(&[(path, b"x")])).expect_err(path);
            assert!(error.contains(reason), "{path}: {error}");
        }
    }

    fn link(kind: EntryType, path: &str, target: &str) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        builder.append_link(&mut header, path, target).expect("it is written to memory");
        builder.into_inner().and_then(GzEncoder::finish).expect("it is written to memory")
    }

    #[test]
    fn links_that_lead_out_are_refused() {
        for (kind, target) in [
            (EntryType::Symlink, "/etc/passwd"),
            (EntryType::Link, "/etc/passwd"),
            (EntryType::Symlink, "../../web2/values.yaml"),
            (EntryType::Symlink, "../../../etc/passwd"),
            (EntryType::Link, "other/values.yaml"),
            (EntryType::Symlink, "c:/x"),
            (EntryType::Symlink, "..\\..\\x"),
        ] {
            let error = files(&link(kind, "web/files/a", target)).expect_err(target);
            assert!(error.contains("a link out of it"), "{target}: {error}");
        }
    }

    /// As `.Files.Get` of such a link gives nothing in Helm.
    #[test]
    fn links_within_the_chart_are_empty_files() {
        for (kind, target) in [
            (EntryType::Symlink, "b"),
            (EntryType::Symlink, "../values.yaml"),
            (EntryType::Link, "web/values.yaml"),
        ] {
            let files = files(&link(kind, "web/files/a", target)).expect(target);
            assert_eq!((files[0].name.as_str(), files[0].data.len()), ("files/a", 0), "{target}");
        }
    }

    #[test]
    fn bombs_are_refused() {
        let zeros = [0; 1025];
        let error =
            files_within(&archive(&[("web/big", &zeros)]), 1 << 20, 1024).expect_err("too large a file");
        assert!(error.contains("larger than the maximum file size 1024"), "{error}");
        let entries = [("web/a", &zeros[..]), ("web/b", &zeros[..]), ("web/c", &zeros[..])];
        let error = files_within(&archive(&entries), 3000, 2000).expect_err("too large a chart");
        assert!(error.contains("larger than the maximum size 3000"), "{error}");
    }
}
