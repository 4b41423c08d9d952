//! As much of HPACK (RFC 7541) as it takes to replace one value in a block of headers.
//!
//! In: the bytes of a header block. Out: the same with another authority, or nothing where there is none to replace.
//! Malformed blocks are left to the HTTP/2 server, which rejects them.

/// The index of `:authority` in the static table (appendix A).
const AUTHORITY_INDEX: usize = 1;

/// The name, where a client writes it out as gRPC's C core does.
const AUTHORITY: &[u8] = b":authority";

/// Maximum number of bits the code of each symbol has (appendix B). The code that is canonical: it follows from its lengths. The last
/// symbol is EOS.
#[rustfmt::skip]
const CODE_LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

const LONGEST_CODE: usize = 30;

/// A header block whose authorities are all plain names, where it has one that is not.
///
/// The new value is as long as the old one: both ends then still agree on the size of their dynamic tables, and with it
/// on what each index means.
pub(crate) fn with_plain_authority(block: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader { block, at: 0 };
    let mut changed = None;
    let mut copied = 0;
    while !reader.is_at_end() {
        let Some(value) = reader.next_authority()? else { continue };
        let text = value.text()?;
        if text.iter().all(|byte| is_plain(*byte)) {
            continue;
        }
        let out = changed.get_or_insert_with(|| Vec::with_capacity(block.len() * 2));
        out.extend_from_slice(&block[copied..value.start]);
        push_length(out, text.len());
        out.extend(text.iter().map(|byte| if is_plain(*byte) { *byte } else { b'-' }));
        copied = reader.at;
    }
    let mut changed = changed?;
    changed.extend_from_slice(&block[copied..]);
    Some(changed)
}

/// Returns what every parser of authorities takes.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

/// The length of a string that is not Huffman coded.
fn push_length(out: &mut Vec<u8>, length: usize) {
    const PREFIX: usize = 0x7f;
    if length < PREFIX {
        out.push(length as u8);
        return;
    }
    out.push(PREFIX as u8);
    let mut rest = length - PREFIX;
    while rest >= 0x80 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

struct Reader<'b> {
    block: &'b [u8],
    at: usize,
}

/// A string as it stands in a block.
struct Literal<'b> {
    start: usize,
    is_huffman: bool,
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    fn is_at_end(&self) -> bool {
        self.at >= self.block.len()
    }

    /// Steps over the next field; out comes the value of an authority. Outer: whether the block holds together.
    fn next_authority(&mut self) -> Option<Option<Literal<'b>>> {
        let first = *self.block.get(self.at)?;
        if first & 0x80 != 0 {
            // Indexed: its value was made plain when it was added to the table.
            self.integer(7)?;
            return Some(None);
        }
        if first & 0xe0 == 0x20 {
            // A new size of the table.
            self.integer(5)?;
            return Some(None);
        }
        let index = self.integer(if first & 0x40 != 0 { 6 } else { 4 })?;
        let is_authority = match index {
            0 => self.string()?.text()? == AUTHORITY,
            index => index == AUTHORITY_INDEX,
        };
        let value = self.string()?;
        Some(is_authority.then_some(value))
    }

    /// An integer of section 5.1, of at most 28 bits beyond its prefix.
    fn integer(&mut self, prefix: u32) -> Option<usize> {
        let mask = (1_usize << prefix) - 1;
        let mut value = usize::from(self.next()?) & mask;
        if value < mask {
            return Some(value);
        }
        for shift in [0, 7, 14, 21] {
            let byte = usize::from(self.next()?);
            value += (byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn string(&mut self) -> Option<Literal<'b>> {
        let start = self.at;
        let is_huffman = self.block.get(start)? & 0x80 != 0;
        let length = self.integer(7)?;
        let bytes = self.block.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(Literal { start, is_huffman, bytes })
    }

    fn next(&mut self) -> Option<u8> {
        let byte = *self.block.get(self.at)?;
        self.at += 1;
        Some(byte)
    }
}

impl Literal<'_> {
    fn text(&self) -> Option<Vec<u8>> {
        if self.is_huffman { decode(self.bytes) } else { Some(self.bytes.to_vec()) }
    }
}

/// Maximum number of codes there that are of each length.
const CODES_OF_LENGTH: [u32; LONGEST_CODE + 1] = {
    let mut counts = [0; LONGEST_CODE + 1];
    let mut symbol = 0;
    while symbol < CODE_LENGTHS.len() {
        counts[CODE_LENGTHS[symbol] as usize] += 1;
        symbol += 1;
    }
    counts
};

