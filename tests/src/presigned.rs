//! Calls signed before a measurement begins, so that signing is not part of it.
//!
//! A [`Stock`] signs with its key, or, after [`Stock::in_session`], in a session.

use std::net::SocketAddr;
use std::sync::Arc;

use railgate::auth::{Algorithm, Outgoing, SessionKey, Stamp, TAG, sign_in_session, sign_request};

use crate::client::{Account, Connection, call, now, render};
use crate::key::RingKey;

/// An enrolled client whose calls are signed in advance.
pub struct Stock {
    address: SocketAddr,
    key: Arc<RingKey>,
    authorization: String,
    session: Option<SessionKey>,
}

impl Stock {
    /// Enrols a new sandbox client with a key of this algorithm.
    pub fn enroll(address: SocketAddr, algorithm: Algorithm) -> Self {
        let key = Arc::new(RingKey::generate(algorithm));
        let account = Account::enroll(address, None, key.clone()).expect("enrolling");
        Self { address, key, authorization: format!("Bearer {}", account.token()), session: None }
    }

    /// The same client with a token that has a session, in which it signs.
    #[must_use]
    pub fn in_session(self) -> Self {
        let mut account = Account::unknown(self.key.clone(), None).connect(self.address).expect("connecting");
        let response = account.send("GET", "/api/v1/balances", None).expect("an answer");
        assert_eq!(response.status, 200, "{response:?}");
        let left = account.snapshot();
        let (session, _) = left.session().expect("a session");
        Self { authorization: format!("Bearer {}", left.access_token.expect("a token")), session: Some(session), ..self }
    }

    /// The same client at another node of the same gateway.
    pub fn at(&self, address: SocketAddr) -> Self {
        Self { address, key: Arc::clone(&self.key), authorization: self.authorization.clone(), session: self.session }
    }

    /// The bytes of `count` calls, signed on all cores. `make` returns path and body of the n-th; without a body it is a
    /// GET. They share a challenge and are valid as long as it is: five minutes.
    pub fn sign(&self, count: u64, make: &(dyn Fn(u64) -> (String, Option<String>) + Sync)) -> Vec<Vec<u8>> {
        let ask = render(&call("POST", "/api/v1/auth/challenges", None));
        let answer = Connection::open(self.address).and_then(|mut connection| connection.exchange(&ask)).expect("a challenge");
        let challenge = answer.body["challenge"].as_str().expect("a challenge");
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        std::thread::scope(|scope| {
            let parts: Vec<_> = (0..cores)
                .map(|part| {
                    scope.spawn(move || {
                        (part * count / cores..(part + 1) * count / cores).map(|n| self.one(challenge, n, make(n))).collect()
                    })
                })
                .collect();
            parts.into_iter().flat_map(|part| -> Vec<Vec<u8>> { part.join().expect("no panics") }).collect()
        })
    }

    fn one(&self, challenge: &str, n: u64, (path, body): (String, Option<String>)) -> Vec<u8> {
        let method = if body.is_some() { "POST" } else { "GET" };
        let mut request = call(method, &path, body.as_deref());
        request.headers.push(("authorization".to_owned(), self.authorization.clone()));
        let fields: Vec<(&str, &[u8])> = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let target_uri = format!("http://{}{path}", self.address);
        let outgoing = Outgoing { method, target_uri: &target_uri, fields: &fields, body: &request.body };
        let stamp = Stamp { created: now() / 1_000, nonce: &format!("{challenge}.{n}"), tag: TAG, label: "sig1" };
        let signed = match &self.session {
            Some(session) => sign_in_session(session, &outgoing, &stamp),
            None => sign_request(&*self.key, &outgoing, &stamp),
        };
        let signed = signed.expect("signing");
        request.headers.extend(signed.content_digest.map(|digest| ("content-digest".to_owned(), digest)));
        request.headers.push(("signature-input".to_owned(), signed.signature_input));
        request.headers.push(("signature".to_owned(), signed.signature));
        render(&request)
    }
}
