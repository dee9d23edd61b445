//! What an end user wants to be told, where and when, and what a push may say.
//!
//! ```
//! use railgate::notification::{Detail, Preferences, Quiet};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 01:30 in Cairo, in summer: quiet until 07:00 there.
//! let quiet = Quiet::parse("22:00", "07:00", "Africa/Cairo").map_err(|what| what.to_string())?;
//! let at = "2026-07-01T01:30:00+03:00".parse::<jiff::Timestamp>()?.as_millisecond();
//! let end = "2026-07-01T07:00:00+03:00".parse::<jiff::Timestamp>()?.as_millisecond();
//! assert_eq!((quiet.ends_at(at), quiet.ends_at(end)), (Some(end), None));
//!
//! // By default a push says what happened, and nothing about the payment.
//! assert_eq!(Preferences::default().detail, Detail::None);
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::{Offset, TimeZone};
use serde::{Deserialize, Serialize};

use crate::lifecycle::named_enum;
use crate::store::record::{NotificationFacts, NotificationKind};
use crate::time::Millis;

named_enum! {
    /// What a push may say.
    pub enum Detail {
        /// What happened, in words that are the same for every payment.
        None = "none",
        /// The amount too.
        Amount = "amount",
        /// The payee, the reference, why a payment failed, and the names of devices too.
        Full = "full",
    }
}

/// Where a kind of notification is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// In the inbox.
    pub inbox: bool,
    /// As a push.
    pub push: bool,
}

impl Channels {
    const ALL: Self = Self { inbox: true, push: true };
}

/// What an end user wants. Kinds that are not named are shown everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preferences {
    /// What a push may say.
    #[serde(default = "nothing", skip_serializing_if = "is_nothing")]
    pub detail: Detail,
    /// The language of notifications, as a BCP 47 tag; `None` for that of each device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// When pushes wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// By kind, where it is shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<NotificationKind, Channels>,
}

const fn nothing() -> Detail {
    Detail::None
}

fn is_nothing(detail: &Detail) -> bool {
    *detail == Detail::None
}

impl Default for Preferences {
    fn default() -> Self {
        Self { detail: Detail::None, locale: None, quiet: None, kinds: BTreeMap::new() }
    }
}

impl Preferences {
    /// The preferences of a user's record. Those that this version cannot read count as the default, which says the least.
    pub fn of_stored(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// As they are stored; empty for the default.
    pub fn to_stored(&self) -> String {
        if *self == Self::default() { String::new() } else { serde_json::to_string(self).unwrap_or_default() }
    }

    /// Where a kind is shown.
    pub fn channels(&self, kind: NotificationKind) -> Channels {
        self.kinds.get(&kind).copied().unwrap_or(Channels::ALL)
    }

    /// Sets where a kind is shown.
    pub fn set(&mut self, kind: NotificationKind, channels: Channels) {
        if channels == Channels::ALL {
            self.kinds.remove(&kind);
        } else {
            self.kinds.insert(kind, channels);
        }
    }
}

/// The time of day during which pushes wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quiet {
    /// When it begins, in minutes after midnight.
    from: u16,
    /// When it ends; the next day, if not later than `from`.
    to: u16,
    /// An IANA time zone, or an offset such as `+03:00`.
    zone: String,
}

/// Why quiet hours cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuietError {
    /// `from` is not a time of day.
    #[error("from must be a time of day, such as 22:00")]
    From,
    /// `to` is not a time of day, or the same one.
    #[error("to must be a time of day other than from, such as 07:00")]
    To,
    /// The time zone is unknown.
    #[error("time_zone must be an IANA time zone, such as Africa/Cairo, or an offset, such as +03:00")]
    Zone,
}

impl Quiet {
    /// Quiet hours from one time of day to another, `HH:MM`, in a time zone: an IANA name or an offset such as `+03:00`.
    ///
    /// # Errors
    /// [`QuietError`].
    pub fn parse(from: &str, to: &str, zone: &str) -> Result<Self, QuietError> {
        let from = minutes(from).ok_or(QuietError::From)?;
        let to = minutes(to).filter(|to| *to != from).ok_or(QuietError::To)?;
        zone_of(zone).ok_or(QuietError::Zone)?;
        Ok(Self { from, to, zone: zone.to_owned() })
    }

