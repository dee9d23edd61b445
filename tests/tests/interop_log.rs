//! A program that is not ours audits the log: Go's checksum database, in `tests/interop/go-tlog`. It finds a log of ours
//! sound, and everything unsound that is changed in it.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use axum::Router;
use axum::http::{StatusCode, Uri};
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::log::{
    Checkpoint, LogKey, LogName, Proof, TileKind, TilePath, Tiles, append, commitment, consistency, inclusion, root, serve,
};
use railgate_tests::interop::{prepare, run};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Two full tiles of level 0 beyond a full tile of level 1, and a part: a log with partial tiles of every kind.
const SIZE: u64 = 70_000;
/// What an earlier checkpoint was signed for.
const EARLIER: u64 = 66_001;
/// The leaf that is proven to be there.
const PROVEN: u64 = 65_999;

#[derive(Default)]
struct Memory(BTreeMap<(u8, u64), Vec<u8>>);

impl Tiles for Memory {
    type Error = Infallible;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Infallible> {
        Ok(self.0.get(&(level, index)).cloned())
    }
}

fn numbered(what: &str, n: u64) -> [u8; 32] {
    Sha256::digest(format!("{what} {n}")).into()
}

/// A log in a folder, with what its holders keep beside it.
struct Log {
    folder: TempDir,
    signer: SoftwareKey,
    key: LogKey,
    tiles: Memory,
}

impl Log {
    fn new() -> Self {
        let signer = SoftwareKey::ed25519(&[42; 32]);
        let key = LogKey::new(LogName::of_issuer("https://pay.example.org:8443/base"), signer.public_key()).unwrap();
        let (mut tiles, mut size) = (Memory::default(), 0);
        let leaves: Vec<_> = (0..SIZE).map(|n| commitment(&numbered("salt", n), &numbered("event", n))).collect();
        for batch in leaves.chunks(1_009) {
            let appended = append(&tiles, size, batch).unwrap();
            size = appended.size;
            tiles.0.extend(appended.rows.into_iter().map(|row| ((row.level, row.index), row.bytes)));
        }
        let log = Self { folder: tempfile::tempdir().unwrap(), signer, key, tiles };
        log.write();
        log
    }

    fn signed(&self, size: u64, root: [u8; 32]) -> String {
        Checkpoint { origin: self.key.name().clone(), size, root }.sign(&self.signer).unwrap()
    }

    fn checkpoint(&self, size: u64) -> String {
        self.signed(size, root(&self.tiles, size).unwrap())
    }

    fn proof(&self) -> Proof {
        let (size, path) = (EARLIER, inclusion(&self.tiles, PROVEN, EARLIER).unwrap());
        Proof { salt: numbered("salt", PROVEN), index: PROVEN, path, checkpoint: self.checkpoint(size) }
    }

