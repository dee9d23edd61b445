//! A strict reader of JSON objects: one pass over the bytes, with values left as text until they are parsed.
//!
//! Strict means that unknown and duplicate fields are problems, that a field has one type, and that *all* problems of a body are
//! reported together, in the order of the fields' table. Numbers are returned as literal text, so no amount ever passes through a
//! float. Deep nesting uses no stack, because values that are not parsed are only skipped.
//!
//! ```text
//! let mut body = Object::parse(bytes, &["name", "port"])?;
//! let name = body.required("name", |value| value.text());
//! let port = body.optional("port", |value| port(value));
//! body.finish(|| Some(Request { name: name?, port: port? }))
//! ```
//! An optional field that is absent is returned as `Some(None)`; `None` always means that a problem was recorded.
//!
//! Sources: RFC 8259 (JSON), RFC 6901 (pointers).

use crate::error::{Error, ErrorCode, FieldProblem, PROBLEMS_MAX, Params, excerpt};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::fmt;

/// The problems of a value, with pointers relative to it. Never empty when it represents a failure. Of more than [`PROBLEMS_MAX`],
/// the rest is only counted: a hostile body cannot cause a huge response.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldProblems {
    listed: Vec<FieldProblem>,
    omitted: usize,
}

impl FieldProblems {
    /// A problem of the value itself.
    pub(crate) fn one(code: &'static str, message: impl Into<String>) -> Self {
        Self { listed: vec![FieldProblem::new("", code, message)], omitted: 0 }
    }

    /// A problem of the value itself, with the values in its message.
    pub(crate) fn with(code: &'static str, message: impl Into<String>, params: Params) -> Self {
        Self { listed: vec![FieldProblem::new("", code, message).with(params)], omitted: 0 }
    }

    /// Adds the problems of a member or element.
    pub(crate) fn add(&mut self, name: &str, mut inner: FieldProblems) {
        for problem in inner.listed.iter_mut().take(self.room()) {
            problem.pointer = pointer(name) + &problem.pointer;
        }
        self.append(inner);
    }

    /// Adds the problems of the same value.
    fn append(&mut self, mut more: FieldProblems) {
        let room = self.room();
        self.omitted += more.omitted + more.listed.len().saturating_sub(room);
        more.listed.truncate(room);
        self.listed.append(&mut more.listed);
    }

    /// Counts a problem that is not listed.
    fn omit(&mut self) {
        self.omitted += 1;
    }

    /// How many more problems are listed.
    fn room(&self) -> usize {
        PROBLEMS_MAX.saturating_sub(self.listed.len())
    }

    fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Returns the value, or `None` after adding the problems of a member or element.
    pub(crate) fn note<T>(&mut self, name: &str, read: Result<T, FieldProblems>) -> Option<T> {
        read.map_err(|inner| self.add(name, inner)).ok()
    }

    /// `value` if there are no problems.
    pub(crate) fn into_result<T>(self, value: T) -> Result<T, FieldProblems> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

/// The RFC 6901 pointer of a member. The end of a very long name is cut off.
pub(crate) fn pointer(name: &str) -> String {
    let name = excerpt(name);
    let mut out = String::with_capacity(name.len() + 1);
    out.push('/');
    for c in name.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
    out
}

/// A valid JSON value, not yet interpreted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a>(&'a str);

impl<'a> Value<'a> {
    /// Parses `text` as a single JSON value.
    ///
    /// # Errors
    /// [`ErrorCode::MalformedJson`] with line and column.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Error> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Self(raw.get())).map_err(malformed)
    }

