//! The content coding `aes128gcm` (RFC 8188): a header with salt, record size and key id, then records, each encrypted and padded.

use aes_gcm::Aes128Gcm;
use aes_gcm::aead::{Aead as _, KeyInit as _};
use hkdf::Hkdf;
use sha2::Sha256;

/// The length of the tag that each record ends with.
pub(super) const TAG: usize = 16;
/// The header without the key id.
pub(super) const HEADER: usize = 16 + 4 + 1;
// What ends the data of a record that others follow, and of the last one.
const MORE: u8 = 1;
const LAST: u8 = 2;

/// Why a coded text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodingError {
    /// The header is cut off, or its record size is one that no record can have.
    #[error("the header is malformed")]
    Header,
    /// A record was changed, or is of another key.
    #[error("a record is not authentic")]
    Forged,
    /// A record has no delimiter, the wrong one, or the last record is missing.
    #[error("a record is malformed or missing")]
    Record,
}

/// One record: its data, and how many zeros hide its length.
pub(super) type Part<'a> = (&'a [u8], usize);

/// What all records share.
pub(super) struct Coding {
    cipher: Aes128Gcm,
    nonce: [u8; 12],
}

impl Coding {
    /// The coding under a secret (of any length, but unguessable) and a salt that is used once.
    pub(super) fn new(secret: &[u8], salt: &[u8; 16]) -> Self {
        let derived = Hkdf::<Sha256>::new(Some(salt), secret);
        let (mut key, mut nonce) = ([0; 16], [0; 12]);
        // Both are far shorter than the longest output.
        let _ = derived.expand(b"Content-Encoding: aes128gcm\0", &mut key);
        let _ = derived.expand(b"Content-Encoding: nonce\0", &mut nonce);
        Self { cipher: Aes128Gcm::new(&key.into()), nonce }
    }

    /// The nonce of the record at `index`: the number is mixed into the last bytes.
    fn nonce_of(&self, index: u64) -> [u8; 12] {
        let mut nonce = self.nonce;
        for (byte, index) in nonce.iter_mut().skip(4).zip(index.to_be_bytes()) {
            *byte ^= index;
        }
        nonce
    }

    /// Codes these records. All but the last must be of `record` bytes when sealed, the last at most.
    pub(super) fn encode(&self, salt: &[u8; 16], record: u32, key_id: &[u8], parts: &[Part<'_>]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(HEADER + key_id.len() + parts.len() * record as usize);
        out.extend_from_slice(salt);
        out.extend_from_slice(&record.to_be_bytes());
        out.push(u8::try_from(key_id.len()).ok()?);
        out.extend_from_slice(key_id);
        for (index, (data, padding)) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            let mut plain = Vec::with_capacity(data.len() + 1 + padding + TAG);
            plain.extend_from_slice(data);
            plain.push(if last { LAST } else { MORE });
            plain.resize(plain.len() + padding, 0);
            let size = plain.len() + TAG;
            if size > record as usize || !last && size != record as usize {
                return None;
            }
            out.extend(self.cipher.encrypt(&self.nonce_of(index as u64).into(), plain.as_slice()).ok()?);
        }
        Some(out)
    }

    /// The data of these records, without padding.
    pub(super) fn decode(&self, header: &Header<'_>) -> Result<Vec<u8>, CodingError> {
        let mut out = Vec::with_capacity(header.records.len());
        let mut records = header.records.chunks(header.record).enumerate().peekable();
        if records.peek().is_none() {
            return Err(CodingError::Record);
        }
        while let Some((index, record)) = records.next() {
            let plain = self.cipher.decrypt(&self.nonce_of(index as u64).into(), record).map_err(|_| CodingError::Forged)?;
            let end = plain.iter().rposition(|byte| *byte != 0).ok_or(CodingError::Record)?;
            let expected = if records.peek().is_some() { MORE } else { LAST };
            if plain[end] != expected {
                return Err(CodingError::Record);
            }
            out.extend_from_slice(&plain[..end]);
        }
        Ok(out)
    }
}

/// The header of a coded text, and the records after it.
pub(super) struct Header<'a> {
    pub(super) salt: [u8; 16],
    pub(super) record: usize,
    pub(super) key_id: &'a [u8],
    pub(super) records: &'a [u8],
}

