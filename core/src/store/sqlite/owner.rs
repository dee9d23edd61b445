//! Files that belong to whoever owns a database. Root may make them, for a server that runs as somebody else: that server could not
//! open them, nor start again.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// The folder of the file at `path`.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens the lock file `<path>.lock`. If there is none, creates it, for the owner of the file at `path`. It stays when the lock ends, because
/// a file that is deleted and recreated excludes nobody.
///
/// # Errors
/// Those of the system.
pub fn lock_file(path: &Path) -> io::Result<File> {
    let mut name = OsString::from(path);
    name.push(".lock");
    match create_for(path, Path::new(&name)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => OpenOptions::new().write(true).open(&name),
        made => made,
    }
}

/// Creates a file that only its owner can read and write: the owner of what is at `place`, if this process may give it away. What is there
/// already is left alone: a folder's owner could have put a link there, to a file of root's.
pub(super) fn create_for(place: &Path, path: &Path) -> io::Result<File> {
    let file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    let _ = give_to_owner_of(place, &file);
    Ok(file)
}

/// Gives a file to the owner of what is at `place`.
///
/// # Errors
/// If this process may not: only root may.
#[cfg(unix)]
pub fn give_to_owner_of(place: &Path, file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let (owned, made) = (std::fs::metadata(place)?, file.metadata()?);
    // Of the same owner, groups may differ: they may do nothing with the file.
    if owned.uid() == made.uid() { Ok(()) } else { fchown(file, Some(owned.uid()), Some(owned.gid())) }
}

/// Other systems have no such owners.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn give_to_owner_of(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

/// Readable and writable only by the owner. SQLite gives its other files the mode and the owner of the database.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
