//! From a fuzzer's bytes to shapes, entries, parameters, arrays and damage.
//!
//! Every choice is one byte, read from the front, and a byte that is missing reads as zero: a changed byte changes one
//! thing, and `seeds` can write what is read here. Zero is the plain choice everywhere.

use arbitrary::Unstructured;
use sparse_oracle::format::{
    Entries, Entry, FieldMut, Fields, FormatKind, FormatParams, PAD, PARAMETERS, Parameter, Parts, in_order,
};
use sparse_oracle::scalar::{Precision, Rounding, Scalar, encode};

/// Largest side of a matrix: three windows of 8 rows, and blocks of 16 columns with a rest.
pub(super) const SIDE: usize = 24;
/// Most triples of a matrix.
pub(super) const TRIPLES: usize = 48;
/// Longest array that is read element by element.
pub(super) const LONGEST: usize = 40;

/// Values that every precision holds exactly.
pub(super) const PLAIN: [f64; 16] =
    [1.0, 2.0, 3.0, -1.0, -2.0, 0.5, 1.5, 4.0, 0.0, -0.0, 8.0, -3.0, 0.25, -0.5, 16.0, 6.0];
/// A value byte from here on is one of [`specials`], from [`RAW_VALUE`] on it stands for the bits that follow.
pub(super) const SPECIAL_VALUE: u8 = 0x80;
/// See [`SPECIAL_VALUE`].
pub(super) const RAW_VALUE: u8 = 0xe0;

/// First byte of a parameter that is one of its samples; below, it has its default.
pub(super) const SAMPLE: u8 = 0x80;
/// First byte of a parameter that is given by the next byte, legal or not.
const RAW_PARAMETER: u8 = 0xf0;

/// Extents and indices that a byte below [`WIDE`] cannot say.
pub(super) const LARGE: [u64; 16] = [
    PAD as u64,
    PAD as u64 - 1,
    1 << 31,
    1 << 32,
    (1 << 28) + 1,
    1 << 63,
    u64::MAX,
    255,
    256,
    65_535,
    65_536,
    (1 << 31) - 1,
    (1 << 32) - 8,
    250,
    1000,
    4096,
];
/// First byte that stands for one of [`LARGE`].
pub(super) const WIDE: u8 = 0xf0;

/// How often nearly valid arrays are damaged.
const DAMAGES: [usize; 8] = [0, 1, 0, 1, 1, 0, 2, 3];

