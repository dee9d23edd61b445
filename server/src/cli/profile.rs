//! Profiles: a client's identity at a server, and the private key that proves it. One TOML file each, readable by its
//! owner alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use railgate::auth::{Algorithm, Signer, SoftwareKey};
use railgate::client::Snapshot;
use railgate::ledger::Mode;
use railgate::time::{parse_rfc3339, rfc3339};
use serde::{Deserialize, Serialize};

use super::failure::{Done, Failure};
use crate::durable;

/// The content of a profile's file. There is no `Debug`: neither key nor token may get into a message.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Profile {
    /// The server at which the key is enrolled, in the form that is signed.
    pub(crate) server: String,
    /// `cli_…`; empty while unknown.
    pub(crate) client_id: String,
    /// `sandbox` or `live`.
    pub(crate) environment: String,
    /// The enrolment was sent and got no response yet. The key may be enrolled or not.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) enrolling: bool,
    /// `ecdsa-p256-sha256` or `ed25519`.
    pub(crate) key_algorithm: String,
    /// The private key: 32 bytes in base64url.
    pub(crate) private_key: String,
    /// The key's RFC 7638 thumbprint.
    pub(crate) key_id: String,
    /// The access token: a secret too, until it expires.
    pub(crate) access_token: String,
    /// When the token expires, in RFC 3339.
    pub(crate) expires_at: String,
    /// The key of the token's session: a secret like the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_key: Option<String>,
    /// Which calls the session signs: `all`, or `reads`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_signs: Option<String>,
    /// The last challenge.
    pub(crate) challenge: String,
    /// When the challenge expires, in RFC 3339.
    pub(crate) challenge_expires_at: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Profile {
    /// A profile with a new key, not enrolled yet.
    pub(crate) fn with_new_key(server: &str, mode: Mode, algorithm: Algorithm) -> Done<Self> {
        let key = new_key(algorithm)?;
        Ok(Self {
            server: server.to_owned(),
            environment: mode.as_str().to_owned(),
            enrolling: true,
            key_algorithm: algorithm.as_str().to_owned(),
            private_key: URL_SAFE_NO_PAD.encode(key.secret_bytes().as_slice()),
            key_id: key.public_key().id().to_string(),
            ..Self::default()
        })
    }

    /// The key, ready to sign.
    pub(crate) fn key(&self) -> Done<Arc<dyn Signer>> {
        let wrong = || Failure::new("the profile's private_key is not a key of its key_algorithm");
        let secret: [u8; 32] = URL_SAFE_NO_PAD.decode(&self.private_key).ok().and_then(|b| b.try_into().ok()).ok_or_else(wrong)?;
        let key = match Algorithm::from_name(&self.key_algorithm).ok_or_else(wrong)? {
            Algorithm::EcdsaP256Sha256 => SoftwareKey::p256(&secret).ok_or_else(wrong)?,
            Algorithm::Ed25519 => SoftwareKey::ed25519(&secret),
        };
        Ok(Arc::new(key))
    }

    /// Live if `environment` is `live`, else sandbox.
    pub(crate) fn mode(&self) -> Mode {
        if self.environment == Mode::Live.as_str() { Mode::Live } else { Mode::Sandbox }
    }

    /// The state that the last command saved.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Snapshot {
            access_token: text(&self.access_token),
            token_ends_at: parse_rfc3339(&self.expires_at),
            session_key: self.session_key.clone(),
            session_signs: self.session_signs.clone(),
            challenge: text(&self.challenge),
            challenge_ends_at: parse_rfc3339(&self.challenge_expires_at),
        }
    }

    /// Takes the state of this command. Returns whether it has changed.
    pub(crate) fn keep(&mut self, left: Snapshot) -> bool {
        if left == self.snapshot() {
            return false;
        }
        let time = |at: Option<i64>| at.map(rfc3339).unwrap_or_default();
        self.access_token = left.access_token.unwrap_or_default();
        self.expires_at = time(left.token_ends_at);
        (self.session_key, self.session_signs) = (left.session_key, left.session_signs);
        self.challenge = left.challenge.unwrap_or_default();
        self.challenge_expires_at = time(left.challenge_ends_at);
        true
    }
}

