//! What fits into shared memory: equations (3), (4) and (5), and the `k_s` that they allow.

use super::packing::Packing;
use super::{Ratio, Tiles};
use sparse_oracle::format::Nm;
use sparse_oracle::format::nm::Windows;
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::scalar::Scalar;

/// Extents of the blocks that lie in shared memory, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Rows of `A_s` and `C_s`.
    pub m_s: u32,
    /// Columns of `B_s` and `C_s`.
    pub n_s: u32,
    /// Columns of `A_s`: `k_s`, or the length of `col_info` if they are packed.
    pub a_columns: u32,
    /// Rows of `B_s` and `D_s`.
    pub w_s: u32,
    /// Columns of `D_s`.
    pub q_s: u32,
}

impl Block {
    /// Equation (3): operations per element moved, `2 m_s n_s w_s / (m_s k_s + w_s n_s + 2 m_s n_s)`. An empty block has
    /// none.
    #[must_use]
    pub fn arithmetic_intensity(&self) -> Ratio {
        let [m_s, n_s, a_columns, w_s, _] = self.wide();
        Ratio {
            numerator: 2 * m_s * n_s * w_s,
            denominator: (m_s * a_columns + w_s * n_s + 2 * m_s * n_s).max(1),
        }
    }

    /// Left side of equation (4): bytes of `A_s`, `B_s` and `D_s`.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        let [m_s, n_s, a_columns, w_s, q_s] = self.wide();
        4 * (a_columns * m_s + w_s * n_s + w_s * q_s)
    }

    /// The same without `D_s`, as equation (5) counts.
    #[must_use]
    pub fn bytes_without_d(&self) -> u128 {
        Block { q_s: 0, ..*self }.bytes()
    }

    /// Equation (4): `A_s`, `B_s` and `D_s` take no more than half of `sm` bytes.
    #[must_use]
    pub fn obeys_4(&self, sm: u32) -> bool {
        2 * self.bytes() <= u128::from(sm)
    }

    /// Equation (5): `A_s` and `B_s` take no more than half of `sm` bytes. For `a_columns` = `k_s` this is
    /// `8 k_s (m_s + N n_s / M) <= sm`.
    #[must_use]
    pub fn obeys_5(&self, sm: u32) -> bool {
        2 * self.bytes_without_d() <= u128::from(sm)
    }

    fn wide(&self) -> [u128; 5] {
        [self.m_s, self.n_s, self.a_columns, self.w_s, self.q_s].map(u128::from)
    }
}

/// Whether the columns of A are packed: sparsity above 70 %, i.e. `10 (m - n) > 7 m`.
///
/// # Errors
/// A parameter of 0, `n` above `m`.
pub fn is_packed(n: u32, m: u32) -> Result<bool, Refusal> {
    check_ratio(n, m)?;
    Ok(10 * u64::from(m - n) > 7 * u64::from(m))
}

/// `k_s` where `A_s` holds all columns: the largest multiple of `m` that obeys equation (5) with `sm` bytes.
///
/// Listing 1 divides by `N (m_s + n_s)`, as if `A_s` had `w_s` columns; its `k_s` breaks equation (5).
///
/// # Errors
/// Tiles that fail [`Tiles::check`]; a parameter of 0, `n` above `m`; not even one window fits.
pub fn k_s(tiles: &Tiles, n: u32, m: u32, sm: u32) -> Result<u32, Refusal> {
    tiles.check()?;
    check_ratio(n, m)?;
    let one_window = Block { m_s: tiles.m_s, n_s: tiles.n_s, a_columns: m, w_s: n, q_s: 0 };
    // All terms grow with the number of windows, so that one division finds how many fit.
    let windows = u128::from(sm) / (2 * one_window.bytes());
    if windows == 0 {
        return Err(no_room(&one_window, sm));
    }
    // No more than sm / 8 columns.
    Ok((windows * u128::from(m)) as u32)
}

