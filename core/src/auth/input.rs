//! `Signature-Input` and `Signature`: what was signed, and the signatures (RFC 9421, section 4).
//!
//! Both are dictionaries (RFC 9651). A single pass over the field re-serialises each member strictly, in the order received, and
//! records where the parts are; nothing is looked up by name in a map.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ParameterVisitor};
use sfv::{BareItemFromInput, ItemSerializer, KeyRef, Parser, RefBareItem};
use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::error::{Error, ErrorCode};

/// The maximum length of a field in bytes, all its lines together.
pub(super) const FIELD_MAX_BYTES: usize = 8 * 1024;
/// The maximum number of signatures per message: one by each key, and what a proxy may add.
const SIGNATURES_MAX: usize = 8;
/// The maximum number of components per signature.
const COMPONENTS_MAX: usize = 32;

/// Enough for the profile's own signatures, which therefore need only one allocation.
const TEXT_BYTES: usize = 384;

/// One member of `Signature-Input`: the components that a signature covers, and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureInput {
    label: SmolStr,
    /// The member's serialised value: the last line of the signature base.
    pub(super) text: String,
    pub(super) components: SmallVec<[Component; 8]>,
    /// Whether it lists more than `COMPONENTS_MAX` components.
    pub(super) too_many: bool,
    /// A parameter that occurs twice, or whose value has a different type than in RFC 9421.
    pub(super) wrong_parameter: Option<&'static str>,
    created: Option<i64>,
    expires: Option<i64>,
    nonce: Option<SmolStr>,
    keyid: Option<SmolStr>,
    alg: Option<SmolStr>,
    tag: Option<SmolStr>,
}

/// A component identifier, as ranges of [`SignatureInput::text`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Component {
    /// The component name, without quotes.
    pub(super) name: Range<usize>,
    /// The whole identifier, with quotes and parameters.
    pub(super) whole: Range<usize>,
    pub(super) parameter: Parameter,
}

/// The parameters of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parameter {
    /// No parameters.
    None,
    /// The `name` parameter of `@query-param`.
    Name(String),
    /// The name of a parameter that is not supported.
    Other(String),
}

impl SignatureInput {
    /// The label that links it to its signature.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether it covers the whole component `name`. Components with parameters do not count.
    pub fn covers(&self, name: &str) -> bool {
        let plain = |component: &&Component| component.parameter == Parameter::None;
        self.components.iter().filter(plain).any(|component| self.part(&component.name) == name)
    }

    /// The tag, which states the purpose of the signature.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// When the signature was made, in seconds since 1970.
    pub fn created(&self) -> Option<i64> {
        self.created
    }

    /// When the signature expires according to its maker, in seconds since 1970.
    pub fn expires(&self) -> Option<i64> {
        self.expires
    }

    /// The nonce, unchecked.
    pub fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }

    /// The `keyid` parameter, unchecked.
    pub fn keyid(&self) -> Option<&str> {
        self.keyid.as_deref()
    }

    /// The `alg` parameter, unchecked.
    pub fn alg(&self) -> Option<&str> {
        self.alg.as_deref()
    }

    /// Parses the members of a `Signature-Input` field, in the order received.
    ///
    /// # Errors
    /// [`ErrorCode::SignatureInvalid`] if it is not a dictionary of inner lists of strings, or if a label occurs twice. A flaw in
    /// one signature, such as a parameter of the wrong type, is recorded but is not an error: the caller may want another
    /// signature.
    pub fn parse_field(field: &str) -> Result<Inputs, Error> {
        parse("Signature-Input", field, ReadInputs(Inputs::new()))
    }

    /// Moves the nonce out, so that it is copied only once per call.
    pub(super) fn take_nonce(&mut self) -> Option<SmolStr> {
        self.nonce.take()
    }

    pub(super) fn part(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn new(label: &str) -> Self {
        Self {
            label: label.into(),
            text: String::with_capacity(TEXT_BYTES),
            components: SmallVec::new(),
            too_many: false,
            wrong_parameter: None,
            created: None,
            expires: None,
            nonce: None,
            keyid: None,
            alg: None,
            tag: None,
        }
    }
}

/// The bytes under `label` in a `Signature` field.
///
/// # Errors
/// [`ErrorCode::SignatureInvalid`] if the field is malformed or lacks the label.
pub(super) fn signature_bytes(field: &str, label: &str) -> Result<Vec<u8>, Error> {
    let found = parse("Signature", field, Signatures { label, labels: [""; SIGNATURES_MAX], count: 0, found: None })?;
    found.ok_or_else(|| invalid(format!("Signature lacks the label {label} of Signature-Input")))
}

