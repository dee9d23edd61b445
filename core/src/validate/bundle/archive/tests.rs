//! Hostile archives.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::*;

/// An entry to be written, with what may be wrong about it.
#[derive(Clone)]
struct File {
    name: Vec<u8>,
    content: Vec<u8>,
    method: u16,
    flags: u16,
    /// The system that made it, and its attributes there.
    made: (u16, u32),
    extra: Vec<u8>,
    /// What its headers say about its size, instead of the truth.
    size: Option<u32>,
    /// What its local header is called instead.
    local_name: Option<Vec<u8>>,
    descriptor: bool,
}

fn file(name: &str, content: &[u8]) -> File {
    File {
        name: name.as_bytes().to_vec(),
        content: content.to_vec(),
        method: DEFLATED,
        flags: 0,
        made: (3, 0o100_644 << 16),
        extra: Vec::new(),
        size: None,
        local_name: None,
        descriptor: false,
    }
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zip(files: &[File]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let at = out.len() as u32;
        let data = if file.method == DEFLATED { deflated(&file.content) } else { file.content.clone() };
        let mut crc = Crc::new();
        crc.update(&file.content);
        let flags = file.flags | if file.descriptor { DESCRIBED } else { 0 };
        let sizes = [crc.sum(), data.len() as u32, file.size.unwrap_or(file.content.len() as u32)];
        let header = |sizes: [u32; 3], name: &[u8]| {
            let mut header = Vec::new();
            [20, flags, file.method, 0, 0x21].iter().for_each(|it: &u16| header.extend(it.to_le_bytes()));
            sizes.iter().for_each(|it| header.extend(it.to_le_bytes()));
            header.extend((name.len() as u16).to_le_bytes());
            header.extend((file.extra.len() as u16).to_le_bytes());
            header
        };
        let local = file.local_name.as_ref().unwrap_or(&file.name);
        out.extend(LOCAL.to_le_bytes());
        out.extend(header(if file.descriptor { [0; 3] } else { sizes }, local));
        out.extend(local);
        out.extend(&file.extra);
        out.extend(&data);
        if file.descriptor {
            out.extend(DESCRIPTOR.to_le_bytes());
            sizes.iter().for_each(|it| out.extend(it.to_le_bytes()));
        }
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend((file.made.0 << 8 | 20).to_le_bytes());
        directory.extend(header(sizes, &file.name));
        directory.extend([0; 6]);
        directory.extend(file.made.1.to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(&file.name);
        directory.extend(&file.extra);
    }
    let (at, count, size) = (out.len() as u32, files.len() as u16, directory.len() as u32);
    out.extend(directory);
    out.extend(END.to_le_bytes());
    out.extend([0; 4]);
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend([size.to_le_bytes(), at.to_le_bytes()].concat());
    out.extend([0; 2]);
    out
}

fn manifest() -> File {
    file(MANIFEST, b"{}")
}

#[test]
fn plain_archives_are_read_whoever_packed_them() {
    let secrets = file(SECRETS, br#"{"sandbox": {"token": "t"}}"#);
    let stored = File { method: STORED, made: (0, 0), ..file("licence.pdf", b"%PDF-1.7") };
    let streamed = File { descriptor: true, flags: UTF_8, ..file("letter.txt", &b"Dear reader. ".repeat(1_000)) };
    let content = unpack_bundle(&zip(&[stored, secrets, manifest(), streamed])).unwrap();
    assert_eq!((content.manifest.as_str(), content.documents.len()), ("{}", 2));
    assert_eq!((content.documents[0].name.as_str(), content.documents[0].content.as_slice()), ("licence.pdf", &b"%PDF-1.7"[..]));
    assert_eq!(content.documents[1].content.len(), 13_000);
    assert!(content.secrets.unwrap().sandbox.unwrap().0.contains_key("token"));
    let packed = unpack_bundle(&pack_bundle(&[(MANIFEST, b"{}"), ("a.txt", b"text")])).unwrap();
    assert_eq!((packed.manifest.as_str(), packed.documents[0].content.as_slice()), ("{}", &b"text"[..]));
}

#[test]
fn hostile_archives_are_refused() {
    let named = |name: &str| zip(&[manifest(), file(name, b"x")]);
    let with = |change: fn(&mut File)| {
        let mut bad = file("a.txt", &b"text ".repeat(100));
        change(&mut bad);
        zip(&[manifest(), bad])
    };
    let whole = zip(&[manifest(), file("a.txt", b"text")]);
    let edited = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        edit(&mut bytes);
        bytes
    };
    let many: Vec<File> = (0..23).map(|n| file(&format!("{n}.txt"), b"x")).collect();
    let zeroes = vec![0; 9 << 20];
    let large = |n: u8| File { method: STORED, ..file(&format!("{n}.txt"), &vec![b'x'; 6 << 20]) };
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("no archive", b"{\"manifest\": {}}".to_vec(), "no zip archive"),
        ("empty", Vec::new(), "no zip archive"),
        ("escape", named("../a.txt"), "leads out"),
        ("deep escape", named("a/../../b.txt"), "leads out"),
        ("Windows escape", named("..\\a.txt"), "leads out"),
        ("absolute", named("/etc/passwd"), "leads out"),
        ("drive", named("C:a.txt"), "leads out"),
        ("folder", named("documents/a.txt"), "leads out"),
        ("hidden", named(".htaccess"), "leads out"),
        ("dots", named("a..txt"), "leads out"),
        ("control character", named("a\n.txt"), "leads out"),
        ("NUL", named("a.txt\0.exe"), "leads out"),
        ("long name", named(&"a".repeat(101)), "1 to 100 bytes"),
        ("empty name", named(""), "1 to 100 bytes"),
        ("wrong encoding", with(|it| it.name = b"licen\xe7a.txt".to_vec()), "not UTF-8"),
        ("silent encoding", with(|it| it.name = "licença.txt".as_bytes().to_vec()), "does not say"),
        ("link", with(|it| it.made = (3, 0o120_777 << 16)), "no plain file"),
        ("folder entry", with(|it| it.made = (3, 0o040_755 << 16)), "no plain file"),
        ("device", with(|it| it.made = (3, 0o020_644 << 16)), "no plain file"),
        ("DOS folder", with(|it| it.made = (0, 0x10)), "a folder"),
        ("encrypted", with(|it| it.flags = 1), "encrypted"),
        ("strongly encrypted", with(|it| it.flags = 1 << 6 | 1), "encrypted"),
        ("method", with(|it| it.method = 14), "not unpacked"),
        ("unknown flag", with(|it| it.flags = 1 << 4), "not unpacked"),
        ("64-bit form", with(|it| it.extra = vec![1, 0, 0, 0]), "second name or size"),
        ("second name", with(|it| it.extra = vec![0x75, 0x70, 0, 0]), "second name or size"),
        ("damaged extra", with(|it| it.extra = vec![9, 9, 200, 0]), "damaged"),
        ("other local name", with(|it| it.local_name = Some(b"b.txt".to_vec())), "two headers differ"),
        ("declares too little", with(|it| it.size = Some(10)), "damaged"),
        ("declares too much", with(|it| it.size = Some(5_000)), "damaged"),
        ("duplicate", zip(&[manifest(), manifest()]), "twice"),
        ("duplicate in other letters", zip(&[manifest(), file("a.txt", b"1"), file("A.TXT", b"2")]), "twice"),
        ("bomb", zip(&[manifest(), file("a.txt", &zeroes)]), "200 times"),
        ("silent bomb", zip(&[manifest(), File { size: Some(100), ..file("a.txt", &zeroes) }]), "damaged"),
        ("too large", zip(&[manifest(), large(1), large(2)]), "more than 10 MiB"),
        ("too many", zip(&many), "too many entries"),
        ("no manifest", zip(&[file("a.txt", b"x")]), "no such entry"),
        ("zip in it", zip(&[manifest(), file("a.txt", &zip(&[manifest()]))]), "an archive itself"),
        ("gzip in it", zip(&[manifest(), file("a.txt", b"\x1f\x8b\x08\x00")]), "an archive itself"),
        ("tar in it", zip(&[manifest(), file("a.txt", &[&[b'a'; 257][..], b"ustar", &[0; 250]].concat())]), "an archive itself"),
        ("after the end", edited(&|it| it.push(0)), "after its end"),
        (
            "comment",
            edited(&|it| {
                let at = it.len() - 2;
                it[at] = 3;
                it.extend(b"abc");
            }),
            "after its end",
        ),
        (
            "before the beginning",
            edited(&|it| {
                it.insert(0, b'#');
            }),
            "not where",
        ),
        (
            "cut off",
            edited(&|it| {
                it.truncate(it.len() - 30);
            }),
            "no zip archive",
        ),
        ("flipped", edited(&|it| it[LOCAL_BYTES + MANIFEST.len()] ^= 1), "damaged"),
        (
            "two disks",
            edited(&|it| {
                let at = it.len() - 18;
                it[at] = 1;
            }),
            "several parts",
        ),
    ];
    for (what, bytes, why) in cases {
        match unpack_bundle(&bytes) {
            Ok(content) => panic!("{what}: {content:?}"),
            Err(error) => assert!(error.code == ErrorCode::BundleUnusable && error.detail.contains(why), "{what}: {}", error.detail),
        }
    }
}

