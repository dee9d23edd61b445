//! What lines of a statement and what the gateway has say about each other.
//!
//! A line takes 56 bytes here, and 16 for each of its references and for its key: a million lines with two take some 100 MB. Texts
//! are compared by the first 64 bits of their SHA-256: among a million lines and ten million payments, two different texts have the
//! same ones with a probability below one in a million.

use sha2::{Digest as _, Sha256};

use super::text::DAY;
use crate::ids::{SettlementNo, Ulid};
use crate::lifecycle::Direction;
use crate::store::record::{FindingKind, StatementLine};
use crate::time::Millis;

/// Of what belongs to a settlement: an attempt from 1, a reversal with the highest bit set, or [`RETURN`].
pub(crate) type Place = u16;
/// The highest bit: of reversals.
pub(crate) const REVERSAL: Place = 1 << 15;
/// What the provider returned of its own accord.
pub(crate) const RETURN: Place = Place::MAX;

/// The first 64 bits of a text's SHA-256; 0 for no text.
fn short(text: &[u8]) -> u64 {
    let digest = Sha256::digest(text);
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first).max(1)
}

/// An identifier as it is compared: letters in upper case and digits, without an international prefix.
pub(crate) fn plain(identifier: &str) -> String {
    let all: String = identifier.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_uppercase()).collect();
    match all.strip_prefix("00") {
        Some(rest) if all.len() > 8 => rest.to_owned(),
        Some(_) | None => all,
    }
}

/// An identifier of a participant, as it is compared.
pub(crate) fn party(identifier: &str) -> u64 {
    short(plain(identifier).as_bytes())
}

/// The settlement and the place in it that a rail key names: a ULID, a dash, and the number of the attempt, or `R` and that of the
/// reversal.
pub(crate) fn rail_key(text: &str) -> Option<(Ulid, Place)> {
    let (ulid, which) = text.split_once('-')?;
    let place = match which.strip_prefix('R') {
        Some(n) => n.parse::<Place>().ok().filter(|n| (1..REVERSAL).contains(n))? | REVERSAL,
        None => which.parse().ok().filter(|n| (1..REVERSAL).contains(n))?,
    };
    Some((Ulid::parse(ulid)?, place))
}

/// A line of the statement, without its texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compact {
    pub(crate) amount: i64,
    at: Millis,
    party: u64,
    /// Its identity, the same in every statement that has it.
    pub(crate) entry: u64,
    /// The settlement that its rail key names, and the id that the key has; 0 without one.
    pub(crate) settlement: i64,
    pub(crate) ulid: u64,
    currency: u16,
    pub(crate) place: Place,
    pub(crate) side: Direction,
    whole_day: bool,
    pub(crate) done: bool,
}

/// All lines of a statement.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) all: Vec<Compact>,
    /// References with the lines that have them, and settlements with the lines whose keys name them; sorted.
    references: Vec<(u64, u32)>,
    keys: Vec<(i64, u32)>,
}

impl Lines {
    /// Adds a line. `open` returns the number in an id of a settlement.
    pub(crate) fn push(&mut self, line: &StatementLine, open: impl Fn(Ulid) -> SettlementNo) {
        let index = self.all.len() as u32;
        let key = line.references.iter().find_map(|it| rail_key(it));
        let (settlement, ulid, place) = key.map_or((0, 0, 0), |(ulid, place)| (open(ulid).0, short(&ulid.0.to_be_bytes()), place));
        self.references.extend(line.references.iter().map(|it| (short(it.as_bytes()), index)));
        if key.is_some() {
            self.keys.push((settlement, index));
        }
        let party = line.participant.as_ref().map_or(0, |it| party(it));
        self.all.push(Compact {
            amount: line.amount,
            at: line.at,
            party,
            entry: identity(line),
            settlement,
            ulid,
            currency: line.currency.numeric(),
            place,
            side: line.direction,
            whole_day: line.whole_day,
            done: false,
        });
    }

    /// Ends adding.
    pub(crate) fn sort(&mut self) {
        self.references.sort_unstable();
        self.keys.sort_unstable();
    }

    /// The lines with this reference.
    pub(crate) fn referring(&self, reference: &str) -> impl Iterator<Item = u32> {
        let hash = short(reference.as_bytes());
        let begin = self.references.partition_point(|(it, _)| *it < hash);
        self.references[begin..].iter().take_while(move |(it, _)| *it == hash).map(|(_, line)| *line)
    }

