//! Signed checkpoints (C2SP tlog-checkpoint, a signed-note): the log's statement about its state.

use std::cmp::Ordering;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::{Hash, decimal, verify_consistency};
use crate::auth::{Algorithm, PublicKey, RustCrypto, SignError, Signer, Verify as _, to_raw};
use crate::ledger::Mode;

/// The maximum length of a note, in bytes.
pub(super) const LONGEST_NOTE: usize = 1_000_000;
/// The maximum number of signatures: more than any note has.
const MOST_SIGNATURES: usize = 100;
/// The signature type of Ed25519, in key ids and verifier keys.
const ED25519: u8 = 1;
/// Precedes the number of an epoch in a log's name.
const EPOCH: &str = "/epoch-";
/// The start of a signature line: an em dash and a space.
const DASH: &str = "\u{2014} ";

/// Why a note proves nothing under the trusted key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// It is longer than one megabyte, or has more than 100 signatures.
    #[error("the note is too long, or has too many signatures")]
    TooLong,
    /// It is not a signed note: no text, no signatures, a line in another format, or control characters.
    #[error("it is not a signed note")]
    Malformed,
    /// The text is not a checkpoint: an origin, a size and a root, one per line.
    #[error("the signed text is not a checkpoint")]
    NotACheckpoint,
    /// None of the signatures has the name and id of the key.
    #[error("the note is not signed with this key")]
    NotSigned,
    /// A signature with the name and id of the key is invalid.
    #[error("the signature does not match")]
    BadSignature,
    /// The key belongs to another log.
    #[error("the checkpoint belongs to another log than the key")]
    OtherLog,
}

/// The name of a log, used for its key and as the origin of its checkpoints. Not empty; without white space, control characters and
/// plus signs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogName(String);

impl LogName {
    /// Parses a name; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        (!text.is_empty() && text.chars().all(may_be_in_a_name)).then(|| Self(text.to_owned()))
    }

    /// The name of a gateway's log of one mode: its public address without the scheme and a trailing slash, followed by `/log` for the
    /// sandbox and by `/log/live` for live. Characters not allowed in a name are percent-encoded, for example a plus as `%2B`.
    pub fn of_issuer(issuer: &str, mode: Mode) -> Self {
        let place = issuer.split_once("://").map_or(issuer, |(_, place)| place);
        let mut name = String::with_capacity(place.len() + 9);
        for c in place.trim_end_matches('/').chars() {
            if may_be_in_a_name(c) {
                name.push(c);
            } else {
                let mut bytes = [0; 4];
                name.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
            }
        }
        let tree = match mode {
            Mode::Sandbox => "/log",
            Mode::Live => "/log/live",
        };
        Self(name + tree)
    }

    /// The name of the same log in an epoch: in the first it has no addition, in every later one `/epoch-` and the number. A later one
    /// begins when a backup is restored.
    #[must_use]
    pub fn in_epoch(self, epoch: u32) -> Self {
        if epoch > 1 { Self(format!("{}{EPOCH}{epoch}", self.0)) } else { self }
    }

    /// The log's name in its first epoch, and the epoch.
    fn parts(&self) -> (&str, u64) {
        let later = self.0.rsplit_once(EPOCH).and_then(|(name, epoch)| Some((name, decimal(epoch).filter(|epoch| *epoch > 1)?)));
        later.unwrap_or((&self.0, 1))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LogName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn may_be_in_a_name(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && c != '+'
}

/// The public key of a log, with its name. Displayed as a verifier key: `name+id+key`, where the id is eight digits of lower-case
/// hex and the key is base64 of `01` and its 32 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogKey {
    name: LogName,
    public: PublicKey,
}

impl LogKey {
    /// The key of a log; `None` if it is not an Ed25519 key.
    pub fn new(name: LogName, public: PublicKey) -> Option<Self> {
        match public.algorithm() {
            Algorithm::Ed25519 => Some(Self { name, public }),
            Algorithm::EcdsaP256Sha256 => None,
        }
    }