    /// When the quiet hours end that this moment is in; `None` if it is in none.
    pub fn ends_at(&self, at: Millis) -> Option<Millis> {
        let here = Timestamp::from_millisecond(at).ok()?.to_zoned(zone_of(&self.zone)?);
        let now = u16::try_from(here.hour()).ok()? * 60 + u16::try_from(here.minute()).ok()?;
        let overnight = self.from > self.to;
        let within = if overnight { now >= self.from || now < self.to } else { (self.from..self.to).contains(&now) };
        let date = if overnight && now >= self.from { here.date().tomorrow().ok()? } else { here.date() };
        // Where a clock that is put forward skips that time, it is the next one that there is.
        let end = date.to_datetime(time(self.to)?).to_zoned(here.time_zone().clone()).ok()?;
        within.then(|| end.timestamp().as_millisecond()).filter(|end| *end > at)
    }

    /// When it begins and ends, `HH:MM`, and the time zone.
    pub fn shown(&self) -> (String, String, String) {
        let shown = |minutes: u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        (shown(self.from), shown(self.to), self.zone.clone())
    }
}

fn time(minutes: u16) -> Option<Time> {
    Time::new(i8::try_from(minutes / 60).ok()?, i8::try_from(minutes % 60).ok()?, 0, 0).ok()
}

/// The minutes after midnight of `HH:MM`.
fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let part = |text: &str, below: u16| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|part: &u16| digits && *part < below)
    };
    Some(part(hours, 24)? * 60 + part(minutes, 60)?)
}

/// A time zone by its name or offset. Names are looked up in the database that is compiled in, so that every host decides alike.
fn zone_of(text: &str) -> Option<TimeZone> {
    if text == "Z" {
        return Some(TimeZone::UTC);
    }
    let Some(digits) = text.strip_prefix(['+', '-']) else {
        let named = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte));
        return TimeZone::get(text).ok().filter(|_| named);
    };
    let seconds = i32::from(minutes(digits).filter(|offset| *offset <= 14 * 60)?) * 60;
    Offset::from_seconds(if text.starts_with('-') { -seconds } else { seconds }).ok().map(TimeZone::fixed)
}

impl NotificationFacts {
    /// What a push may say of it.
    #[must_use]
    pub fn within(&self, detail: Detail) -> Self {
        match detail {
            Detail::None => Self::default(),
            Detail::Amount => Self {
                amount: self.amount.clone(),
                currency: self.currency.clone(),
                // How long the user has is about neither the payment nor a person.
                expires_at: self.expires_at,
                ..Self::default()
            },
            Detail::Full => self.clone(),
        }
    }
}

/// A push that waits to be sent. It has only what the user's preferences let it say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// The notification in the inbox: `ntf_` and a ULID; absent if the user wants none there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it tells.
    pub kind: NotificationKind,
    /// When that happened.
    pub at: Millis,
    /// What it says of it.
    pub detail: Detail,
    /// What it is about, as far as it says.
    pub facts: NotificationFacts,
    /// The languages to say it in, the preferred first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locales: Vec<String>,
    /// Replaces an earlier push about the same: not an id that anybody else knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Until when it is of use, by the gateway's clock.
    pub until: Millis,
    /// Whether it comes in quiet hours, because it would be of no use after them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
}

impl NotificationKind {
    /// How long a push of this kind is of use, unless something ends it before: an approval has an end of its own.
    pub const fn useful_ms(self) -> Millis {
        const HOUR: Millis = 3_600_000;
        match self {
            Self::ApprovalRequested => HOUR,
            Self::ApprovalExpired | Self::PaymentCancelled => 24 * HOUR,
            Self::PaymentCompleted | Self::PaymentFailed | Self::PaymentReturned | Self::PaymentReversed => 3 * 24 * HOUR,
            Self::DeviceEnrolled | Self::DeviceRevoked => 7 * 24 * HOUR,
        }
    }

