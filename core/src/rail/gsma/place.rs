//! Where the operator says what became of a request.
//!
//! What it sends us to is taken apart, and put together again below its base address: nobody can have us ask anywhere else.

use crate::rail::parts::segment;

/// The longest reference.
const REFERENCE_MAX: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// What it answered to the request with this id of ours.
    Response(String),
    /// The state of the request that it gave this id, in lower case.
    State(String),
    /// The transaction with this reference.
    Transaction(String),
}

const RESPONSES: &str = "responses";
const STATES: &str = "requeststates";
const TRANSACTIONS: &str = "transactions";

impl Place {
    /// The state with this id; `None` if that is not a UUID.
    pub(super) fn state(id: &str) -> Option<Self> {
        let shape = |(at, byte): (usize, u8)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() };
        (id.len() == 36 && id.bytes().enumerate().all(shape)).then(|| Self::State(id.to_ascii_lowercase()))
    }

    fn transaction(reference: &str) -> Option<Self> {
        let fits = (1..=REFERENCE_MAX).contains(&reference.chars().count()) && !matches!(reference, "." | "..");
        (fits && !reference.contains(char::is_control)).then(|| Self::Transaction(reference.to_owned()))
    }

    /// Where a reference points that [`Place::reference`] returned, or that the operator gave a transaction.
    pub(super) fn of_reference(reference: &str) -> Option<Self> {
        match reference.strip_prefix(STATES).and_then(|rest| rest.strip_prefix('/')) {
            Some(id) => Self::state(id),
            None => Self::transaction(reference),
        }
    }

    /// The rail's reference for it, which is stored.
    pub(super) fn reference(&self) -> String {
        match self {
            Self::State(id) => format!("{STATES}/{id}"),
            Self::Transaction(id) | Self::Response(id) => id.clone(),
        }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::State(id) | Self::Transaction(id) | Self::Response(id) => id,
        }
    }

    pub(super) fn url(&self, base: &str) -> String {
        let kind = match self {
            Self::Response(_) => RESPONSES,
            Self::State(_) => STATES,
            Self::Transaction(_) => TRANSACTIONS,
        };
        format!("{base}/{kind}/{}", segment(self.id()))
    }

    /// The place that [`Place::url`] made this address of.
    pub(super) fn asked(base: &str, url: &str) -> Option<Self> {
        Self::of_path(url.strip_prefix(base)?.strip_prefix('/')?, true)
    }

    /// Where the operator's link leads: an address below its base address, or a path.
    pub(super) fn of_link(base: &str, link: &str) -> Option<Self> {
        let path = match link.contains("://") {
            true => link.strip_prefix(base)?.strip_prefix('/')?,
            false => {
                let path = link.trim_start_matches('/');
                let above = base.split_once("://").and_then(|(_, place)| place.split_once('/')).map_or("", |(_, path)| path);
                let below = path.strip_prefix(above).and_then(|rest| rest.strip_prefix('/'));
                below.filter(|_| !above.is_empty()).unwrap_or(path)
            }
        };
        Self::of_path(path, false)
    }

    fn of_path(path: &str, with_responses: bool) -> Option<Self> {
        let (kind, id) = path.split_once('/')?;
        let id = unescaped(id)?;
        match kind {
            STATES => Self::state(&id),
            TRANSACTIONS => Self::transaction(&id),
            RESPONSES if with_responses => Some(Self::Response(id)),
            _ => None,
        }
    }
}

/// The text that a segment of a path stands for; `None` if it is not one segment, or not UTF-8.
fn unescaped(segment: &str) -> Option<String> {
    let (mut out, mut bytes) = (Vec::with_capacity(segment.len()), segment.bytes());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'/' | b'?' | b'#' => return None,
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit()? << 4 | digit()?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://api.example/v1.2/mm";
    const ID: &str = "be77f48f-2433-4bfa-8cdd-aaf058a400de";

    #[test]
    fn a_link_leads_below_the_base_address_and_nowhere_else() {
        let state = Some(Place::State(ID.to_owned()));
        let transaction = |reference: &str| Some(Place::Transaction(reference.to_owned()));
        for (link, place) in [
            (format!("{BASE}/requeststates/{ID}"), state.clone()),
            (format!("/v1.2/mm/requeststates/{}", ID.to_uppercase()), state.clone()),
            (format!("/requeststates/{ID}"), state),
            ("transactions/REF-1".to_owned(), transaction("REF-1")),
            (format!("{BASE}/transactions/a%2Fb%20c"), transaction("a/b c")),
        ] {
            assert_eq!(Place::of_link(BASE, &link), place, "{link}");
            assert!(place.is_some_and(|place| Place::asked(BASE, &place.url(BASE)).as_ref() == Some(&place)), "{link}");
        }
        for wrong in [
            "https://evil.example/v1.2/mm/transactions/REF-1",
            "https://api.example/v1.2/mmm/transactions/REF-1",
            "https://api.example/v1.2/mm/../transactions/REF-1",
            "//evil.example/transactions/REF-1",
            "transactions/REF-1/reversals",
            "transactions/REF-1?x",
            "transactions/..",
            "transactions/%2e%2E",
            "transactions/%0D%0A",
            "transactions/",
            "transactions/%zz",
            "requeststates/1",
            "responses/be77f48f-2433-4bfa-8cdd-aaf058a400de",
            "accounts/1",
            "",
        ] {
            assert_eq!(Place::of_link(BASE, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_stored_says_whether_it_is_a_state_or_a_transaction() {
        for place in [Place::State(ID.to_owned()), Place::Transaction(ID.to_owned()), Place::Transaction("7/a".to_owned())] {
            assert_eq!(Place::of_reference(&place.reference()), Some(place));
        }
        assert_eq!(Place::of_reference("requeststates/7"), None, "a transaction cannot pass as a state");
    }
}
