//! Proofs to keep: one event is in the log, verifiable offline (C2SP tlog-proof).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::note::LONGEST_NOTE;
use super::{Checkpoint, Hash, LogKey, NoteError, decimal, leaf_hash, verify_inclusion};

/// The first line of a proof.
const TITLE: &str = "c2sp.org/tlog-proof@v1\n";
/// Separates commitments to events from every other use of SHA-256.
const DOMAIN: &[u8] = b"railgate-event-v1\0";
/// The maximum length of a path: a size has 64 bits.
const LONGEST_PATH: usize = 64;
/// The maximum length of the text before the checkpoint: the lines of the path, and less than two more for the rest.
const LONGEST_HEAD: usize = (LONGEST_PATH + 4) * 45;

/// The leaf of an event: SHA-256(`railgate-event-v1 ‖ 00 ‖ salt ‖ event_hash`).
///
/// `event_hash` is the event's hash in its settlement's chain, which covers all events before it; `salt` is 32 secret bytes.
/// Without the salt the leaf reveals nothing, not even to somebody who guesses the whole event: the log can therefore be public.
/// With the salt, the leaf commits to this one event.
pub fn commitment(salt: &[u8; 32], event_hash: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(DOMAIN).chain_update(salt).chain_update(event_hash).finalize().into()
}

/// Why a proof is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The text is not a proof of an event.
    #[error("it is not a proof: {0}")]
    Malformed(&'static str),
    /// The log did not sign the checkpoint in the proof.
    #[error("its checkpoint cannot be trusted: {0}")]
    Checkpoint(#[from] NoteError),
    /// The event is not at this position in the log with this root.
    #[error("the event is not in the log at this place")]
    NotIncluded,
}

/// The proof that an event is in the log. Displayed as the text of a `.tlog-proof` file, whose `extra` line is the salt.
///
/// The salt is not authenticated and need not be: with a different salt, the event has a different leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The salt of the event's [`commitment`].
    pub salt: [u8; 32],
    /// The index of the leaf, from 0.
    pub index: u64,
    /// The path from the leaf to the checkpoint's root, as returned by [`inclusion`](super::inclusion).
    pub path: Vec<Hash>,
    /// The signed checkpoint, unchanged.
    pub checkpoint: String,
}

impl Proof {
    /// Parses the text of a proof in its canonical form. The checkpoint is not checked.
    ///
    /// # Errors
    /// [`ProofError::Malformed`]; it says what is wrong.
    pub fn parse(text: &str) -> Result<Self, ProofError> {
        let malformed = ProofError::Malformed;
        if text.len() > LONGEST_HEAD + LONGEST_NOTE {
            return Err(malformed("it is too long"));
        }
        let rest = text.strip_prefix(TITLE).ok_or(malformed("the first line must be c2sp.org/tlog-proof@v1"))?;
        let (head, checkpoint) = rest.split_once("\n\n").ok_or(malformed("an empty line must precede the checkpoint"))?;
        let mut lines = head.split('\n');
        let mut line = || lines.next().unwrap_or_default();
        let salt = line().strip_prefix("extra ").and_then(hash).ok_or(malformed("extra must be 32 bytes of salt in base64"))?;
        let index = line().strip_prefix("index ").and_then(decimal).ok_or(malformed("index must be a number"))?;
        let path =
            lines.map(hash).take(LONGEST_PATH + 1).collect::<Option<Vec<_>>>().ok_or(malformed("a hash must be 32 bytes in base64"))?;
        if path.len() > LONGEST_PATH {
            return Err(malformed("there are too many hashes"));
        }
        Ok(Self { salt, index, path, checkpoint: checkpoint.to_owned() })
    }

    /// The checkpoint, if `key` signed it and the event with this hash is at the stated position in the log at that size.
    ///
    /// # Errors
    /// [`ProofError::Checkpoint`] or [`ProofError::NotIncluded`].
    pub fn verify(&self, event_hash: &[u8; 32], key: &LogKey) -> Result<Checkpoint, ProofError> {
        let checkpoint = key.open(&self.checkpoint)?;
        let leaf = leaf_hash(&commitment(&self.salt, event_hash));
        if verify_inclusion(&leaf, self.index, checkpoint.size, &self.path, &checkpoint.root) {
            Ok(checkpoint)
        } else {
            Err(ProofError::NotIncluded)
        }
    }
}

/// Verifies a proof offline: [`Proof::parse`] and [`Proof::verify`].
///
/// # Errors
/// See the variants of [`ProofError`].
pub fn verify_proof(text: &str, event_hash: &[u8; 32], key: &LogKey) -> Result<Checkpoint, ProofError> {
    Proof::parse(text)?.verify(event_hash, key)
}

