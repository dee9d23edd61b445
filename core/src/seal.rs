//! Secrets at rest: XChaCha20-Poly1305 under a list of master keys. The first key seals, all of them open.
//!
//! ```
//! use railgate::seal::{MasterKeys, SealError};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (random, nonce) = ([7; 32], [9; 24]);
//! // The first start makes a key; every other one reads the file.
//! let file = MasterKeys::generate(1, random).to_text();
//! let keys = MasterKeys::parse(&file)?;
//!
//! let sealed = keys.seal("client/17/webhook_secret", nonce, b"secret");
//! assert_eq!(keys.open("client/17/webhook_secret", &sealed)?.as_slice(), b"secret");
//! // In another place, it does not open.
//! assert_eq!(keys.open("client/18/webhook_secret", &sealed), Err(SealError::Forged));
//!
//! // A new key seals from now on. The old one is needed until everything is sealed anew.
//! # let random = [8; 32];
//! keys.prepend(random);
//! assert_eq!((keys.ids(), keys.seals_with(&sealed)), (vec![2, 1], Some(1)));
//! assert!(keys.open("client/17/webhook_secret", &sealed).is_ok());
//! # Ok(())
//! # }
//! ```
//!
//! A sealed value is `version ‖ key id ‖ nonce ‖ ciphertext`. The place where it is stored (table, row and column) is authenticated
//! with it: a value that was moved to another place does not open there. Master keys never enter the store: a copy of the database
//! alone reveals nothing. [`Engine::reseal`](crate::engine::Engine::reseal) seals everything in a store under the first key.

use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

/// The format of a sealed value.
const VERSION: u8 = 1;
const NONCE: usize = 24;
const TAG: usize = 16;
/// The length of what precedes the ciphertext: version, key id and nonce.
const HEADER: usize = 1 + 4 + NONCE;

/// Why a sealed value does not open, or a list of master keys cannot be parsed. Never quotes a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The key that sealed it is not in the list.
    #[error("it is sealed under master key {0}, which is not in the list: put that key back into the file of master keys")]
    UnknownKey(u32),
    /// It is not a sealed value: too short, or of an unknown version.
    #[error("it is not a sealed value of this program: restore it from a backup, or update the program")]
    Malformed,
    /// It was changed, moved from another place, or sealed under another key with the same id.
    #[error("it was changed, moved, or sealed under another key of the same id: restore it from a backup, with its master keys")]
    Forged,
    /// A line of the file is not a key.
    #[error("line {line} of the master keys {problem}")]
    BadLine {
        /// The line number, from 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// The file contains no key.
    #[error("there is no master key: write one per line, as `id:` and 32 random bytes in base64url")]
    NoKey,
}

/// What is wrong with a line of a master key file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// It has no colon.
    #[error("is not of the form `id:key`: write a number, a colon and the key")]
    NoColon,
    /// The part before the colon is not a 32-bit number.
    #[error("does not start with an id: write a number from 0 to 4294967295 before the colon")]
    BadId,
    /// The part after the colon is not 32 bytes in base64url.
    #[error("does not contain a key: write 32 bytes as 43 characters of base64url, without padding")]
    BadKey,
    /// An earlier line has the same id.
    #[error("repeats the id {0}: give each key a different id")]
    RepeatedId(u32),
}

/// One master key.
pub struct MasterKey {
    /// The key's id, written into every value that it seals.
    pub id: u32,
    secret: Zeroizing<[u8; 32]>,
}

impl MasterKey {
    fn new(id: u32, secret: [u8; 32]) -> Arc<Self> {
        Arc::new(Self { id, secret: Zeroizing::new(secret) })
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.secret).into())
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({}, ..)", self.id)
    }
}

/// The master keys in use: the first seals, all of them open. Never empty; no two have the same id.
///
/// Engines share it through [`Arc`]: a host may replace the list while they run.
pub struct MasterKeys {
    // Each key stays in place while the list changes: moving it would leave a copy in memory.
    keys: RwLock<Vec<Arc<MasterKey>>>,
    source: OnceLock<Source>,
}

