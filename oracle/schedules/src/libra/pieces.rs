//! Checks of a cut: every element in exactly one piece, no piece across two lanes or longer than it may be.

use sparse_oracle::refusal::{EncodingError, Refusal};

/// Lanes (windows of blocks, rows of entries) cut into pieces.
pub(super) struct Pieces<'a> {
    /// Names of `offsets` and `owners`.
    pub(super) fields: [&'static str; 2],
    /// Where each piece starts, and the end.
    pub(super) offsets: &'a [u32],
    /// Lane of each piece.
    pub(super) owners: &'a [u32],
    /// Offsets of the lanes themselves.
    pub(super) lanes: &'a [u32],
}

impl Pieces<'_> {
    /// Checks everything but atomicity; `limit` is the most that a piece of a lane of that length may hold.
    pub(super) fn check(&self, limit: impl Fn(u32) -> u32) -> Result<(), Refusal> {
        let [field, owner] = self.fields;
        check_length(field, self.owners.len() + 1, self.offsets.len())?;
        check_offsets(field, self.offsets)?;
        let (stored, last) = (self.lanes[self.lanes.len() - 1], self.offsets[self.owners.len()]);
        if last != stored {
            return Err(Refusal::Encoding(EncodingError::LastOffset {
                field,
                expected: u64::from(stored),
                found: u64::from(last),
            }));
        }
        for (at, (piece, &found)) in self.offsets.windows(2).zip(self.owners).enumerate() {
            // The lane that holds the first element: the last one that starts at or before it, empty lanes passed over.
            let lane = self.lanes.partition_point(|&start| start <= piece[0]) - 1;
            if piece[0] == piece[1] {
                return Err(Refusal::Encoding(EncodingError::Unsorted {
                    field,
                    at: at + 1,
                    row: found as usize,
                    previous: u64::from(piece[0]),
                    found: u64::from(piece[1]),
                }));
            }
            if found as usize != lane {
                return Err(Refusal::Encoding(EncodingError::Unequal {
                    field: owner,
                    at,
                    expected: lane as u64,
                    found: u64::from(found),
                }));
            }
            let most = self.lanes[lane + 1].min(piece[0].saturating_add(limit(self.length(lane))));
            if piece[1] > most {
                return Err(Refusal::Encoding(EncodingError::IndexOutOfRange {
                    field,
                    at: at + 1,
                    row: lane,
                    found: u64::from(piece[1]),
                    limit: u64::from(most) + 1,
                }));
            }
        }
        Ok(())
    }

    fn length(&self, lane: usize) -> u32 {
        self.lanes[lane + 1] - self.lanes[lane]
    }

    /// Checks that short lanes are whole.
    pub(super) fn check_short(&self, short_len: u32) -> Result<(), Refusal> {
        for (at, &lane) in self.owners.iter().enumerate() {
            let end = self.lanes[lane as usize + 1];
            if self.length(lane as usize) < short_len && self.offsets[at + 1] != end {
                return Err(Refusal::Encoding(EncodingError::Unequal {
                    field: self.fields[0],
                    at: at + 1,
                    expected: u64::from(end),
                    found: u64::from(self.offsets[at + 1]),
                }));
            }
        }
        Ok(())
    }
}

pub(super) fn check_length(field: &'static str, expected: usize, found: usize) -> Result<(), Refusal> {
    if expected == found {
        return Ok(());
    }
    Err(EncodingError::Length { field, expected, found }.into())
}

/// Checks offsets that start at 0 and never decrease; an empty array has the wrong length.
pub(super) fn check_offsets(field: &'static str, offsets: &[u32]) -> Result<(), Refusal> {
    let Some(&first) = offsets.first() else {
        return check_length(field, 1, 0);
    };
    if first != 0 {
        let found = u64::from(first);
        return Err(EncodingError::FirstOffset { field, found }.into());
    }
    match offsets.windows(2).position(|w| w[1] < w[0]) {
        None => Ok(()),
        Some(at) => Err(Refusal::Encoding(EncodingError::Decreasing {
            field,
            at: at + 1,
            previous: u64::from(offsets[at]),
            found: u64::from(offsets[at + 1]),
        })),
    }
}
