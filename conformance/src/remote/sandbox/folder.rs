//! The folder that a sandboxed program has for itself: made before it starts, gone when everything is killed that could write there.

use super::SandboxError;
use rustix::fs::{CWD, Dir, Mode, OFlags, chmod, openat};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Opens a folder whatever its mode, for nothing but to go on from it.
const TO_FOLLOW: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Folders within folders that are gone through: each is a descriptor that is open meanwhile. No program needs as many.
const DEPTH: u32 = 128;

/// Such a folder: removed with the value.
#[derive(Debug)]
pub(in crate::remote) struct Folder(PathBuf);

impl Folder {
    /// A new one that no other user can look into, where temporary files are.
    pub(in crate::remote) fn new() -> Result<Folder, SandboxError> {
        let own = PermissionsExt::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("conformance-sandbox-").permissions(own).tempdir();
        let made = made.map_err(|source| SandboxError::Folder { path: std::env::temp_dir(), source })?;
        Ok(Folder(made.keep()))
    }

    pub(in crate::remote) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes a folder, with what its program closed to its own user. Where there is none, somebody else was first: a judge that was killed
/// removes none, and its warden does.
pub(in crate::remote) fn remove(folder: &Path) {
    if std::fs::remove_dir_all(folder).is_err() {
        open_up(folder);
        // What is left then (a full or broken disk) nobody can help.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Gives its user all rights in a folder and those in it. Each is opened before it is changed, and no link is followed: what could not be
/// killed may put one in the place of a folder at any moment.
fn open_up(folder: &Path) {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else { return };
    if let Ok(above) = openat(CWD, above, TO_FOLLOW, Mode::empty()) {
        open_up_in(above.as_fd(), name.as_bytes(), DEPTH);
    }
}

fn open_up_in(above: BorrowedFd<'_>, name: &[u8], depth: u32) {
    let Ok(folder) = openat(above, name, TO_FOLLOW | OFlags::NOFOLLOW, Mode::empty()) else { return };
    // `fchmod` refuses a descriptor that can't read, and who may not read can't have another; by this name it is the same folder.
    let _ = chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU);
    let Ok(entries) = Dir::read_from(&folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_bytes();
        if depth > 0 && name != b"." && name != b".." {
            open_up_in(folder.as_fd(), name, depth - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_what_was_closed_in_it_and_no_link_is_followed() {
        let outside = tempfile::tempdir().expect("a folder");
        let kept = outside.path().join("kept");
        std::fs::write(&kept, "x").expect("written");
        std::fs::set_permissions(outside.path(), PermissionsExt::from_mode(0o500)).expect("changed");
        let folder = Folder::new().expect("a folder");
        let path = folder.path().to_owned();
        std::fs::create_dir_all(path.join("a/b")).expect("made");
        std::fs::write(path.join("a/b/file"), "x").expect("written");
        std::os::unix::fs::symlink(outside.path(), path.join("a/b/link")).expect("a link");
        for closed in ["a/b", "a", ""] {
            std::fs::set_permissions(path.join(closed), PermissionsExt::from_mode(0o0)).expect("changed");
        }
        drop(folder);
        assert!(!path.exists() && kept.exists());
        let mode = std::fs::metadata(outside.path()).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o500);
        std::fs::set_permissions(outside.path(), PermissionsExt::from_mode(0o700)).expect("changed");
    }

    /// Story: rights were given by name. A program that is killed too slowly could put a link in the place of a folder between the look
    /// and the change, and had the judge open a folder of its user's to everything.
    #[test]
    fn a_folder_that_becomes_a_link_meanwhile_opens_nothing_outside() {
        let outside = tempfile::tempdir().expect("a folder");
        std::fs::set_permissions(outside.path(), PermissionsExt::from_mode(0o500)).expect("changed");
        let folder = Folder::new().expect("a folder");
        let name = |name: &str| folder.path().join(name);
        std::fs::create_dir(name("real")).expect("made");
        std::os::unix::fs::symlink(outside.path(), name("link")).expect("a link");
        let (began, time) = (std::time::Instant::now(), std::time::Duration::from_millis(300));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while began.elapsed() < time {
                    // Each takes the other's place in one step.
                    let flags = rustix::fs::RenameFlags::EXCHANGE;
                    let exchanged = rustix::fs::renameat_with(CWD, name("real"), CWD, name("link"), flags);
                    exchanged.expect("both are there");
                }
            });
            while began.elapsed() < time {
                open_up(folder.path());
                let mode = std::fs::metadata(outside.path()).expect("there").permissions().mode();
                assert_eq!(mode & 0o777, 0o500);
            }
        });
    }
}
