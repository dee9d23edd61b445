//! Profiles: who this person is at which server. One TOML file each, readable by its owner alone.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use railgate::time::{Millis, parse_rfc3339, rfc3339};
use serde::{Deserialize, Serialize};

use super::failure::{Done, Failure};

/// What a profile's file holds. There is no `Debug`: the token must not find its way into a message.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// The server that issued it.
    pub(crate) server: String,
    /// `cli_…`
    pub(crate) client_id: String,
    /// `sandbox` or `live`.
    pub(crate) environment: String,
    /// The secret.
    pub(crate) access_token: String,
    /// RFC 3339: when the token was issued.
    #[serde(default)]
    pub(crate) issued_at: String,
    /// RFC 3339: when it ends.
    pub(crate) expires_at: String,
}

impl Profile {
    /// Takes a new token that lives for `lifetime_s` seconds from `now`.
    pub(crate) fn renew(&mut self, access_token: String, now: Millis, lifetime_s: i64) {
        self.access_token = access_token;
        self.issued_at = rfc3339(now);
        self.expires_at = rfc3339(now.saturating_add(lifetime_s.saturating_mul(1000)));
    }

    /// Whether the token is in the last half of its life, and still alive.
    pub(crate) fn wants_renewal(&self, now: Millis) -> bool {
        let Some(end) = parse_rfc3339(&self.expires_at) else { return false };
        let start = parse_rfc3339(&self.issued_at).unwrap_or(end);
        let half = start.saturating_add((end - start).max(0) / 2);
        (half..end).contains(&now)
    }
}

/// Where one profile lives.
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

    /// Reads it; `None` if there is none.
    pub(crate) fn load(&self) -> Done<Option<Profile>> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.trouble("cannot read", &error)),
        };
        toml::from_str(&text).map(Some).map_err(|error: toml::de::Error| {
            // Not the error's own text: it quotes the line, and the line may be the token's.
            Failure::new(format!("{} is not a profile: {}", self.path.display(), error.message()))
                .hint(format!("remove the file, then: railgate enroll --profile {}", self.name))
        })
    }

    /// Writes it, whole or not at all, readable by its owner alone. Without `replace` it does not touch what is there.
    pub(crate) fn save(&self, profile: &Profile, replace: bool) -> Done {
        let text = toml::to_string(profile).map_err(|error| Failure::caused("cannot write the profile", error))?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        private_folder(folder).map_err(|error| self.trouble("cannot make the folder of", &error))?;
        // A named temporary file is created with mode 0600, and its rename is atomic: no moment shows half a profile,
        // or a whole one to others.
        let write = || -> io::Result<()> {
            let mut file = tempfile::Builder::new().prefix(".profile-").tempfile_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            let kept = if replace { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
            kept.map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.taken(),
            _ => self.trouble("cannot write", &error),
        })
    }

    /// The profile exists and must not be lost.
    pub(crate) fn taken(&self) -> Failure {
        Failure::new(format!("the profile {:?} exists already: {}", self.name, self.path.display()))
            .hint("choose another with --profile NAME, or give this one up with --force: its client cannot be reached again")
    }

    /// There is no such profile, and the command cannot do without.
    pub(crate) fn missing(&self) -> Failure {
        let more = if self.name == "default" { String::new() } else { format!(" --profile {}", self.name) };
        Failure::new(format!("there is no profile {:?} yet", self.name)).hint(format!("make one: railgate enroll{more}"))
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

    fn profile() -> Profile {
        let mut profile = Profile {
            server: "http://127.0.0.1:8080".to_owned(),
            client_id: "cli_x".to_owned(),
            environment: "sandbox".to_owned(),
            access_token: String::new(),
            issued_at: String::new(),
            expires_at: String::new(),
        };
        profile.renew("rg_sandbox_x".to_owned(), 1_000_000, 900);
        profile
    }

    #[test]
    fn a_token_is_renewed_in_the_last_half_of_its_life_only() {
        let profile = profile();
        for (at, wanted) in [(0, false), (449, false), (450, true), (899, true), (900, false)] {
            assert_eq!(profile.wants_renewal(1_000_000 + at * 1000), wanted, "{at}");
        }
    }

    #[test]
    fn a_file_is_private_atomic_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = ProfileFile { name: "p".to_owned(), path: folder.path().join("profiles/p.toml") };
        assert!(file.load().unwrap().is_none());
        file.save(&profile(), false).unwrap();
        assert!(file.save(&profile(), false).is_err());
        file.save(&profile(), true).unwrap();
        assert_eq!(file.load().unwrap().unwrap().expires_at, profile().expires_at);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(file.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path().join("profiles")).unwrap().count(), 1);
    }

    #[test]
    fn a_profile_s_name_cannot_leave_its_folder() {
        for bad in ["", "..", "../x", "a/b", ".hidden", "a\\b", "é"] {
            assert!(ProfileFile::named(bad).is_err(), "{bad}");
        }
    }
}
