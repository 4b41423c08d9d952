//! As much of DER as public keys are written in. It refuses lengths that are not as short as they can be.

/// A list of fields.
pub(crate) const SEQUENCE: u8 = 0x30;
/// A number.
pub(crate) const INTEGER: u8 = 0x02;
/// Bits, of which the first byte says how many of the last one do not count.
pub(crate) const BIT_STRING: u8 = 0x03;
/// Nothing.
pub(crate) const NULL: u8 = 0x05;
/// The name of something.
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;

/// Reads a field, and gives its content and what follows it.
pub(crate) fn field(tag: u8, input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = input.split_first()?;
    let (length, rest) = length(rest)?;
    (*first == tag).then(|| rest.split_at_checked(length)).flatten()
}

/// Reads a field that nothing follows.
pub(crate) fn only(tag: u8, input: &[u8]) -> Option<&[u8]> {
    let (content, rest) = field(tag, input)?;
    rest.is_empty().then_some(content)
}

/// Reads bits that are whole bytes, which nothing follows.
pub(crate) fn only_bytes(input: &[u8]) -> Option<&[u8]> {
    let (unused, bytes) = only(BIT_STRING, input)?.split_first()?;
    (*unused == 0).then_some(bytes)
}

/// Reads a number above zero, without the byte that only says that it is not below.
pub(crate) fn number(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (content, rest) = field(INTEGER, input)?;
    let number = match content {
        [0, second, ..] if *second >= 0x80 => &content[1..],
        [first, ..] if (1..0x80).contains(first) => content,
        _ => return None,
    };
    Some((number, rest))
}

fn length(input: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = input.split_first()?;
    if *first < 0x80 {
        return Some((usize::from(*first), rest));
    }
    // No key has more than a megabyte.
    let (bytes, rest) =
        rest.split_at_checked(usize::from(*first & 0x7f)).filter(|(bytes, _)| bytes.len() <= 3)?;
    let length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let is_shortest = length >= 0x80 && bytes.first().is_some_and(|byte| *byte != 0);
    is_shortest.then_some((length, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_as_short_as_it_can_be_and_no_longer_than_its_input() {
        assert_eq!(only(SEQUENCE, &[0x30, 0]), Some(&[][..]));
        assert_eq!(field(SEQUENCE, &[0x30, 1, 7, 8]), Some((&[7][..], &[8][..])));
        let long: Vec<u8> = [0x30, 0x81, 0x80].into_iter().chain([1; 0x80]).collect();
        assert_eq!(only(SEQUENCE, &long).map(<[u8]>::len), Some(0x80));
        for wrong in [
            &[][..],
            &[0x30],
            &[0x30, 2, 0],
            &[0x30, 0, 0],
            &[0x31, 0],
            &[0x30, 0x80],
            &[0x30, 0x81, 1, 0],
            &[0x30, 0x82, 0, 0x80],
            &[0x30, 0x84, 0, 0, 0, 1, 0],
            &[0x30, 0xff, 0xff, 0xff],
        ] {
            assert_eq!(only(SEQUENCE, wrong), None, "{wrong:?}");
        }
        assert_eq!(number(&[2, 2, 0, 0x80]), Some((&[0x80][..], &[][..])));
        for wrong in [&[2, 0][..], &[2, 1, 0], &[2, 2, 0, 1], &[2, 1, 0x80]] {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
        assert_eq!(only_bytes(&[3, 2, 0, 5]), Some(&[5][..]));
        assert_eq!(only_bytes(&[3, 2, 1, 5]), None);
    }
}