/// Brings the list up to date.
type Source = Box<dyn Fn(&MasterKeys) + Send + Sync>;

impl MasterKeys {
    /// A list of these keys; `None` if it is empty or an id repeats.
    pub fn new(keys: Vec<(u32, [u8; 32])>) -> Option<Self> {
        let keys = Zeroizing::new(keys);
        let mut list = Vec::with_capacity(keys.len());
        for (id, secret) in keys.iter() {
            push(&mut list, *id, *secret).then_some(())?;
        }
        Self::of(list)
    }

    /// Parses the output of [`MasterKeys::to_text`]: `id:key` lines, where the key is 32 bytes in base64url without padding. Skips
    /// empty lines and lines that start with `#`.
    ///
    /// # Errors
    /// [`SealError::BadLine`] for the first line that is not a key, [`SealError::NoKey`] if there is no key.
    pub fn parse(text: &str) -> Result<Self, SealError> {
        let mut list = Vec::new();
        for (line, content) in (1..).zip(text.lines().map(str::trim)) {
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let bad = |problem| SealError::BadLine { line, problem };
            let (id, secret) = parse_line(content).map_err(bad)?;
            push(&mut list, id, *secret).then_some(()).ok_or(bad(LineProblem::RepeatedId(id)))?;
        }
        Self::of(list).ok_or(SealError::NoKey)
    }

    /// A list with one key, made of these random bytes.
    pub fn generate(id: u32, random: [u8; 32]) -> Self {
        Self { keys: RwLock::new(vec![MasterKey::new(id, random)]), source: OnceLock::new() }
    }

    /// The text of a file with these keys. Only its owner may be able to read the file.
    pub fn to_text(&self) -> Zeroizing<String> {
        const INTRODUCTION: &str =
            "# Master keys, one per line: the first seals, all open. Keep this file secret, and a copy in a safe place.\n";
        let keys = self.list();
        // Allocated in full at once: a growing string leaves copies in memory.
        let mut text = Zeroizing::new(String::with_capacity(INTRODUCTION.len() + 64 * keys.len()));
        text.push_str(INTRODUCTION);
        for key in keys {
            text.push_str(&key.id.to_string());
            text.push(':');
            URL_SAFE_NO_PAD.encode_string(key.secret.as_slice(), &mut text);
            text.push('\n');
        }
        text
    }

    /// Adds a new key, made of these random bytes, as the first one, under the next free id; returns that id.
    pub fn prepend(&self, random: [u8; 32]) -> u32 {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        let highest = keys.iter().map(|key| key.id).max().unwrap_or(0);
        let unused = |id: &u32| keys.iter().all(|key| key.id != *id);
        let id = highest.checked_add(1).or_else(|| (0..=u32::MAX).find(unused)).unwrap_or(0);
        keys.insert(0, MasterKey::new(id, random));
        id
    }

    /// Replaces the list. Values sealed under keys that are not in the new one no longer open.
    pub fn replace(&self, other: MasterKeys) {
        let other = other.keys.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = other;
    }

    /// Calls `update` whenever a value is sealed under a key that is not in the list, and looks again: another process may have added one
    /// and used it already. Only the first call of this counts.
    pub fn updated_by(&self, update: impl Fn(&MasterKeys) + Send + Sync + 'static) {
        let _ = self.source.set(Box::new(update));
    }

    /// The ids in the order of the list; the first is in use.
    pub fn ids(&self) -> Vec<u32> {
        self.list().iter().map(|key| key.id).collect()
    }

    /// Seals a secret for `place`, such as `client/17/webhook_secret`, under the first key.
    ///
    /// `random` must be fresh for every call: at 24 bytes, drawing it at random is safe for any number of secrets.
    pub fn seal(&self, place: &str, random: [u8; 24], secret: &[u8]) -> Vec<u8> {
        let key = self.first();
        let payload = Payload { msg: secret, aad: place.as_bytes() };
        #[expect(clippy::expect_used, reason = "the cipher refuses only what is longer than 256 GiB")]
        let ciphertext = key.cipher().encrypt(&XNonce::from(random), payload).expect("a secret fits into memory");
        let mut sealed = Vec::with_capacity(HEADER + ciphertext.len());
        sealed.push(VERSION);
        sealed.extend_from_slice(&key.id.to_be_bytes());
        sealed.extend_from_slice(&random);
        sealed.extend_from_slice(&ciphertext);
        sealed
    }