    /// The lines whose keys name this settlement.
    pub(crate) fn keyed(&self, settlement: SettlementNo, id: Ulid) -> impl Iterator<Item = u32> {
        let begin = self.keys.partition_point(|(it, _)| *it < settlement.0);
        let ulid = short(&id.0.to_be_bytes());
        let named = self.keys[begin..].iter().take_while(move |(it, _)| *it == settlement.0).map(|(_, line)| *line);
        named.filter(move |line| self.all[*line as usize].ulid == ulid)
    }

    /// The settlements that keys of lines name which are not done, in order.
    pub(crate) fn open_keys(&self) -> Vec<SettlementNo> {
        let open = self.keys.iter().filter(|(_, line)| !self.all[*line as usize].done);
        let mut all: Vec<SettlementNo> = open.map(|(settlement, _)| SettlementNo(*settlement)).collect();
        all.dedup();
        all
    }

    /// The time from the first line to the last one, whose end is exclusive.
    pub(crate) fn span(&self) -> Option<(Millis, Millis)> {
        let from = self.all.iter().map(|line| line.at).min()?;
        let to = self.all.iter().map(|line| line.until() + 1).max()?;
        Some((from, to))
    }
}

/// The identity of a line: that of its entry, or else everything that it says.
pub(crate) fn identity(line: &StatementLine) -> u64 {
    match &line.entry {
        Some(entry) => short(entry.as_bytes()),
        None => {
            let mut references = line.references.clone();
            references.sort_unstable();
            let (money, side) = (format!("{} {}", line.amount, line.currency), line.direction.as_str());
            short(format!("{references:?} {money} {side} {} {:?}", line.at / DAY, line.participant).as_bytes())
        }
    }
}

impl Compact {
    fn until(&self) -> Millis {
        if self.whole_day { self.at + DAY - 1 } else { self.at }
    }
}

/// Whether what the gateway has was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It was, and the provider should have it.
    Done,
    /// It is not known yet.
    Open,
    /// It was not, and the provider should not have it.
    Dead,
}

/// What the gateway has: a payment, a reversal, or a payment that came back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) settlement: SettlementNo,
    pub(crate) place: Place,
    pub(crate) side: Direction,
    pub(crate) amount: i64,
    pub(crate) currency: u16,
    pub(crate) party: u64,
    pub(crate) at: Millis,
    pub(crate) state: State,
}

/// Whether a line for something has been found before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// None has.
    No,
    /// This very entry, in an earlier statement.
    Same,
    /// Another one.
    Other,
}

/// What a line says about what it names: a finding, or `None` if it matches.
pub(crate) type Verdict = Option<FindingKind>;

/// Compares a line with what it names.
pub(crate) fn judge(line: &Compact, item: &Item, before: Done) -> Verdict {
    match (item.state, before) {
        (State::Open | State::Dead, _) => Some(FindingKind::MissingHere),
        (State::Done, Done::Other) => Some(FindingKind::DuplicateThere),
        (State::Done, Done::Same | Done::No) => {
            let differs = (line.amount, line.currency, line.side) != (item.amount, item.currency, item.side);
            (differs && !mutated!(StatementAmountIgnored)).then_some(FindingKind::AmountDiffers)
        }
    }
}

/// A line and what it is likely about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) line: u32,
    /// Its index among the items.
    pub(crate) item: usize,
    /// How certain it is, in hundredths.
    pub(crate) confidence: u16,
}

/// With the participant, and only one of each; with it, and several alike; without it, and only one of each.
const CERTAIN: [u16; 3] = [90, 70, 50];

