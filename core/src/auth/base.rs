//! The signature base: the text that is signed (RFC 9421, section 2).

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::SignatureInput;
use super::input::{Component, Parameter, invalid};
use crate::error::Error;

/// The parts of a request or response that a signature can cover.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// The method of a request.
    pub method: &'a str,
    /// The absolute target URI of a request. A server builds it from its configured address, never from `Host`.
    pub target_uri: &'a str,
    /// The status code of a response.
    pub status: Option<u16>,
    /// Fields in the order received, one entry per field line. Names are usually in lower case, but matching ignores case.
    pub fields: &'a [(&'a str, &'a [u8])],
}

impl fmt::Debug for Message<'_> {
    /// Omits the field values: they include a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.fields.iter().map(|(name, _)| *name);
        write!(f, "Message({} {} {:?} ", self.method, self.target_uri, self.status)?;
        f.debug_list().entries(names).finish()?;
        f.write_str(")")
    }
}

impl Message<'_> {
    /// The field's value: its lines, trimmed and joined with `", "`. `None` if there is none, or if a line has bytes other than
    /// visible ASCII, space and tab.
    pub fn field(&self, name: &str) -> Option<Cow<'_, str>> {
        self.combined(name).ok().flatten()
    }

    /// Whether the field is present, regardless of its value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Like [`Message::field`], but borrowed if there is only one line; an error if a line cannot be signed.
    pub(super) fn combined(&self, name: &str) -> Result<Option<Cow<'_, str>>, Error> {
        let mut value: Option<Cow<'_, str>> = None;
        for (_, line) in self.fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)) {
            let line = plain(line).ok_or_else(|| invalid(format!("the field {name} has bytes that cannot be signed")))?;
            match &mut value {
                None => value = Some(Cow::Borrowed(line)),
                Some(value) => {
                    let value = value.to_mut();
                    value.push_str(", ");
                    value.push_str(line);
                }
            }
        }
        Ok(value)
    }
}

/// A field line without surrounding white space, if it is ASCII on one line.
fn plain(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?.trim_matches([' ', '\t']);
    text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')).then_some(text)
}

impl SignatureInput {
    /// The signature base of `message`.
    ///
    /// # Errors
    /// [`SignatureInvalid`](crate::error::ErrorCode::SignatureInvalid); the detail names the component that is missing from the
    /// message, occurs twice, or is not supported.
    pub fn base(&self, message: &Message<'_>) -> Result<String, Error> {
        if self.too_many {
            return Err(invalid("the signature covers too many components"));
        }
        let mut out = String::with_capacity(256 + 2 * self.text.len());
        for (n, component) in self.components.iter().enumerate() {
            let whole = self.part(&component.whole);
            if self.components.iter().take(n).any(|other| self.part(&other.whole) == whole) {
                return Err(invalid(format!("the component {whole} is covered twice")));
            }
            out.push_str(whole);
            out.push_str(": ");
            self.value(component, message, &mut out)?;
            out.push('\n');
        }
        out.push_str("\"@signature-params\": ");
        out.push_str(&self.text);
        Ok(out)
    }

    fn value(&self, component: &Component, message: &Message<'_>, out: &mut String) -> Result<(), Error> {
        let name = self.part(&component.name);
        match &component.parameter {
            Parameter::None if name.starts_with('@') => derived(name, message, out),
            Parameter::None => {
                if name.is_empty() || !name.bytes().all(is_field_name) {
                    return Err(invalid(format!("\"{name}\" is not a field name in lower case")));
                }
                match message.combined(name)? {
                    Some(value) => out.push_str(&value),
                    None => return Err(invalid(format!("the field {name} is covered, but the message does not have it"))),
                }
                Ok(())
            }
            Parameter::Name(wanted) if name == "@query-param" => {
                let uri = Uri::parse(request(name, message)?.target_uri)?;
                out.push_str(&query_parameter(uri.query.unwrap_or_default(), wanted)?);
                Ok(())
            }
            Parameter::Name(_) => Err(unsupported(name, "name")),
            Parameter::Other(parameter) => Err(unsupported(name, parameter)),
        }
    }
}

fn unsupported(name: &str, parameter: &str) -> Error {
    invalid(format!("the component \"{name}\" with the parameter {parameter} is not supported"))
}

/// RFC 9110 tokens without upper-case letters.
fn is_field_name(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
}

/// The message, if it is a request.
fn request<'m>(name: &str, message: &'m Message<'_>) -> Result<&'m Message<'m>, Error> {
    if message.status.is_some() {
        return Err(invalid(format!("the component \"{name}\" belongs to requests, but this is a response")));
    }
    Ok(message)
}

