//! The text of a file of PTX, or what the file is instead.

use thiserror::Error;

/// What a file is that is no text of PTX.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SourceError {
    /// A cubin, or an object file.
    #[error(
        "it is an ELF file, such as a cubin or an object file, and no text of PTX; give the file that 'nvcc -ptx' writes, or take the \
         text out with 'cuobjdump -ptx'"
    )]
    Elf,
    /// `nvcc -fatbin`.
    #[error(
        "it is a fatbin and no text of PTX; give the file that 'nvcc -ptx' writes, or take the text out with 'cuobjdump -ptx'"
    )]
    Fatbin,
    /// Compressed.
    #[error("it is compressed by gzip; unpack it with 'gunzip' first")]
    Gzip,
    /// An editor put a mark before the text.
    #[error(
        "it begins with a byte order mark ({0}), which 'ptxas' refuses as well; save it as plain ASCII or as UTF-8 without the mark"
    )]
    Mark(&'static str),
    /// Something else.
    #[error(
        "it is no text: byte {0} and those that follow are no UTF-8; give the file that 'nvcc -ptx' writes"
    )]
    NoText(usize),
}

/// The bytes of a file as text.
///
/// # Errors
/// What the file is instead.
pub fn source(bytes: Vec<u8>) -> Result<String, SourceError> {
    const BEGINNINGS: [(&[u8], SourceError); 6] = [
        (b"\x7fELF", SourceError::Elf),
        (b"\x50\xed\x55\xba", SourceError::Fatbin),
        (b"\x1f\x8b", SourceError::Gzip),
        (b"\xef\xbb\xbf", SourceError::Mark("UTF-8")),
        (b"\xff\xfe", SourceError::Mark("UTF-16")),
        (b"\xfe\xff", SourceError::Mark("UTF-16")),
    ];
    match BEGINNINGS.into_iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
        Some((_, error)) => Err(error),
        None => {
            String::from_utf8(bytes).map_err(|error| SourceError::NoText(error.utf8_error().valid_up_to()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: a cubin was refused as a text whose first character is wrong, and so was a text with a mark that no editor shows.
    #[test]
    fn what_is_no_text_is_named() {
        for (bytes, error) in [
            (&b"\x7fELF\x02\x01"[..], SourceError::Elf),
            (b"\x50\xed\x55\xba\x01", SourceError::Fatbin),
            (b"\x1f\x8b\x08", SourceError::Gzip),
            (b"\xef\xbb\xbf.version 9.0", SourceError::Mark("UTF-8")),
            (b"\xff\xfe.\0v\0", SourceError::Mark("UTF-16")),
            (b".version 9.0 // \xff", SourceError::NoText(16)),
        ] {
            assert_eq!(source(bytes.to_vec()), Err(error));
        }
        assert_eq!(source(b".version 9.0".to_vec()).as_deref(), Ok(".version 9.0"));
    }
}
