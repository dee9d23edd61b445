//! HTTPS: the certificate in use, and how a new one replaces it without closing connections.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use tokio_rustls::TlsAcceptor;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use crate::config::TlsFiles;
use crate::stop::Stop;

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{setting} {} cannot be read: {cause}", .path.display())]
    Unreadable {
        /// The setting that names the file.
        setting: &'static str,
        /// The file's path.
        path: PathBuf,
        /// Why it cannot be read.
        cause: io::Error,
    },
    /// A file does not contain what it should.
    #[error("{setting} {} holds no {wanted} in PEM: {cause}", .path.display())]
    Malformed {
        /// The setting that names the file.
        setting: &'static str,
        /// The file's path.
        path: PathBuf,
        /// What it should contain.
        wanted: &'static str,
        /// What is wrong with it.
        cause: pem::Error,
    },
    /// The key is of an unknown kind, or belongs to another certificate.
    #[error("the certificate in {} and the key in {} cannot be used together: {cause}", .files.cert.display(), .files.key.display())]
    Unusable {
        /// The two files.
        files: TlsFiles,
        /// What is wrong with them.
        cause: rustls::Error,
    },
}

const CERT: &str = "tls-cert";
const KEY: &str = "tls-key";

/// The certificate in use, and the files that new ones come from.
pub(crate) struct Tls {
    files: TlsFiles,
    // The whole configuration, not only the certificate: a resumed session would keep using the old one.
    current: RwLock<Arc<ServerConfig>>,
    looked: Mutex<Looked>,
}

/// The state of the files.
struct Looked {
    /// When they were last put into use.
    read: Look,
    /// At the last look.
    last: Look,
    /// What was wrong with them when they were last read; empty if nothing was.
    trouble: String,
}

/// Tells whether a file was written or replaced, by its modification time, length and inode.
type Look = [Option<(SystemTime, u64, u64)>; 2];

impl Tls {
    /// Loads certificate and key.
    ///
    /// # Errors
    /// [`TlsError`].
    pub(crate) fn open(files: TlsFiles) -> Result<Self, TlsError> {
        let look = look(&files);
        let current = RwLock::new(load(&files)?);
        Ok(Self { files, current, looked: Mutex::new(Looked { read: look, last: look, trouble: String::new() }) })
    }

    /// Performs the handshakes of new connections.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Reads both files again. If they cannot be used, the current certificate stays in use.
    ///
    /// # Errors
    /// [`TlsError`], which is logged too.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.trouble.clear();
        self.read(&mut looked, look(&self.files))
    }

    /// Reads the files again if they have changed, but not since the last look: replacing two files takes a moment, with
    /// only one of them new. Files that cannot be used are tried at each look: what keeps them from it, such as their permissions, may be
    /// put right without a trace in them.
    fn reload_if_changed(&self) {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let now = look(&self.files);
        let settled = now == looked.last;
        looked.last = now;
        if settled && now != looked.read {
            // The error is in the log.
            let _ = self.read(&mut looked, now);
        }
    }

    fn read(&self, looked: &mut Looked, look: Look) -> Result<(), TlsError> {
        looked.last = look;
        let loaded = load(&self.files);
        let trouble = loaded.as_ref().err().map(ToString::to_string).unwrap_or_default();
        if let Err(cause) = &loaded
            && trouble != looked.trouble
        {
            tracing::error!(%cause, "the new certificate cannot be used; the old one stays in use");
        }
        looked.trouble = trouble;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = loaded?;
        looked.read = look;
        Ok(())
    }

    /// Checks the files every `every` until `stopping`.
    pub(crate) async fn watch(self: Arc<Self>, every: Duration, mut stopping: Stop) {
        loop {
            tokio::select! {
                () = stopping.requested() => return,
                () = tokio::time::sleep(every) => {}
            }
            let tls = Arc::clone(&self);
            let _ = tokio::task::spawn_blocking(move || tls.reload_if_changed()).await;
        }
    }
}

fn look(files: &TlsFiles) -> Look {
    [&files.cert, &files.key].map(|path| {
        let about = std::fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len(), inode(&about)))
    })
}

#[cfg(unix)]
fn inode(about: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}

fn load(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let certificates = certificates(&files.cert)?;
    let not_after = certificates.first().and_then(|first| not_after(first));
    let key = private_key(&files.key)?;
    let unusable = |cause| TlsError::Unusable { files: files.clone(), cause };
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    warn_if_open(&files.key);
    tracing::info!(certificate = %files.cert.display(), not_after, "certificate in use");
    Ok(Arc::new(config))
}

/// When a certificate expires, for the log, such as `2027-02-19T23:59:59Z`. `None` if only rustls may be able to parse it.
fn not_after(certificate: &[u8]) -> Option<String> {
    let certificate = Certificate::from_der(certificate).ok()?;
    Some(certificate.tbs_certificate.validity.not_after.to_date_time().to_string())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let malformed = |cause| TlsError::Malformed { setting: CERT, path: path.to_owned(), wanted: "certificate", cause };
    let text = read(CERT, path)?;
    let all = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>().map_err(malformed)?;
    if all.is_empty() { Err(malformed(pem::Error::NoItemsFound)) } else { Ok(all) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let malformed = |cause| TlsError::Malformed { setting: KEY, path: path.to_owned(), wanted: "unencrypted private key", cause };
    PrivateKeyDer::from_pem_slice(&read(KEY, path)?).map_err(malformed)
}

fn read(setting: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|cause| TlsError::Unreadable { setting, path: path.to_owned(), cause })
}

