//! The little language of `--set`: `a.b=1,c[0]=x,d={x,y}`.
//!
//! In: the text of a flag and the values so far. Out: the values with what it sets, each with its place in the flag.
//! Refuses what Helm's `strvals` refuses, in its words, among them Go's own where its code would have panicked.

use diagnostic::{Error, ErrorKind};
use gostd::quoted;
use gotemplate::Value;
use gotemplate::fmt::sprintf;
use yamltree::{SourceId, Span};

use super::draft::{Draft, Fields};
use super::table::{Data, Item};
use crate::json::Json;
use crate::version::HelmVersion;

/// The highest index of a list, as in Helm.
const MAX_INDEX: usize = 65_536;

/// Maximum number of names that may follow one another with dots, as in Helm.
const MAX_NAMES: usize = 30;

/// Maximum number of lists that may be in lists. Helm has no limit, but recursion needs one.
const MAX_LISTS: usize = 100;

/// Maximum number of items one flag that may add to lists, those among them that its indexes skip: else a few bytes make megabytes.
const MAX_ADDED: usize = 4 << 16;

/// The kind of a flag's values.
pub(super) enum Mode<'f> {
    /// `--set`: whole numbers, booleans, null and strings.
    Typed,
    /// `--set-string`
    String,
    /// `--set-json` of the form `key=json`.
    Json,
    /// `--set-file`: the content of the file that is named.
    File(&'f dyn Fn(&str) -> Result<Vec<u8>, Error>),
    /// `--set-literal`: all that follows `=`, and no escapes before it.
    Literal,
}

/// Sets what a flag says.
pub(super) fn parse(
    text: &str,
    source: SourceId,
    mode: &Mode<'_>,
    version: HelmVersion,
    values: &mut Fields,
) -> Result<(), Error> {
    let mut parser = Parser { text, at: 0, source, mode, added: 0 };
    loop {
        match parser.key(values, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            // Helm 4 takes an end of the text for the end of all wherever it comes.
            Err(Stop::EndOf(_)) if version == HelmVersion::V4 => return Ok(()),
            Err(Stop::EndOf(message) | Stop::Fault(message)) => return Err(Error::invalid(message)),
            Err(Stop::Limit(message)) => return Err(Error::new(ErrorKind::Limit, message)),
            Err(Stop::Failed(error)) => return Err(error),
        }
    }
}

/// Why parsing goes no further.
enum Stop {
    /// The text ended, which is well.
    End,
    /// The text ended within something.
    EndOf(String),
    Fault(String),
    Limit(String),
    /// A file could not be read.
    Failed(Error),
}

impl Stop {
    fn in_index(self) -> Self {
        let prefix = "error parsing index: ";
        match self {
            Self::End => Self::EndOf(format!("{prefix}EOF")),
            Self::Fault(message) => Self::Fault(format!("{prefix}{message}")),
            stop => stop,
        }
    }
}

type Parsed<T = ()> = Result<T, Stop>;

struct Parser<'p> {
    text: &'p str,
    at: usize,
    source: SourceId,
    mode: &'p Mode<'p>,
    /// Number of items it has added to lists.
    added: usize,
}