    /// The literal text, as sent.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    /// An object with a fixed table of fields; see [`Object::parse`].
    pub(crate) fn object<const N: usize>(self, names: &'static [&'static str; N]) -> Result<Object<'a, N>, FieldProblems> {
        Ok(Object::parse(self.0.as_bytes(), names)?)
    }

    /// A string without control characters: a single line.
    pub(crate) fn text(self) -> Result<Cow<'a, str>, FieldProblems> {
        self.string("a string", |c| c.is_control())
    }

    /// A string without control characters, except line feeds and tabs.
    pub(crate) fn lines(self) -> Result<Cow<'a, str>, FieldProblems> {
        self.string("a string", |c| c.is_control() && c != '\n' && c != '\t')
    }

    /// The text of a number, sent as a number or as a string. The content of a string is not checked.
    pub(crate) fn number(self) -> Result<Cow<'a, str>, FieldProblems> {
        match self.kind() {
            Kind::Number => Ok(Cow::Borrowed(self.0)),
            _ => self.string("a number, or a string with the same text", |c| c.is_control()),
        }
    }

    /// `true` or `false`.
    pub(crate) fn boolean(self) -> Result<bool, FieldProblems> {
        match self.0 {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// The elements of an array of `1..=max`. Further elements are only skipped.
    pub(crate) fn elements(self, max: usize) -> Result<Vec<Value<'a>>, FieldProblems> {
        if !matches!(self.kind(), Kind::Array) {
            return Err(self.wrong_type("an array"));
        }
        let elements = serde_json::Deserializer::from_str(self.0).deserialize_seq(Elements { max }).map_err(unreadable)?;
        match elements.len() {
            0 => Err(FieldProblems::one("too_few", "must have at least one element")),
            n if n > max => {
                Err(FieldProblems::with("too_many", format!("must have at most {max} elements"), Params::one("max", format!("{max}"))))
            }
            _ => Ok(elements),
        }
    }

    /// The members of an object with arbitrary names, in the order sent. Duplicates are kept, so that the
    /// caller detects them when it builds a map.
    pub(crate) fn members(self) -> Result<Pairs<'a>, FieldProblems> {
        self.members_within(usize::MAX)
    }

    /// [`Value::members`], but at most one more than `max`; further members are only skipped.
    pub(crate) fn members_within(self, max: usize) -> Result<Pairs<'a>, FieldProblems> {
        if !matches!(self.kind(), Kind::Object) {
            return Err(self.wrong_type("an object"));
        }
        serde_json::Deserializer::from_str(self.0).deserialize_map(Members { max }).map_err(unreadable)
    }

    fn string(self, wanted: &str, refused: fn(char) -> bool) -> Result<Cow<'a, str>, FieldProblems> {
        let Some(inner) = self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
            return Err(self.wrong_type(wanted));
        };
        let text = if inner.contains('\\') {
            // The only possible error in a valid JSON string: an escaped half of a surrogate pair.
            Cow::Owned(serde_json::from_str::<String>(self.0).map_err(unreadable)?)
        } else {
            Cow::Borrowed(inner)
        };
        if text.bytes().all(|b| matches!(b, b' '..=b'~')) || !text.contains(refused) {
            Ok(text)
        } else {
            Err(FieldProblems::one("invalid_characters", "must not contain control characters"))
        }
    }

    fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    fn wrong_type(self, wanted: &str) -> FieldProblems {
        FieldProblems::one("wrong_type", format!("must be {wanted}, not {}", self.kind().described()))
    }
}

#[derive(Clone, Copy)]
enum Kind {
    String,
    Number,
    Boolean,
    Null,
    Array,
    Object,
}

impl Kind {
    fn described(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// For text that is valid JSON: a lone surrogate is the only possible problem.
fn unreadable(_: serde_json::Error) -> FieldProblems {
    FieldProblems::one("invalid_characters", "must not contain half of a surrogate pair")
}

/// A JSON object with a fixed table of `N` fields, while it is being read.
#[derive(Debug)]
pub(crate) struct Object<'a, const N: usize> {
    names: &'static [&'static str; N],
    values: [Option<Value<'a>>; N],
    /// The index in the table and its problems, unsorted until the end.
    problems: Vec<(usize, FieldProblems)>,
    unknown: FieldProblems,
}

impl<'a, const N: usize> Object<'a, N> {
    /// Reads the members of `body`; `names` is the table of allowed members, in the order of reporting.
    ///
    /// # Errors
    /// [`ErrorCode::MalformedJson`] with line and column if `body` is not a single JSON value in UTF-8, and
    /// [`ErrorCode::InvalidFields`] if the value is not an object.
    pub(crate) fn parse(body: &'a [u8], names: &'static [&'static str; N]) -> Result<Self, Error> {
        let text = std::str::from_utf8(body).map_err(|error| not_utf8(body, error.valid_up_to()))?;
        let mut object = Self { names, values: [None; N], problems: Vec::new(), unknown: FieldProblems::default() };
        let mut reader = serde_json::Deserializer::from_str(text);
        if text.trim_start_matches(is_space).starts_with('{') {
            reader.deserialize_map(Fill(&mut object)).and_then(|()| reader.end()).map_err(malformed)?;
            return Ok(object);
        }
        let value = <&RawValue>::deserialize(&mut reader).and_then(|raw| reader.end().map(|()| Value(raw.get())));
        Err(value.map_err(malformed)?.wrong_type("an object").into())
    }

    /// A required field; `null` and an empty text count as absent. Returns `None` and records a problem if it is absent or `read` rejects
    /// it.
    pub(crate) fn required<T>(&mut self, name: &'static str, read: impl FnOnce(Value<'a>) -> Result<T, FieldProblems>) -> Option<T> {
        let read = |value: Option<Value<'a>>| match value.filter(|value| value.raw() != "\"\"") {
            Some(value) => read(value),
            None => Err(FieldProblems::one("required", "is required")),
        };
        self.field(name, read)
    }