fn hash(line: &str) -> Option<Hash> {
    STANDARD.decode(line).ok()?.try_into().ok()
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TITLE}extra {}\nindex {}\n", STANDARD.encode(self.salt), self.index)?;
        for hash in &self.path {
            writeln!(f, "{}", STANDARD.encode(hash))?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::auth::{Signer as _, SoftwareKey};
    use crate::ledger::Mode;
    use crate::log::{LogName, node_hash};

    const EVENT: [u8; 32] = [5; 32];

    /// A log of three leaves; the last one is the event's.
    fn proof() -> (Proof, LogKey) {
        let (origin, signer, salt) = (LogName::of_issuer("railgate", Mode::Sandbox), SoftwareKey::ed25519(&[7; 32]), [6; 32]);
        let path = vec![node_hash(&leaf_hash(&[1; 32]), &leaf_hash(&[2; 32]))];
        let root = node_hash(&path[0], &leaf_hash(&commitment(&salt, &EVENT)));
        let checkpoint = Checkpoint { origin: origin.clone(), size: 3, root }.sign(&signer).unwrap();
        (Proof { salt, index: 2, path, checkpoint }, LogKey::new(origin, signer.public_key()).unwrap())
    }

    #[test]
    fn a_commitment_is_what_its_description_says() {
        let bytes = [b"railgate-event-v1\0".as_slice(), &[6; 32], &[5; 32]].concat();
        assert_eq!(commitment(&[6; 32], &[5; 32]), <[u8; 32]>::from(Sha256::digest(bytes)));
    }

    #[test]
    fn a_proof_is_checked_offline() {
        let (proof, key) = proof();
        let text = proof.to_string();
        assert_eq!(Proof::parse(&text), Ok(proof.clone()));
        let checkpoint = verify_proof(&text, &EVENT, &key).unwrap();
        assert_eq!((checkpoint.size, checkpoint.origin.as_str()), (3, "railgate/log"));
        assert!(text.starts_with("c2sp.org/tlog-proof@v1\nextra BgYG"));
        assert!(text.contains("=\nindex 2\n"));
        assert!(text.ends_with(&format!("=\n\n{}", proof.checkpoint)));
        assert_eq!(verify_proof(&text, &[4; 32], &key), Err(ProofError::NotIncluded));
        let other = LogKey::new(key.name().clone(), SoftwareKey::ed25519(&[8; 32]).public_key()).unwrap();
        assert_eq!(verify_proof(&text, &EVENT, &other), Err(ProofError::Checkpoint(NoteError::NotSigned)));
    }

    #[test]
    fn the_only_leaf_has_a_proof_without_hashes() {
        let (_, key) = proof();
        let root = leaf_hash(&commitment(&[6; 32], &EVENT));
        let checkpoint = Checkpoint { origin: key.name().clone(), size: 1, root }.sign(&SoftwareKey::ed25519(&[7; 32])).unwrap();
        let text = Proof { salt: [6; 32], index: 0, path: vec![], checkpoint }.to_string();
        assert_eq!(verify_proof(&text, &EVENT, &key).unwrap().size, 1);
    }

    #[test]
    fn no_byte_of_a_proof_can_be_changed() {
        let (proof, key) = proof();
        let text = proof.to_string();
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                if let Ok(changed) = std::str::from_utf8(&bytes) {
                    assert!(verify_proof(changed, &EVENT, &key).is_err(), "{changed}");
                }
            }
            if text.is_char_boundary(at) {
                assert!(verify_proof(&text[..at], &EVENT, &key).is_err());
            }
        }
        assert!(verify_proof(&format!("{text}\n"), &EVENT, &key).is_err());
    }

    #[test]
    fn what_is_no_proof_is_refused() {
        let (proof, _) = proof();
        let text = proof.to_string();
        let hash = STANDARD.encode([1; 32]);
        for (from, to) in [
            ("proof@v1", "proof@v2"),
            ("extra ", "Extra "),
            ("extra ", ""),
            ("index 2", "index 02"),
            ("index 2", "index +2"),
            ("index 2", "index 18446744073709551616"),
            ("index 2", "index"),
            ("index 2", "index 2\n"),
            ("index 2\n", "index 2\r\n"),
            ("index 2\n", &format!("index 2\n{hash} \n")),
            ("index 2\n", &format!("index 2\n{}\n", hash.trim_end_matches('='))),
            ("index 2\n", &format!("index 2\n{}", format!("{hash}\n").repeat(64))),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            let read = Proof::parse(&changed);
            // If the empty line comes too early, the rest is not a valid checkpoint.
            assert!(matches!(read, Err(ProofError::Malformed(_))) || to == "index 2\n", "{changed}");
        }
        assert_eq!(Proof::parse(&"a".repeat(LONGEST_HEAD + LONGEST_NOTE + 1)), Err(ProofError::Malformed("it is too long")));
        let (mut longest, _) = self::proof();
        longest.path = vec![[1; 32]; 64];
        longest.index = u64::MAX;
        assert!(longest.to_string().len() - longest.checkpoint.len() <= LONGEST_HEAD);
        assert_eq!(Proof::parse(&longest.to_string()), Ok(longest));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(head in "(extra |index |[0-9A-Za-z+/=]{44}|\n|\\PC){0,20}") {
            let text = format!("{TITLE}{head}");
            if let Ok(read) = Proof::parse(&text) {
                prop_assert_eq!(read.to_string(), text);
            }
        }

        #[test]
        fn a_proof_reads_back(salt: [u8; 32], index: u64, path in prop::collection::vec(any::<Hash>(), 0..=64), checkpoint: String) {
            let proof = Proof { salt, index, path, checkpoint };
            prop_assert_eq!(Proof::parse(&proof.to_string()), Ok(proof));
        }
    }
}