impl Parser<'_> {
    /// Reads one key with its value into a table; `names` says how many names of the key are read already.
    fn key(&mut self, fields: &mut Fields, names: usize) -> Parsed {
        let start = self.at;
        let stops: &[char] = if self.is_literal() { &['=', '[', '.'] } else { &['=', '[', ',', '.'] };
        let (key, stop) = self.until(stops);
        match stop {
            None if key.is_empty() => Err(Stop::End),
            None => Err(Stop::Fault(format!("key {} has no value", quote(&key)))),
            Some('[') => self.indexed(fields, &key, start, names),
            Some('=') => self.assign(fields, &key, start),
            Some('.') => self.dotted(fields, &key, start, names + 1),
            Some(_) => Err(Stop::Fault(format!("key {} has no value (cannot end with ,)", quote(&key)))),
        }
    }

    /// `key=value`
    fn assign(&mut self, fields: &mut Fields, key: &str, start: usize) -> Parsed {
        match self.value(start) {
            Ok(value) => {
                put(fields, key, value);
                Ok(())
            }
            Err(Stop::End) => {
                put(fields, key, self.item(Data::Str("".into()), start));
                Err(Stop::End)
            }
            Err(stop) => Err(stop),
        }
    }

    /// `key.…`
    fn dotted(&mut self, fields: &mut Fields, key: &str, start: usize, names: usize) -> Parsed {
        if names > MAX_NAMES {
            return Err(Stop::Fault(format!(
                "value name nested level is greater than maximum supported nested level of {MAX_NAMES}"
            )));
        }
        if let Some(found) = fields.get_mut(key) {
            let ty = found.type_name();
            let inner = found.fields_mut().ok_or_else(|| no_conversion(ty, "map[string]interface {}"))?;
            return self.key(inner, names).and_then(|()| check_filled(inner, key));
        }
        let mut inner = Fields::new();
        let span = self.span_from(start);
        let parsed = self.key(&mut inner, names).and_then(|()| check_filled(&inner, key));
        if !inner.is_empty() {
            put(fields, key, Draft::Table(inner, span));
        }
        parsed
    }

    /// `key[index]…`
    fn indexed(&mut self, fields: &mut Fields, key: &str, start: usize, names: usize) -> Parsed {
        let index = self.index().map_err(Stop::in_index)?;
        if let Some(found) = fields.get_mut(key) {
            let ty = found.type_name();
            let list = found.items_mut().ok_or_else(|| no_conversion(ty, "[]interface {}"))?;
            return self.list_item(list, index, names, 0);
        }
        let (mut list, span) = (Vec::new(), self.span_from(start));
        let parsed = self.list_item(&mut list, index, names, 0);
        put(fields, key, Draft::List(list, span));
        parsed
    }

    /// Returns what follows an index: a value, a key, or an index of the next list, which is `lists` lists deep.
    fn list_item(&mut self, list: &mut Vec<Draft>, index: i64, names: usize, lists: usize) -> Parsed {
        let Ok(at) = usize::try_from(index) else {
            return Err(Stop::Fault(format!("negative {index} index not allowed")));
        };
        if lists > MAX_LISTS {
            return Err(Stop::Limit(format!("lists are nested more than {MAX_LISTS} deep")));
        }
        let start = self.at;
        let (rest, stop) = self.until(&['[', '.', '=']);
        if !rest.is_empty() {
            return Err(Stop::Fault(format!(
                "unexpected data at end of array index: {}",
                quote_runes(&rest)
            )));
        }
        match stop {
            None => Err(Stop::End),
            Some('=') => {
                let value = match self.value(start) {
                    Err(Stop::End) => self.item(Data::Str("".into()), start),
                    value => value?,
                };
                self.put_at(list, at, value)
            }
            Some('[') => {
                let next = self.index().map_err(Stop::in_index)?;
                self.nested_list(list, at, next, names, lists + 1)
            }
            Some(_) => self.table_item(list, at, names),
        }
    }

    /// `[index][next]…`
    fn nested_list(
        &mut self,
        list: &mut Vec<Draft>,
        at: usize,
        next: i64,
        names: usize,
        lists: usize,
    ) -> Parsed {
        if let Some(found) = list.get_mut(at).filter(|found| !found.is_null()) {
            let ty = found.type_name();
            let inner = found.items_mut().ok_or_else(|| no_conversion(ty, "[]interface {}"))?;
            return self.list_item(inner, next, names, lists);
        }
        let (mut inner, span) = (Vec::new(), self.span_from(self.at));
        self.list_item(&mut inner, next, names, lists)?;
        self.put_at(list, at, Draft::List(inner, span))
    }

    /// `[index].…`
    fn table_item(&mut self, list: &mut Vec<Draft>, at: usize, names: usize) -> Parsed {
        let span = self.span_from(self.at);
        if let Some(found) = list.get_mut(at) {
            if found.fields_mut().is_none() {
                *found = Draft::Table(Fields::new(), span);
            }
            return found.fields_mut().map_or(Ok(()), |inner| self.key(inner, names));
        }
        let mut inner = Fields::new();
        // What ends without a value here is lost: Helm sees an error and does not keep the table.
        self.key(&mut inner, names)?;
        self.put_at(list, at, Draft::Table(inner, span))
    }

    fn put_at(&mut self, list: &mut Vec<Draft>, at: usize, value: Draft) -> Parsed {
        if at > MAX_INDEX {
            return Err(Stop::Fault(format!(
                "index of {at} is greater than maximum supported index of {MAX_INDEX}"
            )));
        }
        if list.len() <= at {
            self.added += at + 1 - list.len();
            if self.added > MAX_ADDED {
                return Err(Stop::Limit(format!("indexes add more than {MAX_ADDED} items to lists")));
            }
            list.resize_with(at + 1, Draft::null);
        }
        list[at] = value;
        Ok(())
    }

    fn index(&mut self) -> Parsed<i64> {
        let (digits, stop) = self.until(&[']']);
        if stop.is_none() {
            return Err(Stop::End);
        }
        let fault = |what| Stop::Fault(format!("strconv.Atoi: parsing {}: {what}", quote(&digits)));
        digits.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                fault("value out of range")
            }
            _ => fault("invalid syntax"),
        })
    }

    // Values.

    /// The value behind a `=`. `start` is where its key starts. [`Stop::End`] where there is none.
    fn value(&mut self, start: usize) -> Parsed<Draft> {
        match self.mode {
            Mode::Literal => {
                let text = &self.text[self.at..];
                self.at = self.text.len();
                Ok(self.item(Data::Str(text.into()), start))
            }
            Mode::Json => self.json(start),
            _ if self.at == self.text.len() => Err(Stop::End),
            _ if self.text[self.at..].starts_with('{') => self.braces(start),
            _ => {
                let (text, _) = self.until(&[',']);
                self.scalar(&text, start)
            }
        }
    }

    /// `{a,b}`
    fn braces(&mut self, start: usize) -> Parsed<Draft> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            let item_start = self.at;
            let (text, stop) = self.until(&[',', '}']);
            if stop.is_none() {
                return Err(Stop::Fault("list must terminate with '}'".to_owned()));
            }
            let item = self.scalar(&text, item_start)?;
            items.push(item);
            if stop == Some('}') {
                let list = Draft::List(items, self.span_from(start));
                if self.text[self.at..].starts_with(',') {
                    self.at += 1;
                }
                return Ok(list);
            }
        }
    }

    fn scalar(&self, text: &str, start: usize) -> Parsed<Draft> {
        let data = match self.mode {
            Mode::File(read) => {
                let content = read(text).map_err(Stop::Failed)?;
                String::from_utf8(content).map_or_else(
                    |error| Data::Bytes(error.into_bytes().into()),
                    |text| Data::Str(text.into()),
                )
            }
            Mode::Typed => typed(text),
            Mode::String | Mode::Json | Mode::Literal => Data::Str(text.into()),
        };
        Ok(self.item(data, start))
    }

    fn json(&mut self, start: usize) -> Parsed<Draft> {
        if self.skip_to_value() {
            return Ok(self.item(Data::Null, start));
        }
        let mut json = Json::default();
        let (node, end) = json.read(self.text, self.at).ok_or_else(invalid_json)?;
        let item = Item::from_json(&json, node, self.source).ok_or_else(invalid_json)?;
        self.at = end;
        let draft = self.item(item.data, start);
        self.skip_to_value();
        Ok(draft)
    }

    /// Passes over blanks, and over a comma or the end of the text behind them; whether it came to either.
    fn skip_to_value(&mut self) -> bool {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        let is_comma = rest.starts_with(',');
        self.at += usize::from(is_comma);
        is_comma || rest.is_empty()
    }

    // Text.

    fn is_literal(&self) -> bool {
        matches!(self.mode, Mode::Literal)
    }

    /// The text up to one of some characters, which is passed over, or to the end. Backslashes quote what follows them.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut found = String::new();
        let mut chars = self.text[self.at..].chars();
        let mut stop = None;
        while let Some(char) = chars.next() {
            if stops.contains(&char) {
                stop = Some(char);
                break;
            }
            if char == '\\' && !self.is_literal() {
                found.extend(chars.next());
            } else {
                found.push(char);
            }
        }
        self.at = self.text.len() - chars.as_str().len();
        (found, stop)
    }

    /// The place from `start` to what was read last, without the comma behind it.
    fn span_from(&self, start: usize) -> Span {
        let read = &self.text[..self.at];
        let end = if read.ends_with(',') { self.at - 1 } else { self.at };
        let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset(start), end: offset(end.max(start)) }
    }

    fn item(&self, data: Data, start: usize) -> Draft {
        Draft::Item(Item { data, span: self.span_from(start) })
    }
}

