//! The folder that a sandboxed program has for itself: made before it starts, gone when everything is killed that could write there.

use super::SandboxError;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Such a folder: removed with the value.
#[derive(Debug)]
pub(in crate::remote) struct Folder(PathBuf);

impl Folder {
    /// A new one that no other user can look into, where temporary files are.
    pub(super) fn new() -> Result<Folder, SandboxError> {
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

/// Gives its user all rights in a folder and those in it. Nobody is left who could put a link in the place of one meanwhile.
fn open_up(folder: &Path) {
    if !std::fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir()) {
        return;
    }
    let _ = std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        open_up(&entry.path());
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
}
