//! Parameters of the formats that have any, in one table ([`PARAMETERS`]) that case lines, plans and docs iterate.

use super::FormatKind;

/// Which short rows RS-Tile sends to the CUDA part (clause 7.4 of SEMANTICS.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ImpactRule {
    /// Rows that add few columns to their window, as Algorithm 1 is printed.
    AsPrinted,
    /// Rows that overlap little with their window, as the text describes it.
    #[default]
    AsDescribed,
}

/// Parameters of all formats; each format reads its own and ignores the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatParams {
    /// Rows of a BCSR or Blocked-ELL block.
    pub block_rows: u32,
    /// Columns of a BCSR or Blocked-ELL block.
    pub block_cols: u32,
    /// LOOPS: rows of the CSR part, at most those of the matrix; half the rows, rounded down, when not given.
    pub boundary: Option<u32>,
    /// LOOPS: rows of a tile.
    pub br: u32,
    /// RS-Tile: most entries of a residual row; estimated when not given, 0 for no residual part.
    pub tau_nnz: Option<u32>,
    /// RS-Tile: threshold on added columns; derived when not given.
    pub tau_inc: Option<u32>,
    /// RS-Tile: which short rows go to the CUDA part.
    pub impact: ImpactRule,
    /// Libra: density from which a vector (block) goes to the tensor part, in 1/128; 48 (0.375) for SpMM and 24
    /// (0.1875) for SDDMM when not given.
    pub eta: Option<u32>,
    /// Libra SpMM: columns of a block, 4, 8 or 16.
    pub kb: u32,
    /// Libra SpMM: fill the last block of a window with the densest remaining vectors.
    pub fill: bool,
    /// RP-CSC and CP-CSR: number of groups, at most 64.
    pub groups: u32,
    /// N:M and V:N:M: what is kept of a window.
    pub n: u32,
    /// N:M and V:N:M: the window.
    pub m: u32,
    /// N:M: columns of a window (length of a vector).
    pub l: u32,
    /// V:N:M and SR-BCRS: rows of a block or vector.
    pub v: u32,
    /// SR-BCRS: vectors per group.
    pub stride: u32,
    /// 2:4: columns of the dense operand that one instruction takes; the longer of the two shapes when false.
    pub short_k: bool,
    /// ME-TCF and BitTCF: with the arrays of the load-balanced variant.
    pub balanced: bool,
}

impl Default for FormatParams {
    fn default() -> Self {
        FormatParams::DEFAULT
    }
}

/// One parameter: how it is written in a case line, which formats read it, and access to it. Flags count as 0 and 1.
#[derive(Debug)]
pub struct Parameter {
    /// Name in case lines.
    pub name: &'static str,
    /// The formats that read it.
    pub formats: &'static [FormatKind],
    /// Values that plans and fuzzers choose from, beside the default; all legal for every matrix whose rows are not
    /// fewer (`boundary`).
    pub samples: &'static [u32],
    /// Reads it; `None` when it is not given.
    pub get: fn(&FormatParams) -> Option<u32>,
    /// Sets it.
    pub set: fn(&mut FormatParams, u32),
}