    /// Parses a verifier key as displayed; `None` if it is malformed, its id does not match, or it is a weak key.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() <= LONGEST_NOTE).then_some(())?;
        let mut parts = text.splitn(3, '+');
        let (name, _, key) = (parts.next()?, parts.next()?, parts.next()?);
        let key = STANDARD.decode(key).ok()?;
        let (&ED25519, public) = key.split_first()? else { return None };
        let read = Self { name: LogName::parse(name)?, public: PublicKey::ed25519(public)? };
        // There is only one encoding, and the id follows from the rest.
        (read.to_string() == text).then_some(read)
    }

    /// The log's name.
    pub fn name(&self) -> &LogName {
        &self.name
    }

    /// The id: the first four bytes of SHA-256(`name ‖ newline ‖ 01 ‖ key`). It distinguishes keys and proves nothing.
    pub fn id(&self) -> [u8; 4] {
        let hash: Hash =
            Sha256::new().chain_update(&self.name.0).chain_update([b'\n', ED25519]).chain_update(self.public.as_bytes()).finalize().into();
        [hash[0], hash[1], hash[2], hash[3]]
    }

    /// The checkpoint, if the log signed it. Signatures by other keys are ignored: witnesses add theirs.
    ///
    /// # Errors
    /// See the variants of [`NoteError`].
    pub fn open(&self, note: &str) -> Result<Checkpoint, NoteError> {
        let note = Note::parse(note)?;
        let mut signed = false;
        for signature in note.signatures {
            if signature.name != self.name.as_str() || signature.id != self.id() {
                continue;
            }
            let bytes = signature.bytes.as_slice().try_into().map_err(|_| NoteError::BadSignature)?;
            if !RustCrypto.verify(&self.public, note.text.as_bytes(), bytes) {
                return Err(NoteError::BadSignature);
            }
            signed = true;
        }
        if !signed {
            return Err(NoteError::NotSigned);
        }
        let checkpoint = Checkpoint::parse(note.text).ok_or(NoteError::NotACheckpoint)?;
        if checkpoint.origin == self.name { Ok(checkpoint) } else { Err(NoteError::OtherLog) }
    }
}

impl fmt::Display for LogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut key = vec![ED25519];
        key.extend_from_slice(self.public.as_bytes());
        write!(f, "{}+{:08x}+{}", self.name, u32::from_be_bytes(self.id()), STANDARD.encode(key))
    }
}

/// The state of a log at one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: LogName,
    /// The number of leaves.
    pub size: u64,
    /// The root of the tree.
    pub root: Hash,
}

impl Checkpoint {
    /// The signed text: origin, size in decimal and root in base64, each followed by a newline.
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, STANDARD.encode(self.root))
    }

    /// Parses the text of a checkpoint; `None` if it is malformed. Lines after the first three must not be empty; their content is
    /// ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let origin = LogName::parse(lines.next()?)?;
        let size = decimal(lines.next()?)?;
        let root = STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
        lines.all(|line| !line.is_empty()).then_some(Self { origin, size, root })
    }

    /// The signed note: the text, and one signature with the log's own name.
    ///
    /// A log must never sign two checkpoints of which neither extends the other; the caller must ensure that.
    ///
    /// # Errors
    /// [`SignError::Malformed`] if the signer's key is not an Ed25519 key or its result is not such a signature;
    /// [`SignError::KeyStore`] if it cannot sign at the moment.
    pub fn sign(&self, signer: &dyn Signer) -> Result<String, SignError> {
        let malformed = SignError::Malformed(Algorithm::Ed25519);
        let Some(key) = LogKey::new(self.origin.clone(), signer.public_key()) else { return Err(malformed) };
        let text = self.text();
        let signature = to_raw(Algorithm::Ed25519, &signer.sign(text.as_bytes())?).ok_or(malformed)?;
        let line = STANDARD.encode([key.id().as_slice(), &signature].concat());
        Ok(format!("{text}\n{DASH}{} {line}\n", self.origin))
    }
}

