//! One message on the wire: a fixed prefix, a JSON header, raw arrays.
//!
//! ```text
//!  0       6      8          12          20
//!  | magic | ver  | header   | payload   | header (JSON) ... | payload: arrays, each at a multiple of 64 ... |
//!  |SPCONF | u16  | length   | length    |                   | from the payload's first byte               |
//!                   u32        u64
//! ```
//!
//! All integers are little-endian. The byte-by-byte description is `conformance/PROTOCOL.md`.

use crate::manifest::PROTOCOL;
use std::io::{self, Read, Write};

/// First bytes of every message.
pub const MAGIC: [u8; 6] = *b"SPCONF";

/// Bytes before the header.
pub const PREFIX: usize = 20;

/// Longest header, in bytes: a manifest fits.
pub const MAX_HEADER: usize = 1 << 21;

/// Every array starts at a multiple of this many bytes from the start of the payload.
pub const ALIGN: usize = 64;

/// Lengths that a prefix announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Bytes of the header.
    pub header: usize,
    /// Bytes of the payload.
    pub payload: u64,
}

/// Why some bytes are no message.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum FrameError {
    #[error("a message starts with \"SPCONF\", these bytes do not: {}", preview(found))]
    Magic { found: Vec<u8> },
    #[error("a message of version {found}, this program speaks {PROTOCOL}")]
    Version { found: u16 },
    #[error("a header of {found} bytes, at most {MAX_HEADER} are read")]
    Header { found: u64 },
    #[error("a payload of {found} bytes, at most {limit} are read here")]
    Payload { found: u64, limit: u64 },
    #[error("the header is not what version {PROTOCOL} reads: {source}")]
    Json {
        #[from]
        source: serde_json::Error,
    },
    #[error("{rest} bytes of its payload belong to no array")]
    Trailing { rest: u64 },
    #[error("array {name:?}: {reason}")]
    Array { name: String, reason: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The first bytes, as text where they are some.
#[must_use]
pub(super) fn preview(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(48)];
    let text: String = head.iter().flat_map(|b| std::ascii::escape_default(*b)).map(char::from).collect();
    format!("\"{text}\"{}", if head.len() < bytes.len() { "..." } else { "" })
}

/// Reads a prefix as far as it is there: an error as soon as the bytes cannot become one, `None` while some are missing.
///
/// # Errors
/// Another magic, another version, a header that is too long.
pub fn parse_prefix(bytes: &[u8]) -> Result<Option<Lengths>, FrameError> {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        let found = bytes[..bytes.len().min(64)].to_vec();
        return Err(FrameError::Magic { found });
    }
    let Some(prefix) = bytes.first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let [_, _, _, _, _, _, v0, v1, h0, h1, h2, h3, payload @ ..] = *prefix;
    let version = u16::from_le_bytes([v0, v1]);
    if u32::from(version) != PROTOCOL {
        return Err(FrameError::Version { found: version });
    }
    let header = u32::from_le_bytes([h0, h1, h2, h3]);
    if header as usize > MAX_HEADER {
        let found = u64::from(header);
        return Err(FrameError::Header { found });
    }
    Ok(Some(Lengths { header: header as usize, payload: u64::from_le_bytes(payload) }))
}

/// A whole message.
///
/// # Errors
/// A header that is no JSON value (never, for the types of this crate), or too long.
pub fn message<H: serde::Serialize>(header: &H, payload: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Vec::with_capacity(PREFIX + 1024 + payload.len());
    bytes.resize(PREFIX, 0);
    serde_json::to_writer(&mut bytes, header)?;
    let header = bytes.len() - PREFIX;
    if header > MAX_HEADER {
        let found = header as u64;
        return Err(FrameError::Header { found });
    }
    bytes[..6].copy_from_slice(&MAGIC);
    bytes[6..8].copy_from_slice(&(PROTOCOL as u16).to_le_bytes());
    bytes[8..12].copy_from_slice(&(header as u32).to_le_bytes());
    bytes[12..PREFIX].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(payload);
    Ok(bytes)
}

/// Header and payload of a message.
pub(super) type Message = (Vec<u8>, Vec<u8>);

/// Reads one message from a stream that blocks; `None` at its end. Memory grows with what arrives, not with what a prefix
/// claims.
///
/// # Errors
/// What is no message; a payload past `limit`; an end in its middle.
pub fn read_message(from: &mut dyn Read, limit: u64) -> Result<Option<Message>, FrameError> {
    let mut prefix = Vec::with_capacity(PREFIX);
    from.take(PREFIX as u64).read_to_end(&mut prefix)?;
    if prefix.is_empty() {
        return Ok(None);
    }
    let lengths = parse_prefix(&prefix)?.ok_or_else(cut)?;
    if lengths.payload > limit {
        let found = lengths.payload;
        return Err(FrameError::Payload { found, limit });
    }
    let mut header = Vec::new();
    from.take(lengths.header as u64).read_to_end(&mut header)?;
    let mut payload = Vec::new();
    from.take(lengths.payload).read_to_end(&mut payload)?;
    if header.len() < lengths.header || (payload.len() as u64) < lengths.payload {
        return Err(cut());
    }
    Ok(Some((header, payload)))
}

fn cut() -> FrameError {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the stream ends inside a message").into()
}

/// Writes a message and flushes.
///
/// # Errors
/// What the stream says.
pub(super) fn write_message(to: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}