    /// An optional field: `Some(None)` if it is absent or `null`. Returns `None` and records a problem if `read` rejects it.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Value<'a>) -> Result<T, FieldProblems>,
    ) -> Option<Option<T>> {
        self.field(name, |value| value.map(read).transpose())
    }

    /// A field of a patch: `Some(None)` if it is absent and changes nothing. For `null`, which asks for removal, `read` gets
    /// `None`. Returns `None` and records a problem if `read` rejects it.
    pub(crate) fn patch<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Option<Value<'a>>) -> Result<T, FieldProblems>,
    ) -> Option<Option<T>> {
        let at = self.names.iter().position(|known| *known == name);
        let given = at.and_then(|at| self.values.get(at)).is_some_and(Option::is_some);
        if given { self.field(name, read).map(Some) } else { Some(None) }
    }

    fn field<T>(&mut self, name: &'static str, read: impl FnOnce(Option<Value<'a>>) -> Result<T, FieldProblems>) -> Option<T> {
        let at = self.names.iter().position(|known| *known == name);
        debug_assert!(at.is_some(), "{name} is not in the table");
        let value = at.and_then(|at| self.values.get(at).copied()).flatten();
        match read(value.filter(|value| !matches!(value.kind(), Kind::Null))) {
            Ok(read) => Some(read),
            Err(problems) => {
                self.problems.push((at.unwrap_or(N), problems));
                None
            }
        }
    }

    /// Records a problem of a field that was read, for example that it does not fit another one.
    pub(crate) fn refuse(&mut self, name: &'static str, problem: FieldProblems) {
        let at = self.names.iter().position(|known| *known == name);
        self.problems.push((at.unwrap_or(N), problem));
    }

    /// Returns the result of `build`, or all problems: first those of the known fields in the table's order, then
    /// the unknown ones in the body's order.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFields`].
    pub(crate) fn finish<T>(mut self, build: impl FnOnce() -> Option<T>) -> Result<T, Error> {
        if self.problems.is_empty() && self.unknown.is_empty() {
            return build().ok_or_else(|| Error::internal("a field was refused and no problem noted"));
        }
        self.problems.sort_by_key(|(at, _)| *at);
        let mut all = FieldProblems::default();
        for (at, problems) in self.problems {
            all.add(self.names.get(at).copied().unwrap_or_default(), problems);
        }
        all.append(self.unknown);
        Err(all.into())
    }

    fn insert(&mut self, key: Cow<'a, str>, value: Value<'a>) {
        let at = self.names.iter().position(|known| *known == key);
        match at.and_then(|at| self.values.get_mut(at).map(|slot| (at, slot))) {
            Some((_, slot @ None)) => *slot = Some(value),
            Some((at, Some(_))) => {
                let noted = |(noted, _): &(usize, FieldProblems)| *noted == at;
                if !self.problems.iter().any(noted) {
                    self.problems.push((at, FieldProblems::one("duplicate_field", "must not be given twice")));
                }
            }
            None if self.unknown.room() > 0 => {
                let message = format!("is not a known field; there are {}", self.names.join(", "));
                self.unknown.add(&key, FieldProblems::one("unknown_field", message));
            }
            None => self.unknown.omit(),
        }
    }
}

/// Of a value inside a value that was read: it is JSON.
impl From<Error> for FieldProblems {
    fn from(error: Error) -> Self {
        Self { listed: error.into_fields(), omitted: 0 }
    }
}

impl From<FieldProblems> for Error {
    fn from(problems: FieldProblems) -> Self {
        Error::invalid_and_more(problems.listed, problems.omitted)
    }
}

/// Whether RFC 8259 defines this character as white space.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn malformed(error: serde_json::Error) -> Error {
    malformed_because(error.to_string())
}

fn not_utf8(body: &[u8], valid: usize) -> Error {
    let before = body.get(..valid).unwrap_or_default();
    let line = before.split(|byte| *byte == b'\n').count();
    let column = before.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len) + 1;
    malformed_because(format!("not UTF-8 at line {line} column {column}"))
}

fn malformed_because(message: String) -> Error {
    let mut error = Error::with(ErrorCode::MalformedJson, message.clone());
    error.fields.push(FieldProblem::new("", ErrorCode::MalformedJson.as_str(), message));
    error
}

