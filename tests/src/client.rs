//! A plain blocking HTTP/1.1 client over one kept-alive connection: small enough to be trusted in a crash test.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

/// One connection.
pub struct Client {
    stream: BufReader<TcpStream>,
    token: Option<String>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, or null when there is none.
    pub body: Value,
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr, token: Option<&str>) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), token: token.map(str::to_owned) })
    }

    /// Sends one request and reads its answer.
    pub fn send(&mut self, method: &str, path: &str, body: Option<&str>) -> Result<Response> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: railgate\r\n");
        if let Some(token) = &self.token {
            request.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        if let Some(body) = body {
            request.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()));
        }
        request.push_str("\r\n");
        request.push_str(body.unwrap_or(""));
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.read()
    }

    fn read(&mut self) -> Result<Response> {
        let status = self.line()?;
        let status =
            status.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or_else(|| Error::new(ErrorKind::InvalidData, status.clone()))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(n, _)| n == "content-length").and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body)? };
        Ok(Response { status, headers, body })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// Enrols a new sandbox client and gives its token.
pub fn enroll(address: SocketAddr) -> String {
    let mut client = Client::connect(address, None).expect("connecting");
    let response = client.send("POST", "/api/v1/auth/enrollments", Some(r#"{"client_name":"Test"}"#)).expect("enrolling");
    assert_eq!(response.status, 201, "{response:?}");
    response.body["access_token"].as_str().expect("a token").to_owned()
}
