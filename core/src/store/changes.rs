//! How the changes of an [`UnloggedRecord`](super::record::UnloggedRecord) lie in one column of a database.

use super::StoreError;
use super::record::{EventType, LoggedChange, LoggedEvent, Moment};
use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::ledger::Mode;
use crate::lifecycle::SettlementStatus;

/// Numbers as LEB128, hashes as they are, texts behind their length.
pub(crate) fn encode_changes(changes: &[LoggedChange]) -> Vec<u8> {
    let mut out = Vec::with_capacity(changes.len() * 96);
    number(&mut out, changes.len() as u64);
    for change in changes {
        signed(&mut out, change.settlement.0);
        number(&mut out, change.client.0.into());
        out.push(change.mode.code());
        let m = &change.moment;
        out.push(m.status.code());
        number(&mut out, m.version.into());
        out.push(u8::from(m.needs_review));
        number(&mut out, m.provider.0.into());
        signed(&mut out, m.reversed);
        signed(&mut out, m.reversing);
        number(&mut out, m.attempts.into());
        signed(&mut out, m.updated_at);
        optional(&mut out, m.completed_at.as_ref(), |out, at| signed(out, *at));
        optional(&mut out, m.rail_reference.as_ref(), |out, it| text(out, it));
        optional(&mut out, m.failure.as_ref(), |out, it| text(out, it));
        number(&mut out, change.events.len() as u64);
        for event in &change.events {
            out.push(event.kind.code());
            signed(&mut out, event.at);
            out.extend_from_slice(&event.hash);
        }
    }
    out
}

/// What [`encode_changes`] wrote; trusts nothing that it finds.
pub(crate) fn decode_changes(bytes: &[u8]) -> Result<Vec<LoggedChange>, StoreError> {
    let mut rest = Rest(bytes);
    rest.changes().filter(|_| rest.0.is_empty()).ok_or_else(|| StoreError::corrupt("reading a row", "changes to log are not as written"))
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Zigzag, so that small negative numbers stay small.
fn signed(out: &mut Vec<u8>, value: i64) {
    number(out, (value << 1 ^ value >> 63) as u64);
}

fn text(out: &mut Vec<u8>, value: &str) {
    number(out, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

fn optional<T>(out: &mut Vec<u8>, value: Option<&T>, write: impl FnOnce(&mut Vec<u8>, &T)) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        write(out, value);
    }
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn changes(&mut self) -> Option<Vec<LoggedChange>> {
        // No more than could stand in the bytes: a length that lies must not cost memory.
        let count = self.count()?;
        (0..count).map(|_| self.change()).collect()
    }

    fn change(&mut self) -> Option<LoggedChange> {
        Some(LoggedChange {
            settlement: SettlementNo(self.signed()?),
            client: ClientNo(self.small()?),
            mode: Mode::from_code(self.byte()?)?,
            moment: Moment {
                status: SettlementStatus::from_code(self.byte()?)?,
                version: self.small()?,
                needs_review: self.flag()?,
                provider: ProviderNo(self.small()?),
                reversed: self.signed()?,
                reversing: self.signed()?,
                attempts: self.small()?,
                updated_at: self.signed()?,
                completed_at: self.optional(Self::signed)?,
                rail_reference: self.optional(Self::text)?,
                failure: self.optional(Self::text)?,
            },
            events: {
                let count = self.count()?;
                (0..count).map(|_| self.event()).collect::<Option<_>>()?
            },
        })
    }

    fn event(&mut self) -> Option<LoggedEvent> {
        Some(LoggedEvent { kind: EventType::from_code(self.byte()?)?, at: self.signed()?, hash: self.bytes(32)?.try_into().ok()? })
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    fn count(&mut self) -> Option<usize> {
        self.small().filter(|count| *count <= self.0.len())
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }

    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_moment()(
            status in prop::sample::select(SettlementStatus::ALL), version in any::<u32>(), needs_review in any::<bool>(),
            provider in any::<u16>(), reversed in any::<i64>(), reversing in any::<i64>(), attempts in any::<u16>(),
            updated_at in any::<i64>(), completed_at in any::<Option<i64>>(), rail_reference in any::<Option<String>>(),
            failure in any::<Option<String>>(),
        ) -> Moment {
            let provider = ProviderNo(provider);
            Moment { status, version, needs_review, provider, reversed, reversing, attempts, updated_at, completed_at, rail_reference, failure }
        }
    }

    prop_compose! {
        fn any_change()(
            settlement in any::<i64>(), client in any::<u32>(), live in any::<bool>(), moment in any_moment(),
            events in prop::collection::vec((prop::sample::select(EventType::ALL), any::<i64>(), any::<[u8; 32]>()), 0..4),
        ) -> LoggedChange {
            let events = events.into_iter().map(|(kind, at, hash)| LoggedEvent { kind, at, hash }).collect();
            let mode = if live { Mode::Live } else { Mode::Sandbox };
            LoggedChange { settlement: SettlementNo(settlement), client: ClientNo(client), mode, moment, events }
        }
    }

    proptest! {
        #[test]
        fn changes_are_read_as_they_were_written(changes in prop::collection::vec(any_change(), 0..5), cut in any::<prop::sample::Index>()) {
            let bytes = encode_changes(&changes);
            prop_assert_eq!(decode_changes(&bytes).unwrap(), changes);
            prop_assert!(decode_changes(&bytes[..cut.index(bytes.len())]).is_err());
            prop_assert!(decode_changes(&[bytes.as_slice(), &[0]].concat()).is_err());
        }

        #[test]
        fn whatever_stands_there_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_changes(&bytes);
        }
    }
}