/// Every parameter.
pub const PARAMETERS: [Parameter; 18] = {
    use FormatKind as F;
    [
        parameter(
            "block_rows",
            &[F::Bcsr, F::BlockedEll],
            &[1, 2, 3, 8, 16],
            |p| Some(p.block_rows),
            |p, v| p.block_rows = v,
        ),
        parameter(
            "block_cols",
            &[F::Bcsr, F::BlockedEll],
            &[1, 3, 5, 8, 16],
            |p| Some(p.block_cols),
            |p, v| p.block_cols = v,
        ),
        parameter("boundary", &[F::Loops], &[0], |p| p.boundary, |p, v| p.boundary = Some(v)),
        parameter("br", &[F::Loops], &[1, 2, 4, 16, 32], |p| Some(p.br), |p, v| p.br = v),
        parameter("tau", &[F::RsTile], &[0, 1, 2, 4, 8], |p| p.tau_nnz, |p, v| p.tau_nnz = Some(v)),
        parameter("tau_inc", &[F::RsTile], &[1, 2, 3], |p| p.tau_inc, |p, v| p.tau_inc = Some(v)),
        parameter(
            "as_printed",
            &[F::RsTile],
            &[1],
            |p| Some(u32::from(p.impact == ImpactRule::AsPrinted)),
            |p, v| {
                p.impact = if v == 0 { ImpactRule::AsDescribed } else { ImpactRule::AsPrinted };
            },
        ),
        parameter(
            "eta",
            &[F::LibraSpmm, F::LibraSddmm],
            &[1, 16, 32, 64, 128],
            |p| p.eta,
            |p, v| p.eta = Some(v),
        ),
        parameter("kb", &[F::LibraSpmm], &[4, 16], |p| Some(p.kb), |p, v| p.kb = v),
        parameter("fill", &[F::LibraSpmm], &[1], |p| Some(u32::from(p.fill)), |p, v| p.fill = v != 0),
        parameter("groups", &[F::RpCsc, F::CpCsr], &[1, 2, 8, 64], |p| Some(p.groups), |p, v| p.groups = v),
        parameter("nm_n", &[F::Nm, F::Vnm], &[1], |p| Some(p.n), |p, v| p.n = v),
        parameter("nm_m", &[F::Nm, F::Vnm], &[8, 16, 32], |p| Some(p.m), |p, v| p.m = v),
        parameter("nm_l", &[F::Nm], &[1, 2, 8, 16], |p| Some(p.l), |p, v| p.l = v),
        parameter("v", &[F::Vnm, F::SrBcrs], &[1, 2, 4, 16], |p| Some(p.v), |p, v| p.v = v),
        parameter("stride", &[F::SrBcrs], &[1, 2, 8], |p| Some(p.stride), |p, v| p.stride = v),
        parameter("short_k", &[F::TwoFour], &[1], |p| Some(u32::from(p.short_k)), |p, v| p.short_k = v != 0),
        parameter(
            "balanced",
            &[F::MeTcf, F::BitTcf],
            &[1],
            |p| Some(u32::from(p.balanced)),
            |p, v| p.balanced = v != 0,
        ),
    ]
};

impl Parameter {
    /// Sets it; false where the format parameters cannot hold the value: a flag is 0 or 1.
    #[must_use]
    pub fn assign(&self, params: &mut FormatParams, value: u32) -> bool {
        (self.set)(params, value);
        (self.get)(params) == Some(value)
    }
}

const fn parameter(
    name: &'static str,
    formats: &'static [FormatKind],
    samples: &'static [u32],
    get: fn(&FormatParams) -> Option<u32>,
    set: fn(&mut FormatParams, u32),
) -> Parameter {
    Parameter { name, formats, samples, get, set }
}

impl FormatParams {
    /// The parameters that the papers use, or small ones where those depend on the machine.
    pub const DEFAULT: FormatParams = FormatParams {
        block_rows: 4,
        block_cols: 4,
        boundary: None,
        br: 8,
        tau_nnz: None,
        tau_inc: None,
        impact: ImpactRule::AsDescribed,
        eta: None,
        kb: 8,
        fill: false,
        groups: 4,
        n: 2,
        m: 4,
        l: 4,
        v: 8,
        stride: 4,
        short_k: false,
        balanced: false,
    };

    /// Parameters of a block format.
    #[must_use]
    pub const fn blocks(block_rows: u32, block_cols: u32) -> FormatParams {
        FormatParams { block_rows, block_cols, ..FormatParams::DEFAULT }
    }

    /// The same parameters with those that `kind` does not read set to their default.
    #[must_use]
    pub fn only(&self, kind: FormatKind) -> FormatParams {
        let mut kept = FormatParams::default();
        for parameter in PARAMETERS.iter().filter(|p| p.formats.contains(&kind)) {
            if let Some(value) = (parameter.get)(self) {
                (parameter.set)(&mut kept, value);
            }
        }
        kept
    }
}
