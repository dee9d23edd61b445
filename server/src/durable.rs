//! Files that are there as a whole, and after a power failure, or not at all.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use railgate::store::sqlite::{folder_of, give_to_owner_of};
use tempfile::TempPath;

/// Writes a file that only its owner can read: durable when this returns. With `replace`, whoever owned the file before owns it afterwards;
/// without, a file that is there stays.
pub(crate) fn write(path: &Path, content: &[u8], replace: bool) -> io::Result<()> {
    // Created with mode 0600; the rename makes the whole file visible at once.
    let mut file = tempfile::Builder::new().prefix(".railgate-").tempfile_in(folder_of(path))?;
    file.write_all(content)?;
    if replace && path.exists() {
        let refused = |error: io::Error| {
            io::Error::new(error.kind(), format!("a new one cannot be given to its owner; the old one is unchanged: {error}"))
        };
        give_to_owner_of(path, file.as_file()).map_err(refused)?;
    }
    name(file.into_temp_path(), path, replace)
}

/// Gives a finished file its name, in the same file system: durable when this returns.
pub(crate) fn name(file: TempPath, path: &Path, replace: bool) -> io::Result<()> {
    File::open(&file)?.sync_all()?;
    if replace { file.persist(path) } else { file.persist_noclobber(path) }.map_err(|error| error.error)?;
    // The rename is durable once the folder is synced. Systems where that is impossible do it by themselves.
    if cfg!(unix) {
        File::open(folder_of(path))?.sync_all()?;
    }
    Ok(())
}
