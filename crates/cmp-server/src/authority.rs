//! Makes the authority of requests one that HTTP libraries take.
//!
//! In: the bytes of an HTTP/2 client (RFC 9113). Out: the same bytes, but for the authority in its headers. grpc-go names
//! a server on a socket by the percent-encoded path, `home%2Fargocd%2F…`, which is no authority to the `http` crate, so
//! that every call would be reset. The authority decides nothing here; it is made a plain name. Anything that is not as
//! the protocol has it is passed on as it is from there, for the server behind to refuse.

use crate::hpack;

/// The first bytes that an HTTP/2 client sends.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The size of a frame that a peer may send unless it is told otherwise, which nobody here does.
const MAX_FRAME: usize = 1 << 14;

/// A block of headers is no larger, with its frames; the server behind takes a quarter of it.
const MAX_HEADERS: usize = 1 << 16;

const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// The bytes in front of a frame's payload.
const HEAD: usize = 9;

/// The stream's dependency and weight, in a frame with [`PRIORITY`].
const PRIORITY_FIELDS: usize = 5;

/// Rewrites a client's bytes as they come, in pieces of any size.
#[derive(Debug)]
pub(crate) struct Rewriter {
    state: State,
    /// The frames of a block of headers that has not ended, and the head of the frame that is being read.
    held: Vec<u8>,
    block: Option<Block>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// So much of the preface has been seen.
    Preface(usize),
    /// In the head of a frame, which begins there in what is held.
    Head(usize),
    /// In a frame of headers, which begins there in what is held and ends at the second.
    Headers(usize, usize),
    /// In a frame that is none of headers, with so much left.
    Payload(usize),
    /// The client does not keep to the protocol.
    Broken,
}

/// A block of headers out of one frame or several.
#[derive(Debug)]
struct Block {
    stream: [u8; 4],
    flags: u8,
    priority: Vec<u8>,
    fragments: Vec<u8>,
}

impl Default for Rewriter {
    fn default() -> Self {
        Self { state: State::Preface(0), held: Vec::new(), block: None }
    }
}

impl Rewriter {
    /// Takes what was read next, and adds to `out` what can be passed on.
    pub(crate) fn rewrite(&mut self, mut input: &[u8], out: &mut Vec<u8>) {
        while !input.is_empty() {
            let taken = match self.state {
                State::Preface(seen) => self.preface(seen, input, out),
                State::Head(start) => self.head(start, input, out),
                State::Headers(start, end) => self.headers(start, end, input, out),
                State::Payload(left) => {
                    let taken = left.min(input.len());
                    out.extend_from_slice(&input[..taken]);
                    self.state = if left == taken { State::Head(0) } else { State::Payload(left - taken) };
                    taken
                }
                State::Broken => {
                    out.extend_from_slice(input);
                    input.len()
                }
            };
            input = &input[taken..];
        }
    }

    fn preface(&mut self, seen: usize, input: &[u8], out: &mut Vec<u8>) -> usize {
        let expected = &PREFACE[seen..];
        let taken = expected.len().min(input.len());
        out.extend_from_slice(&input[..taken]);
        self.state = if input[..taken] != expected[..taken] {
            State::Broken
        } else if taken == expected.len() {
            State::Head(0)
        } else {
            State::Preface(seen + taken)
        };
        taken
    }

    /// Reads on until the head of a frame is whole, then decides where its payload goes.
    fn head(&mut self, start: usize, input: &[u8], out: &mut Vec<u8>) -> usize {
        let taken = (start + HEAD - self.held.len()).min(input.len());
        self.held.extend_from_slice(&input[..taken]);
        let Some(head) = self.held.get(start..start + HEAD) else { return taken };
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let fits = length <= MAX_FRAME && start + HEAD + length <= MAX_HEADERS;
        self.state = match (&self.block, head[3]) {
            (None, HEADERS) if fits => State::Headers(start, start + HEAD + length),
            (Some(block), CONTINUATION) if fits && head[5..] == block.stream => {
                State::Headers(start, start + HEAD + length)
            }
            // Nothing else may come before a block's end (section 6.10), and no frame of headers is so large.
            (Some(_), _) | (None, HEADERS) => State::Broken,
            (None, _) => State::Payload(length),
        };
        match self.state {
            State::Headers(_, end) if end == self.held.len() => self.end_frame(start, out),
            State::Headers(..) => {}
            State::Payload(0) => {
                out.append(&mut self.held);
                self.state = State::Head(0);
            }
            _ => out.append(&mut self.held),
        }
        taken
    }

