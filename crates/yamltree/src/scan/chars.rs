//! Character classes of the scanner.

/// Ends the fast path of a plain scalar at every position.
const BLOCK_STOP: u8 = 1;
/// Ends a plain scalar's run of easy bytes within `[…]` and `{…}`.
const FLOW_STOP: u8 = 2;
/// A letter, digit, `_` or `-`: what names of anchors and tag handles are made of.
const WORD: u8 = 4;
/// Characters of a tag besides letters and digits.
const URI: u8 = 8;
/// Cannot start a plain scalar.
const NO_PLAIN_START: u8 = 16;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte as u8 == b'-' {
            table[byte] |= WORD | URI;
        }
        byte += 1;
    }
    // Breaks of more than one byte start with C2 or E2; 0 is the end of the text.
    mark(&mut table, b"\0 \t\r\n:\xC2\xE2", BLOCK_STOP | FLOW_STOP);
    mark(&mut table, b",?[]{}", FLOW_STOP);
    mark(&mut table, b";/?:@&=+$,.!~*'()[]%", URI);
    mark(&mut table, b"\0 \t\r\n-?:,[]{}#&*!|>'\"%@`", NO_PLAIN_START);
    table
}

const fn mark(table: &mut [u8; 256], bytes: &[u8], class: u8) {
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] |= class;
        at += 1;
    }
}

pub(super) fn stops_plain(byte: u8, in_flow: bool) -> bool {
    CLASS[byte as usize] & if in_flow { FLOW_STOP } else { BLOCK_STOP } != 0
}

pub(super) fn is_flow_indicator(byte: u8) -> bool {
    matches!(byte, b',' | b'?' | b'[' | b']' | b'{' | b'}')
}

pub(super) fn is_word(byte: u8) -> bool {
    CLASS[byte as usize] & WORD != 0
}

pub(super) fn is_uri(byte: u8) -> bool {
    CLASS[byte as usize] & URI != 0
}

pub(super) fn starts_plain(byte: u8) -> bool {
    CLASS[byte as usize] & NO_PLAIN_START == 0
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