/// Inserts the members of a map into an [`Object`].
struct Fill<'o, 'a, const N: usize>(&'o mut Object<'a, N>);

impl<'a, const N: usize> Visitor<'a> for Fill<'_, 'a, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(Key)? {
            self.0.insert(key, Value(map.next_value::<&'a RawValue>()?.get()));
        }
        Ok(())
    }
}

/// The members of a map. Most have few.
pub(crate) type Pairs<'a> = SmallVec<[(Cow<'a, str>, Value<'a>); 6]>;

/// Collects the members of a map, up to one more than `max`.
struct Members {
    max: usize,
}

impl<'a> Visitor<'a> for Members {
    type Value = Pairs<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Pairs::new();
        while members.len() <= self.max {
            match map.next_key_seed(Key)? {
                Some(key) => members.push((key, Value(map.next_value::<&'a RawValue>()?.get()))),
                None => return Ok(members),
            }
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(members)
    }
}

/// Collects the elements of an array, up to one more than `max`.
struct Elements {
    max: usize,
}

impl<'a> Visitor<'a> for Elements {
    type Value = Vec<Value<'a>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() <= self.max {
            match sequence.next_element::<&'a RawValue>()? {
                Some(raw) => elements.push(Value(raw.get())),
                None => return Ok(elements),
            }
        }
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(elements)
    }
}

/// A member's name; borrowed if it has no escapes.
struct Key;

impl<'a> DeserializeSeed<'a> for Key {
    type Value = Cow<'a, str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for Key {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["a", "b", "c/d~e"];

    /// The pointer and code of each problem in a body with three string fields, the last one optional.
    fn problems(body: &[u8]) -> Vec<(String, String)> {
        let read = Object::parse(body, &NAMES).and_then(|mut object| {
            // Deliberately not in the table's order.
            let c = object.optional("c/d~e", Value::text);
            let b = object.required("b", Value::text);
            let a = object.required("a", Value::text);
            object.finish(|| Some((a?, b?, c?)))
        });
        match read {
            Ok(_) => Vec::new(),
            Err(error) => error.into_fields().into_iter().map(|it| (it.pointer, it.code.into_owned())).collect(),
        }
    }