pub(super) fn invalid(detail: impl Into<Cow<'static, str>>) -> Error {
    Error::with(ErrorCode::SignatureInvalid, detail)
}

fn parse<'a, V: DictionaryVisitor<'a>>(name: &str, field: &'a str, visitor: V) -> Result<V::Out, Error> {
    if field.len() > FIELD_MAX_BYTES {
        return Err(invalid(format!("{name} is longer than {FIELD_MAX_BYTES} bytes")));
    }
    Parser::new(field).parse_dictionary_with_visitor(visitor).map_err(|error| invalid(format!("{name} is malformed: {error}")))
}

/// Why a well-formed field is refused anyway.
#[derive(Debug)]
pub(super) struct Refused(pub(super) &'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Refused {}

const TWICE: Refused = Refused("a label is used twice");
const TOO_MANY: Refused = Refused("there are more than 8 signatures");

/// The members of a `Signature-Input` field. A call in general has one.
pub type Inputs = SmallVec<[SignatureInput; 1]>;

struct ReadInputs(Inputs);

impl<'a> DictionaryVisitor<'a> for ReadInputs {
    type Out = Inputs;
    type Error = Refused;

    fn entry(&mut self, key: &'a KeyRef) -> Result<impl EntryVisitor<'a>, Refused> {
        // The last one would win (RFC 9651) and deceive a reader that used the first.
        if self.0.iter().any(|known| known.label == key.as_str()) {
            return Err(TWICE);
        }
        if self.0.len() == SIGNATURES_MAX {
            return Err(TOO_MANY);
        }
        self.0.push(SignatureInput::new(key.as_str()));
        Ok(self.0.last_mut().map(ReadMember))
    }

    fn finish(self) -> Result<Self::Out, Refused> {
        Ok(self.0)
    }
}

struct ReadMember<'s>(&'s mut SignatureInput);

impl<'a> EntryVisitor<'a> for ReadMember<'_> {
    type Error = Refused;

    fn item(self) -> Result<impl ItemVisitor<'a>, Refused> {
        Err::<Ignored, _>(Refused("a member is not a list of components in parentheses"))
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'a>, Refused> {
        self.0.text.push('(');
        Ok(self)
    }
}

impl<'a> InnerListVisitor<'a> for ReadMember<'_> {
    type Error = Refused;

    fn item(&mut self) -> Result<impl ItemVisitor<'a>, Refused> {
        Ok(ReadComponent(self.0))
    }

    fn finish(self) -> Result<impl ParameterVisitor<'a>, Refused> {
        self.0.text.push(')');
        Ok(ReadParameters(self.0))
    }
}

struct ReadComponent<'s>(&'s mut SignatureInput);

impl<'a> ItemVisitor<'a> for ReadComponent<'_> {
    type Out = ();
    type Error = Refused;

    fn bare_item(self, item: BareItemFromInput<'a>) -> Result<impl ParameterVisitor<'a, Out = ()>, Refused> {
        let BareItemFromInput::String(name) = &item else {
            return Err(Refused("a component is not a string"));
        };
        let input = self.0;
        if input.components.len() == COMPONENTS_MAX {
            input.too_many = true;
            return Ok(ReadComponentParameters(None));
        }
        // A name with a quote or a backslash is invalid; it is stored as received and refused when it is looked up.
        if !input.components.is_empty() {
            input.text.push(' ');
        }
        let start = input.text.len();
        write(&mut input.text, RefBareItem::String(name));
        let end = input.text.len();
        let component = Component { name: start + 1..end - 1, whole: start..end, parameter: Parameter::None };
        input.components.push(component);
        Ok(ReadComponentParameters(Some(input)))
    }
}

struct ReadComponentParameters<'s>(Option<&'s mut SignatureInput>);

impl<'a> ParameterVisitor<'a> for ReadComponentParameters<'_> {
    type Out = ();
    type Error = Refused;

    fn parameter(&mut self, key: &'a KeyRef, value: BareItemFromInput<'a>) -> Result<(), Refused> {
        let Some(input) = &mut self.0 else { return Ok(()) };
        write_parameter(&mut input.text, key, &value);
        let end = input.text.len();
        if let Some(component) = input.components.last_mut() {
            component.whole.end = end;
            component.parameter = match (&component.parameter, key.as_str(), value) {
                (Parameter::None, "name", BareItemFromInput::String(name)) => Parameter::Name(name.as_str().to_owned()),
                (_, other, _) => Parameter::Other(other.to_owned()),
            };
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Refused> {
        Ok(())
    }
}

struct ReadParameters<'s>(&'s mut SignatureInput);

