//! Which drawn values of an operand a case keeps; the others are 1. Shrinking narrows them down to those that a finding needs.
//!
//! ```text
//! drawn         0.3  NaN  -7  0.1  2       by number, in storage order without padding
//! vb=1-2         1   NaN  -7   1   1
//! vb=none        1    1    1   1   1
//! ```

use std::fmt;
use std::str::FromStr;

/// Numbers of the elements that keep their values: from `start` up to `end`, which is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The first.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

impl Kept {
    /// Puts 1 in place of the others.
    pub(crate) fn apply(self, values: &mut [f64]) {
        for (number, value) in values.iter_mut().enumerate() {
            if !(self.start..self.end).contains(&number) {
                *value = 1.0;
            }
        }
    }
}

/// `none`, `5`, or `5-7` with both ends.
impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end.saturating_sub(self.start) {
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
            return Ok(Kept { start: 0, end: 0 });
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        // Numbers fit in an operand, whose elements do.
        let number = |text: &str| text.parse::<u32>().ok().map(|number| number as usize);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Kept {
                start: first,
                end: last + 1,
            }),
            _ => Err("expected none, the number of an element, or the first and the last: 5-7".to_owned()),
        }
    }
}
