//! How vectors are distributed: the parameters of both formats, checked.

use sparse_types::format::FormatParams;
use sparse_types::refusal::{Refusal, RequestError};

/// Which vectors go to the tensor part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Those of at least `least` entries, by column, in blocks of `kb`; with `fill` others into the last block.
    Spmm { least: u32, kb: usize, fill: bool },
    /// By density, in blocks of 16 of at least `least` entries.
    Sddmm { least: u32 },
}

impl Rule {
    /// Reads `eta`, `kb` and `fill`.
    pub(super) fn spmm(params: FormatParams) -> Result<Rule, Refusal> {
        let eta = eta(params, 48)?;
        let kb = params.kb as usize;
        if ![4, 8, 16].contains(&kb) {
            return Err(Refusal::Request(RequestError::Parameter {
                field: "kb",
                expected: "4, 8 or 16",
                found: kb as u64,
            }));
        }
        Ok(Rule::Spmm {
            // ceil(eta / 128 * 8)
            least: eta.div_ceil(16),
            kb,
            fill: params.fill,
        })
    }

    /// Reads `eta`.
    pub(super) fn sddmm(params: FormatParams) -> Result<Rule, Refusal> {
        Ok(Rule::Sddmm { least: eta(params, 24)? })
    }

    /// Columns of a block.
    pub(super) const fn kb(self) -> usize {
        match self {
            Rule::Spmm { kb, .. } => kb,
            Rule::Sddmm { .. } => 16,
        }
    }

    /// Entries from which a vector or a block is dense.
    pub(super) const fn least(self) -> u32 {
        match self {
            Rule::Spmm { least, .. } | Rule::Sddmm { least } => least,
        }
    }

    /// Planes of flags: one for what is dense, or one for each density.
    pub(super) const fn planes(self) -> usize {
        match self {
            Rule::Spmm { fill: false, .. } => 1,
            _ => 8,
        }
    }

    /// Words of a block's bitmap.
    pub(super) const fn words(self) -> usize {
        self.kb().div_ceil(8)
    }
}

/// The threshold in 1/128.
fn eta(params: FormatParams, default: u32) -> Result<u32, Refusal> {
    match params.eta.unwrap_or(default) {
        0 => Err(RequestError::Zero { field: "eta" }.into()),
        eta if eta > 128 => {
            Err(RequestError::TooLarge { field: "eta", found: u128::from(eta), limit: 128 }.into())
        }
        eta => Ok(eta),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_round_up_and_illegal_ones_are_refused() {
        let params = |eta, kb| FormatParams { eta, kb, ..FormatParams::default() };
        let least = |eta| Rule::spmm(params(eta, 8)).map(Rule::least);
        assert_eq!(least(None), Ok(3));
        assert_eq!(least(Some(1)), Ok(1));
        assert_eq!(least(Some(49)), Ok(4));
        assert_eq!(least(Some(128)), Ok(8));
        assert_eq!(least(Some(0)), Err(Refusal::Request(RequestError::Zero { field: "eta" })));
        assert!(Rule::sddmm(params(Some(129), 8)).is_err());
        assert_eq!(Rule::sddmm(params(None, 5)).map(Rule::least), Ok(24));
        assert!(Rule::spmm(params(None, 5)).is_err());
        let words = |kb| Rule::spmm(params(None, kb)).map(Rule::words);
        assert_eq!((words(4), words(8), words(16)), (Ok(1), Ok(1), Ok(2)));
    }
}