/// The value that `--set` takes a text for.
fn typed(text: &str) -> Data {
    // Go folds case by Unicode, where a long s is an s.
    let is = |word: &str| text.len() <= word.len() + 1 && text.replace('ſ', "s").eq_ignore_ascii_case(word);
    if is("true") || is("false") {
        return Data::Bool(is("true"));
    }
    if is("null") {
        return Data::Null;
    }
    if text == "0" {
        return Data::Int(0);
    }
    let number = if text.starts_with('0') { None } else { text.parse().ok() };
    number.map_or_else(|| Data::Str(text.into()), Data::Int)
}

/// Helm does not set a key without a name.
fn put(fields: &mut Fields, key: &str, value: Draft) {
    if !key.is_empty() {
        fields.insert(key.into(), value);
    }
}

fn check_filled(inner: &Fields, key: &str) -> Parsed {
    if inner.is_empty() {
        return Err(Stop::Fault(format!("key map {} has no value", quote(key))));
    }
    Ok(())
}

/// Returns what Go says where it panics because a value has another type than the flag takes it for.
fn no_conversion(found: &str, wanted: &str) -> Stop {
    Stop::Fault(format!("unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}"))
}

/// Helm only says which flag it is.
fn invalid_json() -> Stop {
    Stop::Fault("invalid JSON".to_owned())
}