/// How a checkpoint follows one that was seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// The same log, which has grown or is as it was.
    Grown,
    /// The log of the same gateway in a later epoch: its operator restored a backup. The new tree need not contain what came after that
    /// backup. What was proved under the former name stays proved.
    NewEpoch,
}

/// Why a checkpoint does not follow one that was seen before. Keep both: they are the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotFollowing {
    /// The log is smaller than it was.
    #[error("the log is smaller than it was: if a backup was restored, its operator must begin a new epoch")]
    Smaller,
    /// The larger log does not begin with the smaller one.
    #[error("the log has another history than it had")]
    OtherHistory,
    /// It is of an epoch that has ended.
    #[error("the checkpoint is of an epoch of the log that has ended")]
    FormerEpoch,
    /// It is another log's.
    #[error("the checkpoint belongs to another log")]
    OtherLog,
}

impl Checkpoint {
    /// Checks that this checkpoint may follow `seen`, which was the newest so far. `path` is the proof that the larger tree begins with
    /// the smaller one; not looked at for a new epoch.
    ///
    /// Both must be opened with keys that you trust; those of a new epoch have its name.
    ///
    /// # Errors
    /// See the variants of [`NotFollowing`].
    pub fn follows(&self, seen: &Self, path: &[Hash]) -> Result<Follows, NotFollowing> {
        let ((name, epoch), (seen_name, seen_epoch)) = (self.origin.parts(), seen.origin.parts());
        if name != seen_name {
            return Err(NotFollowing::OtherLog);
        }
        match epoch.cmp(&seen_epoch) {
            Ordering::Greater => Ok(Follows::NewEpoch),
            Ordering::Less => Err(NotFollowing::FormerEpoch),
            Ordering::Equal if self.size < seen.size => Err(NotFollowing::Smaller),
            Ordering::Equal if verify_consistency(seen.size, self.size, &seen.root, &self.root, path) => Ok(Follows::Grown),
            Ordering::Equal => Err(NotFollowing::OtherHistory),
        }
    }
}

/// The parts of a note, not yet verified.
struct Note<'a> {
    /// Includes its last newline.
    text: &'a str,
    signatures: Vec<NoteSignature<'a>>,
}

struct NoteSignature<'a> {
    name: &'a str,
    id: [u8; 4],
    bytes: Vec<u8>,
}

impl<'a> Note<'a> {
    fn parse(note: &'a str) -> Result<Self, NoteError> {
        if note.len() > LONGEST_NOTE {
            return Err(NoteError::TooLong);
        }
        if note.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(NoteError::Malformed);
        }
        // The last empty line separates the text from the signatures.
        let middle = note.rfind("\n\n").ok_or(NoteError::Malformed)?;
        let (text, signatures) = (&note[..=middle], &note[middle + 2..]);
        let lines = signatures.strip_suffix('\n').ok_or(NoteError::Malformed)?;
        if lines.split('\n').count() > MOST_SIGNATURES {
            return Err(NoteError::TooLong);
        }
        let signatures = lines.split('\n').map(|line| NoteSignature::parse(line).ok_or(NoteError::Malformed));
        Ok(Self { text, signatures: signatures.collect::<Result<_, _>>()? })
    }
}