    fn headers(&mut self, start: usize, end: usize, input: &[u8], out: &mut Vec<u8>) -> usize {
        let taken = (end - self.held.len()).min(input.len());
        self.held.extend_from_slice(&input[..taken]);
        if self.held.len() == end {
            self.end_frame(start, out);
        }
        taken
    }

    /// A frame of headers is whole. Where the block is too, it is passed on.
    fn end_frame(&mut self, start: usize, out: &mut Vec<u8>) {
        let (head, payload) = self.held[start..].split_at(HEAD);
        let flags = head[4];
        let added = match &mut self.block {
            Some(block) => {
                block.fragments.extend_from_slice(payload);
                true
            }
            None => {
                self.block = Block::begin(head, payload);
                self.block.is_some()
            }
        };
        if !added {
            self.state = State::Broken;
            out.append(&mut self.held);
            return;
        }
        self.state = State::Head(self.held.len());
        if flags & END_HEADERS == 0 {
            return;
        }
        self.state = State::Head(0);
        let block = self.block.take();
        match block.and_then(|block| Some((hpack::with_plain_authority(&block.fragments)?, block))) {
            Some((headers, block)) => block.write(&headers, out),
            None => out.extend_from_slice(&self.held),
        }
        self.held.clear();
    }
}

impl Block {
    /// The block that a frame of headers begins; nothing where the frame's parts are longer than itself.
    fn begin(head: &[u8], payload: &[u8]) -> Option<Self> {
        let flags = head[4];
        let mut fields = payload;
        let mut padding = 0;
        if flags & PADDED != 0 {
            let (length, rest) = fields.split_first()?;
            (padding, fields) = (usize::from(*length), rest);
        }
        let (priority, rest) =
            fields.split_at_checked(if flags & PRIORITY != 0 { PRIORITY_FIELDS } else { 0 })?;
        let fragments = rest.get(..rest.len().checked_sub(padding)?)?;
        Some(Self {
            stream: head[5..].try_into().ok()?,
            flags: flags & !(PADDED | END_HEADERS),
            priority: priority.to_vec(),
            fragments: fragments.to_vec(),
        })
    }

