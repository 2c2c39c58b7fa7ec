//! Bytes with one bit a byte that says whether something was stored there.

use super::Shadow;

/// A stretch of memory that belongs together: an allocation, the shared memory of a block.
#[derive(Debug, Default)]
pub(crate) struct Span {
    pub(crate) bytes: Vec<u8>,
    /// Bit i of word j is byte 64 j + i.
    defined: Vec<u64>,
    /// How many bytes are undefined; none is the common case, and then no bit is looked at.
    undefined: usize,
    pub(crate) shadow: Shadow,
}

/// What a span held.
#[derive(Debug)]
pub(crate) struct Contents(Vec<u8>, Vec<u64>, usize);

impl Span {
    /// So many bytes, undefined.
    pub(crate) fn new(len: usize) -> Span {
        let mut span = Span { bytes: vec![0; len], ..Span::default() };
        span.forget();
        span
    }

    /// These bytes, defined.
    pub(crate) fn of(bytes: Vec<u8>) -> Span {
        let defined = vec![u64::MAX; bytes.len().div_ceil(64)];
        Span { bytes, defined, undefined: 0, shadow: Shadow::default() }
    }

    /// All bytes become undefined; what they hold is a pattern that is a NaN as a float and no valid index.
    pub(crate) fn forget(&mut self) {
        self.bytes.fill(0xff);
        self.defined.clear();
        self.defined.resize(self.bytes.len().div_ceil(64), 0);
        self.undefined = self.bytes.len();
    }

    /// What it holds, to be [put back](Span::put_back).
    pub(crate) fn contents(&self) -> Contents {
        Contents(self.bytes.clone(), self.defined.clone(), self.undefined)
    }

    /// As it was. Who touched it stays known.
    pub(crate) fn put_back(&mut self, contents: &Contents) {
        let Contents(bytes, defined, undefined) = contents;
        self.bytes.clone_from(bytes);
        self.defined.clone_from(defined);
        self.undefined = *undefined;
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True where no bit needs to be looked at.
    #[inline]
    pub(crate) fn wholly_defined(&self) -> bool {
        self.undefined == 0
    }

    /// The bits of up to 64 bytes from `at`, in the low bits.
    #[inline]
    fn bits(&self, at: usize, width: usize) -> u64 {
        let (word, bit) = (at / 64, at % 64);
        let low = self.defined.get(word).copied().unwrap_or(0) >> bit;
        let high =
            if bit + width > 64 { self.defined.get(word + 1).copied().unwrap_or(0) << (64 - bit) } else { 0 };
        low | high
    }

    /// Whether all of up to 32 bytes are defined.
    #[inline]
    pub(crate) fn is_defined(&self, at: usize, width: usize) -> bool {
        let wanted = ones(width);
        self.undefined == 0 || self.bits(at, width) & wanted == wanted
    }

    /// Says whether up to 32 bytes are defined now.
    #[inline]
    pub(crate) fn define(&mut self, at: usize, width: usize, defined: bool) {
        if defined && self.undefined == 0 {
            return;
        }
        let before = (self.bits(at, width) & ones(width)).count_ones() as usize;
        let (word, bit) = (at / 64, at % 64);
        set(&mut self.defined, word, ones(width) << bit, defined);
        if bit + width > 64 {
            set(&mut self.defined, word + 1, ones(width) >> (64 - bit), defined);
        }
        let after = if defined { width } else { 0 };
        self.undefined = (self.undefined + before).saturating_sub(after);
    }

    /// Says whether a range is defined now.
    pub(crate) fn define_range(&mut self, at: usize, len: usize, defined: bool) {
        let end = (at + len).min(self.len());
        let mut from = at;
        while from < end {
            let width = (32 - from % 32).min(end - from);
            self.define(from, width, defined);
            from += width;
        }
    }

    /// The ranges of bytes within `at .. at + len` that are undefined, as offsets into the span.
    pub(crate) fn undefined_ranges(&self, at: usize, len: usize) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        if self.undefined == 0 {
            return ranges;
        }
        for byte in (at..at + len).filter(|&byte| !self.is_defined(byte, 1)) {
            match ranges.last_mut() {
                Some((from, count)) if *from + *count == byte => *count += 1,
                _ => ranges.push((byte, 1)),
            }
        }
        ranges
    }

    /// The value at `at`, little-endian; bytes past the end are zero.
    #[inline]
    pub(crate) fn get<const W: usize>(&self, at: usize) -> u64 {
        let mut value = [0; 8];
        if let Some(bytes) = self.bytes.get(at..at + W) {
            value[..W].copy_from_slice(bytes);
        }
        u64::from_le_bytes(value)
    }

    /// Stores the low `W` bytes of a value; outside it stores nothing.
    #[inline]
    pub(crate) fn put<const W: usize>(&mut self, at: usize, value: u64) {
        if let Some(bytes) = self.bytes.get_mut(at..at + W) {
            bytes.copy_from_slice(&value.to_le_bytes()[..W]);
        }
    }
}

/// So many ones; at most 32.
#[inline]
const fn ones(width: usize) -> u64 {
    (1 << width) - 1
}

#[inline]
fn set(words: &mut [u64], word: usize, mask: u64, value: bool) {
    if let Some(bits) = words.get_mut(word) {
        *bits = if value { *bits | mask } else { *bits & !mask };
    }
}
