//! Criterion T1: how far a result may lie from the exact one, derived from its declared arithmetic. The only numeric
//! tolerances of the suite follow from [`roundings`] and from the error of fused sums, one exhaustive match.
//!
//! ```text
//! census      how many terms, in how many blocks        roundings   how often each is rounded
//! fused       the error of tensor cores                 tolerance   both as one exact allowance, and comparisons
//! operands    what subnormal operands change            order_free  T0: where nothing is rounded at all
//! ```
//!
//! Notation: `S = sum a*b` over `n` stored terms, `x = alpha*S + beta*c` exact, gauge
//! `g = |alpha| * sum|a||b| + |beta*c|`; u = 2^-p for a type of p significand bits (round to nearest; 2^(1-p) in a directed
//! mode and to odd).
//!
//! A term that passes `r` roundings is multiplied by a product of r factors (1 + d), |d| <= u, so the result is off
//! by at most `gamma_r * g` with `gamma_r = r*u / (1 - r*u)` (Higham, Accuracy and Stability, 2nd ed., lemma 3.1). A
//! result type narrower than the accumulator rounds once more: `rel = (1 + gamma_r) * (1 + u_out) - 1`. That is kept
//! as an exact fraction. A sum on tensor cores is off by `rel_t * g'` (see `fused`), and what follows it multiplies that
//! too: `rel = (1 + rel_t) * (1 + gamma_r) * (1 + u_out) - 1`.
//!
//! Where a rounding underflows, its error is absolute instead: at most `eta`, half the smallest subnormal of the type
//! (a whole one in a directed mode, its smallest normal where subnormals are flushed). Errors made before alpha are scaled by it, and
//! a later rounding may amplify them by no more than `1 + rel`:
//!
//! ```text
//! |y - x| <= rel*g + (1 + rel) * ( max(1,|alpha|)*N*eta_acc + M*eta_acc + [out narrower] eta_out + F )
//!            N roundings inside the sum (for alpha folded into A: n*max|b|*eta_acc more, into B: n*max|a|*eta_acc), M in the epilogue
//!            F = |alpha| * sum |a||b| over products with an operand that a declared unit may flush, |beta*c| where C may be
//! ```
//!
//! Where `g * (1 + rel)` reaches the largest finite number of the accumulator or the output, some intermediate may
//! have overflowed in a correct kernel, so Inf and NaN are accepted too. In a directed mode an overflow may also give the largest
//! number, and what is added to that is finite and anything: no finite result is refused there.

mod fused;
mod operands;
mod order_free;
mod roundings;
mod term_counts;
mod tolerance;

pub use operands::{SubnormalSums, SubnormalThresholds};
pub use order_free::OrderFree;
pub(crate) use order_free::sum_significand;
pub use roundings::{Roundings, roundings};
pub use term_counts::TermCounts;
pub use tolerance::{Distance, Tolerance, tolerance, tolerance_of};