    /// Opens a value that was sealed for `place`, with the key from the list that sealed it.
    ///
    /// # Errors
    /// [`SealError::Malformed`] if it is not a sealed value, [`SealError::UnknownKey`] if its key is not in the list,
    /// [`SealError::Forged`] if it was not sealed for this place.
    pub fn open(&self, place: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (id, nonce, ciphertext) = parts(sealed).ok_or(SealError::Malformed)?;
        let find = || self.list().into_iter().find(|key| key.id == id);
        let found = find().or_else(|| {
            self.source.get()?(self);
            find()
        });
        let key = found.ok_or(SealError::UnknownKey(id))?;
        let payload = Payload { msg: ciphertext, aad: place.as_bytes() };
        key.cipher().decrypt(&XNonce::from(nonce), payload).map(Zeroizing::new).map_err(|_| SealError::Forged)
    }

    /// The id of the key that sealed a value, to find values to reseal; `None` if it is not a sealed value.
    pub fn seals_with(&self, sealed: &[u8]) -> Option<u32> {
        parts(sealed).map(|(id, ..)| id)
    }

    fn of(list: Vec<Arc<MasterKey>>) -> Option<Self> {
        (!list.is_empty()).then(|| Self { keys: RwLock::new(list), source: OnceLock::new() })
    }

    fn list(&self) -> Vec<Arc<MasterKey>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn first(&self) -> Arc<MasterKey> {
        // The list is never empty: every constructor ensures that.
        self.keys.read().unwrap_or_else(PoisonError::into_inner)[0].clone()
    }
}

impl fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKeys({:?}, ..)", self.ids())
    }
}

/// Appends a key; returns false if its id is taken.
fn push(list: &mut Vec<Arc<MasterKey>>, id: u32, secret: [u8; 32]) -> bool {
    let free = list.iter().all(|key| key.id != id);
    if free {
        list.push(MasterKey::new(id, secret));
    }
    free
}

fn parse_line(line: &str) -> Result<(u32, Zeroizing<[u8; 32]>), LineProblem> {
    let (id, text) = line.split_once(':').ok_or(LineProblem::NoColon)?;
    let digits = Some(id.trim()).filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    let id = digits.and_then(|digits| digits.parse().ok()).ok_or(LineProblem::BadId)?;
    // Room for more than one key, so that a text that is too long is detected.
    let mut room = Zeroizing::new([0; 48]);
    let length = URL_SAFE_NO_PAD.decode_slice(text.trim(), &mut *room).map_err(|_| LineProblem::BadKey)?;
    let secret: [u8; 32] = room[..length].try_into().map_err(|_| LineProblem::BadKey)?;
    Ok((id, Zeroizing::new(secret)))
}

