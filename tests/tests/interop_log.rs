//! A third-party program audits the log: Go's checksum database, in `tests/interop/go-tlog`. It accepts generated logs and that of
//! a running server, and detects every alteration.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use axum::Router;
use axum::http::{StatusCode, Uri};
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::ledger::Mode;
use railgate::log::{
    Checkpoint, LogKey, LogName, Proof, TileKind, TilePath, Tiles, append, commitment, consistency, inclusion, root, serve,
};
use railgate_tests::binary::Server;
use railgate_tests::client::{Client, call, enroll};
use railgate_tests::interop::{prepare, run};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// A full tile of level 1, two more full tiles of level 0 and a partial one: a log with partial tiles of every kind.
const SIZE: u64 = 70_000;
/// The size of an earlier checkpoint.
const EARLIER: u64 = 66_001;
/// The leaf whose inclusion is proven.
const PROVEN: u64 = 65_999;
/// The number of settlements made on the running server before the earlier checkpoint, and between the two: enough for full
/// tiles, and for a tile of level 1.
const SETTLEMENTS: u64 = 150;

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

/// The input of an audit: a log's files in a folder, and saved checkpoints and proofs.
struct Files {
    folder: TempDir,
    key: LogKey,
    /// The hash of the proven event, in hexadecimal.
    event: String,
}

impl Files {
    fn new(key: LogKey, event: String) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), key, event }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn put(&self, file: &str, bytes: &[u8]) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Audits everything, with the log's files at `place`.
    fn audit(&self, place: &str) -> Result<String, String> {
        let mut auditor: Command = prepare("go-tlog");
        auditor.args(["-log", place, "-key", &self.key.to_string(), "-event", &self.event]);
        for (option, file) in [("-old", "checkpoint"), ("-consistency", "consistency"), ("-proof", "event.tlog-proof")] {
            auditor.arg(option).arg(self.path("kept").join(file));
        }
        run(&mut auditor)
    }

    fn audit_folder(&self) -> Result<String, String> {
        self.audit(self.folder.path().to_str().unwrap())
    }

    /// Replaces a file's bytes, audits, and restores them.
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

    /// Audits with one bit of the file changed.
    fn with_bit_changed(&self, file: &str, at: usize) -> Vec<u8> {
        let mut bytes = fs::read(self.path(file)).unwrap();
        bytes[at] ^= 0x10;
        bytes
    }

    /// Audits with part of the file's text changed.
    fn with(&self, file: &str, from: &str, to: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap().replacen(from, to, 1)
    }
}

/// A generated log and its key.
struct Log {
    files: Files,
    signer: SoftwareKey,
    tiles: Memory,
}

impl Log {
    fn new() -> Self {
        let signer = SoftwareKey::ed25519(&[42; 32]);
        let key = LogKey::new(LogName::of_issuer("https://pay.example.org:8443/base", Mode::Sandbox), signer.public_key()).unwrap();
        let (mut tiles, mut size) = (Memory::default(), 0);
        let leaves: Vec<_> = (0..SIZE).map(|n| commitment(&numbered("salt", n), &numbered("event", n))).collect();
        for batch in leaves.chunks(1_009) {
            let appended = append(&tiles, size, batch).unwrap();
            size = appended.size;
            tiles.0.extend(appended.rows.into_iter().map(|row| ((row.level, row.index), row.bytes)));
        }
        let log = Self { files: Files::new(key, hex(&numbered("event", PROVEN))), signer, tiles };
        log.write();
        log
    }

    fn signed(&self, size: u64, root: [u8; 32]) -> String {
        Checkpoint { origin: self.files.key.name().clone(), size, root }.sign(&self.signer).unwrap()
    }

    fn checkpoint(&self, size: u64) -> String {
        self.signed(size, root(&self.tiles, size).unwrap())
    }

    fn proof(&self) -> Proof {
        let (size, path) = (EARLIER, inclusion(&self.tiles, PROVEN, EARLIER).unwrap());
        Proof { salt: numbered("salt", PROVEN), index: PROVEN, path, checkpoint: self.checkpoint(size) }
    }

    /// Writes each file as a server would serve it, and the saved checkpoints and proofs.
    fn write(&self) {
        for path in tiles_of(SIZE) {
            assert!(path.is_within(SIZE));
            self.files.put(&path.to_string(), &serve(&self.tiles, &path).unwrap());
        }
        self.files.put("checkpoint", self.checkpoint(SIZE).as_bytes());
        self.files.put("kept/checkpoint", self.checkpoint(EARLIER).as_bytes());
        let text = base64_lines(&consistency(&self.tiles, EARLIER, SIZE).unwrap());
        self.files.put("kept/consistency", text.as_bytes());
        self.files.put("kept/event.tlog-proof", self.proof().to_string().as_bytes());
    }
}

