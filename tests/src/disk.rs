//! Disks of a test's own: small ones that get full, and ones that fail or stand still under a server.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::skipped::skipped;

/// A mounted disk; unmounted in the end.
pub struct Disk {
    folder: TempDir,
    /// The block device, if it has one.
    device: Option<Device>,
}

/// A file that the system takes for a block device.
struct Device {
    name: String,
    /// Where its file is.
    _image: TempDir,
}

impl Disk {
    /// One in memory, of so many bytes (as `mount` takes them). `None`, with a message, where this user may not mount.
    pub fn small(size: &str) -> Option<Self> {
        let disk = Self { folder: folder(), device: None };
        if does("mount", &["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs", &disk.root()]) {
            return Some(disk);
        }
        skipped("a disk that is full or read-only, which only root may mount");
        None
    }

    /// One with a file system on a device, which becomes read-only if the device fails. `None`, with a message, where there can be none.
    pub fn on_a_device() -> Option<Self> {
        let made = Device::ext4().and_then(|device| {
            let disk = Self { folder: folder(), device: Some(device) };
            disk.mount().then_some(disk)
        });
        if made.is_none() {
            skipped("a disk that fails or stands still, which needs a loop device and root");
        }
        made
    }

    fn mount(&self) -> bool {
        self.device.as_ref().is_some_and(|it| does("mount", &["-o", "errors=remount-ro", &it.name, &self.root()]))
    }

    fn root(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// A database on it.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("gateway.db")
    }

    /// Mounts it again with another option, while nobody writes.
    pub fn again(&self, how: &str) {
        assert!(does("mount", &["-o", &format!("remount,{how}"), &self.root()]));
    }

    /// Writes until nothing more fits. Returns the file that takes the room.
    pub fn fill(&self) -> PathBuf {
        let ballast = self.folder.path().join("ballast");
        let mut file = File::create(&ballast).expect("created");
        for size in [65_536, 4_096] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
        ballast
    }

    /// Has every write wait, or go on.
    pub fn freeze(&self, frozen: bool) {
        assert!(does("fsfreeze", &[if frozen { "-f" } else { "-u" }, &self.root()]));
    }

    /// Has the kernel find an error of the device: the file system becomes read-only under whoever uses it.
    pub fn fail(&self) {
        let device = Path::new(&self.device.as_ref().expect("a device").name).file_name().expect("a name").to_owned();
        fs::write(Path::new("/sys/fs/ext4").join(device).join("trigger_fs_error"), "a test").expect("an error can be made");
    }

    /// What a person does then: takes it away, has it repaired, and mounts it. Nobody may use it.
    pub fn repair(&self) {
        assert!(does("umount", &[&self.root()]));
        // 1: errors were corrected.
        let repaired = Command::new("e2fsck").args(["-fy", &self.device.as_ref().expect("a device").name]).output().expect("e2fsck");
        assert!(matches!(repaired.status.code(), Some(0 | 1)), "{repaired:?}");
        assert!(self.mount());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whoever waits for a frozen one cannot even be killed.
        let _ = does("fsfreeze", &["-u", &self.root()]);
        let _ = does("umount", &["-l", &self.root()]);
    }
}

impl Device {
    fn ext4() -> Option<Self> {
        let image = folder();
        let file = image.path().join("image");
        File::create(&file).and_then(|made| made.set_len(64 << 20)).expect("a file for a disk");
        does("mkfs.ext4", &["-q", &file.display().to_string()]).then_some(())?;
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().ok()?;
        let name = String::from_utf8(made.stdout).ok()?.trim().to_owned();
        (made.status.success() && !name.is_empty()).then_some(Self { name, _image: image })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = does("losetup", &["-d", &self.name]);
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn does(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|it| it.status.success())
}
