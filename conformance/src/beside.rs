//! Files that are whole or as before: written beside their place and renamed, so that no reader, and no end of this process or of the
//! disk's space, meets a half.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// How the names of files begin that are not whole.
const UNFINISHED: &str = ".unfinished-";

/// True for the name of a file that a killed process left.
pub(crate) fn is_unfinished(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes())
}

/// Removes what killed processes left in a folder that is this process's alone.
pub(crate) fn clean(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let left = entries.flatten().filter(|entry| is_unfinished(&entry.file_name()));
    // What can't be removed does no harm.
    left.for_each(|entry| _ = std::fs::remove_file(entry.path()));
}

/// Writes a file, or leaves what was there.
///
/// # Errors
/// What the system says; nothing is left beside it then.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(content))
}

/// [`write`], by a function that writes the content.
///
/// # Errors
/// As [`write`], and what the function says.
pub(crate) fn write_with(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // As any new file, the process's mask permitting; a temporary one would be for its owner alone.
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    content(&mut file)?;
    file.as_file().sync_data()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_changes_nothing_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.json");
        write(&path, b"whole").expect("written");
        let failed = write_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(failed.expect_err("it says so").kind(), io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read(&path).expect("there"), b"whole");
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "").expect("written");
        assert_eq!(mode, std::fs::metadata(&plain).expect("there").permissions().mode());
    }
}