impl<'a> ParameterVisitor<'a> for ReadParameters<'_> {
    type Out = ();
    type Error = Refused;

    fn parameter(&mut self, key: &'a KeyRef, value: BareItemFromInput<'a>) -> Result<(), Refused> {
        let input = &mut *self.0;
        write_parameter(&mut input.text, key, &value);
        let wrong = match key.as_str() {
            "created" => integer(&mut input.created, value).then_some("created"),
            "expires" => integer(&mut input.expires, value).then_some("expires"),
            "nonce" => string(&mut input.nonce, value).then_some("nonce"),
            "keyid" => string(&mut input.keyid, value).then_some("keyid"),
            "alg" => string(&mut input.alg, value).then_some("alg"),
            "tag" => string(&mut input.tag, value).then_some("tag"),
            _ => None,
        };
        input.wrong_parameter = input.wrong_parameter.or(wrong);
        Ok(())
    }

    fn finish(self) -> Result<(), Refused> {
        Ok(())
    }
}

/// Fills the slot. Returns true on an error: the slot was full, or the value has another type.
fn integer(slot: &mut Option<i64>, value: BareItemFromInput<'_>) -> bool {
    match value {
        BareItemFromInput::Integer(value) => slot.replace(value.into()).is_some(),
        _ => true,
    }
}

fn string(slot: &mut Option<SmolStr>, value: BareItemFromInput<'_>) -> bool {
    match value {
        BareItemFromInput::String(value) => slot.replace(value.as_str().into()).is_some(),
        _ => true,
    }
}

fn write(out: &mut String, item: RefBareItem<'_>) {
    let _ = ItemSerializer::with_buffer(out).bare_item(item).finish();
}

fn write_parameter(out: &mut String, key: &KeyRef, value: &BareItemFromInput<'_>) {
    out.push(';');
    out.push_str(key.as_str());
    if !matches!(value, BareItemFromInput::Boolean(true)) {
        out.push('=');
        write(out, value.into());
    }
}

struct Signatures<'s, 'a> {
    label: &'s str,
    labels: [&'a str; SIGNATURES_MAX],
    count: usize,
    found: Option<Vec<u8>>,
}

struct Bytes<'s>(Option<&'s mut Option<Vec<u8>>>);

const NOT_BYTES: Refused = Refused("a signature is not a byte sequence");

impl<'a> DictionaryVisitor<'a> for Signatures<'_, 'a> {
    type Out = Option<Vec<u8>>;
    type Error = Refused;

    fn entry(&mut self, key: &'a KeyRef) -> Result<impl EntryVisitor<'a>, Refused> {
        if self.labels.iter().take(self.count).any(|label| *label == key.as_str()) {
            return Err(TWICE);
        }
        *self.labels.get_mut(self.count).ok_or(TOO_MANY)? = key.as_str();
        self.count += 1;
        Ok(Bytes((key.as_str() == self.label).then_some(&mut self.found)))
    }

    fn finish(self) -> Result<Self::Out, Refused> {
        Ok(self.found)
    }
}

impl<'a> EntryVisitor<'a> for Bytes<'_> {
    type Error = Refused;

    fn item(self) -> Result<impl ItemVisitor<'a>, Refused> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'a>, Refused> {
        Err::<Ignored, _>(NOT_BYTES)
    }
}

