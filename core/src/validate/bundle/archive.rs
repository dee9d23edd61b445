//! Archives of bundles, read strictly: entry by entry, in memory, within bounds, and never onto a disk. Whatever two programs could read
//! differently is refused, so that nobody reviews something else than what is published.
//!
//! Source: APPNOTE.TXT 6.3.10 of PKWARE.

use std::io::Read as _;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::{BUNDLE_MAX_BYTES, BundleContent, BundleDocument, DOCUMENTS_MAX, MANIFEST, SECRETS, parse_bundle_secrets};
use crate::error::{Error, ErrorCode, FieldProblem};

/// The media type of archives.
pub const ZIP: &str = "application/zip";

const END: u32 = 0x0605_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const END_BYTES: usize = 22;
const CENTRAL_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
/// Manifest, secrets and documents.
const ENTRIES_MAX: usize = DOCUMENTS_MAX + 2;
const NAME_MAX_BYTES: usize = 100;
/// An entry may be so many times as large as what is sent of it: text is far below.
const RATIO_MAX: u64 = 200;
/// An entry that is smaller may be as small as it likes when it is sent.
const RATIO_FREE: u64 = 64 * 1024;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const DESCRIBED: u16 = 1 << 3;
const UTF_8: u16 = 1 << 11;
/// How hard it was tried to compress, a descriptor behind the data, names in UTF-8.
const KNOWN_FLAGS: u16 = 1 << 1 | 1 << 2 | DESCRIBED | UTF_8;
/// Extra fields that give another size or name than the header.
const DIFFERING_EXTRAS: [u16; 3] = [0x0001, 0x7075, 0x9901];

/// What archives begin with, and where.
const NESTED: [(usize, &[u8]); 9] = [
    (0, b"PK\x03\x04"),
    (0, b"PK\x05\x06"),
    (0, b"\x1f\x8b"),
    (0, b"7z\xbc\xaf\x27\x1c"),
    (0, b"Rar!"),
    (0, b"BZh"),
    (0, b"\xfd7zXZ"),
    (0, b"\x28\xb5\x2f\xfd"),
    (257, b"ustar"),
];

/// Why an archive cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unusable {
    place: String,
    why: &'static str,
}

impl From<Unusable> for Error {
    fn from(Unusable { place, why }: Unusable) -> Self {
        let mut error = Self::with(ErrorCode::BundleUnusable, format!("{place}: {why}"));
        error.fields.push(FieldProblem::new(place, "archive_unusable", why));
        error
    }
}

type Read<T> = Result<T, Unusable>;

fn unusable<T>(place: impl Into<String>, why: &'static str) -> Read<T> {
    Err(Unusable { place: place.into(), why })
}

/// Reads the bundle in an archive.
///
/// # Errors
/// `bundle_unusable`; `invalid_fields` for the secrets.
pub fn unpack_bundle(bytes: &[u8]) -> Result<BundleContent, Error> {
    let mut content = BundleContent::default();
    let mut has_manifest = false;
    for (name, data) in entries(bytes)? {
        match name.as_str() {
            MANIFEST => {
                let text = String::from_utf8(data).or_else(|_| unusable(MANIFEST, "it is not UTF-8"))?;
                (content.manifest, has_manifest) = (text, true);
            }
            SECRETS => content.secrets = Some(parse_bundle_secrets(&zeroize::Zeroizing::new(data))?),
            _ => content.documents.push(BundleDocument { name, content: data }),
        }
    }
    if has_manifest { Ok(content) } else { Ok(unusable(MANIFEST, "the archive has no such entry")?) }
}

/// The entries of an archive, in its order.
fn entries(bytes: &[u8]) -> Read<Vec<(String, Vec<u8>)>> {
    let (directory, count) = end_of(bytes)?;
    let mut rest = bytes.get(directory..bytes.len() - END_BYTES).unwrap_or_default();
    let mut listed = Vec::with_capacity(count);
    for _ in 0..count {
        let (entry, length) = Entry::listed(rest)?;
        rest = rest.get(length..).unwrap_or_default();
        listed.push(entry);
    }
    if !rest.is_empty() {
        return unusable("the directory", "it has more than its entries");
    }
    for (n, entry) in listed.iter().enumerate() {
        if listed[..n].iter().any(|other| other.name.eq_ignore_ascii_case(&entry.name)) {
            return unusable(&entry.name, "the archive has it twice");
        }
    }
    let declared: u64 = listed.iter().map(|entry| entry.size).sum();
    if declared > BUNDLE_MAX_BYTES as u64 {
        return unusable("the archive", "it would have more than 10 MiB unpacked");
    }
    require_no_gaps(bytes, &listed, directory)?;
    listed.iter().map(|entry| Ok((entry.name.clone(), entry.unpacked(bytes)?))).collect()
}

