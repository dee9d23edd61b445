//! The file of master keys: created once, readable by its owner alone, and replaced only as a whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use railgate::seal::{MasterKeys, SealError};
use railgate::store::sqlite::lock_file;
use zeroize::Zeroizing;

use crate::durable;

/// Why the master keys cannot be used. Never quotes the file's content.
#[derive(Debug, thiserror::Error)]
pub enum MasterError {
    /// The file does not exist.
    #[error("there is no file of master keys at {}", .path.display())]
    Missing {
        /// Where it was expected.
        path: PathBuf,
    },
    /// The system refused access.
    #[error("the file of master keys {} cannot be used: {cause}", .path.display())]
    Io {
        /// The file's path.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Users other than its owner may read or change the file.
    #[error("the file of master keys {} is open to others (mode {mode:04o}): it must be 0600", .path.display())]
    Exposed {
        /// The file's path.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is not a list of keys.
    #[error("{}: {cause}", .path.display())]
    Content {
        /// The file's path.
        path: PathBuf,
        /// The line and what is wrong with it.
        cause: SealError,
    },
    /// The system provides no random numbers.
    #[error("the system provides no random numbers: {0}")]
    NoRandomness(getrandom::Error),
}

/// The default path of a store's master keys: next to it, with `.keys` appended to its name.
pub fn beside(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".keys");
    PathBuf::from(path)
}

/// Reads the file.
///
/// # Errors
/// [`MasterError`].
pub fn load(path: &Path) -> Result<MasterKeys, MasterError> {
    let trouble = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => MasterError::Missing { path: path.to_owned() },
        _ => MasterError::Io { path: path.to_owned(), cause },
    };
    let file = File::open(path).map_err(trouble)?;
    // Of the opened file, not of the path: the path may lead to another file by now.
    check_private(path, &file.metadata().map_err(trouble)?)?;
    let text = Zeroizing::new(io::read_to_string(file).map_err(trouble)?);
    MasterKeys::parse(&text).map_err(|cause| MasterError::Content { path: path.to_owned(), cause })
}

/// Reads the file; creates it with one new key if it does not exist. If several processes do so at once, one of them
/// creates it and all read the same.
///
/// # Errors
/// [`MasterError`].
pub fn load_or_create(path: &Path) -> Result<Arc<MasterKeys>, MasterError> {
    match load(path) {
        Err(MasterError::Missing { .. }) => {}
        read => return read.map(Arc::new),
    }
    let keys = MasterKeys::generate(1, *random32()?);
    match write(path, &keys, false) {
        Err(MasterError::Io { cause, .. }) if cause.kind() == io::ErrorKind::AlreadyExists => {}
        written => written?,
    }
    load(path).map(Arc::new)
}

/// Reads the file again into `keys`, which are in use. Returns whether the list changed.
///
/// # Errors
/// [`MasterError`]; `keys` stay as they were.
pub fn reload(path: &Path, keys: &MasterKeys) -> Result<bool, MasterError> {
    let read = load(path)?;
    let changed = read.ids() != keys.ids();
    if changed {
        keys.replace(read);
    }
    Ok(changed)
}

/// Puts a new key before all others, in the file first: when this returns, it is durable there. Returns the list and the
/// new key's id.
///
/// # Errors
/// [`MasterError`]; the file stays as it was.
pub fn rotate(path: &Path) -> Result<(MasterKeys, u32), MasterError> {
    let _alone = lock(path)?;
    let keys = load(path)?;
    let id = keys.prepend(*random32()?);
    write(path, &keys, true)?;
    Ok((keys, id))
}

/// Prevents concurrent rotations: each would write a list without the other's key, which may already seal secrets.
fn lock(path: &Path) -> Result<File, MasterError> {
    let locked = lock_file(path).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|cause| MasterError::Io { path: path.to_owned(), cause })
}

fn write(path: &Path, keys: &MasterKeys, replace: bool) -> Result<(), MasterError> {
    durable::write(path, keys.to_text().as_bytes(), replace).map_err(|cause| MasterError::Io { path: path.to_owned(), cause })
}

fn random32() -> Result<Zeroizing<[u8; 32]>, MasterError> {
    let mut bytes = Zeroizing::new([0u8; 32]);
    getrandom::fill(&mut *bytes).map_err(MasterError::NoRandomness)?;
    Ok(bytes)
}

#[cfg(unix)]
fn check_private(path: &Path, meta: &fs::Metadata) -> Result<(), MasterError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = meta.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(MasterError::Exposed { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn check_private(_: &Path, _: &fs::Metadata) -> Result<(), MasterError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_once_by_whoever_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("railgate.db"));
        assert!(path.ends_with("railgate.db.keys"));
        assert!(matches!(load(&path), Err(MasterError::Missing { .. })));
        let sealed: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8u8)
                .map(|n| {
                    scope.spawn({
                        let path = &path;
                        move || load_or_create(path).unwrap().seal("p", [n; 24], b"s")
                    })
                })
                .collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        let keys = load(&path).unwrap();
        assert!(sealed.iter().all(|sealed| keys.open("p", sealed).is_ok()), "all use the same key");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.keys");
        load_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = load_or_create(&path).unwrap_err();
            assert!(matches!(&error, MasterError::Exposed { mode: found, .. } if *found == mode), "{error}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(load(&path).is_ok());
    }

    /// Root may have given the file to the user of a server. Who is not root owns it and goes on owning it.
    #[cfg(unix)]
    #[test]
    fn whoever_owned_the_file_owns_it_after_a_rotation() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.keys");
        load_or_create(&path).unwrap();
        let _ = chown(&path, Some(61_234), Some(61_235));
        let owner = |meta: fs::Metadata| (meta.uid(), meta.gid(), meta.permissions().mode() & 0o777);
        let before = owner(fs::metadata(&path).unwrap());
        rotate(&path).unwrap();
        assert_eq!((owner(fs::metadata(&path).unwrap()), before.2), (before, 0o600));
        assert_eq!(load(&path).unwrap().ids(), [2, 1]);
    }

    #[test]
    fn rotations_at_once_lose_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.keys");
        let old = load_or_create(&path).unwrap();
        let sealed = old.seal("p", [0; 24], b"s");
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| rotate(&path).unwrap());
            }
        });
        let keys = load(&path).unwrap();
        assert_eq!(keys.ids(), [7, 6, 5, 4, 3, 2, 1]);
        assert!(keys.open("p", &sealed).is_ok());
        assert!(reload(&path, &old).unwrap() && !reload(&path, &old).unwrap());
        assert_eq!(old.ids(), keys.ids());
    }

    #[test]
    fn what_is_wrong_is_told_by_file_and_line_without_the_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.keys");
        durable::write(&path, b"# keys\n1:c2VjcmV0\n", false).unwrap();
        let said = load(&path).unwrap_err().to_string();
        assert!(said.contains("master.keys") && said.contains("line 2") && !said.contains("c2VjcmV0"), "{said}");
    }
}