impl<'a> NoteSignature<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, signature) = line.strip_prefix(DASH)?.split_once(' ')?;
        LogName::parse(name)?;
        let signature = STANDARD.decode(signature).ok()?;
        let (id, bytes) = signature.split_first_chunk::<4>().filter(|(_, bytes)| !bytes.is_empty())?;
        Some(Self { name, id: *id, bytes: bytes.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::auth::SoftwareKey;

    fn name() -> LogName {
        LogName::of_issuer("https://pay.example.org:8443/base", Mode::Sandbox)
    }

    fn log() -> (SoftwareKey, LogKey) {
        let signer = SoftwareKey::ed25519(&[7; 32]);
        let key = LogKey::new(name(), signer.public_key()).unwrap();
        (signer, key)
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint { origin: name(), size: 20_852_163, root: [3; 32] }
    }

    /// A note with any text, signed as the log would sign it.
    fn signed(text: &str) -> String {
        let (signer, key) = log();
        let signature = STANDARD.encode([key.id().to_vec(), signer.sign(text.as_bytes()).unwrap()].concat());
        format!("{text}\n{DASH}{} {signature}\n", name())
    }

    #[test]
    fn the_note_of_the_go_documentation_opens() {
        // The example of golang.org/x/mod/sumdb/note: its text is not a checkpoint, but it is signed.
        let key = LogKey::parse("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW").unwrap();
        assert_eq!((key.name().as_str(), key.id()), ("PeterNeumann", [0xc7, 0x4f, 0x20, 0xa3]));
        let note = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\
                    \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
        assert_eq!(key.open(note), Err(NoteError::NotACheckpoint));
        assert_eq!(key.open(&note.replace("answer", "Answer")), Err(NoteError::BadSignature));
    }

    #[test]
    fn a_signed_checkpoint_opens_with_its_key_alone() {
        let (signer, key) = log();
        let note = checkpoint().sign(&signer).unwrap();
        assert_eq!(note, signed(&checkpoint().text()));
        assert_eq!(key.open(&note), Ok(checkpoint()));
        assert_eq!(LogKey::parse(&key.to_string()), Some(key));
        let other = LogKey::new(name(), SoftwareKey::ed25519(&[8; 32]).public_key()).unwrap();
        assert_eq!(other.open(&note), Err(NoteError::NotSigned));
        let renamed = LogKey::new(LogName::of_issuer("railgate", Mode::Sandbox), signer.public_key()).unwrap();
        assert_eq!(renamed.open(&note), Err(NoteError::NotSigned));
        assert!(checkpoint().sign(&SoftwareKey::p256(&[7; 32]).unwrap()).is_err());
    }

    #[test]
    fn no_byte_of_a_note_can_be_changed() {
        let (signer, key) = log();
        let note = checkpoint().sign(&signer).unwrap();
        for at in 0..note.len() {
            for bit in 0..8 {
                let mut bytes = note.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                if let Ok(changed) = std::str::from_utf8(&bytes) {
                    assert!(key.open(changed).is_err(), "{changed:?}");
                }
            }
            if note.is_char_boundary(at) {
                assert!(key.open(&note[..at]).is_err());
            }
        }
    }

    #[test]
    fn signatures_of_others_are_left_alone_and_each_of_ours_must_fit() {
        let (signer, key) = log();
        let note = checkpoint().sign(&signer).unwrap();
        let witness = format!("{DASH}witness.example {}\n", STANDARD.encode([9; 76]));
        assert_eq!(key.open(&format!("{note}{witness}")), Ok(checkpoint()));
        let (text, own) = note.split_once("\n\n").unwrap();
        assert_eq!(key.open(&format!("{text}\n\n{witness}{own}{witness}")), Ok(checkpoint()));
        // The log's name with another id, and its id with another name: not the log's signatures.
        let wrong = STANDARD.encode([key.id().as_slice(), &[1; 64]].concat());
        for line in [format!("{DASH}{} {}\n", name(), STANDARD.encode([9; 68])), format!("{DASH}witness.example {wrong}\n")] {
            assert_eq!(key.open(&format!("{note}{line}")), Ok(checkpoint()));
        }
        for wrong in [wrong, STANDARD.encode([key.id().as_slice(), &[1; 63]].concat())] {
            assert_eq!(key.open(&format!("{note}{DASH}{} {wrong}\n", name())), Err(NoteError::BadSignature));
        }
        assert_eq!(key.open(&format!("{note}{}", witness.repeat(99))), Ok(checkpoint()));
        assert_eq!(key.open(&format!("{note}{}", witness.repeat(100))), Err(NoteError::TooLong));
        assert_eq!(key.open(&format!("{}{note}", "a\n".repeat(500_000))), Err(NoteError::TooLong));
    }

    #[test]
    fn what_is_no_note_is_refused() {
        let (_, key) = log();
        let good = STANDARD.encode([1; 68]);
        for note in [
            String::new(),
            "\n".into(),
            "\n\n".into(),
            "text\n\n".into(),
            format!("text\n{DASH}name {good}\n"),
            format!("text\n\n{DASH}name {good}"),
            format!("text\n\n{DASH}name {good}\n\n"),
            format!("text\n\n- name {good}\n"),
            format!("text\n\n{DASH}na+me {good}\n"),
            format!("text\n\n{DASH}na\u{a0}me {good}\n"),
            format!("text\n\n{DASH} {good}\n"),
            format!("text\n\n{DASH}name  {good}\n"),
            format!("text\n\n{DASH}name {good} \n"),
            format!("text\n\n{DASH}name AAAAAA==\n"),
            format!("text\n\n{DASH}name \n"),
            format!("text\r\n\n{DASH}name {good}\n"),
            format!("te\0xt\n\n{DASH}name {good}\n"),
        ] {
            assert_eq!(key.open(&note), Err(NoteError::Malformed), "{note:?}");
        }
    }

    #[test]
    fn a_checkpoint_has_one_spelling() {
        let (_, key) = log();
        let root = STANDARD.encode([3; 32]);
        let extended = signed(&format!("{}extension\n", checkpoint().text()));
        assert_eq!(key.open(&extended), Ok(checkpoint()));
        assert_eq!(key.open(&signed(&Checkpoint { size: 0, ..checkpoint() }.text())).unwrap().size, 0);
        assert_eq!(key.open(&signed(&format!("other.example/log\n1\n{root}\n"))), Err(NoteError::OtherLog));
        for text in [
            format!("{}\n1\n", name()),
            format!("{}\n01\n{root}\n", name()),
            format!("{}\n+1\n{root}\n", name()),
            format!("{}\n\n{root}\n", name()),
            format!("{}\n1 \n{root}\n", name()),
            format!("{}\n18446744073709551616\n{root}\n", name()),
            format!("{}\n1\n{}\n", name(), STANDARD.encode([3; 31])),
            format!("{}\n1\n{}\n", name(), root.trim_end_matches('=')),
            // Stray bits after the last byte.
            format!("{}\n1\n{}\n", name(), "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB="),
            format!("\n1\n{root}\n"),
            format!("{}\n1\n{root}\n\nextension\n", name()),
        ] {
            assert_eq!(key.open(&signed(&text)), Err(NoteError::NotACheckpoint), "{text:?}");
        }
    }

    #[test]
    fn a_verifier_key_has_one_spelling() {
        let (_, key) = log();
        let text = key.to_string();
        let (start, bytes) = text.rsplit_once('+').unwrap();
        let (plain, id) = start.rsplit_once('+').unwrap();
        assert_eq!(plain, "pay.example.org:8443/base/log");
        let of = |kind: u8, public: &[u8]| STANDARD.encode([&[kind], public].concat());
        let mut weak = [0; 32];
        weak[0] = 1;
        for wrong in [
            String::new(),
            plain.to_owned(),
            start.to_owned(),
            format!("{plain}+{}+{bytes}", id.to_uppercase().replace(char::is_numeric, "A")),
            format!("{plain}+00000000+{bytes}"),
            format!("{plain}x+{id}+{bytes}"),
            format!("+{id}+{bytes}"),
            format!("{text}\n"),
            format!("{text}="),
            format!("{start}+{}", of(2, &[7; 32])),
            format!("{start}+{}", of(1, &[7; 31])),
            format!("{start}+{}", of(1, &weak)),
        ] {
            assert_eq!(LogKey::parse(&wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_log_only_grows_until_a_new_epoch_begins() {
        let at = |epoch, size, root| Checkpoint { origin: name().in_epoch(epoch), size, root: [root; 32] };
        assert_eq!(name().in_epoch(1), name());
        assert_eq!(name().in_epoch(12).as_str(), format!("{}/epoch-12", name()));
        let seen = at(1, 8, 1);
        assert_eq!(at(1, 8, 1).follows(&seen, &[]), Ok(Follows::Grown));
        assert_eq!(at(1, 7, 1).follows(&seen, &[]), Err(NotFollowing::Smaller));
        assert_eq!(at(1, 8, 2).follows(&seen, &[]), Err(NotFollowing::OtherHistory));
        assert_eq!(at(1, 9, 2).follows(&seen, &[]), Err(NotFollowing::OtherHistory));
        assert_eq!(at(2, 7, 2).follows(&seen, &[]), Ok(Follows::NewEpoch));
        assert_eq!(at(9, 8, 1).follows(&at(2, 7, 2), &[]), Ok(Follows::NewEpoch));
        assert_eq!(at(1, 9, 2).follows(&at(2, 7, 2), &[]), Err(NotFollowing::FormerEpoch));
        assert_eq!(at(2, 6, 2).follows(&at(2, 7, 2), &[]), Err(NotFollowing::Smaller));
        let live = Checkpoint { origin: LogName::of_issuer("https://pay.example.org:8443/base", Mode::Live), ..at(2, 9, 1) };
        assert_eq!(live.follows(&seen, &[]), Err(NotFollowing::OtherLog));
        // Only the number itself is one.
        for odd in ["/epoch-1", "/epoch-02", "/epoch-", "/epoch-x"] {
            let odd = Checkpoint { origin: LogName::parse(&format!("{}{odd}", name())).unwrap(), ..at(1, 9, 1) };
            assert_eq!(odd.follows(&seen, &[]), Err(NotFollowing::OtherLog), "{odd:?}");
        }
    }

    #[test]
    fn a_name_is_made_of_an_address() {
        for (issuer, name) in [
            ("https://pay.example.org:8443/base", "pay.example.org:8443/base/log"),
            ("https://pay.example.org/", "pay.example.org/log"),
            ("railgate", "railgate/log"),
            ("http://[::1]:80", "[::1]:80/log"),
            ("a+b c\u{2003}\n", "a%2Bb%20c%E2%80%83%0A/log"),
            ("", "/log"),
        ] {
            assert_eq!(LogName::of_issuer(issuer, Mode::Sandbox).as_str(), name);
            assert_eq!(LogName::of_issuer(issuer, Mode::Live).as_str(), format!("{name}/live"));
            assert!(LogName::parse(name).is_some());
        }
        for wrong in ["", "a b", "a+b", "a\nb", "a\u{2003}b", "a\u{7f}"] {
            assert_eq!(LogName::parse(wrong), None);
        }
    }

    proptest! {
        #[test]
        fn any_address_makes_a_name(issuer: String) {
            for mode in Mode::ALL {
                let name = LogName::of_issuer(&issuer, *mode);
                prop_assert_eq!(LogName::parse(name.as_str()), Some(name));
            }
        }

        #[test]
        fn any_text_is_opened_without_harm(text in "(a\n|\n|\u{2014} |[a-zA-Z0-9+/=]{4}| |\\PC){0,30}") {
            let (_, key) = log();
            prop_assert!(key.open(&text).is_err());
            prop_assert_eq!(LogKey::parse(&text), None);
            let read = Checkpoint::parse(&text);
            prop_assert!(read.is_none_or(|read| text.starts_with(&read.text())));
        }
    }
}