/// Writes the value of a derived component (RFC 9421, section 2.2).
fn derived(name: &str, message: &Message<'_>, out: &mut String) -> Result<(), Error> {
    if name == "@status" {
        let status = message.status.ok_or_else(|| invalid("the component \"@status\" belongs to responses, but this is a request"))?;
        let _ = write!(out, "{status:03}");
        return Ok(());
    }
    let message = request(name, message)?;
    let uri = || Uri::parse(message.target_uri);
    match name {
        "@method" => {
            if message.method.is_empty() || !message.method.bytes().all(|b| is_field_name(b) || b.is_ascii_uppercase()) {
                return Err(invalid("the method is malformed"));
            }
            out.push_str(message.method);
        }
        "@target-uri" => out.push_str(uri()?.whole),
        "@authority" => uri()?.write_authority(out),
        "@scheme" => out.push_str(&uri()?.scheme.to_ascii_lowercase()),
        "@path" => out.push_str(uri()?.path),
        "@query" => {
            out.push('?');
            out.push_str(uri()?.query.unwrap_or_default());
        }
        "@request-target" => {
            let uri = uri()?;
            out.push_str(uri.path);
            if let Some(query) = uri.query {
                out.push('?');
                out.push_str(query);
            }
        }
        "@query-param" => return Err(invalid("the component \"@query-param\" needs the parameter name")),
        _ => return Err(invalid(format!("the component \"{name}\" is unknown"))),
    }
    Ok(())
}

/// An absolute URI with an authority, split into its parts.
struct Uri<'a> {
    whole: &'a str,
    scheme: &'a str,
    authority: &'a str,
    /// The path; never empty.
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Uri<'a> {
    fn parse(whole: &'a str) -> Result<Self, Error> {
        Self::split(whole).ok_or_else(|| invalid("the target URI is not an absolute http or https URI without a fragment"))
    }

    fn split(whole: &'a str) -> Option<Self> {
        let (scheme, rest) = whole.split_once("://")?;
        let clean = whole.bytes().all(|byte| matches!(byte, b'!'..=b'~') && byte != b'#');
        let http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let path = if path.is_empty() { "/" } else { path };
        (clean && http && !authority.is_empty() && !authority.contains('@')).then_some(Self { whole, scheme, authority, path, query })
    }

    /// Writes the authority in lower case, without the scheme's default port.
    fn write_authority(&self, out: &mut String) {
        let port = if self.scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
        let host = self.authority.strip_suffix(port).or_else(|| self.authority.strip_suffix(':')).unwrap_or(self.authority);
        out.extend(host.chars().map(|c| c.to_ascii_lowercase()));
    }
}

/// The query parameter `wanted`, re-encoded (RFC 9421, section 2.2.8); an error unless it occurs exactly once. `wanted` is the
/// encoded name.
fn query_parameter(query: &str, wanted: &str) -> Result<String, Error> {
    let mut found = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if encoded_again(name).is_some_and(|name| name == wanted) && found.replace(value).is_some() {
            return Err(invalid(format!("the query parameter {wanted} is covered, but occurs more than once")));
        }
    }
    let value = found.ok_or_else(|| invalid(format!("the query parameter {wanted} is covered, but missing")))?;
    encoded_again(value).ok_or_else(|| invalid(format!("the query parameter {wanted} is not UTF-8")))
}