#[test]
fn entries_that_share_their_bytes_or_leave_gaps_are_refused() {
    let whole = zip(&[manifest(), file("a.txt", b"text")]);
    let text = |bytes: &[u8], needle: &[u8]| bytes.windows(needle.len()).position(|it| it == needle).unwrap();
    // The directory's second entry points at the first one's header.
    let mut shared = whole.clone();
    let at = text(&shared, b"PK\x01\x02");
    let second = at + CENTRAL_BYTES + MANIFEST.len();
    shared[second + 42..second + 46].copy_from_slice(&[0; 4]);
    // The end leaves out one entry, whose bytes stay.
    let one = zip(&[manifest()]);
    let (gap, at) = (text(&one, b"PK\x01\x02"), text(&whole, b"PK\x01\x02"));
    let mut hidden = whole[..at].to_vec();
    hidden.extend(&one[gap..]);
    let end = hidden.len() - 6;
    hidden[end..end + 4].copy_from_slice(&(at as u32).to_le_bytes());
    for (bytes, why) in [(shared, "overlaps"), (hidden, "no entry")] {
        let error = unpack_bundle(&bytes).unwrap_err();
        assert!(error.detail.contains(why), "{}", error.detail);
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let whole = zip(&[manifest(), File { descriptor: true, ..file("a.txt", &b"text ".repeat(50)) }]);
    for at in 0..whole.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            let _ = unpack_bundle(&bytes);
        }
        let _ = unpack_bundle(&whole[..at]);
        let _ = unpack_bundle(&whole[at..]);
    }
}