    /// Writes each file as a server would answer for it, and what the holders have.
    fn write(&self) {
        for (&(level, index), bytes) in &self.tiles.0 {
            let width = u16::try_from(bytes.len() / 32).unwrap();
            let kinds = [Some(TileKind::Hashes(level)), (level == 0).then_some(TileKind::Entries)];
            for path in kinds.into_iter().flatten().map(|kind| TilePath::new(kind, index, width).unwrap()) {
                assert!(path.is_within(SIZE));
                self.put(&path.to_string(), &serve(&self.tiles, &path).unwrap());
            }
        }
        self.put("checkpoint", self.checkpoint(SIZE).as_bytes());
        self.put("kept/checkpoint", self.checkpoint(EARLIER).as_bytes());
        let text = base64_lines(&consistency(&self.tiles, EARLIER, SIZE).unwrap());
        self.put("kept/consistency", text.as_bytes());
        self.put("kept/event.tlog-proof", self.proof().to_string().as_bytes());
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn put(&self, file: &str, bytes: &[u8]) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The audit of everything, with the log's files at `place`.
    fn audit(&self, place: &str) -> Result<String, String> {
        let mut auditor: Command = prepare("go-tlog");
        auditor.args(["-log", place, "-key", &self.key.to_string(), "-event", &hex(&numbered("event", PROVEN))]);
        for (option, file) in [("-old", "checkpoint"), ("-consistency", "consistency"), ("-proof", "event.tlog-proof")] {
            auditor.arg(option).arg(self.path("kept").join(file));
        }
        run(&mut auditor)
    }

    fn audit_folder(&self) -> Result<String, String> {
        self.audit(self.folder.path().to_str().unwrap())
    }

    /// Puts other bytes into a file, audits, and puts the old ones back.
    #[track_caller]
    fn fails_with(&self, file: &str, step: &str, other: impl AsRef<[u8]>) {
        let path = self.path(file);
        let own = fs::read(&path).unwrap();
        assert_ne!(own, other.as_ref(), "{file} was not changed");
        fs::write(&path, other).unwrap();
        let failure = self.audit_folder().expect_err(file);
        fs::write(&path, own).unwrap();
        assert_eq!(failed_step(&failure), step, "{file}: {failure}");
    }

    /// The file with one bit of one byte changed.
    fn with_bit_changed(&self, file: &str, at: usize) -> Vec<u8> {
        let mut bytes = fs::read(self.path(file)).unwrap();
        bytes[at] ^= 0x10;
        bytes
    }

    /// The file with a piece of its text changed.
    fn with(&self, file: &str, from: &str, to: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap().replacen(from, to, 1)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes as a proof has them: the lines of one that says nothing else.
fn base64_lines(hashes: &[[u8; 32]]) -> String {
    let proof = Proof { salt: [0; 32], index: 0, path: hashes.to_vec(), checkpoint: String::new() }.to_string();
    let (_, lines) = proof.split_once("index 0\n").unwrap();
    lines.trim_end_matches('\n').to_owned() + "\n"
}

fn lines(printed: &str) -> Vec<Value> {
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The step that the auditor says does not hold: its last line.
fn failed_step(failure: &str) -> String {
    let (_, printed) = failure.split_once("after printing\n").unwrap();
    let last = lines(printed).pop().unwrap_or_else(|| panic!("{failure}"));
    assert!(last["error"].is_string(), "{failure}");
    last["step"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_sound(log: &Log, printed: &str) {
    let root = |size| base64_lines(&[root(&log.tiles, size).unwrap()]).trim_end().to_owned();
    let expected = [
        json!({ "step": "checkpoint", "size": SIZE, "root": root(SIZE) }),
        json!({ "step": "leaves", "size": SIZE, "root": root(SIZE) }),
        json!({ "step": "tiles", "size": SIZE }),
        json!({ "step": "consistency", "size": EARLIER, "root": root(EARLIER) }),
        json!({ "step": "inclusion", "size": EARLIER, "index": PROVEN }),
    ];
    assert_eq!(lines(printed), expected);
}

#[test]
fn a_log_is_sound_and_one_that_was_changed_is_not() {
    let log = Log::new();
    assert_sound(&log, &log.audit_folder().unwrap());

    // Tiles of each level, full and partial, and the entries.
    for tile in ["tile/0/000", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"] {
        log.fails_with(tile, "tiles", log.with_bit_changed(tile, 31));
    }
    for (bundle, at) in [("tile/entries/000", 2), ("tile/entries/100", 255 * 34 + 33), ("tile/entries/273.p/112", 1)] {
        log.fails_with(bundle, "leaves", log.with_bit_changed(bundle, at));
    }
    let bundle = fs::read(log.path("tile/entries/005")).unwrap();
    log.fails_with("tile/entries/005", "leaves", &bundle[..255 * 34]);
    log.fails_with("tile/entries/005", "leaves", [&bundle[..], &bundle[..34]].concat());

    // A checkpoint that was changed, and ones that the log signed and that are not true.
    log.fails_with("checkpoint", "checkpoint", log.with("checkpoint", "\n70000\n", "\n70001\n"));
    log.fails_with("checkpoint", "checkpoint", log.with("checkpoint", "/log\n", "/other\n"));
    log.fails_with("checkpoint", "leaves", log.signed(SIZE, [1; 32]));
    log.fails_with("checkpoint", "leaves", log.signed(SIZE - 1, root(&log.tiles, SIZE).unwrap()));

    // A history that was told differently before, or not at all.
    log.fails_with("kept/checkpoint", "consistency", log.signed(EARLIER, [1; 32]));
    log.fails_with("kept/checkpoint", "consistency", log.signed(EARLIER, root(&log.tiles, EARLIER - 1).unwrap()));
    log.fails_with("kept/checkpoint", "consistency", log.signed(SIZE + 1, [1; 32]));
    log.fails_with("kept/checkpoint", "consistency", log.signed(0, [1; 32]));
    log.fails_with("kept/consistency", "consistency", base64_lines(&consistency(&log.tiles, EARLIER - 1, SIZE).unwrap()));

    // Proofs of something else.
    let proof = log.proof();
    let other_checkpoint = log.checkpoint(SIZE);
    for changed in [
        Proof { salt: numbered("salt", 1), ..proof.clone() },
        Proof { index: PROVEN - 1, ..proof.clone() },
        Proof { path: proof.path[1..].to_vec(), ..proof.clone() },
        Proof { path: inclusion(&log.tiles, PROVEN, SIZE).unwrap(), ..proof.clone() },
        Proof { checkpoint: other_checkpoint, ..proof.clone() },
        Proof { checkpoint: proof.checkpoint.replacen("66001", "66000", 1), ..proof },
    ] {
        log.fails_with("kept/event.tlog-proof", "inclusion", changed.to_string());
    }
    assert_sound(&log, &log.audit_folder().unwrap());

    // The log as it began continues in every log.
    log.put("kept/checkpoint", log.checkpoint(0).as_bytes());
    log.put("kept/consistency", b"");
    assert_eq!(lines(&log.audit_folder().unwrap())[3]["size"], 0);
}

#[test]
fn a_log_is_audited_over_http() {
    let log = Log::new();
    let folder = log.folder.path().to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let place = format!("http://{}/", listener.local_addr().unwrap());
    let files = move |uri: Uri| {
        let file = read(&folder, uri.path());
        async move { file.ok_or(StatusCode::NOT_FOUND) }
    };
    runtime.spawn(async move { axum::serve(listener, Router::new().fallback(files)).await });
    assert_sound(&log, &log.audit(&place).unwrap());
    fs::remove_file(log.path("tile/1/000")).unwrap();
    assert_eq!(failed_step(&log.audit(&place).unwrap_err()), "tiles");
}

fn read(folder: &Path, path: &str) -> Option<Vec<u8>> {
    fs::read(folder.join(path.strip_prefix('/')?)).ok()
}
