//! From the parts of an exact sum to its leading floats, without branches.
//!
//! ```text
//! parts   [====] [====] [====] [====]      overlapping, any signs, heavy cancellation allowed
//! hi      [====]                           nearest f64 to the whole sum
//! lo             [====]                    nearest f64 to what is left
//! tail                  [====]             the rest, if one f64 holds it
//! ```
//!
//! Everything is TwoSum (Knuth), which is exact, so that the parts always add up to the same number. Whether the
//! leading float is the nearest one cannot be promised after a fixed number of steps: it is checked, and a column
//! that fails the check is handed to [`super::Dyadic`].

/// `hi + lo + tail`, and whether `hi` is certainly the nearest f64, `lo` the nearest to the rest, and nothing else
/// is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triple {
    pub(super) hi: f64,
    pub(super) lo: f64,
    pub(super) tail: f64,
    pub(super) certain: bool,
}

/// Sum and rounding error.
#[inline(always)]
fn two_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let y_part = sum - x;
    (sum, (x - (sum - y_part)) + (y - y_part))
}

/// Distils the first `parts` numbers of `x`; the others are zero. All magnitudes are below 2^1022.
#[inline(always)]
pub(super) fn distil(parts: usize, x: [f64; 4]) -> Triple {
    let pair = |hi, lo| Triple {
        hi,
        lo,
        tail: 0.0,
        certain: true,
    };
    match parts {
        1 => pair(x[0], 0.0),
        2 => {
            let (hi, lo) = two_sum(x[0], x[1]);
            pair(hi, lo)
        }
        3 => {
            let (s, c) = two_sum(x[1], x[2]);
            let (a, b) = two_sum(x[0], s);
            triple(a, b, c, 0.0)
        }
        _ => {
            let (s, d) = two_sum(x[2], x[3]);
            let (s, c) = two_sum(x[1], s);
            let (a, b) = two_sum(x[0], s);
            let (s, d) = two_sum(c, d);
            let (b, c) = two_sum(b, s);
            triple(a, b, c, d)
        }
    }
}

/// `a + b + c + d`, roughly ordered already.
#[inline(always)]
fn triple(a: f64, b: f64, c: f64, d: f64) -> Triple {
    let (c, excess) = two_sum(c, d);
    let (b, c) = two_sum(b, c);
    let (hi, b) = two_sum(a, b);
    let (lo, tail) = two_sum(b, c);
    // |lo + tail| < |lo| (1 + 2^-51): if even that much does not move hi, hi is the nearest. With no tail, hi + lo
    // itself decides, ties included.
    let nudged = if tail == 0.0 {
        lo
    } else {
        lo + lo * (1.0 / (1u64 << 50) as f64)
    };
    let certain = (excess == 0.0) & (hi + nudged == hi);
    Triple {
        hi,
        lo,
        tail,
        certain,
    }
}
