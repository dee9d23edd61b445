//! A webhook as it was received: headers and body, and their form in a file.

use railgate::webhook::{ID, SignedHeaders, VerifyError, WebhookSecret, verify};
use serde::Deserialize;

/// One webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Delivery {
    /// `POST /path HTTP/1.1`; empty if unknown.
    pub(super) request_line: String,
    /// Names in lower case, and values.
    pub(super) headers: Vec<(String, Vec<u8>)>,
    /// The body's bytes, which are signed.
    pub(super) body: Vec<u8>,
}

impl Delivery {
    /// Reads what [`Delivery::to_bytes`] writes, and what people write by hand.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut delivery = Self { request_line: String::new(), headers: Vec::new(), body: Vec::new() };
        let mut rest = bytes;
        let mut first = true;
        loop {
            let end = rest.iter().position(|b| *b == b'\n')?;
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            rest = behind;
            if line.is_empty() {
                delivery.body = rest.to_vec();
                return Some(delivery).filter(|delivery| !delivery.headers.is_empty());
            }
            match header(line) {
                Some(header) => delivery.headers.push(header),
                None if first => delivery.request_line = String::from_utf8(line.to_vec()).ok()?,
                None => return None,
            }
            first = false;
        }
    }

    /// The file's bytes: request line, headers, an empty line, the body.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.body.len() + 1024);
        bytes.extend_from_slice(self.request_line.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// A header's text, if it is there and is printable ASCII.
    fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(known, _)| known == name)?;
        std::str::from_utf8(value).ok().filter(|value| value.bytes().all(|b| (b' '..=b'~').contains(&b)))
    }

    /// `webhook-id`; empty if there is none.
    pub(super) fn id(&self) -> &str {
        self.header(ID).unwrap_or_default()
    }

    /// Verifies it; returns when it was sent, in seconds since the Unix epoch.
    pub(super) fn check(&self, secrets: &[WebhookSecret], now_s: i64, tolerance_s: i64) -> Result<i64, VerifyError> {
        let headers = SignedHeaders::find(|name| self.header(name))?;
        verify(secrets, &headers, &self.body, now_s, tolerance_s)?;
        headers.timestamp_s()
    }

    /// The `type` that the body names.
    pub(super) fn event_type(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Payload {
            r#type: String,
        }
        serde_json::from_slice::<Payload>(&self.body).ok().map(|payload| payload.r#type)
    }
}

fn header(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|b| *b == b':')?;
    let name = std::str::from_utf8(&line[..colon]).ok()?;
    let token = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    token.then(|| (name.to_ascii_lowercase(), line[colon + 1..].trim_ascii().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_to_the_last_byte() {
        let delivery = Delivery {
            request_line: "POST /hook?a=b:c HTTP/1.1".into(),
            headers: vec![("webhook-id".into(), b"evt_1".to_vec()), ("x".into(), b"a: b".to_vec()), ("y".into(), Vec::new())],
            body: b"\r\n{\"a\":\n1}\n\xff\r\n\r\n".to_vec(),
        };
        assert_eq!(Delivery::read(&delivery.to_bytes()), Some(delivery.clone()));
        let empty = Delivery { body: Vec::new(), ..delivery };
        assert_eq!(Delivery::read(&empty.to_bytes()), Some(empty));
    }

    #[test]
    fn what_people_write_is_read_and_what_is_nothing_is_not() {
        let by_hand = Delivery::read(b"Webhook-Id:evt_1  \nWEBHOOK-TIMESTAMP: 5\n\n{}\n").unwrap();
        assert_eq!((by_hand.id(), by_hand.body.as_slice()), ("evt_1", &b"{}\n"[..]));
        for nothing in
            [&b""[..], b"\n", b"\n\n{}", b"{}", b"{\"a\": 1}\n\n", b"webhook-id: x\n", b"webhook-id: x\nnot a header\n\n{}", b"a b: c\n\n"]
        {
            assert_eq!(Delivery::read(nothing), None, "{}", String::from_utf8_lossy(nothing));
        }
    }
}
