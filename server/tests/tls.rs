//! HTTPS over real connections: handshakes, replaced certificates, and peers that misbehave.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use railgate::store::memory::MemoryStore;
use railgate_server::{Hosted, Running, ServeError, TlsFiles, start_with};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A self-issued certificate, and its key.
struct Pair {
    cert: String,
    key: String,
    der: CertificateDer<'static>,
}

fn pair() -> Pair {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    Pair { cert: made.cert.pem(), key: made.signing_key.serialize_pem(), der: made.cert.der().clone() }
}

/// The files that a service reads.
struct Folder(TempDir);

impl Folder {
    fn with(pair: &Pair) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write(&pair.cert, &pair.key);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn files(&self) -> TlsFiles {
        TlsFiles { cert: self.path("cert.pem"), key: self.path("key.pem") }
    }

    fn write(&self, cert: &str, key: &str) {
        std::fs::write(self.path("cert.pem"), cert).unwrap();
        std::fs::write(self.path("key.pem"), key).unwrap();
    }
}

async fn serve(folder: &Folder, adjust: impl FnOnce(&mut Hosted)) -> Running {
    let mut hosted = Hosted::over(Arc::new(MemoryStore::new()));
    hosted.edge.tls = Some(folder.files());
    // Tests trigger the look themselves.
    hosted.limits.tls_look = Duration::from_secs(3_600);
    adjust(&mut hosted);
    start_with(hosted, "127.0.0.1:0".parse().unwrap(), None).await.unwrap()
}

const BOTH: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS13, &rustls::version::TLS12];

