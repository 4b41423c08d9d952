//! A chart's files as an archive, the same bytes each time.
//!
//! In: the files of a chart's folder. Out: a `.tgz` with all of them below the chart's name.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::File;

/// 1980-01-01: archives of the same files are the same, and no tool takes the date for a broken one.
const TIME: u64 = 315_532_800;

/// Packs the files of the chart with a name: `Chart.yaml` first, as readers expect, the others in the order of paths.
///
/// # Errors
/// If a path is too long for an archive.
pub fn pack(name: &str, files: &[File]) -> io::Result<Vec<u8>> {
    let mut files: Vec<&File> = files.iter().collect();
    files.sort_by_key(|file| (file.name != "Chart.yaml", file.name.as_str()));
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for file in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_mtime(TIME);
        header.set_size(file.data.len() as u64);
        builder.append_data(&mut header, format!("{name}/{}", file.name), &*file.data)?;
    }
    let mut compressed = builder.into_inner()?;
    compressed.flush()?;
    compressed.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::archive;

    #[test]
    fn what_is_packed_comes_out_in_a_fixed_order() {
        let long = format!("templates/{}.yaml", "a".repeat(200));
        let mut given: Vec<File> = ["values.yaml", &long, "Chart.yaml", "charts/x-1.0.0.tgz"]
            .iter()
            .map(|name| File::new(*name, name.as_bytes()))
            .collect();
        let packed = pack("web", &given).expect("it is written to memory");
        let files = archive::files(&packed).expect("an archive");
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["Chart.yaml", "charts/x-1.0.0.tgz", &long, "values.yaml"]);
        given.reverse();
        assert_eq!(packed, pack("web", &given).expect("it is written to memory"));
    }
}