/// Warns if everyone may read it. The owner's group may be meant to.
#[cfg(unix)]
fn warn_if_open(key: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    if std::fs::metadata(key).is_ok_and(|about| about.permissions().mode() & 0o007 != 0) {
        tracing::warn!(key = %key.display(), "every user of this machine has access to the private key's file: restrict its permissions");
    }
}

#[cfg(not(unix))]
fn warn_if_open(_: &Path) {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn files(&self) -> TlsFiles {
            TlsFiles { cert: self.0.path().join("cert.pem"), key: self.0.path().join("key.pem") }
        }

        fn write(&self, cert: &str, key: &str) {
            std::fs::write(self.files().cert, cert).unwrap();
            std::fs::write(self.files().key, key).unwrap();
        }
    }

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn opened() -> (Folder, Tls) {
        let folder = Folder(tempfile::tempdir().unwrap());
        let (cert, key) = pair();
        folder.write(&cert, &key);
        let tls = Tls::open(folder.files()).unwrap();
        (folder, tls)
    }

    fn in_use(tls: &Tls) -> Arc<ServerConfig> {
        Arc::clone(&tls.current.read().unwrap())
    }

    #[test]
    fn the_end_of_a_certificate_is_found_in_both_forms_of_time() {
        for year in [2_027, 2_150] {
            let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_after = rcgen::date_time_ymd(year, 2, 19);
            let whole = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().to_vec();
            assert_eq!(not_after(&whole), Some(format!("{year}-02-19T00:00:00Z")));
            assert_eq!(not_after(&whole[..whole.len() / 2]), None);
        }
    }

    #[test]
    fn what_is_wrong_with_the_files_is_told() {
        let (folder, _) = opened();
        let (cert, key) = pair();
        let (_, other) = pair();
        let error = |cert: &str, key: &str| {
            folder.write(cert, key);
            Tls::open(folder.files()).err().unwrap().to_string()
        };
        assert!(error("nothing", &key).contains("tls-cert") && error("nothing", &key).contains("holds no certificate"));
        assert!(error(&cert, "nothing").contains("tls-key") && error(&cert, &cert).contains("holds no unencrypted private key"));
        assert!(error(&cert, &other).contains("cannot be used together"));
        assert!(error(&cert[..cert.len() / 2], &key).contains("tls-cert"));
        std::fs::remove_file(folder.files().cert).unwrap();
        assert!(Tls::open(folder.files()).err().unwrap().to_string().contains("cannot be read"));
    }

    #[test]
    fn a_pair_that_is_broken_leaves_the_old_one_in_use() {
        let (folder, tls) = opened();
        let old = in_use(&tls);
        let ((cert, key), (_, other)) = (pair(), pair());
        for (cert, key) in [(cert.as_str(), other.as_str()), ("", key.as_str()), (cert.as_str(), "")] {
            folder.write(cert, key);
            tls.reload().unwrap_err();
            assert!(Arc::ptr_eq(&old, &in_use(&tls)));
        }
        folder.write(&cert, &key);
        tls.reload().unwrap();
        assert!(!Arc::ptr_eq(&old, &in_use(&tls)));
    }

    #[test]
    fn files_are_read_again_when_they_changed_and_rest() {
        let (folder, tls) = opened();
        let old = in_use(&tls);
        tls.reload_if_changed();
        assert!(Arc::ptr_eq(&old, &in_use(&tls)));
        let (cert, key) = pair();
        std::fs::write(folder.files().cert, format!("{cert}\n")).unwrap();
        tls.reload_if_changed();
        std::fs::write(folder.files().key, format!("{key}\n")).unwrap();
        tls.reload_if_changed();
        assert!(Arc::ptr_eq(&old, &in_use(&tls)), "they were still being written");
        tls.reload_if_changed();
        let new = in_use(&tls);
        assert!(!Arc::ptr_eq(&old, &new));
        folder.write("broken", "broken");
        tls.reload_if_changed();
        tls.reload_if_changed();
        assert!(Arc::ptr_eq(&new, &in_use(&tls)));
    }

    /// Counts the errors in the log.
    #[derive(Clone, Default)]
    struct Errors(Arc<AtomicUsize>);

    impl Subscriber for Errors {
        fn enabled(&self, about: &Metadata<'_>) -> bool {
            *about.level() == Level::ERROR
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn files_that_could_not_be_used_are_tried_again_and_each_trouble_is_logged_once() {
        let (folder, tls) = opened();
        let old = in_use(&tls);
        let (cert, key) = pair();
        let errors = Errors::default();
        let _log = tracing::subscriber::set_default(errors.clone());
        let at = SystemTime::now() + Duration::from_secs(9);
        // Put right without a trace, as by a change of permissions.
        let put = |content: &str| {
            std::fs::write(folder.files().cert, content).unwrap();
            std::fs::File::options().write(true).open(folder.files().cert).unwrap().set_modified(at).unwrap();
            tls.reload_if_changed();
        };
        std::fs::write(folder.files().key, &key).unwrap();
        for (looks, broken, logged) in [(3, "A", 1), (2, "-----BEGIN CERTIFICATE-----\n!", 2), (2, "A", 3)] {
            let unusable = broken.to_owned() + &" ".repeat(cert.len() - broken.len());
            (0..looks).for_each(|_| put(&unusable));
            assert!(Arc::ptr_eq(&old, &in_use(&tls)));
            assert_eq!(errors.0.load(Ordering::Relaxed), logged, "{broken}");
        }
        put(&cert);
        assert!(!Arc::ptr_eq(&old, &in_use(&tls)));
        assert_eq!(errors.0.load(Ordering::Relaxed), 3);
    }
}