/// Finds for lines that name nothing what they are likely about, by amount, time and participant.
pub(crate) fn likely(lines: &Lines, items: &[Item], grace: Millis) -> Vec<Compared> {
    let of_line = |n: &u32| {
        let it = &lines.all[*n as usize];
        ((it.currency, it.amount, it.side as u8, it.party), it.at)
    };
    let of_item = |n: &usize| {
        let it = &items[*n];
        ((it.currency, it.amount, it.side as u8, it.party), it.at)
    };
    let mut free: Vec<u32> = (0u32..).zip(&lines.all).filter(|(_, line)| !line.done && line.settlement == 0).map(|(n, _)| n).collect();
    free.sort_unstable_by_key(of_line);
    let mut rest: Vec<usize> = (0..items.len()).collect();
    rest.sort_unstable_by_key(of_item);
    let near = |line: u32, item: usize| {
        let (line, at) = (&lines.all[line as usize], items[item].at);
        at >= line.at - grace && at <= line.until() + grace
    };
    let mut found = Vec::new();
    let mut taken = vec![false; items.len()];
    for group in free.chunk_by(|one, next| of_line(one).0 == of_line(next).0) {
        let key = of_line(&group[0]).0;
        let begin = rest.partition_point(|n| of_item(n).0 < key);
        let alike = &rest[begin..begin + rest[begin..].partition_point(|n| of_item(n).0 == key)];
        let confidence = if group.len() == 1 && alike.len() == 1 { CERTAIN[0] } else { CERTAIN[1] };
        let mut next = 0;
        for &line in group.iter().filter(|_| key.3 != 0) {
            // In the order of time: what is too early for this line is too early for those after it.
            while next < alike.len() && items[alike[next]].at < lines.all[line as usize].at - grace {
                next += 1;
            }
            if let Some(&item) = alike.get(next).filter(|item| near(line, **item)) {
                taken[item] = true;
                found.push(Compared { line, item, confidence });
                next += 1;
            }
        }
    }
    let anonymous = free.iter().copied().filter(|line| lines.all[*line as usize].party == 0).collect::<Vec<_>>();
    for group in anonymous.chunk_by(|one, next| of_line(one).0 == of_line(next).0) {
        let (currency, amount, side, _) = of_line(&group[0]).0;
        let begin = rest.partition_point(|n| of_item(n).0 < (currency, amount, side, 0));
        let alike = rest[begin..].iter().take_while(|n| of_item(n).0 <= (currency, amount, side, u64::MAX));
        let mut alike = alike.filter(|n| !taken[**n] && items[**n].state == State::Done && near(group[0], **n));
        if let (&[line], Some(&item), None) = (group, alike.next(), alike.next()) {
            found.push(Compared { line, item, confidence: CERTAIN[2] });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Currency;

    fn line(n: u64, amount: i64, at: Millis, participant: Option<&str>) -> StatementLine {
        StatementLine {
            line: n,
            direction: Direction::Outgoing,
            amount,
            currency: Currency::from_code("EUR").unwrap(),
            at,
            whole_day: false,
            references: Vec::new(),
            participant: participant.map(str::to_owned),
            entry: None,
            text: None,
        }
    }

    fn item(no: i64, amount: i64, at: Millis, participant: &str) -> Item {
        let party = party(participant);
        let (settlement, currency) = (SettlementNo(no), Currency::from_code("EUR").unwrap().numeric());
        Item { settlement, place: 1, side: Direction::Outgoing, amount, currency, party, at, state: State::Done }
    }

    fn pairs(lines: &[StatementLine], items: &[Item]) -> Vec<(u32, usize, u16)> {
        let mut all = Lines::default();
        lines.iter().for_each(|line| all.push(line, |_| SettlementNo(0)));
        all.sort();
        let mut found: Vec<_> = likely(&all, items, 100).into_iter().map(|it| (it.line, it.item, it.confidence)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_key_names_its_settlement() {
        let ulid = Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
        assert_eq!(rail_key("01ARZ3NDEKTSV4RRFFQ69G5FAV-2"), Some((ulid, 2)));
        assert_eq!(rail_key("01ARZ3NDEKTSV4RRFFQ69G5FAV-R2"), Some((ulid, 2 | REVERSAL)));
        for other in ["", "-", "x-1", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV-0", "01ARZ3NDEKTSV4RRFFQ69G5FAV-R", "é-1"]
        {
            assert_eq!(rail_key(other), None, "{other}");
        }
    }

    #[test]
    fn what_has_no_name_is_found_by_amount_time_and_participant() {
        let one = [line(1, 500, 1_000, Some("+254 700 000001"))];
        assert_eq!(pairs(&one, &[item(1, 500, 1_050, "254700000001")]), [(0, 0, 90)]);
        for other in [item(1, 501, 1_050, "254700000001"), item(1, 500, 1_101, "254700000001"), item(1, 500, 1_050, "254700000002")] {
            assert_eq!(pairs(&one, &[other]), []);
        }
        let three = [1, 2, 3].map(|n| line(n, 500, 1_000 + n as i64, Some("a")));
        assert_eq!(pairs(&three, &[item(1, 500, 1_000, "a"), item(2, 500, 1_001, "A")]), [(0, 0, 70), (1, 1, 70)], "one is left");
    }

    #[test]
    fn without_a_participant_only_what_is_alone_is_found() {
        let one = line(1, 500, 1_000, None);
        assert_eq!(pairs(std::slice::from_ref(&one), &[item(1, 500, 1_000, "a")]), [(0, 0, 50)]);
        assert_eq!(pairs(std::slice::from_ref(&one), &[item(1, 500, 1_000, "a"), item(2, 500, 1_000, "b")]), []);
        assert_eq!(pairs(&[one.clone(), line(2, 500, 1_000, None)], &[item(1, 500, 1_000, "a")]), []);
    }
}
