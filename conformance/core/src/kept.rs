//! Which drawn values of an operand a case keeps, and which of the calls before the judged one. Shrinking narrows both down to what a
//! finding needs.
//!
//! ```text
//! drawn         0.3  NaN  -7  0.1  2       by number, in storage order without padding
//! vb=1-2         1   NaN  -7   1   1
//! vb=none        1    1    1   1   1
//!
//! after=contents/calls=1    of three calls before the judged one, the second
//! ```

use std::fmt;
use std::str::FromStr;

/// Numbers of the elements or calls that stay: from `start` up to `end`, which is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    start: usize,
    end: usize,
}

impl Kept {
    /// From `start` up to `end`; none where that is nothing.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Kept {
        if start < end { Kept { start, end } } else { Kept { start: 0, end: 0 } }
    }

    /// The first.
    #[must_use]
    pub fn start(self) -> usize {
        self.start
    }

    /// One past the last.
    #[must_use]
    pub fn end(self) -> usize {
        self.end
    }

    /// True for a number that stays.
    #[must_use]
    pub fn holds(self, number: usize) -> bool {
        (self.start..self.end).contains(&number)
    }

    /// Puts 1 in place of the others.
    pub(crate) fn apply(self, values: &mut [f64]) {
        for (number, value) in values.iter_mut().enumerate() {
            if !self.holds(number) {
                *value = 1.0;
            }
        }
    }
}

/// `none`, `5`, or `5-7` with both ends.
impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end - self.start {
            0 => f.write_str("none"),
            1 => write!(f, "{}", self.start),
            _ => write!(f, "{}-{}", self.start, self.end - 1),
        }
    }
}

impl FromStr for Kept {
    type Err = String;

    fn from_str(text: &str) -> Result<Kept, String> {
        if text == "none" {
            return Ok(Kept::new(0, 0));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        // Operands have fewer elements than a u32 counts.
        let number = |text: &str| text.parse::<u32>().ok().map(|number| number as usize);
        let end = number(last).and_then(|last| last.checked_add(1));
        match (number(first), end) {
            (Some(start), Some(end)) if start < end => Ok(Kept { start, end }),
            _ => Err("expected none, a number, or the first and the last: 5-7".to_owned()),
        }
    }
}