    /// Whether a device should wake up for it.
    pub const fn is_urgent(self) -> bool {
        match self {
            Self::ApprovalRequested | Self::DeviceEnrolled | Self::DeviceRevoked => true,
            Self::ApprovalExpired | Self::PaymentCompleted | Self::PaymentFailed | Self::PaymentCancelled => false,
            Self::PaymentReturned | Self::PaymentReversed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn quiet_hours_go_over_midnight_in_the_user_s_zone() {
        let quiet = Quiet::parse("22:00", "07:00", "+03:00").unwrap();
        for (now, end) in [
            ("2026-07-01T21:59:59+03:00", None),
            ("2026-07-01T22:00:00+03:00", Some("2026-07-02T07:00:00+03:00")),
            ("2026-07-02T00:00:00+03:00", Some("2026-07-02T07:00:00+03:00")),
            ("2026-07-02T06:59:59+03:00", Some("2026-07-02T07:00:00+03:00")),
            ("2026-07-02T07:00:00+03:00", None),
        ] {
            assert_eq!(quiet.ends_at(at(now)), end.map(at), "{now}");
        }
        let noon = Quiet::parse("12:00", "14:30", "Z").unwrap();
        assert_eq!(noon.ends_at(at("2026-07-01T13:00:00Z")), Some(at("2026-07-01T14:30:00Z")));
        assert_eq!(noon.ends_at(at("2026-07-01T14:30:00Z")), None);
        assert_eq!(noon.shown(), ("12:00".to_owned(), "14:30".to_owned(), "Z".to_owned()));
    }

    #[test]
    fn quiet_hours_follow_summer_time() {
        let quiet = Quiet::parse("22:00", "07:00", "Europe/Berlin").unwrap();
        assert_eq!(quiet.ends_at(at("2026-01-10T23:00:00Z")), Some(at("2026-01-11T06:00:00Z")));
        assert_eq!(quiet.ends_at(at("2026-07-10T23:00:00Z")), Some(at("2026-07-11T05:00:00Z")));
        // 02:30 does not exist on the night when clocks are put forward.
        let skipped = Quiet::parse("01:00", "02:30", "Europe/Berlin").unwrap();
        assert_eq!(skipped.ends_at(at("2026-03-29T00:30:00Z")), Some(at("2026-03-29T01:30:00Z")));
    }

    #[test]
    fn what_is_no_time_or_zone_is_refused() {
        for bad in ["", "7:00", "24:00", "12:60", "12", "1a:00", "+1:00", "12:00:00"] {
            assert_eq!(Quiet::parse(bad, "07:00", "Z"), Err(QuietError::From), "{bad}");
            assert_eq!(Quiet::parse("07:00", bad, "Z"), Err(QuietError::To), "{bad}");
        }
        assert_eq!(Quiet::parse("07:00", "07:00", "Z"), Err(QuietError::To));
        for bad in ["", "Mars/Base", "+15:00", "+3", "../../etc/passwd", "UTC+3", "+03:00:00"] {
            assert_eq!(Quiet::parse("22:00", "07:00", bad), Err(QuietError::Zone), "{bad}");
        }
    }

    #[test]
    fn preferences_are_stored_as_what_differs_from_the_default() {
        let mut wants = Preferences::default();
        assert_eq!((wants.to_stored().as_str(), Preferences::of_stored("")), ("", wants.clone()));
        wants.set(NotificationKind::PaymentCompleted, Channels { inbox: true, push: false });
        wants.set(NotificationKind::PaymentFailed, Channels::ALL);
        wants.detail = Detail::Amount;
        assert_eq!(wants.to_stored(), r#"{"detail":"amount","kinds":{"payment.completed":{"inbox":true,"push":false}}}"#);
        assert_eq!(Preferences::of_stored(&wants.to_stored()), wants);
        assert_eq!(Preferences::of_stored(r#"{"of":"a later version"}"#), Preferences::default(), "which says the least");
        assert!(wants.channels(NotificationKind::PaymentFailed).push && !wants.channels(NotificationKind::PaymentCompleted).push);
    }

    #[test]
    fn a_push_says_what_its_user_lets_it() {
        let facts = NotificationFacts {
            settlement_id: Some("stl_1".to_owned()),
            reference: Some("inv-1".to_owned()),
            amount: Some("10.50".to_owned()),
            currency: Some("EUR".to_owned()),
            to: Some("msisdn:+254700000001".to_owned()),
            failure: Some(crate::rail::FailureCode::Other),
            expires_at: Some(7),
            device_id: Some("dev_1".to_owned()),
            device: Some("Pixel".to_owned()),
        };
        let said = |detail| serde_json::to_string(&facts.within(detail)).unwrap();
        assert_eq!(said(Detail::None), "{}");
        assert_eq!(said(Detail::Amount), r#"{"amount":"10.50","currency":"EUR","expires_at":7}"#);
        assert_eq!(facts.within(Detail::Full), facts);
    }
}
