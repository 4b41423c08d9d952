//! DER, the encoding of keys and certificates: writing values, and reading them one after the other.

use crate::funcs::big::Natural;

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// The tag of the field that a structure gives this number.
pub(super) const fn field(number: u8) -> u8 {
    0xa0 + number
}

/// A value with its tag and length.
pub(super) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        length @ 0..0x80 => out.push(length as u8),
        length => {
            let bytes = Natural::from(length as u64).to_bytes();
            out.push(0x80 | bytes.len() as u8);
            out.extend(bytes);
        }
    }
    out.extend_from_slice(content);
    out
}

pub(super) fn sequence<T: AsRef<[u8]>>(values: impl IntoIterator<Item = T>) -> Vec<u8> {
    let content: Vec<u8> = values.into_iter().flat_map(|value| value.as_ref().to_vec()).collect();
    value(SEQUENCE, &content)
}

/// An integer that is not negative.
pub(super) fn integer(number: &Natural) -> Vec<u8> {
    let mut bytes = number.to_bytes();
    // The highest bit would be a sign.
    if bytes.first().is_none_or(|first| first & 0x80 != 0) {
        bytes.insert(0, 0);
    }
    value(INTEGER, &bytes)
}

pub(super) fn small_integer(number: u64) -> Vec<u8> {
    integer(&Natural::from(number))
}

pub(super) fn octets(bytes: &[u8]) -> Vec<u8> {
    value(OCTET_STRING, bytes)
}

/// Whole bytes as a string of bits.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes].concat())
}

/// An object identifier, which is given as it is encoded.
pub(super) fn object(encoded: &[u8]) -> Vec<u8> {
    value(OBJECT, encoded)
}

/// Values one after the other.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

/// A value that was read.
#[derive(Clone, Copy)]
pub(super) struct Read<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    /// The content with its tag and length.
    pub(super) whole: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next value; none if there is no whole one.
    pub(super) fn next(&mut self) -> Option<Read<'a>> {
        let [tag, first, rest @ ..] = self.0 else { return None };
        let (length, rest) = match *first {
            length if length < 0x80 => (usize::from(length), rest),
            0x81..=0x84 => {
                let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        let whole = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some(Read { tag: *tag, content, whole })
    }

    /// The content of the next value, if it has that tag.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|value| value.tag == tag).map(|value| value.content)
    }

    /// The values in the next one, a sequence.
    pub(super) fn sequence(&mut self) -> Option<Self> {
        self.take(SEQUENCE).map(Self)
    }

    /// The next value, an integer that is not negative.
    pub(super) fn integer(&mut self) -> Option<Natural> {
        let content = self.take(INTEGER)?;
        content.first().filter(|first| **first & 0x80 == 0)?;
        Some(Natural::from_bytes(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_grow_with_their_content() {
        assert_eq!(value(OCTET_STRING, &[7; 3]), [4, 3, 7, 7, 7]);
        assert_eq!(value(OCTET_STRING, &[7; 200])[..3], [4, 0x81, 200]);
        assert_eq!(value(OCTET_STRING, &[7; 300])[..4], [4, 0x82, 1, 44]);
    }

    #[test]
    fn integers_have_room_for_a_sign() {
        assert_eq!(small_integer(0), [2, 1, 0]);
        assert_eq!(small_integer(127), [2, 1, 127]);
        assert_eq!(small_integer(128), [2, 2, 0, 128]);
    }

    #[test]
    fn what_is_cut_off_is_no_value() {
        let whole = sequence([small_integer(1), octets(b"abc")]);
        let mut reader = Reader::new(&whole).sequence().unwrap();
        assert_eq!(reader.integer(), Some(1.into()));
        assert_eq!(reader.take(OCTET_STRING), Some(&b"abc"[..]));
        assert!(reader.next().is_none());
        assert!(Reader::new(&whole[..whole.len() - 1]).next().is_none());
        assert!(Reader::new(&[4, 0x84, 0xff, 0xff, 0xff, 0xff]).next().is_none());
    }
}