/// Where the directory begins, and how many entries it has. The archive ends with its end: no comment, and nothing behind it.
fn end_of(bytes: &[u8]) -> Read<(usize, usize)> {
    let end = bytes.len().checked_sub(END_BYTES).and_then(|at| bytes.get(at..)).map(Fields);
    let Some(end) = end.filter(|end| end.u32(0) == END && end.u16(20) == 0) else {
        return unusable("the archive", "it is no zip archive, or has something after its end");
    };
    let (count, size, at) = (end.u16(10), end.u32(12) as usize, end.u32(16) as usize);
    if end.u16(4) != 0 || end.u16(6) != 0 || end.u16(8) != count || count == u16::MAX {
        return unusable("the archive", "it is in several parts, or in the 64-bit form");
    }
    if usize::from(count) > ENTRIES_MAX {
        return unusable("the archive", "it has too many entries");
    }
    if at.checked_add(size) != Some(bytes.len() - END_BYTES) {
        return unusable("the directory", "it is not where the archive says");
    }
    Ok((at, count.into()))
}

/// Each byte belongs to one entry: nothing is before, between or behind them, and none overlaps another.
fn require_no_gaps(bytes: &[u8], listed: &[Entry], directory: usize) -> Read<()> {
    let mut by_place: Vec<&Entry> = listed.iter().collect();
    by_place.sort_by_key(|entry| entry.at);
    let mut at = 0;
    for entry in by_place {
        if entry.at != at {
            return unusable(&entry.name, "there is something before it that is no entry, or it overlaps another");
        }
        at = entry.end(bytes)?;
    }
    if at == directory { Ok(()) } else { unusable("the directory", "there is something before it that is no entry") }
}

/// Numbers in little-endian order.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(self, at: usize) -> u16 {
        self.0.get(at..at + 2).and_then(|it| it.try_into().ok()).map_or(u16::MAX, u16::from_le_bytes)
    }

    fn u32(self, at: usize) -> u32 {
        self.0.get(at..at + 4).and_then(|it| it.try_into().ok()).map_or(u32::MAX, u32::from_le_bytes)
    }
}

/// An entry, as the directory lists it.
struct Entry {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    /// Where its local header begins.
    at: usize,
}

impl Entry {
    /// The first entry of a directory, and the length of its header.
    fn listed(directory: &[u8]) -> Read<(Self, usize)> {
        let fields = Fields(directory);
        if directory.len() < CENTRAL_BYTES || fields.u32(0) != CENTRAL {
            return unusable("the directory", "it ends before its last entry");
        }
        let (name_len, extra_len, comment_len) = (fields.u16(28) as usize, fields.u16(30) as usize, fields.u16(32) as usize);
        let length = CENTRAL_BYTES + name_len + extra_len + comment_len;
        let (Some(name), Some(extra)) = (
            directory.get(CENTRAL_BYTES..CENTRAL_BYTES + name_len),
            directory.get(CENTRAL_BYTES + name_len..CENTRAL_BYTES + name_len + extra_len),
        ) else {
            return unusable("the directory", "it ends before its last entry");
        };
        let flags = fields.u16(8);
        let name = name_of(name, flags)?;
        let entry = Self {
            flags,
            method: fields.u16(10),
            crc: fields.u32(16),
            packed: fields.u32(20).into(),
            size: fields.u32(24).into(),
            at: fields.u32(42) as usize,
            name,
        };
        entry.require_plain((fields.u16(4) >> 8, fields.u32(38)), extra)?;
        Ok((entry, length))
    }

    /// Refuses everything but a plain file. `kind` is the system that made it, and its attributes there.
    fn require_plain(&self, (system, attributes): (u16, u32), extra: &[u8]) -> Read<()> {
        const UNIX: u16 = 3;
        const MAC: u16 = 19;
        const FOLDER: u32 = 0x10;
        let refuse = |why| unusable(&self.name, why);
        let file_type = attributes >> 28;
        if self.flags & ENCRYPTED != 0 {
            return refuse("it is encrypted");
        }
        if matches!(system, UNIX | MAC) && !matches!(file_type, 0 | 0o10) {
            return refuse("it is no plain file: links and folders are not unpacked");
        }
        if attributes & FOLDER != 0 {
            return refuse("it is a folder");
        }
        if self.flags & !KNOWN_FLAGS != 0 || !matches!(self.method, STORED | DEFLATED) {
            return refuse("it is compressed in a way that is not unpacked: use deflate");
        }
        if self.packed == u64::from(u32::MAX) || self.size == u64::from(u32::MAX) || self.at == u32::MAX as usize {
            return refuse("it is in the 64-bit form");
        }
        if self.size > RATIO_FREE && self.size / RATIO_MAX > self.packed {
            return refuse("it would be more than 200 times as large unpacked");
        }
        let mut extra = extra;
        while !extra.is_empty() {
            let fields = Fields(extra);
            if DIFFERING_EXTRAS.contains(&fields.u16(0)) {
                return refuse("it has a second name or size");
            }
            let Some(rest) = extra.get(4 + usize::from(fields.u16(2))..).filter(|_| extra.len() >= 4) else {
                return refuse("its header is damaged");
            };
            extra = rest;
        }
        Ok(())
    }