/// The symbols in the order of their codes.
const SYMBOLS: [u16; 257] = {
    let mut symbols = [0; 257];
    let (mut filled, mut length) = (0, 0);
    while length <= LONGEST_CODE {
        let mut symbol = 0;
        while symbol < CODE_LENGTHS.len() {
            if CODE_LENGTHS[symbol] as usize == length {
                symbols[filled] = symbol as u16;
                filled += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    symbols
};

/// Decodes a Huffman coded string: at each length, the codes are those that follow on twice the end of the shorter ones.
fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(bytes.len() * 8 / 5);
    let (mut code, mut first, mut length, mut before) = (0_u32, 0_u32, 0_usize, 0_u32);
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |shift| byte >> shift & 1)) {
        if length == LONGEST_CODE {
            return None;
        }
        before += CODES_OF_LENGTH[length];
        first = (first + CODES_OF_LENGTH[length]) << 1;
        length += 1;
        code = code << 1 | u32::from(bit);
        let place = code.wrapping_sub(first);
        if place < CODES_OF_LENGTH[length] {
            // EOS is no symbol of a string.
            text.push(u8::try_from(SYMBOLS[(before + place) as usize]).ok()?);
            (code, first, length, before) = (0, 0, 0, 0);
        }
    }
    // What is left is the beginning of EOS, all ones, and no whole byte.
    (length < 8 && code == (1 << length) - 1).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    /// The examples of appendix C.4 and C.6.
    #[test]
    fn huffman_strings_are_decoded() {
        for (hex, want) in [
            ("f1e3 c2e5 f23a 6ba0 ab90 f4ff", "www.example.com"),
            ("a8eb 1064 9cbf", "no-cache"),
            ("25a8 49e9 5ba9 7d7f", "custom-key"),
            ("d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3", "https://www.example.com"),
        ] {
            assert_eq!(decode(&bytes(hex)).as_deref(), Some(want.as_bytes()), "{hex}");
        }
    }

    #[test]
    fn wrong_huffman_strings_are_refused() {
        // Padding of zeros, of a whole byte, and EOS itself.
        for hex in ["f1e3 c2e5 f23a 6ba0 ab90 f4fe", "ff", "ffff ffff", "a8eb 1064 9cbf ff"] {
            assert_eq!(decode(&bytes(hex)), None, "{hex}");
        }
    }

    #[test]
    fn an_authority_becomes_a_plain_name_of_the_same_length() {
        // By index, by a name written out, never indexed, not indexed, beside other fields.
        for (block, want) in [
            (&b"\x41\x04%2Fa"[..], Some(&b"\x41\x04-2Fa"[..])),
            (b"\x83\x41\x04%2Fa\x86", Some(b"\x83\x41\x04-2Fa\x86")),
            (b"\x40\x0a:authority\x04%2Fa", Some(b"\x40\x0a:authority\x04-2Fa")),
            (b"\x10\x0a:authority\x04a/bc", Some(b"\x10\x0a:authority\x04a-bc")),
            (b"\x01\x03a:b\x3f\x01", Some(b"\x01\x03a-b\x3f\x01")),
            (b"\x41\x09localhost", None),
            (b"\x44\x04%2Fa", None),
            (b"\x41\x00", None),
            (b"", None),
        ] {
            assert_eq!(with_plain_authority(block).as_deref(), want, "{block:?}");
        }
    }

    #[test]
    fn a_huffman_coded_authority_is_written_out() {
        // `%` is 010101, `2` 00010, `F` 1100001, `a` 00011, and a one.
        let bits = format!("{}{}{}{}", "010101", "00010", "1100001", "00011");
        let padded = format!("{bits:1<24}");
        let coded: Vec<u8> = padded
            .as_bytes()
            .chunks(8)
            .map(|bits| u8::from_str_radix(std::str::from_utf8(bits).unwrap(), 2).unwrap())
            .collect();
        let mut block = vec![0x41, 0x83];
        block.extend_from_slice(&coded);
        assert_eq!(with_plain_authority(&block).unwrap(), b"\x41\x04-2Fa");
    }

    #[test]
    fn what_is_cut_off_or_endless_is_left_alone() {
        let whole = b"\x41\x04%2Fa";
        for end in 1..whole.len() {
            assert_eq!(with_plain_authority(&whole[..end]), None, "{end}");
        }
        assert_eq!(with_plain_authority(b"\x41\x7f\xff\xff\xff\xff\xff\xff\xff\x0f"), None);
        assert_eq!(with_plain_authority(b"\x7f\xff\xff\xff\xff\xff\xff"), None);
    }

    #[test]
    fn a_long_authority_has_a_long_length() {
        for length in [126, 127, 128, 254, 255, 256, 20_000] {
            let mut block = vec![0x41];
            push_length(&mut block, length);
            block.extend(vec![b'%'; length]);
            let mut want = vec![0x41];
            push_length(&mut want, length);
            want.extend(vec![b'-'; length]);
            assert_eq!(with_plain_authority(&block).unwrap(), want);
        }
    }
}
