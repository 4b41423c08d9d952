//! A pack: the few objects of a push, one after the other, as receive-pack wants them.

use std::io::Write;

use diagnostic::{Error, ErrorKind, Result};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::objs::Kind;

/// More than any number of edited text files take.
const MAX_PACK: usize = 1 << 30;

/// An object that is to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    pub(crate) kind: Kind,
    pub(crate) data: Vec<u8>,
}

/// A pack (version 2) of whole objects.
pub(crate) fn write(objects: &[Object]) -> Result<Vec<u8>> {
    let too_large = || Error::new(ErrorKind::Limit, format!("a push is larger than {} MiB", MAX_PACK >> 20));
    let count = u32::try_from(objects.len()).map_err(|_| too_large())?;
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend(count.to_be_bytes());
    for object in objects {
        write_header(object.kind, object.data.len(), &mut pack);
        let written = (|| {
            let mut encoder = ZlibEncoder::new(&mut pack, Compression::default());
            encoder.write_all(&object.data)?;
            encoder.finish().map(drop)
        })();
        written.map_err(|error| failed(&error))?;
        if pack.len() > MAX_PACK {
            return Err(too_large());
        }
    }
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&pack);
    let sum = hasher.try_finalize().map_err(|error| failed(&error))?;
    pack.extend(sum.as_slice());
    Ok(pack)
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unavailable, format!("a pack cannot be made: {error}"))
}

/// Kind and size: four bits of the size beside the kind, then seven in each byte, the lowest first.
fn write_header(kind: Kind, size: usize, pack: &mut Vec<u8>) {
    let kind = match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut byte = kind << 4 | (size & 0x0f) as u8;
    let mut rest = size >> 4;
    while rest > 0 {
        pack.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    pack.push(byte);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// gitformat-pack(5).
    #[test]
    fn a_size_takes_as_many_bytes_as_it_needs() {
        let header = |size| {
            let mut bytes = Vec::new();
            write_header(Kind::Blob, size, &mut bytes);
            bytes
        };
        assert_eq!(header(0), [0x30]);
        assert_eq!(header(15), [0x3f]);
        assert_eq!(header(16), [0xb0, 0x01]);
        assert_eq!(header(0x7ff), [0xbf, 0x7f]);
        assert_eq!(header(0x800), [0xb0, 0x80, 0x01]);
    }
}
