//! The forms of a receipt for people, by media type, and how a program that issues receipts passes them to another program that
//! draws them, such as a module that a page loads on first use.

use super::{Claims, Receipt, Trace};
use crate::auth::KeyId;
use crate::error::{Error, ErrorCode, Result};
use crate::lifecycle::SettlementStatus;

/// A form of a receipt for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// [`Receipt::html`].
    Page,
    /// [`Receipt::svg`].
    Image,
    /// [`Receipt::text`].
    Text,
}

impl Form {
    /// The form with this media type.
    pub fn of(media_type: &str) -> Option<Self> {
        match media_type {
            "text/html" => Some(Self::Page),
            "image/svg+xml" => Some(Self::Image),
            "text/plain" => Some(Self::Text),
            _ => None,
        }
    }

    /// The form's media type, with a character set if it needs one.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Page => "text/html; charset=utf-8",
            Self::Image => "image/svg+xml",
            Self::Text => "text/plain; charset=utf-8",
        }
    }
}

impl Receipt {
    /// The receipt in this form.
    ///
    /// # Errors
    /// The same as for [`Receipt::svg`].
    pub fn drawn(&self, form: Form) -> Result<String> {
        match form {
            Form::Page => Ok(self.html()),
            Form::Image => self.svg(),
            Form::Text => Ok(self.text()),
        }
    }
    /// The receipt as a list of texts, for [`Receipt::of_parts`]. The order is private to two programs of the same build.
    pub fn parts(&self) -> Vec<String> {
        let Self { claims, key_id, jws, description } = self.clone();
        let Claims {
            iss,
            jti,
            iat,
            sub,
            env,
            reference,
            amt,
            cur,
            fee,
            from,
            to,
            status,
            settled_at,
            provider,
            rail_ref,
            rev,
            ev,
            supersedes,
        } = claims;
        let or_none = |text: Option<String>| text.map_or_else(String::new, |text| format!("{THERE}{text}"));
        let (status, iat, n) = (status.as_str().to_owned(), iat.to_string(), ev.n.to_string());
        let (rail_ref, supersedes, description) = (or_none(rail_ref), or_none(supersedes), or_none(description));
        vec![
            iss,
            jti,
            iat,
            sub,
            env,
            reference,
            amt,
            cur,
            fee,
            from,
            to,
            status,
            settled_at,
            provider,
            rail_ref,
            rev,
            n,
            ev.head,
            supersedes,
            key_id.to_string(),
            jws,
            description,
        ]
    }

    /// The receipt with these parts, from [`Receipt::parts`]. The signature is not checked: use
    /// [`verify_receipt`](super::verify_receipt) for receipts from others.
    ///
    /// # Errors
    /// [`ErrorCode::ReceiptInvalid`] for anything else.
    pub fn of_parts(parts: Vec<String>) -> Result<Self> {
        let mut parts = parts.into_iter();
        read(&mut parts)
            .filter(|_| parts.next().is_none())
            .ok_or_else(|| Error::with(ErrorCode::ReceiptInvalid, "these are not the parts of a receipt"))
    }
}

/// Precedes an optional text that is present, to distinguish an empty one from none.
const THERE: char = '=';

fn read(parts: &mut impl Iterator<Item = String>) -> Option<Receipt> {
    let or_none = |part: String| if part.is_empty() { Some(None) } else { part.strip_prefix(THERE).map(|text| Some(text.to_owned())) };
    let mut next = || parts.next();
    let claims = Claims {
        iss: next()?,
        jti: next()?,
        iat: next()?.parse().ok()?,
        sub: next()?,
        env: next()?,
        reference: next()?,
        amt: next()?,
        cur: next()?,
        fee: next()?,
        from: next()?,
        to: next()?,
        status: SettlementStatus::from_name(&next()?)?,
        settled_at: next()?,
        provider: next()?,
        rail_ref: or_none(next()?)?,
        rev: next()?,
        ev: Trace { n: next()?.parse().ok()?, head: next()? },
        supersedes: or_none(next()?)?,
    };
    Some(Receipt { claims, key_id: KeyId::parse(&next()?)?, jws: next()?, description: or_none(next()?)? })
}