fn new_key(algorithm: Algorithm) -> Done<SoftwareKey> {
    loop {
        let mut secret = zeroize::Zeroizing::new([0u8; 32]);
        super::session::random(&mut *secret)?;
        match algorithm {
            Algorithm::Ed25519 => return Ok(SoftwareKey::ed25519(&secret)),
            // One draw in 2^32 is not a scalar of the curve.
            Algorithm::EcdsaP256Sha256 => {
                if let Some(key) = SoftwareKey::p256(&secret) {
                    return Ok(key);
                }
            }
        }
    }
}

/// The file of one profile.
#[derive(Debug, Clone)]
pub(crate) struct ProfileFile {
    name: String,
    path: PathBuf,
}

impl ProfileFile {
    /// The file of the profile `name`: below `$RAILGATE_HOME`, else below the platform's configuration folder.
    pub(crate) fn named(name: &str) -> Done<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.chars().all(plain) {
            return Err(Failure::usage(format!("{name:?} cannot be a profile's name"))
                .hint("use 1 to 64 letters, digits, dots, dashes and underscores, no dot first"));
        }
        let path = home()?.join("profiles").join(format!("{name}.toml"));
        Ok(Self { name: name.to_owned(), path })
    }

    /// The profile's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the profile; `None` if there is none.
    pub(crate) fn load(&self) -> Done<Option<Profile>> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.trouble("cannot read", &error)),
        };
        let again = format!("railgate enroll --force --profile {}", self.name);
        let profile: Profile = toml::from_str(&text).map_err(|error: toml::de::Error| {
            // Not the error's own text: it quotes the line, which may contain the key.
            Failure::new(format!("{} is not a profile: {}", self.path.display(), error.message()))
                .hint(format!("remove the file, then: {again}"))
        })?;
        if profile.private_key.is_empty() {
            let old = "holds no key: it is from before calls were signed, and its token is no longer valid";
            return Err(Failure::new(format!("the profile {:?} {old}", self.name)).hint(format!("enrol again: {again}")));
        }
        Ok(Some(profile))
    }

    /// Writes the profile, whole or not at all, readable by its owner alone. Without `replace`, an existing file stays.
    pub(crate) fn save(&self, profile: &Profile, replace: bool) -> Done {
        let text = toml::to_string(profile).map_err(|error| Failure::caused("cannot write the profile", error))?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        private_folder(folder).map_err(|error| self.trouble("cannot create the folder of", &error))?;
        durable::write(&self.path, text.as_bytes(), replace).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.taken(),
            _ => self.trouble("cannot write", &error),
        })
    }

    /// Whether the file still belongs to `profile`: it was not removed, and has no other key.
    pub(crate) fn holds(&self, profile: &Profile) -> bool {
        matches!(self.load(), Ok(Some(kept)) if kept.private_key == profile.private_key && kept.server == profile.server)
    }

    /// Removes the file if possible: nobody knows its key.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Renames an existing file to an unused name, the profile's and `.old`; `None` if there is no file.
    pub(crate) fn set_aside(&self) -> Done<Option<String>> {
        let names = (1..).map(|n: u32| if n == 1 { format!("{}.old", self.name) } else { format!("{}.old{n}", self.name) });
        for name in names {
            let aside = self.path.with_file_name(format!("{name}.toml"));
            // A link, unlike a rename, never replaces an existing file: that may be the only copy of another key.
            match fs::hard_link(&self.path, &aside) {
                Ok(()) => {
                    fs::remove_file(&self.path).map_err(|error| self.trouble("cannot set aside", &error))?;
                    return Ok(Some(name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(self.trouble("cannot set aside", &error)),
            }
        }
        Ok(None)
    }

    /// The profile exists and must not be overwritten.
    pub(crate) fn taken(&self) -> Failure {
        Failure::new(format!("the profile {:?} exists already: {}", self.name, self.path.display()))
            .hint("choose another with --profile NAME, or enrol a new client with --force")
    }

    /// The profile does not exist, and the command needs one.
    pub(crate) fn missing(&self) -> Failure {
        let more = if self.name == "default" { String::new() } else { format!(" --profile {}", self.name) };
        Failure::new(format!("there is no profile {:?} yet", self.name)).hint(format!("create one: railgate enroll{more}"))
    }

    /// Its enrolment was not answered.
    pub(crate) fn unfinished(&self) -> Failure {
        Failure::new(format!("the enrolment of the profile {:?} was not answered", self.name))
            .hint(format!("the same command continues with its key: railgate enroll --profile {}", self.name))
    }

    fn trouble(&self, what: &str, error: &io::Error) -> Failure {
        Failure::new(format!("{what} the profile {}: {error}", self.path.display()))
    }
}

fn home() -> Done<PathBuf> {
    if let Some(home) = std::env::var_os("RAILGATE_HOME").filter(|home| !home.is_empty()) {
        return Ok(PathBuf::from(home));
    }
    let folders = directories::ProjectDirs::from("dev", "railgate", "railgate");
    folders
        .map(|folders| folders.config_dir().to_owned())
        .ok_or_else(|| Failure::new("there is no home folder to keep profiles in").hint("set RAILGATE_HOME to a folder of your own"))
}

#[cfg(unix)]
fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(algorithm: Algorithm) -> Profile {
        Profile::with_new_key("http://127.0.0.1:8080", Mode::Sandbox, algorithm).unwrap()
    }

    #[test]
    fn a_key_and_what_a_session_left_come_back() {
        for algorithm in [Algorithm::EcdsaP256Sha256, Algorithm::Ed25519] {
            let mut profile = profile(algorithm);
            assert_eq!(profile.key().unwrap().public_key().id().to_string(), profile.key_id);
            let left = Snapshot { access_token: Some("t".to_owned()), token_ends_at: Some(1_000), ..Snapshot::default() };
            assert!(profile.keep(left.clone()) && !profile.keep(left.clone()));
            let back: Profile = toml::from_str(&toml::to_string(&profile).unwrap()).unwrap();
            assert!(back.snapshot() == left);
            assert_eq!(back.key().unwrap().public_key().id().to_string(), profile.key_id);
            assert!(Profile { private_key: "short".to_owned(), ..profile }.key().is_err());
        }
    }

    #[test]
    fn a_profile_of_tokens_alone_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile { name: "old".to_owned(), path: folder.path().join("old.toml") };
        fs::write(file.path(), "server = \"http://x\"\nclient_id = \"cli_x\"\naccess_token = \"t\"\n").unwrap();
        let Err(Failure::Stopped(reason)) = file.load() else { panic!("it was taken") };
        assert!(reason.message().contains("holds no key"), "{}", reason.message());
        assert!(reason.below().any(|line| line.contains("railgate enroll --force --profile old")));
    }

    #[test]
    fn a_file_is_private_atomic_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile { name: "p".to_owned(), path: folder.path().join("profiles/p.toml") };
        assert!(file.load().unwrap().is_none());
        let profile = profile(Algorithm::Ed25519);
        file.save(&profile, false).unwrap();
        assert!(file.save(&profile, false).is_err());
        file.save(&profile, true).unwrap();
        assert_eq!(file.load().unwrap().unwrap().key_id, profile.key_id);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(file.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path().join("profiles")).unwrap().count(), 1);
    }

    #[test]
    fn what_is_set_aside_replaces_nothing_and_is_not_written_to_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile { name: "p".to_owned(), path: folder.path().join("p.toml") };
        assert_eq!(file.set_aside().unwrap(), None);
        let profiles: Vec<Profile> = (0..3).map(|_| profile(Algorithm::Ed25519)).collect();
        for (profile, name) in profiles.iter().zip(["p.old", "p.old2", "p.old3"]) {
            file.save(profile, false).unwrap();
            assert!(file.holds(profile));
            assert_eq!(file.set_aside().unwrap().as_deref(), Some(name));
            assert!(!file.holds(profile));
        }
        for (profile, name) in profiles.iter().zip(["p.old", "p.old2", "p.old3"]) {
            let aside = ProfileFile { name: name.to_owned(), path: folder.path().join(format!("{name}.toml")) };
            assert!(aside.holds(profile), "{name}");
        }
    }

    #[test]
    fn a_profile_s_name_cannot_leave_its_folder() {
        for bad in ["", "..", "../x", "a/b", ".hidden", "a\\b", "é"] {
            assert!(ProfileFile::named(bad).is_err(), "{bad}");
        }
    }
}
