//! Plain files that somebody else names: never waited for, never read without end.
//!
//! A name may be a link to `/dev/zero`, a pipe that nobody writes to, a socket or a folder. Those are errors at once; a plain file is read
//! up to the limit that the caller gives.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a file to read. To open a pipe would wait for its writer, so what it is is asked first.
///
/// # Errors
/// As the system says; [`io::ErrorKind::InvalidInput`] for what is no plain file.
pub fn open(path: &Path) -> io::Result<File> {
    let refused = || {
        let reason = "not a regular file but a folder, pipe, socket or device; give the path of a file";
        io::Error::new(io::ErrorKind::InvalidInput, reason)
    };
    if !std::fs::metadata(path)?.is_file() {
        return Err(refused());
    }
    let file = File::open(path)?;
    // Another one may have taken its place.
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

/// The bytes of a file that has at most `most` of them.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::FileTooLarge`] for a larger one.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_large = |bytes: u64| {
        let reason = format!(
            "it has {bytes} bytes or more, of which at most {most} are read; is it the file that was meant?"
        );
        io::Error::new(io::ErrorKind::FileTooLarge, reason)
    };
    let file = open(path)?;
    let stated = file.metadata()?.len();
    if stated > most {
        return Err(too_large(stated));
    }
    let mut bytes = Vec::new();
    // Some files state no length, or grow.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let length = bytes.len() as u64;
    if length > most { Err(too_large(length)) } else { Ok(bytes) }
}

/// The text of a file that has at most `most` bytes.
///
/// # Errors
/// As [`read`]; [`io::ErrorKind::InvalidData`] for what is no UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    /// Story: a report, an expectation or a recording could be a link to `/dev/zero` and was read until the memory was full.
    #[test]
    fn what_is_no_plain_file_is_an_error_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for (name, device) in [("zero", "/dev/zero"), ("random", "/dev/urandom"), ("folder", "/")] {
            symlink(device, at(name)).expect("linked");
        }
        let _socket = UnixListener::bind(at("socket")).expect("bound");
        for name in ["zero", "random", "folder", "socket"] {
            let error = read(&at(name), 100).expect_err(name);
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}: {error}");
        }
        assert_eq!(open(&at("absent")).expect_err("absent").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn no_more_is_read_than_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        std::fs::write(&path, "12345").expect("written");
        assert_eq!(read_text(&path, 5).expect("five bytes"), "12345");
        let error = read(&path, 4).expect_err("too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("5 bytes or more, of which at most 4"), "{error}");
        // It states no length.
        let status = read(Path::new("/proc/self/status"), 10).expect_err("longer");
        assert_eq!(status.kind(), io::ErrorKind::FileTooLarge);
        std::fs::write(&path, [0xff, 0xfe]).expect("written");
        assert_eq!(read_text(&path, 5).expect_err("no text").kind(), io::ErrorKind::InvalidData);
    }
}