    /// Where its data begins. Its local header must say what the directory says.
    fn data(&self, bytes: &[u8]) -> Read<usize> {
        let header = bytes.get(self.at..).filter(|header| header.len() >= LOCAL_BYTES).map(Fields);
        let Some(header) = header.filter(|header| header.u32(0) == LOCAL) else {
            return unusable(&self.name, "it is not where the archive says");
        };
        let (name_len, extra_len) = (header.u16(26) as usize, header.u16(28) as usize);
        let name = header.0.get(LOCAL_BYTES..LOCAL_BYTES + name_len);
        let sizes = (header.u32(14), u64::from(header.u32(18)), u64::from(header.u32(22)));
        let says_sizes = sizes == (self.crc, self.packed, self.size);
        let leaves_them_out = self.flags & DESCRIBED != 0 && sizes == (0, 0, 0);
        let same = (header.u16(6), header.u16(8), name) == (self.flags, self.method, Some(self.name.as_bytes()));
        if !same || !(says_sizes || leaves_them_out) {
            return unusable(&self.name, "its two headers differ");
        }
        Ok(self.at + LOCAL_BYTES + name_len + extra_len)
    }

    /// Where it ends, with the descriptor behind its data.
    fn end(&self, bytes: &[u8]) -> Read<usize> {
        let end = self.data(bytes)? + usize::try_from(self.packed).unwrap_or(usize::MAX);
        if self.flags & DESCRIBED == 0 {
            return Ok(end);
        }
        let descriptor = Fields(bytes.get(end..).unwrap_or_default());
        let says = |at: usize| (descriptor.u32(at), u64::from(descriptor.u32(at + 4)), u64::from(descriptor.u32(at + 8)));
        let expected = (self.crc, self.packed, self.size);
        if descriptor.u32(0) == DESCRIPTOR && says(4) == expected {
            return Ok(end + 16);
        }
        if says(0) == expected { Ok(end + 12) } else { unusable(&self.name, "the descriptor behind it differs from its header") }
    }

    fn unpacked(&self, bytes: &[u8]) -> Read<Vec<u8>> {
        let at = self.data(bytes)?;
        let damaged = "it is damaged: size or checksum do not fit";
        let Some(packed) = bytes.get(at..at + usize::try_from(self.packed).unwrap_or(usize::MAX - at)) else {
            return unusable(&self.name, damaged);
        };
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let data = if self.method == STORED {
            packed.to_vec()
        } else {
            // What it says about its size is not believed: one byte more is enough to know better.
            let mut inflater = DeflateDecoder::new(packed);
            let mut data = Vec::with_capacity(size.min(BUNDLE_MAX_BYTES));
            let read = inflater.by_ref().take(self.size + 1).read_to_end(&mut data);
            if read.is_err() || inflater.total_in() != self.packed {
                return unusable(&self.name, damaged);
            }
            data
        };
        let mut crc = Crc::new();
        crc.update(&data);
        if data.len() != size || crc.sum() != self.crc {
            return unusable(&self.name, damaged);
        }
        let begins = |at: usize, magic: &[u8]| data.get(at..at + magic.len()) == Some(magic);
        if NESTED.iter().any(|(at, magic)| begins(*at, magic)) {
            return unusable(&self.name, "it is an archive itself");
        }
        Ok(data)
    }
}

/// A plain file name: nothing that leads anywhere.
fn name_of(name: &[u8], flags: u16) -> Read<String> {
    let shown = || String::from_utf8_lossy(name).chars().take(NAME_MAX_BYTES).filter(|c| !c.is_control()).collect::<String>();
    let Ok(text) = std::str::from_utf8(name) else { return unusable(shown(), "its name is not UTF-8") };
    if !text.is_ascii() && flags & UTF_8 == 0 {
        return unusable(shown(), "its name does not say that it is UTF-8");
    }
    if text.is_empty() || text.len() > NAME_MAX_BYTES {
        return unusable(shown(), "its name must have 1 to 100 bytes");
    }
    if text.contains(['/', '\\', ':']) || text.starts_with('.') || text.contains("..") || text.chars().any(char::is_control) {
        return unusable(shown(), "its name leads out of the archive or into a folder: pack plain files");
    }
    Ok(text.to_owned())
}

/// An archive of these files, without compression.
pub fn pack_bundle(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut crc = Crc::new();
        crc.update(content);
        let (size, at) = (u32::try_from(content.len()).unwrap_or(u32::MAX), u32::try_from(out.len()).unwrap_or(u32::MAX));
        // Version, flags, method, time, date (1 January 1980), checksum, sizes, lengths.
        let mut common = Vec::new();
        for number in [20u16, 0, STORED, 0, 0x21] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc.sum(), size, size] {
            common.extend(number.to_le_bytes());
        }
        common.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
        common.extend([0, 0]);
        out.extend(LOCAL.to_le_bytes());
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(*content);
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend(20u16.to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, count) = (u32::try_from(out.len()).unwrap_or(u32::MAX), u16::try_from(files.len()).unwrap_or(u16::MAX));
    let size = u32::try_from(directory.len()).unwrap_or(u32::MAX);
    out.extend(directory);
    out.extend(END.to_le_bytes());
    out.extend([0; 4]);
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend([size.to_le_bytes(), at.to_le_bytes()].concat());
    out.extend([0; 2]);
    out
}

#[cfg(test)]
mod tests;