/// `k_s` and `c` where the columns of A are packed: the largest multiple of `m`, no larger than the padded k, with
/// `4 (m_s c + w_s n_s) <= sm / 2`, `c` being the longest `col_info` of any block.
///
/// `c` may fall where `k_s` grows, because other windows meet in a block; hence every multiple is tried.
///
/// # Errors
/// Tiles that fail [`Tiles::check`]; what [`Packing::from_nm`] refuses; not even one window fits.
pub fn k_s_packed<T: Scalar>(tiles: &Tiles, matrix: &Nm<T>, sm: u32) -> Result<(u32, u32), Refusal> {
    tiles.check()?;
    let (n, m) = (matrix.n as u32, matrix.m as u32);
    let windows = matrix.rows.div_ceil(matrix.m).max(1) as u64;
    // B_s alone must fit.
    let at_most = windows.min(u64::from(sm) / (8 * u64::from(n) * u64::from(tiles.n_s)).max(1));
    let block = |windows: u64, longest: usize| Block {
        m_s: tiles.m_s,
        n_s: tiles.n_s,
        a_columns: longest as u32,
        w_s: windows as u32 * n,
        q_s: 0,
    };
    for windows in (1..=at_most).rev() {
        let k_s = windows * u64::from(m);
        let longest = Packing::from_nm(matrix, k_s as usize, tiles.n_s as usize)?.longest();
        if block(windows, longest).obeys_5(sm) {
            return Ok((k_s as u32, longest as u32));
        }
    }
    let longest = Packing::from_nm(matrix, matrix.m, tiles.n_s as usize)?.longest();
    Err(no_room(&block(1, longest), sm))
}

/// How a product is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Tiles of C.
    pub tiles: Tiles,
    /// The columns of A are packed by `col_info`.
    pub packed: bool,
    /// Rows of B that one step takes, before compression.
    pub k_s: u32,
    /// What lies in shared memory.
    pub block: Block,
}

/// The plan for an A of `rows` rows times `matrix` on an SM with `sm` bytes of shared memory. `k_s` is not larger than the
/// padded k.
///
/// # Errors
/// Column groups that do not divide `n_s`; a k past u32 once padded; not even one window fits.
pub fn plan<T: Scalar>(rows: usize, matrix: &Nm<T>, sm: u32) -> Result<Plan, Refusal> {
    let tiles = Tiles::for_shape(rows, matrix.cols);
    let (n, m) = (matrix.n as u32, matrix.m as u32);
    let packed = is_packed(n, m)?;
    let (k_s, a_columns) = if packed {
        k_s_packed(&tiles, matrix, sm)?
    } else {
        check_groups(matrix.l, tiles.n_s as usize)?;
        let padded = matrix.rows.div_ceil(matrix.m).max(1) as u64 * u64::from(m);
        let k_s = u64::from(k_s(&tiles, n, m, sm)?).min(padded) as u32;
        (k_s, k_s)
    };
    let block = Block {
        m_s: tiles.m_s,
        n_s: tiles.n_s,
        a_columns,
        w_s: k_s / m * n,
        q_s: tiles.n_s / matrix.l as u32,
    };
    Ok(Plan { tiles, packed, k_s, block })
}

/// Checks that blocks of `n_s` columns hold whole groups of `l`.
pub(super) fn check_groups(l: usize, n_s: usize) -> Result<(), Refusal> {
    if n_s > 0 && n_s.is_multiple_of(l) {
        return Ok(());
    }
    Err(RequestError::Parameter { field: "l", expected: "a divisor of n_s", found: l as u64 }.into())
}

fn check_ratio(n: u32, m: u32) -> Result<(), Refusal> {
    Windows::try_new((0, 0), n as usize, m as usize, 1).map(|_| ())
}

fn no_room(one_window: &Block, sm: u32) -> Refusal {
    Refusal::Request(RequestError::TooLarge {
        field: "twice the bytes of A_s and B_s for one window",
        found: 2 * one_window.bytes_without_d(),
        limit: u64::from(sm),
    })
}
