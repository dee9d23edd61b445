//! The encoding of the changes of an [`UnloggedRecord`](super::record::UnloggedRecord), and of the lines of an
//! [`UnbookedRecord`](super::record::UnbookedRecord), in one database column.

use super::StoreError;
use super::compact::{Rest, number, optional, signed, text};
use super::record::{BookedLine, EventType, LoggedChange, LoggedEvent, Moment};
use crate::ids::{ClientNo, ProviderNo, SettlementNo, UserNo};
use crate::ledger::{AccountId, Mode, TransferCode};
use crate::lifecycle::SettlementStatus;

/// Set in the code of a mode if the number of an end user follows.
const USER: u8 = 0x80;

/// Encodes as defined in [`compact`](super::compact), with hashes unchanged.
pub(crate) fn encode_changes(changes: &[LoggedChange]) -> Vec<u8> {
    let mut out = Vec::with_capacity(changes.len() * 96);
    number(&mut out, changes.len() as u64);
    for change in changes {
        signed(&mut out, change.settlement.0);
        number(&mut out, change.client.0.into());
        out.push(change.mode.code() | change.user.map_or(0, |_| USER));
        if let Some(user) = change.user {
            number(&mut out, user.0.into());
        }
        // No status has the number 0.
        out.push(change.moment.as_ref().map_or(0, |moment| moment.status.code()));
        number(&mut out, change.version.into());
        if let Some(m) = &change.moment {
            out.push(u8::from(m.needs_review));
            number(&mut out, m.provider.0.into());
            signed(&mut out, m.reversed);
            signed(&mut out, m.reversing);
            number(&mut out, m.attempts.into());
            signed(&mut out, m.updated_at);
            optional(&mut out, m.completed_at.as_ref(), |out, at| signed(out, *at));
            optional(&mut out, m.rail_reference.as_ref(), |out, it| text(out, it));
            optional(&mut out, m.failure.as_ref(), |out, it| text(out, it));
        }
        number(&mut out, change.events.len() as u64);
        for event in &change.events {
            out.push(event.kind.code());
            signed(&mut out, event.at);
            out.extend_from_slice(&event.hash);
        }
    }
    out
}

/// Encodes the lines of an [`UnbookedRecord`](super::record::UnbookedRecord).
pub(crate) fn encode_lines(lines: &[BookedLine]) -> Vec<u8> {
    let mut out = Vec::with_capacity(lines.len() * 32);
    number(&mut out, lines.len() as u64);
    for line in lines {
        signed(&mut out, line.account.0);
        signed(&mut out, line.amount);
        out.push(line.code.code());
        signed(&mut out, line.journal.0);
        number(&mut out, line.transfer.into());
        signed(&mut out, line.at);
    }
    out
}

/// Decodes the output of [`encode_lines`]; trusts nothing that it reads.
pub(crate) fn decode_lines(bytes: &[u8]) -> Result<Vec<BookedLine>, StoreError> {
    let mut rest = Rest(bytes);
    let lines = rest.count().and_then(|count| (0..count).map(|_| read_line(&mut rest)).collect::<Option<Vec<_>>>());
    lines.filter(|_| rest.0.is_empty()).ok_or_else(|| StoreError::corrupt("reading a row", "the lines to book are malformed"))
}

fn read_line(rest: &mut Rest<'_>) -> Option<BookedLine> {
    Some(BookedLine {
        account: AccountId(rest.signed()?),
        amount: rest.signed()?,
        code: TransferCode::from_code(rest.byte()?)?,
        journal: SettlementNo(rest.signed()?),
        transfer: rest.small()?,
        at: rest.signed()?,
    })
}

/// Decodes the output of [`encode_changes`]; trusts nothing that it reads.
pub(crate) fn decode_changes(bytes: &[u8]) -> Result<Vec<LoggedChange>, StoreError> {
    let mut rest = Rest(bytes);
    read_changes(&mut rest)
        .filter(|_| rest.0.is_empty())
        .ok_or_else(|| StoreError::corrupt("reading a row", "the changes to log are malformed"))
}

fn read_changes(rest: &mut Rest<'_>) -> Option<Vec<LoggedChange>> {
    let count = rest.count()?;
    (0..count).map(|_| read_change(rest)).collect()
}

fn read_change(rest: &mut Rest<'_>) -> Option<LoggedChange> {
    let (settlement, client, mode) = (SettlementNo(rest.signed()?), ClientNo(rest.small()?), rest.byte()?);
    let user = if mode & USER == 0 { None } else { Some(UserNo(rest.small()?)) };
    let mode = Mode::from_code(mode & !USER)?;
    let (status, version) = (rest.byte()?, rest.small()?);
    let moment = if status == 0 { None } else { Some(read_moment(rest, SettlementStatus::from_code(status)?)?) };
    let count = rest.count()?;
    let events = (0..count).map(|_| read_event(rest)).collect::<Option<_>>()?;
    Some(LoggedChange { settlement, client, mode, user, version, moment, events })
}

fn read_moment(rest: &mut Rest<'_>, status: SettlementStatus) -> Option<Moment> {
    Some(Moment {
        status,
        needs_review: rest.flag()?,
        provider: ProviderNo(rest.small()?),
        reversed: rest.signed()?,
        reversing: rest.signed()?,
        attempts: rest.small()?,
        updated_at: rest.signed()?,
        completed_at: rest.optional(Rest::signed)?,
        rail_reference: rest.optional(Rest::text)?,
        failure: rest.optional(Rest::text)?,
    })
}

fn read_event(rest: &mut Rest<'_>) -> Option<LoggedEvent> {
    Some(LoggedEvent { kind: EventType::from_code(rest.byte()?)?, at: rest.signed()?, hash: rest.bytes(32)?.try_into().ok()? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_moment()(
            status in prop::sample::select(SettlementStatus::ALL), needs_review in any::<bool>(),
            provider in any::<u16>(), reversed in any::<i64>(), reversing in any::<i64>(), attempts in any::<u16>(),
            updated_at in any::<i64>(), completed_at in any::<Option<i64>>(), rail_reference in any::<Option<String>>(),
            failure in any::<Option<String>>(),
        ) -> Moment {
            let provider = ProviderNo(provider);
            Moment { status, needs_review, provider, reversed, reversing, attempts, updated_at, completed_at, rail_reference, failure }
        }
    }

    prop_compose! {
        fn any_change()(
            settlement in any::<i64>(), client in any::<u32>(), live in any::<bool>(), user in any::<Option<u32>>(),
            version in any::<u32>(), moment in prop::option::of(any_moment()),
            events in prop::collection::vec((prop::sample::select(EventType::ALL), any::<i64>(), any::<[u8; 32]>()), 0..4),
        ) -> LoggedChange {
            let events = events.into_iter().map(|(kind, at, hash)| LoggedEvent { kind, at, hash }).collect();
            let mode = if live { Mode::Live } else { Mode::Sandbox };
            let user = user.map(UserNo);
            LoggedChange { settlement: SettlementNo(settlement), client: ClientNo(client), mode, user, version, moment, events }
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