fn quote(text: &str) -> String {
    quoted(text.as_bytes())
}

/// Go quotes a slice of runes one by one.
fn quote_runes(text: &str) -> String {
    let runes = Value::list(text.chars().map(|rune| Value::int(i64::from(u32::from(rune)))).collect());
    let shown = sprintf(b"%q", &[runes], usize::MAX).unwrap_or_default();
    String::from_utf8_lossy(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::draft;
    use crate::values::testing::{parsed, table_json};

    const FLAG: SourceId = 1 << 30;

    const BASE: &str = "m: {x: 1, z: 2}\ns: str\nnil: null\nf: [1.5, {a: 1}]\n";

    fn set(text: &str, mode: &Mode<'_>, version: HelmVersion) -> Result<String, String> {
        let mut fields = draft::fields(&parsed(BASE));
        parse(text, FLAG, mode, version, &mut fields).map_err(|error| error.message().to_owned())?;
        // What the flag did not touch is left out.
        for key in ["m", "s", "nil", "f"] {
            let is_same = |draft: &Draft| matches!(draft, Draft::Item(item) if item.span.source != FLAG);
            if fields.get(key).is_some_and(is_same) {
                fields.remove(key);
            }
        }
        Ok(table_json(&draft::freeze(fields)))
    }

    #[track_caller]
    fn sets(text: &str, wanted: &str) {
        assert_eq!(set(text, &Mode::Typed, HelmVersion::V4).as_deref(), Ok(wanted), "{text}");
    }

    #[track_caller]
    fn refuses(text: &str, wanted: &str) {
        assert_eq!(set(text, &Mode::Typed, HelmVersion::V4), Err(wanted.to_owned()), "{text}");
    }

    // The answers are those of `helm template --set` 4.3.1.

    #[test]
    fn keys_and_values() {
        sets("a.b.c=1,a.d=x", r#"{"a":{"b":{"c":1},"d":"x"}}"#);
        sets("a=", r#"{"a":""}"#);
        sets("a=1,", r#"{"a":1}"#);
        sets("=1", "{}");
        sets(".a=1", "{}");
        sets("a=1=2", r#"{"a":"1=2"}"#);
        sets(" a = 1 ", r#"{" a ":" 1 "}"#);
        sets("a\\.b=1", r#"{"a.b":1}"#);
        sets("a\\,b=1,c=1\\,2", r#"{"a,b":1,"c":"1,2"}"#);
        sets("a=1\\", r#"{"a":1}"#);
        sets("a.b=1,a=2", r#"{"a":2}"#);
        sets("m=1", r#"{"m":1}"#);
    }

    #[test]
    fn types() {
        sets(
            "a=true,b=FALSE,c=Null,d=nullx,l=fal\u{17f}e",
            r#"{"a":true,"b":false,"c":null,"d":"nullx","l":false}"#,
        );
        sets(
            "e=0,f=-0,g=+5,h=007,i=1.5,j=0x10,k=1e3",
            r#"{"e":0,"f":0,"g":5,"h":"007","i":"1.5","j":"0x10","k":"1e3"}"#,
        );
        sets(
            "i=9223372036854775807,j=9223372036854775808",
            r#"{"i":9223372036854775807,"j":"9223372036854775808"}"#,
        );
    }

    #[test]
    fn lists() {
        sets("a[0]=1,a[2]=x", r#"{"a":[1,null,"x"]}"#);
        sets("a[1].b=1,a[1].c=2", r#"{"a":[null,{"b":1,"c":2}]}"#);
        sets("a[0][1]=x", r#"{"a":[[null,"x"]]}"#);
        sets("a={1,x,true,}", r#"{"a":[1,"x",true,""]}"#);
        sets("a={}", r#"{"a":[""]}"#);
        sets("a={1,2}x=3", r#"{"a":[1,2],"x":3}"#);
        sets("a.b={},c=1", r#"{"a":{"b":[""]},"c":1}"#);
        sets("a[1]={1}", r#"{"a":[null,[1]]}"#);
        sets("a[0]=1,a[0].b=2", r#"{"a":[{"b":2}]}"#);
        sets("a[0].b.c=1,a[0].b.d[1]=2", r#"{"a":[{"b":{"c":1,"d":[null,2]}}]}"#);
        sets("f[0]=1", r#"{"f":[1,{"a":1}]}"#);
    }

    /// Helm takes the end of the text for a good end wherever its error holds that of the reader.
    #[test]
    fn ends_that_pass() {
        for text in ["a[0", "a[0]", "a[0].", "a[0][0"] {
            let wanted = if text == "a[0" { "{}" } else { r#"{"a":[]}"# };
            sets(text, wanted);
        }
        sets("a.", "{}");
        sets("a[0].b=", r#"{"a":[]}"#);
        let old = set("a[0", &Mode::Typed, HelmVersion::V3);
        assert_eq!(old, Err("error parsing index: EOF".to_owned()));
    }

    #[test]
    fn faults() {
        refuses("a", "key \"a\" has no value");
        refuses("a\\", "key \"a\" has no value");
        refuses("a.b", "key \"b\" has no value");
        refuses("a,b=1", "key \"a\" has no value (cannot end with ,)");
        refuses("a.=1", "key map \"a\" has no value");
        refuses("x=1,.=2", "key map \"\" has no value");
        refuses("a={1,2", "list must terminate with '}'");
        refuses("a={{1},2}", "key \"2}\" has no value");
        refuses("a[0]xy=1", "unexpected data at end of array index: ['x' 'y']");
        refuses("a[x]=1", "error parsing index: strconv.Atoi: parsing \"x\": invalid syntax");
        refuses(
            "a[99999999999999999999]=1",
            "error parsing index: strconv.Atoi: parsing \"99999999999999999999\": value out of range",
        );
        refuses("a[-1]=1", "negative -1 index not allowed");
        refuses("a[65537]=1", "index of 65537 is greater than maximum supported index of 65536");
        sets(&"x.".repeat(30), "{}");
        refuses(
            &("x.".repeat(31) + "x=1"),
            "value name nested level is greater than maximum supported nested level of 30",
        );
    }

    /// Helm's code panics here, and prints what Go says of it.
    #[test]
    fn values_of_another_type() {
        let no_map = "unable to parse key: interface conversion: interface {} is";
        refuses("a=1,a.b=2", &format!("{no_map} int64, not map[string]interface {{}}"));
        refuses("a[0]=1,a.b=2", &format!("{no_map} []interface {{}}, not map[string]interface {{}}"));
        refuses("a.b=1,a[0]=2", &format!("{no_map} map[string]interface {{}}, not []interface {{}}"));
        refuses("nil.b=1", &format!("{no_map} nil, not map[string]interface {{}}"));
        refuses("s.t=1", &format!("{no_map} string, not map[string]interface {{}}"));
        refuses("a[0]=1,a[0][0]=2", &format!("{no_map} int64, not []interface {{}}"));
        refuses("m.x.q=1", &format!("{no_map} float64, not map[string]interface {{}}"));
    }

    #[test]
    fn other_modes() {
        let with = |text, mode: &Mode<'_>| set(text, mode, HelmVersion::V4);
        assert_eq!(
            with("a=1,b={x,2},c=null", &Mode::String).as_deref(),
            Ok(r#"{"a":"1","b":["x","2"],"c":"null"}"#)
        );
        assert_eq!(with("a={x,y},b.c[0]=1", &Mode::Literal).as_deref(), Ok(r#"{"a":"{x,y},b.c[0]=1"}"#));
        assert_eq!(with("a\\.b=1", &Mode::Literal).as_deref(), Ok(r#"{"a\\":{"b":"1"}}"#));
        assert_eq!(
            with(r#"a={"b": [1, 2]}, c=,d= ,e[1]="x"  , f.g=1.0"#, &Mode::Json).as_deref(),
            Ok(r#"{" c":null," f":{"g":1},"a":{"b":[1,2]},"d":null,"e":[null,"x"]}"#)
        );
        assert!(with("a=x", &Mode::Json).is_err());
        let read = |name: &str| match name {
            "bad" => Err(Error::invalid("open bad: no such file or directory")),
            "binary" => Ok(b"\xff\x00".to_vec()),
            name => Ok(name.to_uppercase().into_bytes()),
        };
        assert_eq!(with("a=x,b={y,z}", &Mode::File(&read)).as_deref(), Ok(r#"{"a":"X","b":["Y","Z"]}"#));
        assert_eq!(with("a=bad", &Mode::File(&read)), Err("open bad: no such file or directory".to_owned()));
        let mut fields = Fields::new();
        parse("a=binary", 0, &Mode::File(&read), HelmVersion::V4, &mut fields).expect("a file");
        let table = draft::freeze(fields);
        let value = table.get("a").map(|item| item.data.to_value());
        assert_eq!(
            value.as_ref().and_then(|value| value.as_str()).map(gotemplate::Str::as_bytes),
            Some(&b"\xff\x00"[..])
        );
    }

    #[test]
    fn growth_is_bounded() {
        let many: String = (0..10).map(|name| format!("k{name}[65000]=1,")).collect();
        refuses(&many, "indexes add more than 262144 items to lists");
        refuses(&("a".to_owned() + &"[0]".repeat(1000) + "=1"), "lists are nested more than 100 deep");
    }

    #[test]
    fn places_are_those_of_the_flag() {
        let text = "a.b=1,c={x,y},d[0].e=z";
        let mut fields = Fields::new();
        parse(text, 7, &Mode::Typed, HelmVersion::V4, &mut fields).expect("values");
        let table = draft::freeze(fields);
        let written = |path: &[&str]| {
            table.lookup(path).map(|item| &text[item.span.start as usize..item.span.end as usize])
        };
        assert_eq!(written(&["a"]), Some("a."));
        assert_eq!(written(&["a", "b"]), Some("b=1"));
        assert_eq!(written(&["c"]), Some("c={x,y}"));
        assert_eq!(written(&["d"]), Some("d[0]"));
    }
}