/// Key id, nonce and ciphertext.
fn parts(sealed: &[u8]) -> Option<(u32, [u8; NONCE], &[u8])> {
    let (header, ciphertext) = sealed.split_at_checked(HEADER)?;
    let (version, header) = header.split_first()?;
    let (id, nonce) = header.split_first_chunk()?;
    (*version == VERSION && ciphertext.len() >= TAG).then_some(())?;
    Some((u32::from_be_bytes(*id), nonce.try_into().ok()?, ciphertext))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: &str = "client/17/webhook_secret";

    fn keys() -> MasterKeys {
        MasterKeys::new(vec![(7, [1; 32]), (3, [2; 32])]).unwrap()
    }

    #[test]
    fn what_was_sealed_opens_at_its_place_and_nowhere_else() {
        let keys = keys();
        for secret in [b"".as_slice(), b"s", &[0xff; 1000]] {
            let sealed = keys.seal(PLACE, [9; 24], secret);
            assert_eq!(sealed.len(), HEADER + secret.len() + TAG);
            assert_eq!(keys.seals_with(&sealed), Some(7));
            assert_eq!(keys.open(PLACE, &sealed).unwrap().as_slice(), secret);
            for elsewhere in ["client/18/webhook_secret", "client/17/webhook_secre", "client/17/webhook_secrets", ""] {
                assert_eq!(keys.open(elsewhere, &sealed), Err(SealError::Forged), "{elsewhere}");
            }
        }
    }

    #[test]
    fn another_implementation_seals_the_same() {
        // Computed with HChaCha20 in Python and OpenSSL's ChaCha20-Poly1305.
        let secret = b"whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
        let expected = "0100000007404142434445464748494a4b4c4d4e4f5051525354555657a3517615b3bf3055ca9dcec7fef02ffbf1d5e6977c2b1fd95a44b13f487c6efa5bc94c3a0ca1cb549484bb367de38a9ba35677c43b55218bb7c40b2e6ffd6310fd27";
        let keys = MasterKeys::generate(7, std::array::from_fn(|n| n as u8));
        let sealed = keys.seal(PLACE, std::array::from_fn(|n| 0x40 + n as u8), secret);
        let hex: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected);
    }

    #[test]
    fn a_value_with_any_byte_changed_is_refused() {
        let keys = keys();
        let sealed = keys.seal(PLACE, [9; 24], b"a secret");
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << bit;
                let expected = match at {
                    0 => SealError::Malformed,
                    // The other key in the list has number 3: it does not open the value either.
                    1..=4 if changed[1..5] != [0, 0, 0, 3] => SealError::UnknownKey(u32::from_be_bytes(changed[1..5].try_into().unwrap())),
                    _ => SealError::Forged,
                };
                assert_eq!(keys.open(PLACE, &changed), Err(expected), "bit {bit} of byte {at}");
            }
        }
        for length in 0..sealed.len() {
            let expected = if length < HEADER + TAG { SealError::Malformed } else { SealError::Forged };
            assert_eq!(keys.open(PLACE, &sealed[..length]), Err(expected));
        }
        assert_eq!(keys.open(PLACE, &[sealed, vec![0]].concat()), Err(SealError::Forged));
        assert_eq!(keys.seals_with(b""), None);
    }

    #[test]
    fn an_old_key_still_opens_and_a_new_one_seals() {
        let keys = keys();
        let old = keys.seal(PLACE, [9; 24], b"old");
        assert_eq!(keys.prepend([3; 32]), 8);
        assert_eq!(keys.ids(), [8, 7, 3]);
        let new = keys.seal(PLACE, [10; 24], b"new");
        assert_eq!((keys.seals_with(&old), keys.seals_with(&new)), (Some(7), Some(8)));
        assert_eq!(keys.open(PLACE, &old).unwrap().as_slice(), b"old");
        assert_eq!(keys.open(PLACE, &new).unwrap().as_slice(), b"new");

        keys.replace(MasterKeys::new(vec![(8, [3; 32])]).unwrap());
        assert_eq!(keys.open(PLACE, &new).unwrap().as_slice(), b"new");
        assert_eq!(keys.open(PLACE, &old), Err(SealError::UnknownKey(7)));
        keys.replace(MasterKeys::generate(7, [4; 32]));
        assert_eq!(keys.open(PLACE, &old), Err(SealError::Forged), "another key of the same id");

        let last = MasterKeys::new(vec![(u32::MAX, [1; 32]), (0, [2; 32])]).unwrap();
        assert_eq!((last.prepend([3; 32]), last.prepend([4; 32])), (1, 2));
    }

    #[test]
    fn a_list_has_a_key_and_no_id_twice() {
        assert!(MasterKeys::new(Vec::new()).is_none());
        assert!(MasterKeys::new(vec![(1, [1; 32]), (2, [2; 32]), (1, [3; 32])]).is_none());
        assert_eq!(keys().ids(), [7, 3]);
    }

    #[test]
    fn the_file_round_trips() {
        let text = keys().to_text();
        assert_eq!(text.lines().count(), 3);
        let read = MasterKeys::parse(&text).unwrap();
        assert_eq!(read.ids(), [7, 3]);
        assert_eq!(*read.to_text(), *text);
        assert_eq!(read.open(PLACE, &keys().seal(PLACE, [9; 24], b"a")).unwrap().as_slice(), b"a");
        let loose = format!("\r\n  # old\r\n\r\n 4 : {} \r\n#\n", URL_SAFE_NO_PAD.encode([5; 32]));
        assert_eq!(MasterKeys::parse(&loose).unwrap().ids(), [4]);
    }

    #[test]
    fn a_key_that_came_to_the_list_meanwhile_opens_what_it_sealed() {
        let (file, keys) = (Arc::new(keys()), keys());
        let id = file.prepend([4; 32]);
        let sealed = file.seal(PLACE, [9; 24], b"a");
        assert_eq!(keys.open(PLACE, &sealed), Err(SealError::UnknownKey(id)));
        keys.updated_by(move |keys| keys.replace(MasterKeys::parse(&file.to_text()).unwrap()));
        assert_eq!(keys.open(PLACE, &sealed).unwrap().as_slice(), b"a");
    }

    #[test]
    fn a_file_that_is_wrong_is_refused_by_line_and_without_the_secret() {
        let good = URL_SAFE_NO_PAD.encode([0xfb; 32]);
        let padded = format!("1:{good}=");
        let short = format!("1:{}", &good[..42]);
        let standard = format!("1:{}", good.replace('-', "+").replace('_', "/"));
        let [long, endless] = [33, 1000].map(|length| format!("1:{}", URL_SAFE_NO_PAD.encode(vec![7; length])));
        let (negative, signed, huge) = (format!("-1:{good}"), format!("+1:{good}"), format!("4294967296:{good}"));
        let cases = [
            (good.as_str(), LineProblem::NoColon),
            (&negative, LineProblem::BadId),
            (&signed, LineProblem::BadId),
            (&huge, LineProblem::BadId),
            (":", LineProblem::BadId),
            ("1:", LineProblem::BadKey),
            (&padded, LineProblem::BadKey),
            (&short, LineProblem::BadKey),
            (&long, LineProblem::BadKey),
            (&endless, LineProblem::BadKey),
            (&standard, LineProblem::BadKey),
        ];
        for (line, problem) in cases {
            let error = MasterKeys::parse(&format!("# keys\n9:{good}\n{line}\n")).unwrap_err();
            assert_eq!(error, SealError::BadLine { line: 3, problem }, "{line}");
            let said = format!("{error} {error:?}");
            assert!(said.contains("line 3") && !said.contains(&good[..8]), "{said}");
        }
        let twice = MasterKeys::parse(&format!("9:{good}\n\n9:{good}")).unwrap_err();
        assert_eq!(twice, SealError::BadLine { line: 3, problem: LineProblem::RepeatedId(9) });
        for empty in ["", "\n\n", "# 1:key"] {
            assert_eq!(MasterKeys::parse(empty).unwrap_err(), SealError::NoKey);
        }
    }

    #[test]
    fn nothing_that_is_printed_shows_a_secret() {
        let keys = MasterKeys::generate(5, [0xab; 32]);
        assert_eq!(format!("{keys:?} {:#?}", keys.first()), "MasterKeys([5], ..) MasterKey(5, ..)");
        let unknown = keys.open(PLACE, &self::keys().seal(PLACE, [0; 24], b"s")).unwrap_err();
        assert!(unknown.to_string().starts_with("it is sealed under master key 7, which is not in the list"));
    }

    #[test]
    fn a_list_is_replaced_under_those_who_use_it() {
        let keys = Arc::new(MasterKeys::generate(1, [1; 32]));
        std::thread::scope(|scope| {
            for thread in 0..3u8 {
                let keys = keys.clone();
                scope.spawn(move || {
                    for round in 0..50u8 {
                        let mut random = [thread; 24];
                        random[0] = round;
                        let sealed = keys.seal(PLACE, random, &[round]);
                        assert_eq!(keys.open(PLACE, &sealed).unwrap().as_slice(), [round]);
                    }
                });
            }
            for n in 0..50u8 {
                keys.prepend([n; 32]);
            }
        });
        assert_eq!(keys.ids().first(), Some(&51));
    }
}