/// A connection of a client that trusts only this pair.
async fn connect(
    address: SocketAddr,
    trusted: &Pair,
    versions: &[&'static SupportedProtocolVersion],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.der.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
}

/// One call on a connection that stays open.
async fn healthy(stream: &mut TlsStream<TcpStream>) -> bool {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut text = String::new();
    while !text.contains("\"ok\"") {
        let mut buffer = [0; 1024];
        let read = stream.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the connection ended: {text}");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    text.starts_with("HTTP/1.1 200")
}

#[tokio::test]
async fn both_versions_are_spoken_and_only_http_1_1_inside() {
    let trusted = pair();
    let folder = Folder::with(&trusted);
    let running = serve(&folder, |_| {}).await;
    assert_eq!(running.base_url(), format!("https://{}", running.address()));
    for version in BOTH {
        let mut stream = connect(running.address(), &trusted, &[version]).await.unwrap();
        let session = stream.get_ref().1;
        assert_eq!(session.alpn_protocol(), Some(b"http/1.1".as_slice()));
        let expected = if version.version == ProtocolVersion::TLSv1_3 { ProtocolVersion::TLSv1_3 } else { ProtocolVersion::TLSv1_2 };
        assert_eq!(session.protocol_version(), Some(expected));
        assert!(healthy(&mut stream).await);
    }
    assert!(connect(running.address(), &pair(), &BOTH).await.is_err(), "anybody's certificate was trusted");
    running.stop().await;
}

#[tokio::test]
async fn the_end_is_orderly() {
    let trusted = pair();
    let folder = Folder::with(&trusted);
    let running = serve(&folder, |_| {}).await;
    let mut idle = connect(running.address(), &trusted, &BOTH).await.unwrap();
    assert!(healthy(&mut idle).await);
    // A client that never begins a handshake does not hold up the shutdown.
    let _silent = TcpStream::connect(running.address()).await.unwrap();
    running.stop().await;
    // A connection that is cut off without a TLS close would be an error here.
    assert_eq!(idle.read(&mut [0; 16]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_new_certificate_is_for_new_connections_and_old_ones_go_on() {
    let (old, new) = (pair(), pair());
    let folder = Folder::with(&old);
    let running = serve(&folder, |_| {}).await;
    let mut before = connect(running.address(), &old, &BOTH).await.unwrap();
    assert!(healthy(&mut before).await);
    folder.write(&new.cert, &new.key);
    running.reload_tls().await.unwrap();
    let mut after = connect(running.address(), &new, &BOTH).await.unwrap();
    assert!(healthy(&mut after).await && healthy(&mut before).await);
    assert!(connect(running.address(), &old, &BOTH).await.is_err());

    for (cert, key) in [(&old.cert, &new.key), (&String::new(), &new.key), (&new.cert, &"broken".to_owned())] {
        folder.write(cert, key);
        let error = running.reload_tls().await.unwrap_err();
        assert!(matches!(error, ServeError::Tls(_)), "{error}");
        assert!(healthy(&mut connect(running.address(), &new, &BOTH).await.unwrap()).await);
    }
    running.stop().await;
}

#[tokio::test]
async fn replaced_files_are_noticed() {
    let (old, new) = (pair(), pair());
    let folder = Folder::with(&old);
    let running = serve(&folder, |hosted| hosted.limits.tls_look = Duration::from_millis(5)).await;
    // As most tools do it: next to the old file, then renamed over it.
    for (name, text) in [("cert.pem", &new.cert), ("key.pem", &new.key)] {
        std::fs::write(folder.path("beside"), text).unwrap();
        std::fs::rename(folder.path("beside"), folder.path(name)).unwrap();
    }
    while connect(running.address(), &new, &BOTH).await.is_err() {
        tokio::task::yield_now().await;
    }
    running.stop().await;
}

#[tokio::test]
async fn plain_http_is_told_off_and_closed() {
    let trusted = pair();
    let folder = Folder::with(&trusted);
    let running = serve(&folder, |_| {}).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    // A TLS alert, and no HTTP.
    assert!(answer.first().is_none_or(|first| *first == 0x15) && answer.len() < 16, "{answer:?}");
    assert!(healthy(&mut connect(running.address(), &trusted, &BOTH).await.unwrap()).await);
    running.stop().await;
}

#[tokio::test]
async fn who_does_not_finish_a_handshake_holds_up_nobody_and_is_let_go() {
    let trusted = pair();
    let folder = Folder::with(&trusted);
    let running = serve(&folder, |hosted| hosted.limits.handshake = Duration::from_secs(4)).await;
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(running.address()).await.unwrap();
        // The header of a record that never comes.
        stream.write_all(&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01]).await.unwrap();
        slow.push(stream);
    }
    assert!(healthy(&mut connect(running.address(), &trusted, &BOTH).await.unwrap()).await);
    for mut stream in slow {
        assert_eq!(stream.read(&mut [0; 16]).await.unwrap_or(0), 0);
    }
    running.stop().await;
}

#[tokio::test]
async fn files_that_cannot_be_used_end_the_start() {
    let (one, other) = (pair(), pair());
    let folder = Folder::with(&one);
    folder.write(&one.cert, &other.key);
    let mut hosted = Hosted::over(Arc::new(MemoryStore::new()));
    hosted.edge.tls = Some(folder.files());
    let error = start_with(hosted, "127.0.0.1:0".parse().unwrap(), None).await.err().unwrap();
    assert!(matches!(error, ServeError::Tls(_)) && error.to_string().contains("cert.pem"), "{error}");
}

#[cfg(unix)]
mod process {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Killed with the test, even if that fails.
    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn hang_up(Ended(child): &Ended) {
        assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    }

    #[tokio::test]
    async fn it_names_https_and_reads_the_certificate_again_on_sighup() {
        use std::os::unix::fs::PermissionsExt as _;
        let (old, new) = (pair(), pair());
        let folder = Folder::with(&old);
        std::fs::set_permissions(folder.path("key.pem"), std::fs::Permissions::from_mode(0o644)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_railgate"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--store", "memory:", "--log", "json"]);
        command.arg("--tls-cert").arg(folder.path("cert.pem")).arg("--tls-key").arg(folder.path("key.pem"));
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Ended(command.spawn().unwrap());
        let mut first = String::new();
        BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let address = first.trim_end().strip_prefix("listening on https://").unwrap().parse().unwrap();
        let mut log = BufReader::new(child.0.stderr.take().unwrap()).lines();
        let mut logged = |part: &str| log.any(|line| line.unwrap().contains(part));
        assert!(logged("every user of this machine has access to the private key"));
        assert!(logged("4096-01-01T00:00:00Z"));
        assert!(healthy(&mut connect(address, &old, &BOTH).await.unwrap()).await);

        folder.write("broken", "broken");
        hang_up(&child);
        assert!(logged("the new certificate cannot be used"));
        assert!(healthy(&mut connect(address, &old, &BOTH).await.unwrap()).await);

        folder.write(&new.cert, &new.key);
        hang_up(&child);
        assert!(logged("certificate in use"));
        assert!(healthy(&mut connect(address, &new, &BOTH).await.unwrap()).await);
    }
}