/// Decodes a form value and encodes it in the canonical form that is signed; `None` if it is not UTF-8.
fn encoded_again(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    let mut out = String::with_capacity(text.len());
    for byte in String::from_utf8(bytes).ok()?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    Some(out)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[(&str, &[u8])] = &[
        ("date", b"Tue, 20 Apr 2021 02:07:55 GMT"),
        ("x-ows", b"  leading and trailing \t"),
        ("cache-control", b"max-age=60"),
        ("cache-control", b"    must-revalidate"),
        ("x-empty", b""),
        ("x-empty", b""),
        ("x-utf8", "é".as_bytes()),
        ("x-fold", b"a\r\n b"),
        ("x-nul", b"a\0"),
    ];
    const URI: &str = "https://www.Example.com:443/path?queryString&a=1";

    fn base_of(uri: &str, status: Option<u16>, covered: &str) -> Result<String, String> {
        let message = Message { method: "GET", target_uri: uri, status, fields: FIELDS };
        let field = format!("s=({covered})");
        let input = SignatureInput::parse_field(&field).map_err(|error| error.detail.to_string())?.remove(0);
        let base = input.base(&message).map_err(|error| error.detail.to_string())?;
        let (lines, last) = base.rsplit_once('\n').unwrap_or(("", &base));
        assert_eq!(last, format!("\"@signature-params\": ({covered})"));
        Ok(lines.to_owned())
    }

    fn value(uri: &str, component: &str) -> String {
        base_of(uri, None, component).unwrap().strip_prefix(&format!("{component}: ")).unwrap().to_owned()
    }

    #[test]
    fn derived_components_are_those_of_rfc_9421() {
        for (uri, component, expected) in [
            (URI, "\"@method\"", "GET"),
            (URI, "\"@target-uri\"", URI),
            (URI, "\"@authority\"", "www.example.com"),
            ("http://www.example.com:80/", "\"@authority\"", "www.example.com"),
            ("http://www.example.com:443/", "\"@authority\"", "www.example.com:443"),
            ("https://[::1]:8443", "\"@authority\"", "[::1]:8443"),
            ("HTTP://www.example.com/path", "\"@scheme\"", "http"),
            (URI, "\"@request-target\"", "/path?queryString&a=1"),
            ("https://www.example.com?a", "\"@request-target\"", "/?a"),
            ("https://www.example.com", "\"@path\"", "/"),
            (URI, "\"@path\"", "/path"),
            (URI, "\"@query\"", "?queryString&a=1"),
            ("https://www.example.com/path?", "\"@query\"", "?"),
            ("https://www.example.com/path", "\"@query\"", "?"),
            (URI, "\"@query-param\";name=\"a\"", "1"),
            (URI, "\"@query-param\";name=\"queryString\"", ""),
        ] {
            assert_eq!(value(uri, component), expected, "{uri} {component}");
        }
        assert_eq!(base_of("", Some(200), "\"@status\"").unwrap(), "\"@status\": 200");
    }

    #[test]
    fn query_parameters_are_encoded_again() {
        // RFC 9421, section 2.2.8.
        let uri = "https://example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace\
                   &fa%C3%A7ade%22%3A%20=something&twice=1&twice=2&bad=%FF&odd=%4&lower=%c3%a7";
        for (name, expected) in [
            ("var", "this%20is%20a%20big%0Amultiline%20value"),
            ("bar", "with%20plus%20whitespace"),
            ("fa%C3%A7ade%22%3A%20", "something"),
            ("odd", "%254"),
            ("lower", "%C3%A7"),
        ] {
            assert_eq!(value(uri, &format!("\"@query-param\";name=\"{name}\"")), expected);
        }
        for (name, why) in [("twice", "more than once"), ("none", "missing"), ("bad", "not UTF-8"), ("fa%c3%a7ade%22%3A%20", "missing")] {
            let error = base_of(uri, None, &format!("\"@query-param\";name=\"{name}\"")).unwrap_err();
            assert!(error.contains(why), "{name}: {error}");
        }
    }

    #[test]
    fn field_lines_are_trimmed_and_joined() {
        assert_eq!(value(URI, "\"x-ows\""), "leading and trailing");
        assert_eq!(value(URI, "\"cache-control\""), "max-age=60, must-revalidate");
        assert_eq!(value(URI, "\"x-empty\""), ", ");
        assert_eq!(base_of(URI, None, "\"date\" \"x-ows\"").unwrap().lines().count(), 2);
        let message = Message { method: "GET", target_uri: URI, status: None, fields: FIELDS };
        assert_eq!(message.field("Cache-Control").as_deref(), Some("max-age=60, must-revalidate"));
        assert_eq!((message.field("none"), message.field("x-utf8")), (None, None));
        let message = Message { fields: &[("authorization", b"Bearer t0ken")], ..message };
        assert_eq!(format!("{message:?}"), format!("Message(GET {URI} None [\"authorization\"])"));
    }

    #[test]
    fn what_has_no_base_is_refused_and_named() {
        for (covered, why) in [
            ("\"content-type\"", "content-type is covered, but the message does not have it"),
            ("\"date\" \"date\"", "covered twice"),
            ("\"@method\" \"x-ows\" \"@method\"", "covered twice"),
            ("\"@query-param\";name=\"a\" \"@query-param\";name=\"a\"", "covered twice"),
            ("\"Date\"", "lower case"),
            ("\"\"", "lower case"),
            ("\"da te\"", "lower case"),
            ("\"da\\\"te\"", "lower case"),
            ("\"x\\\\\"", "lower case"),
            ("\"x-utf8\"", "cannot be signed"),
            ("\"x-fold\"", "cannot be signed"),
            ("\"x-nul\"", "cannot be signed"),
            ("\"@signature-params\"", "is unknown"),
            ("\"@Method\"", "is unknown"),
            ("\"@\"", "is unknown"),
            ("\"@status\"", "responses"),
            ("\"@query-param\"", "needs the parameter name"),
            ("\"@query-param\";name=1", "not supported"),
            ("\"@query-param\";name=\"a\";req", "not supported"),
            ("\"@method\";req", "not supported"),
            ("\"date\";sf", "not supported"),
            ("\"date\";bs", "not supported"),
            ("\"date\";tr", "not supported"),
            ("\"date\";name=\"x\"", "not supported"),
            ("\"cache-control\";key=\"max-age\"", "not supported"),
        ] {
            let error = base_of(URI, None, covered).unwrap_err();
            assert!(error.contains(why), "{covered}: {error}");
        }
        assert!(base_of(URI, Some(200), "\"@method\"").unwrap_err().contains("response"));
        for uri in
            ["", "/path", "//host/", "ftp://host/", "https://", "https:///x", "https://a@b/", "https://a/#b", "https://a/ b", "https://a/é"]
        {
            let error = base_of(uri, None, "\"@target-uri\"").unwrap_err();
            assert!(error.contains("target URI"), "{uri}: {error}");
        }
        let message = Message { method: "GET\n", target_uri: URI, status: None, fields: &[] };
        assert!(SignatureInput::parse_field("s=(\"@method\")").unwrap()[0].base(&message).is_err());
    }
}