impl<'a> ItemVisitor<'a> for Bytes<'_> {
    type Out = ();
    type Error = Refused;

    fn bare_item(self, item: BareItemFromInput<'a>) -> Result<impl ParameterVisitor<'a, Out = ()>, Refused> {
        let BareItemFromInput::ByteSequence(bytes) = item else { return Err(NOT_BYTES) };
        if let Some(slot) = self.0 {
            *slot = Some(bytes);
        }
        Ok(Ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_written_as_they_came() {
        let field =
            r#"a=("x" "@query-param";name="q");z;nonce="n\"\\";created=1;b=?0;c=?1;d=1.50;keyid="k";e=:AA:;f=tok, b=( "y"  ); expires=2"#;
        let inputs = SignatureInput::parse_field(field).unwrap();
        assert_eq!(inputs[0].text, r#"("x" "@query-param";name="q");z;nonce="n\"\\";created=1;b=?0;c;d=1.5;keyid="k";e=:AA==:;f=tok"#);
        assert_eq!((inputs[0].label(), inputs[0].nonce(), inputs[0].keyid()), ("a", Some("n\"\\"), Some("k")));
        assert_eq!((inputs[0].created(), inputs[0].expires(), inputs[0].alg(), inputs[0].tag()), (Some(1), None, None, None));
        assert!(inputs[0].covers("x") && !inputs[0].covers("@query-param") && !inputs[0].covers("y"));
        assert_eq!((inputs[1].text.as_str(), inputs[1].expires()), (r#"("y");expires=2"#, Some(2)));
    }

    #[test]
    fn what_is_no_list_of_components_is_refused() {
        for (field, why) in [
            ("s=(\"a\"), s=(\"b\")", "used twice"),
            ("s", "parentheses"),
            ("s=1", "parentheses"),
            ("s=\"a\"", "parentheses"),
            ("s=(a)", "not a string"),
            ("s=(1)", "not a string"),
            ("s=(\"a\"", "malformed"),
            ("s=(\"a\"\"b\")", "malformed"),
            ("s=(\"a\",\"b\")", "malformed"),
            ("s=(\"a\"\t\"b\")", "malformed"),
            ("s=(\"é\")", "malformed"),
            ("s=(\"a\\b\")", "malformed"),
            ("S=()", "malformed"),
            ("s=(),", "malformed"),
            ("s=() t=()", "malformed"),
            ("s=();created=1000000000000000", "malformed"),
            ("s=(); Created=1", "malformed"),
        ] {
            let error = SignatureInput::parse_field(field).unwrap_err();
            assert_eq!(error.code, ErrorCode::SignatureInvalid);
            assert!(error.detail.contains(why), "{field}: {}", error.detail);
        }
        assert!(SignatureInput::parse_field("").unwrap().is_empty());
        assert!(SignatureInput::parse_field(&format!("s=(){}", " ".repeat(FIELD_MAX_BYTES))).is_err());
    }

    #[test]
    fn parameters_of_the_wrong_type_are_noted() {
        for (field, wrong) in [
            ("s=();created=\"1\"", "created"),
            ("s=();created=1.0", "created"),
            ("s=();created=@1", "created"),
            ("s=();created", "created"),
            ("s=();expires=a", "expires"),
            ("s=();nonce=a;alg=1", "nonce"),
            ("s=();keyid=:AA==:", "keyid"),
            ("s=();alg=ed25519", "alg"),
            ("s=();tag=railgate", "tag"),
            ("s=();created=1;created=1", "created"),
            ("s=();nonce=\"a\";nonce=\"b\"", "nonce"),
        ] {
            assert_eq!(SignatureInput::parse_field(field).unwrap()[0].wrong_parameter, Some(wrong), "{field}");
        }
    }

    #[test]
    fn more_components_than_are_looked_at_are_noted() {
        let field = |n: usize| format!("s=({})", (0..n).map(|n| format!("\"x{n}\"")).collect::<Vec<_>>().join(" "));
        assert!(!SignatureInput::parse_field(&field(32)).unwrap()[0].too_many);
        let input = SignatureInput::parse_field(&field(33)).unwrap().remove(0);
        assert!(input.too_many && input.components.len() == 32);
    }

    #[test]
    fn a_message_has_few_signatures() {
        let inputs = |n: usize| (0..n).map(|n| format!("s{n}=()")).collect::<Vec<_>>().join(", ");
        assert_eq!(SignatureInput::parse_field(&inputs(8)).unwrap().len(), 8);
        assert!(SignatureInput::parse_field(&inputs(9)).unwrap_err().detail.contains("more than 8"));
        let signatures = |n: usize| (0..n).map(|n| format!("s{n}=:AA==:")).collect::<Vec<_>>().join(", ");
        assert!(signature_bytes(&signatures(8), "s7").is_ok() && signature_bytes(&signatures(9), "s7").is_err());
    }

    #[test]
    fn a_signature_is_found_by_its_label() {
        assert_eq!(signature_bytes("a=:AA==:, b=:AQ==:;x", "b").unwrap(), [1]);
        for field in
            ["", "a=:AA==:", "b=1, a=:AA==:", "b=:AQ==:, a", "b=(:AA==:)", "b=:AQ==:, b=:AQ==:", "a=:AA==:, a=:AA==:, b=:AQ==:", "b=:A*:"]
        {
            assert_eq!(signature_bytes(field, "b").unwrap_err().code, ErrorCode::SignatureInvalid, "{field}");
        }
    }
}