    /// Writes other headers in its place, in as many frames as they need.
    fn write(&self, headers: &[u8], out: &mut Vec<u8>) {
        let mut rest = headers;
        let mut is_first = true;
        while is_first || !rest.is_empty() {
            let before: &[u8] = if is_first { &self.priority } else { &[] };
            let (part, after) = rest.split_at(rest.len().min(MAX_FRAME - before.len()));
            let (kind, flags) = if is_first { (HEADERS, self.flags) } else { (CONTINUATION, 0) };
            let end = if after.is_empty() { END_HEADERS } else { 0 };
            let length = (before.len() + part.len()) as u32;
            out.extend_from_slice(&length.to_be_bytes()[1..]);
            out.extend_from_slice(&[kind, flags | end]);
            out.extend_from_slice(&self.stream);
            out.extend_from_slice(before);
            out.extend_from_slice(part);
            (rest, is_first) = (after, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Rewrites the input in pieces that end at `cuts`.
    fn rewritten(input: &[u8], cuts: &[usize]) -> Vec<u8> {
        let (mut rewriter, mut out) = (Rewriter::default(), Vec::new());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (input.len() + 1)).collect();
        cuts.sort_unstable();
        let mut start = 0;
        for end in cuts.into_iter().chain([input.len()]) {
            rewriter.rewrite(&input[start..end], &mut out);
            start = end;
        }
        out
    }

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
        frame.extend_from_slice(&[kind, flags, 0, 0, 0, stream]);
        frame.extend_from_slice(payload);
        frame
    }

    fn stream(frames: &[Vec<u8>]) -> Vec<u8> {
        [PREFACE.to_vec(), frames.concat()].concat()
    }

    #[test]
    fn headers_change_and_nothing_else_does() {
        let settings = frame(4, 0, 0, &[]);
        let data = frame(0, 1, 1, b"\x41\x04%2Fa");
        let other = frame(HEADERS, END_HEADERS, 3, b"\x83\x86");
        let input = stream(&[
            settings.clone(),
            frame(HEADERS, 5, 1, b"\x83\x41\x04%2Fa"),
            data.clone(),
            other.clone(),
        ]);
        let want = stream(&[settings, frame(HEADERS, 5, 1, b"\x83\x41\x04-2Fa"), data, other]);
        assert_eq!(rewritten(&input, &[]), want);
        for cut in 0..input.len() {
            assert_eq!(rewritten(&input, &[cut]), want, "{cut}");
        }
    }

    #[test]
    fn padding_goes_and_priority_stays() {
        let padded = frame(
            HEADERS,
            END_HEADERS | PADDED | PRIORITY,
            1,
            b"\x02\x00\x00\x00\x07\x10\x41\x04%2Fa\x00\x00",
        );
        let want = frame(HEADERS, END_HEADERS | PRIORITY, 1, b"\x00\x00\x00\x07\x10\x41\x04-2Fa");
        assert_eq!(rewritten(&stream(&[padded]), &[]), stream(&[want]));
    }

    #[test]
    fn a_value_may_go_on_in_another_frame() {
        let frames = [
            frame(HEADERS, 1, 1, b"\x41\x04%2"),
            frame(CONTINUATION, 0, 1, b""),
            frame(CONTINUATION, 4, 1, b"Fa"),
        ];
        let want = frame(HEADERS, 5, 1, b"\x41\x04-2Fa");
        assert_eq!(rewritten(&stream(&frames), &[]), stream(&[want]));
    }

    #[test]
    fn large_headers_take_several_frames() {
        let mut block = b"\x41\x7f\x81\x7f".to_vec();
        let length = block.len();
        block.extend(vec![b'%'; 0x7f + 0x3f81]);
        let frames: Vec<_> = block.chunks(MAX_FRAME).collect();
        assert_eq!(frames.len(), 2);
        let input = stream(&[frame(HEADERS, 0, 1, frames[0]), frame(CONTINUATION, 4, 1, frames[1])]);
        let out = rewritten(&input, &[]);
        assert_eq!(out.len(), input.len());
        let dashes = out.iter().filter(|byte| **byte == b'-').count();
        assert_eq!(dashes, block.len() - length);
    }

    #[test]
    fn what_breaks_the_protocol_is_passed_on_as_it_is() {
        let header = frame(HEADERS, 0, 1, b"\x41\x04%2");
        let flood = vec![frame(CONTINUATION, 0, 1, &[]); MAX_HEADERS / HEAD + 1];
        for input in [
            b"GET / HTTP/1.1\r\nHost: a%2Fb\r\n\r\n".to_vec(),
            stream(&[frame(HEADERS, END_HEADERS | PADDED, 1, b"\x09\x41")]),
            stream(&[frame(HEADERS, END_HEADERS | PADDED, 1, b"")]),
            stream(&[frame(HEADERS, END_HEADERS | PRIORITY, 1, b"\x41")]),
            stream(&[header.clone(), frame(0, 0, 1, b"data"), frame(HEADERS, 4, 3, b"\x41\x04%2Fa")]),
            stream(&[header.clone(), frame(CONTINUATION, 4, 3, b"Fa")]),
            stream(&[header.clone(), frame(HEADERS, 4, 3, b"\x41\x04%2Fa")]),
            stream(&[frame(HEADERS, 4, 1, &[0; MAX_FRAME + 1])]),
            stream(&[vec![header], flood].concat()),
        ] {
            assert_eq!(rewritten(&input, &[]), input);
        }
    }

    fn frames() -> impl Strategy<Value = Vec<u8>> {
        let authority = prop_oneof![
            Just(&b"\x41\x04%2Fa"[..]),
            Just(&b"\x40\x0a:authority\x03a/b"[..]),
            Just(&b"\x83\x86"[..]),
            Just(&b"\x41\x09localhost\x84"[..]),
        ];
        let one = (0_u8..11, any::<u8>(), 0_u8..3, vec(authority, 0..3), vec(any::<u8>(), 0..20), 0_u8..4);
        let frame = one.prop_map(|(kind, flags, stream, authorities, noise, shape)| {
            let payload = if shape == 0 { noise } else { authorities.concat() };
            let flags = if shape == 1 { flags } else { END_HEADERS };
            frame(kind, flags, stream, &payload)
        });
        vec(frame, 0..12).prop_map(|frames| stream(&frames))
    }

    proptest! {
        #[test]
        fn any_split_into_reads_gives_the_same(input in frames(), cuts in vec(any::<usize>(), 0..20)) {
            prop_assert_eq!(rewritten(&input, &cuts), rewritten(&input, &[]));
        }

        #[test]
        fn any_bytes_are_taken(input in vec(any::<u8>(), 0..400), cuts in vec(any::<usize>(), 0..8)) {
            let input = [PREFACE.to_vec(), input].concat();
            prop_assert_eq!(rewritten(&input, &cuts), rewritten(&input, &[]));
        }

        #[test]
        fn what_is_plain_stays_as_it_is(input in frames()) {
            let once = rewritten(&input, &[]);
            prop_assert_eq!(rewritten(&once, &[]), once);
        }
    }
}