/// All tiles of a log of this size: for each level the full ones and the partial one.
fn tiles_of(size: u64) -> Vec<TilePath> {
    let mut paths = Vec::new();
    for level in 0..8 {
        let hashes = size >> (8 * u32::from(level));
        for index in 0..hashes.div_ceil(256) {
            let width = u16::try_from((hashes - 256 * index).min(256)).unwrap();
            let kinds = [Some(TileKind::Hashes(level)), (level == 0).then_some(TileKind::Entries)];
            paths.extend(kinds.into_iter().flatten().map(|kind| TilePath::new(kind, index, width).unwrap()));
        }
    }
    paths
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes in the format of a proof, one per line.
fn base64_lines(hashes: &[[u8; 32]]) -> String {
    let proof = Proof { salt: [0; 32], index: 0, path: hashes.to_vec(), checkpoint: String::new() }.to_string();
    let (_, lines) = proof.split_once("index 0\n").unwrap();
    lines.trim_end_matches('\n').to_owned() + "\n"
}

fn base64_line(hash: [u8; 32]) -> String {
    base64_lines(&[hash]).trim_end().to_owned()
}

fn lines(printed: &str) -> Vec<Value> {
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The step that the auditor reports as failed: its last line.
fn failed_step(failure: &str) -> String {
    let (_, printed) = failure.split_once("after printing\n").unwrap();
    let last = lines(printed).pop().unwrap_or_else(|| panic!("{failure}"));
    assert!(last["error"].is_string(), "{failure}");
    last["step"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_sound(log: &Log, printed: &str) {
    let root = |size| base64_line(root(&log.tiles, size).unwrap());
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
    let files = &log.files;
    assert_sound(&log, &files.audit_folder().unwrap());

    // Tiles of each level, full and partial, and the entries.
    for tile in ["tile/0/000", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"] {
        files.fails_with(tile, "tiles", files.with_bit_changed(tile, 31));
    }
    for (bundle, at) in [("tile/entries/000", 2), ("tile/entries/100", 255 * 34 + 33), ("tile/entries/273.p/112", 1)] {
        files.fails_with(bundle, "leaves", files.with_bit_changed(bundle, at));
    }
    let bundle = fs::read(files.path("tile/entries/005")).unwrap();
    files.fails_with("tile/entries/005", "leaves", &bundle[..255 * 34]);
    files.fails_with("tile/entries/005", "leaves", [&bundle[..], &bundle[..34]].concat());

    // An altered checkpoint, and false ones signed by the log.
    files.fails_with("checkpoint", "checkpoint", files.with("checkpoint", "\n70000\n", "\n70001\n"));
    files.fails_with("checkpoint", "checkpoint", files.with("checkpoint", "/log\n", "/other\n"));
    files.fails_with("checkpoint", "leaves", log.signed(SIZE, [1; 32]));
    files.fails_with("checkpoint", "leaves", log.signed(SIZE - 1, root(&log.tiles, SIZE).unwrap()));

    // Earlier checkpoints that the log's history contradicts or does not contain.
    files.fails_with("kept/checkpoint", "consistency", log.signed(EARLIER, [1; 32]));
    files.fails_with("kept/checkpoint", "consistency", log.signed(EARLIER, root(&log.tiles, EARLIER - 1).unwrap()));
    files.fails_with("kept/checkpoint", "consistency", log.signed(SIZE + 1, [1; 32]));
    files.fails_with("kept/checkpoint", "consistency", log.signed(0, [1; 32]));
    files.fails_with("kept/consistency", "consistency", base64_lines(&consistency(&log.tiles, EARLIER - 1, SIZE).unwrap()));

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
        files.fails_with("kept/event.tlog-proof", "inclusion", changed.to_string());
    }
    assert_sound(&log, &files.audit_folder().unwrap());

    // The empty log is a prefix of every log.
    files.put("kept/checkpoint", log.checkpoint(0).as_bytes());
    files.put("kept/consistency", b"");
    assert_eq!(lines(&files.audit_folder().unwrap())[3]["size"], 0);
}

#[test]
fn a_log_is_audited_over_http() {
    let log = Log::new();
    let files = &log.files;
    let folder = files.folder.path().to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let place = format!("http://{}/", listener.local_addr().unwrap());
    let served = move |uri: Uri| {
        let file = read(&folder, uri.path());
        async move { file.ok_or(StatusCode::NOT_FOUND) }
    };
    runtime.spawn(async move { axum::serve(listener, Router::new().fallback(served)).await });
    assert_sound(&log, &files.audit(&place).unwrap());
    fs::remove_file(files.path("tile/1/000")).unwrap();
    assert_eq!(failed_step(&files.audit(&place).unwrap_err()), "tiles");
}

fn read(folder: &Path, path: &str) -> Option<Vec<u8>> {
    fs::read(folder.join(path.strip_prefix('/')?)).ok()
}

/// Settles this many payments, the first numbered `first`, and waits until the log has the last event of the last one.
fn settle(client: &mut Client, first: u64) {
    for n in first..first + SETTLEMENTS {
        let body = json!({ "amount": "1.00", "currency": "EUR", "to": "sim:ok", "reference": format!("log-{n}") });
        let made = client.ask(preferring_the_end(&body)).unwrap();
        assert_eq!((made.status, &made.body["status"]), (201, &json!("completed")), "{made:?}");
    }
    proof_of(client, first + SETTLEMENTS - 1);
}

fn preferring_the_end(body: &Value) -> railgate::client::Request {
    let mut request = call("POST", "/api/v1/gateway/settlements", Some(&body.to_string()));
    request.headers.push(("prefer".to_owned(), "wait=30".to_owned()));
    request
}

fn proof_of(client: &mut Client, n: u64) -> Vec<u8> {
    client.fetch(&format!("/api/v1/gateway/settlements/log-{n}/receipt/proof"), "text/plain").unwrap()
}

/// The fetched tiles of a log of this size, as the log stores them: at level 0 the entries, not their hashes.
struct Fetched<'a>(&'a Files, u64);

impl Tiles for Fetched<'_> {
    type Error = std::io::Error;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Self::Error> {
        let kind = if level == 0 { TileKind::Entries } else { TileKind::Hashes(level) };
        let Some(path) = tiles_of(self.1).into_iter().find(|path| path.kind() == kind && path.index() == index) else { return Ok(None) };
        let bytes = fs::read(self.0.path(&path.to_string()))?;
        // Each entry is preceded by its length.
        Ok(Some(if level == 0 { bytes.chunks(34).flat_map(|entry| &entry[2..]).copied().collect() } else { bytes }))
    }
}

#[test]
fn the_log_of_a_server_is_sound_and_one_that_was_changed_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("gateway.db");
    let server = Server::start(&database, &[]);
    let account = enroll(server.address);
    let mut client = account.connect(server.address).unwrap();
    let keys = String::from_utf8(client.fetch("/api/v1/log/keys", "").unwrap()).unwrap();
    let key = LogKey::parse(keys.trim_end()).unwrap();
    settle(&mut client, 0);
    let earlier = client.fetch("/api/v1/log/checkpoint", "").unwrap();
    let proven = SETTLEMENTS / 2;
    let proof = proof_of(&mut client, proven);
    let feed = client.feed().unwrap();
    let last = feed.iter().rfind(|entry| entry["event"]["reference"] == format!("log-{proven}")).unwrap();
    let files = Files::new(key, last["event"]["hash"].as_str().unwrap().to_owned());
    files.put("kept/checkpoint", &earlier);
    files.put("kept/event.tlog-proof", &proof);

    // The next process continues the same log.
    assert!(server.stop(), "a graceful end");
    let server = Server::start(&database, &[]);
    let mut client = account.connect(server.address).unwrap();
    settle(&mut client, SETTLEMENTS);
    let latest = client.fetch("/api/v1/log/checkpoint", "").unwrap();
    files.put("checkpoint", &latest);
    let [old, new] = [&earlier, &latest].map(|note| files.key.open(std::str::from_utf8(note).unwrap()).unwrap());
    assert!(old.size > 256 && new.size >= old.size + SETTLEMENTS, "{old:?} {new:?}");
    assert_eq!(new.size, client.feed().unwrap().len() as u64, "the log has each event once");
    for path in tiles_of(new.size) {
        let bytes = client.fetch(&format!("/api/v1/log/{path}"), "").unwrap();
        files.put(&path.to_string(), &bytes);
    }
    let path = consistency(&Fetched(&files, new.size), old.size, new.size).unwrap();
    files.put("kept/consistency", base64_lines(&path).as_bytes());

    let proof = Proof::parse(std::str::from_utf8(&proof).unwrap()).unwrap();
    let expected = [
        json!({ "step": "checkpoint", "size": new.size, "root": base64_line(new.root) }),
        json!({ "step": "leaves", "size": new.size, "root": base64_line(new.root) }),
        json!({ "step": "tiles", "size": new.size }),
        json!({ "step": "consistency", "size": old.size, "root": base64_line(old.root) }),
        json!({ "step": "inclusion", "size": old.size, "index": proof.index }),
    ];
    assert_eq!(lines(&files.audit_folder().unwrap()), expected);

    for path in tiles_of(new.size) {
        let step = if path.kind() == TileKind::Entries { "leaves" } else { "tiles" };
        let file = path.to_string();
        files.fails_with(&file, step, files.with_bit_changed(&file, 31));
    }
    let size = format!("\n{}\n", new.size);
    files.fails_with("checkpoint", "checkpoint", files.with("checkpoint", &size, &format!("\n{}\n", new.size - 1)));
    files.fails_with("kept/checkpoint", "consistency", files.with("kept/checkpoint", &base64_line(old.root), &base64_line(new.root)));
    for changed in [
        Proof { salt: [7; 32], ..proof.clone() },
        Proof { index: proof.index - 1, ..proof.clone() },
        Proof { path: proof.path[1..].to_vec(), ..proof.clone() },
        Proof { checkpoint: String::from_utf8(latest).unwrap(), ..proof },
    ] {
        files.fails_with("kept/event.tlog-proof", "inclusion", changed.to_string());
    }
    assert_eq!(lines(&files.audit_folder().unwrap()), expected);
}