/// A fuzzer's bytes, read from the front.
#[derive(Debug)]
pub struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    /// Over these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input(Unstructured::new(bytes))
    }

    /// The next byte; a missing one is zero.
    pub fn byte(&mut self) -> u8 {
        // Never an error: missing bytes are zeros.
        self.0.arbitrary().unwrap_or(0)
    }

    /// A little-endian number of so many bytes.
    pub fn word(&mut self, bytes: usize) -> u64 {
        let mut word = [0; 8];
        // Never an error: missing bytes are zeros.
        let _ = self.0.fill_buffer(&mut word[..bytes]);
        u64::from_le_bytes(word)
    }

    /// Less than `limit`, which is at most 256.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    /// One of a list of at most 256.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// One of a longer list.
    pub fn pick_wide<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.word(2) as usize % choices.len()]
    }

    /// True for one byte in `n`; never for a missing one.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// True once all bytes are read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bits of an element.
    pub(super) fn value(&mut self, precision: Precision) -> u64 {
        match self.byte() {
            raw if raw >= RAW_VALUE => self.word(precision.bytes()),
            special if special >= SPECIAL_VALUE => {
                let specials = specials(precision);
                specials[usize::from(special) % specials.len()]
            }
            plain => encode(PLAIN[usize::from(plain) % PLAIN.len()], precision, Rounding::NearestEven),
        }
    }

    /// A matrix of at most `side` rows and columns: by triples (the last of one position counts), or by one bit per
    /// position and a few values in turn.
    pub(super) fn entries<T: Scalar>(&mut self, side: usize) -> Entries<T> {
        let (rows, cols) = (self.below(side + 1), self.below(side + 1));
        let header = usize::from(self.byte());
        let list = if rows * cols == 0 {
            Vec::new()
        } else if header > 0x80 {
            self.mask(rows, cols, header - 0x80)
        } else {
            self.triples(rows, cols, header % (TRIPLES + 1))
        };
        Entries { rows, cols, list }
    }

    fn triples<T: Scalar>(&mut self, rows: usize, cols: usize, count: usize) -> Vec<Entry<T>> {
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            if self.is_empty() {
                break;
            }
            let (row, col) = (self.below(rows) as u32, self.below(cols) as u32);
            let value = T::from_bits64(self.value(T::PRECISION));
            list.push(Entry { row, col, value });
        }
        let mut list = in_order(&list);
        list.dedup_by(|next, kept| {
            let same = (next.row, next.col) == (kept.row, kept.col);
            if same {
                kept.value = next.value;
            }
            same
        });
        list
    }

    fn mask<T: Scalar>(&mut self, rows: usize, cols: usize, palette: usize) -> Vec<Entry<T>> {
        let palette: Vec<T> =
            (0..1 + palette % 8).map(|_| T::from_bits64(self.value(T::PRECISION))).collect();
        let mut list = Vec::with_capacity(rows * cols);
        for row in 0..rows as u32 {
            for first in (0..cols as u32).step_by(8) {
                let bits = self.byte();
                let last = (first + 8).min(cols as u32);
                for col in (first..last).filter(|col| bits >> (col - first) & 1 != 0) {
                    let value = palette[list.len() % palette.len()];
                    list.push(Entry { row, col, value });
                }
            }
        }
        list
    }

    /// The parameters that any of `kinds` reads: mostly legal.
    pub(super) fn params(&mut self, kinds: &[FormatKind]) -> FormatParams {
        let mut params = FormatParams::default();
        for parameter in read_by(kinds) {
            match self.byte() {
                byte if byte >= RAW_PARAMETER => {
                    let value = self.parameter();
                    (parameter.set)(&mut params, value);
                }
                byte if byte >= SAMPLE => {
                    let sample = parameter.samples[usize::from(byte) % parameter.samples.len()];
                    (parameter.set)(&mut params, sample);
                }
                _ => {}
            }
        }
        params
    }

    /// A parameter, legal or not: up to 72, since slots grow with it, or past every limit.
    fn parameter(&mut self) -> u32 {
        match self.byte() {
            byte if byte >= WIDE => [PAD, PAD - 1, 1 << 31, (1 << 28) + 1][usize::from(byte) % 4],
            byte => u32::from(byte % 73),
        }
    }

    /// A dimension or parameter.
    fn extent(&mut self) -> usize {
        tame(match self.byte() {
            byte if byte >= WIDE => LARGE[usize::from(byte - WIDE)],
            byte => u64::from(byte),
        })
    }

    /// An element of an index array.
    fn index(&mut self) -> u64 {
        match self.byte() {
            byte if byte >= WIDE => LARGE[usize::from(byte - WIDE)],
            byte => u64::from(byte),
        }
    }

    /// Arrays of a format, field by field, with no regard for one another.
    pub(super) fn parts<T: Scalar>(&mut self, kind: FormatKind) -> Parts<T> {
        let mut parts = Parts::empty(kind);
        for (_, field) in parts.fields_mut() {
            match field {
                FieldMut::Extent(extent) => *extent = self.extent(),
                FieldMut::Flag(flag) => *flag = self.byte() & 1 != 0,
                FieldMut::U8(v) => self.fill(v, Input::byte),
                FieldMut::U16(v) => self.fill(v, |input| input.index() as u16),
                FieldMut::U32(v) => self.fill(v, |input| input.index() as u32),
                FieldMut::U64(v) => self.fill(v, |input| input.word(8)),
                FieldMut::Values(v) => self.fill(v, |input| T::from_bits64(input.value(T::PRECISION))),
            }
        }
        parts
    }

    fn fill<X>(&mut self, list: &mut Vec<X>, mut element: impl FnMut(&mut Self) -> X) {
        let len = self.below(LONGEST + 1);
        list.reserve_exact(len);
        list.extend((0..len).map(|_| element(self)));
    }

    /// Up to three pieces of damage, four bytes each.
    ///
    /// They come before the matrix, so that an entry more or less does not change what they hit.
    pub(super) fn damages(&mut self) -> Vec<Input<'a>> {
        let count = self.pick(&DAMAGES);
        let pieces = (0..count).map(|_| Input(Unstructured::new(self.0.bytes(4).unwrap_or_default())));
        pieces.collect()
    }

    /// Changes one field.
    pub(super) fn damage<T: Scalar>(&mut self, parts: &mut Parts<T>) {
        let mut fields = parts.fields_mut();
        let at = self.below(fields.len());
        match &mut fields[at].1 {
            FieldMut::Extent(extent) => {
                let changed = match self.below(4) {
                    0 => self.extent() as u64,
                    1 => (**extent as u64).wrapping_add(1),
                    2 => (**extent as u64).wrapping_sub(1),
                    _ => **extent as u64 ^ 1 << self.below(64),
                };
                **extent = tame(changed);
            }
            FieldMut::Flag(flag) => **flag = !**flag,
            FieldMut::U8(v) => self.change(v, |x| x as u8, u64::from),
            FieldMut::U16(v) => self.change(v, |x| x as u16, u64::from),
            FieldMut::U32(v) => self.change(v, |x| x as u32, u64::from),
            FieldMut::U64(v) => self.change(v, |x| x, |x| x),
            FieldMut::Values(v) => {
                let mask = u64::MAX >> (64 - T::PRECISION.spec().storage_bits);
                self.change(v, |x| T::from_bits64(x & mask), Scalar::bits64);
            }
        }
    }

    fn change<X: Copy>(&mut self, list: &mut Vec<X>, from: impl Fn(u64) -> X, to: impl Fn(X) -> u64) {
        let (what, at) = (self.below(8), self.byte() as usize);
        let len = list.len();
        if len == 0 {
            list.push(from(self.index()));
            return;
        }
        let at = at % len;
        match what {
            0 => list[at] = from(self.index()),
            1 => list[at] = from(to(list[at]) ^ 1 << self.below(64)),
            2 => list.swap(at, self.below(len.min(256))),
            3 => list[at] = from(to(list[at]).wrapping_add(1)),
            4 => list[at] = from(to(list[at]).wrapping_sub(1)),
            5 => drop(list.remove(at)),
            6 => list.insert(at, list[at]),
            _ => list.push(from(self.index())),
        }
    }
}

/// The parameters that any of the formats reads.
pub(super) fn read_by(kinds: &[FormatKind]) -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(move |p| kinds.iter().any(|kind| p.formats.contains(kind)))
}

/// No dimension between 2^12 and 2^28, which would only cost time and memory: past 2^28 encoders refuse.
fn tame(extent: u64) -> usize {
    let usual = if (4097..1 << 28).contains(&extent) { extent % 4097 } else { extent };
    usual as usize
}

/// Both infinities (in E4M3 the largest numbers), NaN with three payloads, the largest and smallest numbers, zeros.
fn specials(precision: Precision) -> [u64; 12] {
    let spec = precision.spec();
    let sign = 1u64 << (spec.storage_bits - 1);
    let inf = encode(f64::INFINITY, precision, Rounding::NearestEven);
    let nan = encode(f64::NAN, precision, Rounding::NearestEven);
    let max = encode(spec.max_finite(), precision, Rounding::NearestEven);
    let normal = encode(2f64.powi(spec.emin), precision, Rounding::NearestEven);
    let low = nan | 1;
    [inf, inf | sign, nan, nan | sign, low, max, max | sign, 1, 1 | sign, normal, 0, sign]
}
