//! Format strings: the flags, width, precision and argument number that stand between `%` and the verb.

use crate::value::Value;

/// The largest width, precision or argument number that Go takes.
const LARGEST: i64 = 1_000_000;

/// The flags of a format.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%+v`.
    pub(super) plus_v: bool,
    /// `%#v`.
    pub(super) sharp_v: bool,
}

/// One `%` of a format.
pub(super) enum Directive {
    /// The format ends before the verb.
    NoVerb,
    /// `%%`.
    Percent,
    /// The argument number in brackets is none.
    BadIndex(char),
    /// There are not enough arguments.
    Missing(char),
    /// The verb, and which argument it is for.
    Verb(char, usize),
}

/// Reads directives one after the other and counts the arguments that they use.
pub(super) struct Reader<'a> {
    format: &'a [u8],
    args: &'a [Value],
    position: usize,
    next: usize,
    reordered: bool,
    good_index: bool,
    after_index: bool,
    /// Go's messages for a width or precision that is not a number.
    pub(super) complaints: Vec<&'static str>,
    pub(super) flags: Flags,
}

impl<'a> Reader<'a> {
    pub(super) fn new(format: &'a [u8], args: &'a [Value]) -> Self {
        Self {
            format,
            args,
            position: 0,
            next: 0,
            reordered: false,
            good_index: true,
            after_index: false,
            complaints: Vec::new(),
            flags: Flags::default(),
        }
    }

    /// The text up to the next `%`, and that directive unless the format ends first.
    pub(super) fn next(&mut self) -> (&'a [u8], Option<Directive>) {
        let rest = &self.format[self.position..];
        let Some(percent) = rest.iter().position(|byte| *byte == b'%') else {
            self.position = self.format.len();
            return (rest, None);
        };
        self.position += percent + 1;
        (&rest[..percent], Some(self.directive()))
    }

    /// The arguments that no directive used; none are missed once the format numbered one.
    pub(super) fn unused(&self) -> &'a [Value] {
        if self.reordered { &[] } else { self.args.get(self.next..).unwrap_or_default() }
    }

    fn directive(&mut self) -> Directive {
        self.flags = Flags::default();
        self.good_index = true;
        self.after_index = false;
        self.read_flags();
        self.read_index();
        self.read_width();
        self.read_precision();
        if !self.after_index {
            self.read_index();
        }
        let Some(verb) = self.read_verb() else { return Directive::NoVerb };
        if verb == '%' {
            return Directive::Percent;
        }
        if !self.good_index {
            return Directive::BadIndex(verb);
        }
        if self.next >= self.args.len() {
            return Directive::Missing(verb);
        }
        // Like `%v` to the end, and then wrong: `%w` is for errors.
        if matches!(verb, 'v' | 'w') {
            self.flags.sharp_v = std::mem::take(&mut self.flags.sharp);
            self.flags.plus_v = std::mem::take(&mut self.flags.plus);
        }
        self.next += 1;
        Directive::Verb(verb, self.next - 1)
    }

    fn peek(&self) -> Option<u8> {
        self.format.get(self.position).copied()
    }

    fn read_flags(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => self.flags.sharp = true,
                b'0' => self.flags.zero = true,
                b'+' => self.flags.plus = true,
                b'-' => self.flags.minus = true,
                b' ' => self.flags.space = true,
                _ => return,
            }
            self.position += 1;
        }
    }

    /// Reads `[n]`.
    fn read_index(&mut self) {
        if self.peek() != Some(b'[') {
            self.after_index = false;
            return;
        }
        self.reordered = true;
        let rest = &self.format[self.position..];
        let Some(close) = rest.iter().position(|byte| *byte == b']').filter(|_| rest.len() >= 3) else {
            self.position += 1;
            self.good_index = false;
            self.after_index = false;
            return;
        };
        let (number, end) = number(rest, 1, close);
        self.position += close + 1;
        let index = number.filter(|_| end == close).map(|number| number.wrapping_sub(1));
        self.after_index = index.is_some();
        match index.filter(|index| *index < self.args.len()) {
            Some(index) => self.next = index,
            None => self.good_index = false,
        }
    }

    fn read_width(&mut self) {
        if self.peek() == Some(b'*') {
            self.position += 1;
            match self.read_argument() {
                Some(width) => {
                    self.flags.minus |= width < 0;
                    self.flags.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => self.complaints.push("%!(BADWIDTH)"),
            }
            self.after_index = false;
            return;
        }
        let (width, end) = number(self.format, self.position, self.format.len());
        self.position = end;
        self.flags.width = width;
        self.good_index &= !(self.after_index && width.is_some());
    }

    fn read_precision(&mut self) {
        if self.peek() != Some(b'.') || self.position + 1 >= self.format.len() {
            return;
        }
        self.position += 1;
        self.good_index &= !self.after_index;
        self.read_index();
        if self.peek() == Some(b'*') {
            self.position += 1;
            let precision = self.read_argument().and_then(|number| usize::try_from(number).ok());
            if precision.is_none() {
                self.complaints.push("%!(BADPREC)");
            }
            self.flags.precision = precision;
            self.after_index = false;
            return;
        }
        let (precision, end) = number(self.format, self.position, self.format.len());
        self.position = end;
        self.flags.precision = Some(precision.unwrap_or(0));
    }

    /// Takes an argument for `*`.
    fn read_argument(&mut self) -> Option<i64> {
        let argument = self.args.get(self.next)?.plain();
        self.next += 1;
        let number = match argument {
            Value::Int(_, number) => number,
            Value::Uint(_, number) => i64::try_from(number).ok()?,
            _ => return None,
        };
        (-LARGEST..=LARGEST).contains(&number).then_some(number)
    }

    /// Reads the verb: a character, U+FFFD for a byte that is none.
    fn read_verb(&mut self) -> Option<char> {
        let verb = gostd::characters(self.format.get(self.position..)?).next()?;
        self.position += verb.map_or(1, char::len_utf8);
        Some(verb.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

/// The decimal number at `start`, none if there is no digit or it is too large, and where it ends.
fn number(text: &[u8], start: usize, end: usize) -> (Option<usize>, usize) {
    let mut value = None;
    for (index, byte) in text.iter().enumerate().take(end).skip(start) {
        if !byte.is_ascii_digit() {
            return (value, index);
        }
        let so_far = value.unwrap_or(0);
        if so_far > 1_000_000 {
            return (None, end);
        }
        value = Some(so_far * 10 + usize::from(byte - b'0'));
    }
    (value, end.max(start))
}