impl<'a> Header<'a> {
    pub(super) fn read(coded: &'a [u8]) -> Result<Self, CodingError> {
        let (salt, rest) = coded.split_first_chunk::<16>().ok_or(CodingError::Header)?;
        let (record, rest) = rest.split_first_chunk::<4>().ok_or(CodingError::Header)?;
        let (length, rest) = rest.split_first().ok_or(CodingError::Header)?;
        let (key_id, records) = rest.split_at_checked(usize::from(*length)).ok_or(CodingError::Header)?;
        // Less has no room for a tag, a delimiter and a byte of data.
        let record = Some(u32::from_be_bytes(*record) as usize).filter(|size| *size > TAG + 1).ok_or(CodingError::Header)?;
        Ok(Self { salt: *salt, record, key_id, records })
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    fn decoded(secret: &[u8], coded: &[u8]) -> Result<Vec<u8>, CodingError> {
        let header = Header::read(coded)?;
        Coding::new(secret, &header.salt).decode(&header)
    }

    #[test]
    fn the_example_of_one_record_is_coded_byte_for_byte() {
        // RFC 8188, section 3.1.
        let secret = bytes("yqdlZ-tYemfogSmv7Ws5PQ");
        let coded = bytes("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg");
        let salt = coded[..16].try_into().unwrap();
        let ours = Coding::new(&secret, &salt).encode(&salt, 4096, b"", &[(b"I am the walrus", 0)]);
        assert_eq!(ours.unwrap(), coded);
        assert_eq!(decoded(&secret, &coded).unwrap(), b"I am the walrus");
    }

    #[test]
    fn the_example_of_two_records_is_coded_byte_for_byte() {
        // RFC 8188, section 3.2.
        let secret = bytes("BO3ZVPxUlnLORbVGMpbT1Q");
        let coded = bytes("uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA");
        let salt = coded[..16].try_into().unwrap();
        let ours = Coding::new(&secret, &salt).encode(&salt, 25, b"a1", &[(b"I am th", 1), (b"e walrus", 0)]);
        assert_eq!(ours.unwrap(), coded);
        assert_eq!(decoded(&secret, &coded).unwrap(), b"I am the walrus");
        assert_eq!(decoded(&secret, &coded[..coded.len() - 25]), Err(CodingError::Record), "the last record is missing");
        assert_eq!(decoded(&secret, &[&coded[..23], &coded[48..], &coded[23..48]].concat()), Err(CodingError::Forged), "in another order");
    }

    #[test]
    fn a_record_has_the_size_that_the_header_says() {
        let (secret, salt) = ([7; 16], [8; 16]);
        let coding = Coding::new(&secret, &salt);
        assert!(coding.encode(&salt, 25, b"", &[(b"12345678", 0)]).is_some());
        assert!(coding.encode(&salt, 25, b"", &[(b"123456789", 0)]).is_none(), "too long");
        assert!(coding.encode(&salt, 25, b"", &[(b"1234567", 0), (b"8", 0)]).is_none(), "only the last may be shorter");
        assert!(coding.encode(&salt, 4096, &[0; 256], &[(b"", 0)]).is_none(), "a key id is of 255 bytes at most");
        for size in [0u32, 1, 17] {
            let coded = [&salt[..], &size.to_be_bytes(), &[0], &[0; 40]].concat();
            assert_eq!(decoded(&secret, &coded), Err(CodingError::Header), "{size}");
        }
        assert_eq!(decoded(&secret, &[&salt[..], &25u32.to_be_bytes(), &[0]].concat()), Err(CodingError::Record), "no record");
    }

    proptest! {
        #[test]
        fn what_was_coded_is_read_whatever_the_padding(
            data in prop::collection::vec(any::<u8>(), 0..400), padding in 0usize..400, secret in any::<[u8; 16]>(), salt in any::<[u8; 16]>(),
            changed in any::<prop::sample::Index>(),
        ) {
            let coded = Coding::new(&secret, &salt).encode(&salt, 4096, b"id", &[(&data, padding)]).unwrap();
            prop_assert_eq!(coded.len(), HEADER + 2 + data.len() + 1 + padding + TAG);
            prop_assert_eq!(decoded(&secret, &coded).unwrap(), data);
            let mut forged = coded.clone();
            let at = changed.index(forged.len() - HEADER - 2) + HEADER + 2;
            forged[at] ^= 1;
            prop_assert_eq!(decoded(&secret, &forged), Err(CodingError::Forged));
        }

        #[test]
        fn whatever_arrives_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decoded(b"secret", &bytes);
        }
    }
}