    fn expect(body: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(p, c)| ((*p).to_owned(), (*c).to_owned())).collect();
        assert_eq!(problems(body.as_bytes()), expected, "{body}");
    }

    #[test]
    fn problems_come_together_and_in_the_order_of_the_table() {
        expect(r#"{"a":"x","b":"y"}"#, &[]);
        expect(" \r\n\t{ \"b\" : \"y\" , \"a\" : \"x\" , \"c/d~e\" : null } ", &[]);
        expect("{}", &[("/a", "required"), ("/b", "required")]);
        expect(r#"{"a":null,"b":1,"c/d~e":[]}"#, &[("/a", "required"), ("/b", "wrong_type"), ("/c~1d~0e", "wrong_type")]);
        expect(
            r#"{"z":1,"b":true,"y~/":{},"b":"y"}"#,
            &[("/a", "required"), ("/b", "duplicate_field"), ("/b", "wrong_type"), ("/z", "unknown_field"), ("/y~0~1", "unknown_field")],
        );
        expect(r#"{"a":"x","b":"y","a":"x","a":null}"#, &[("/a", "duplicate_field")]);
        expect(r#"{"\u0061":"x","b":"y","a":"z"}"#, &[("/a", "duplicate_field")]);
    }

    #[test]
    fn what_is_not_an_object_has_the_wrong_type() {
        for body in ["[]", "1", "-1.5e9", "\"x\"", "true", "null", "[[[]]]"] {
            expect(body, &[("", "wrong_type")]);
        }
    }

    #[test]
    fn malformed_bodies_say_where() {
        let cases: &[&[u8]] = &[
            b"",
            b" ",
            b"{",
            b"}",
            b"{\"a\"",
            b"{\"a\":",
            b"{\"a\":\"x",
            b"{\"a\":\"x\"",
            b"{\"a\":\"x\",}",
            b"{a:1}",
            b"{'a':1}",
            b"{} {}",
            b"{}x",
            b"{\"a\":01}",
            b"{\"a\":+1}",
            b"{\"a\":.5}",
            b"{\"a\":1.}",
            b"{\"a\":NaN}",
            b"{\"a\":\"\n\"}",
            b"{\"a\":\"\0\"}",
            b"{\"a\":\"\\x\"}",
            b"{\"a\":\"\xff\"}",
            b"{\"\xff\":1}",
            b"[\"\xed\xa0\x80\"]",
            b"{\"\\ud800\":1}",
            b"\xef\xbb\xbf{}",
            b"nul",
            b"[1,]",
            b"[1] 2",
            b"// x\n{}",
        ];
        for body in cases {
            let error = Object::parse(body, &NAMES).unwrap_err();
            assert_eq!(error.code, ErrorCode::MalformedJson, "{body:?}");
            let [field] = &error.fields[..] else { panic!("{body:?}") };
            assert_eq!((field.pointer.as_str(), &*field.code), ("", "malformed_json"));
            assert!(field.message.contains(" line ") && field.message.contains(" column "), "{}", field.message);
        }
        let at = |body: &[u8]| Object::parse(body, &NAMES).unwrap_err().detail.to_string();
        assert!(at(b"{\n  \"a\": x}").ends_with("at line 2 column 8"), "{}", at(b"{\n  \"a\": x}"));
        assert_eq!(at(b"{\n\"a\":\"\xff\"}"), "not UTF-8 at line 2 column 6");
        assert_eq!(at(b"\xff"), "not UTF-8 at line 1 column 1");
    }

    #[test]
    fn nesting_costs_no_stack() {
        const DEEP: usize = 1_000_000;
        let code = |body: String| Object::parse(body.as_bytes(), &NAMES).map(|_| ()).unwrap_err().code;
        assert_eq!(code("[".repeat(DEEP)), ErrorCode::MalformedJson);
        assert_eq!(code("{\"a\":".repeat(DEEP)), ErrorCode::MalformedJson);
        assert_eq!(code(format!("{{\"a\":{}", "[".repeat(DEEP))), ErrorCode::MalformedJson);
        assert_eq!(code("[".repeat(DEEP) + &"]".repeat(DEEP)), ErrorCode::InvalidFields);
        expect(&format!("{{\"a\":{}{},\"b\":\"y\"}}", "[".repeat(DEEP), "]".repeat(DEEP)), &[("/a", "wrong_type")]);
    }

    #[test]
    fn strings_are_decoded_and_control_characters_refused() {
        let text = |raw: &'static str| Value(raw).text().map(Cow::into_owned).map_err(|it| it.listed[0].code.clone());
        assert_eq!(text(r#""""#).as_deref(), Ok(""));
        assert_eq!(text(r#""a\"b\\\u00e9\ud83d\ude00ž""#).as_deref(), Ok("a\"b\\é😀ž"));
        for raw in [
            r#""\u0000""#,
            r#""\n""#,
            r#""\t""#,
            r#""\u001b[1m""#,
            r#""\u007f""#,
            "\"\u{7f}\"",
            "\"\u{85}\"",
            r#""\ud800""#,
            r#""\udc00\ud800""#,
        ] {
            assert_eq!(text(raw), Err("invalid_characters".into()), "{raw}");
        }
        assert_eq!(Value(r#""a\n\tb""#).lines().as_deref(), Ok("a\n\tb"));
        assert!(Value(r#""a\rb""#).lines().is_err());
        assert!(matches!(Value("\"plain\"").text(), Ok(Cow::Borrowed("plain"))));
    }

    #[test]
    fn numbers_stay_text() {
        for (raw, text) in [
            ("1.10", "1.10"),
            ("1e400", "1e400"),
            ("\"1.10\"", "1.10"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(Value(raw).number().as_deref(), Ok(text));
        }
        for raw in ["true", "{}", "[1]"] {
            assert_eq!(Value(raw).number().unwrap_err().listed[0].code, "wrong_type");
        }
    }

    #[test]
    fn a_hostile_body_cannot_make_a_huge_answer() {
        let body: Vec<_> = (0..10_000).map(|n| format!("\"x{n}\":0")).collect();
        let body = format!("{{{}}}", body.join(","));
        let error = Object::parse(body.as_bytes(), &NAMES).and_then(|object| object.finish(|| Some(()))).unwrap_err();
        assert_eq!(
            (error.fields.len(), &*error.detail),
            (PROBLEMS_MAX + 1, "/x0 is not a known field; there are a, b, c/d~e; and 9999 more problems")
        );
        let last = error.fields.last().unwrap();
        assert_eq!((last.pointer.as_str(), &*last.code, last.message.as_str()), ("", "more_problems", "and 9900 more"));
        let [(pointer, _)] = &problems(format!(r#"{{"a":"x","b":"y","{}":0}}"#, "é".repeat(60_000)).as_bytes())[..] else {
            panic!("one problem")
        };
        assert_eq!(pointer, &format!("/{}…", "é".repeat(64)), "a name is repeated in part only");
    }
}
