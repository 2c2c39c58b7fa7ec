//! The table of CUDA C++ sources: one row per `.cu` file, with its kernels and its precompiled PTX.
//!
//! ```text
//! kernels/cuda/prelude.cuh + HEADER.cuh + NAME.cu  --ci/ptx.sh (NVRTC)-->  kernels/cuda/ptx/NAME.ptx.gz  (committed)
//!                       `-- hash of all = first line of the PTX: else it is stale, and NVRTC compiles anew
//! ```
//!
//! A file of capability 9.0 is for `sm_90a`, which nothing else runs. Other PTX is made for the oldest architecture that has the instructions of the file; the driver assembles it for the device
//! at hand, so that a user needs a driver and no toolkit.

use flate2::read::GzDecoder;
use std::io::Read;

/// One `.cu` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// SpMM of CSR, one fused chain per element, on the general cores.
    CsrSpmm,
    /// SpMM on windows of 8 rows, tiles on tensor cores: RSH-SpMM and Libra.
    TilesSpmm,
    /// SDDMM in 8 x 16 blocks: Libra.
    LibraSddmm,
    /// What the device can do at most.
    Measure,
    /// Lists of terms a row, on the general cores and the matrix unit.
    Listed,
    /// SpMM of N:M in f32 tiles.
    NmTile,
    /// SpMM of N:M on the matrix unit.
    NmMma,
    /// SpMM of 2:4 on the matrix unit.
    TwoFour,
    /// The same by groups of four warps, on `sm_90a`.
    TwoFourGroup,
    /// CSR to the formats of Libra.
    Preprocess,
}

/// What the table says about a source.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Stem of the file.
    pub name: &'static str,
    /// The headers of this file alone, and the file.
    pub text: &'static str,
    /// What `ci/ptx.sh` made of it, compressed; its first line is `// source HASH`.
    pub ptx: &'static [u8],
    /// Oldest compute capability that has its instructions, which the PTX is for.
    pub capability: (i32, i32),
    /// The kernels that it must define, so that a test finds a misspelt one without a GPU.
    pub symbols: &'static [&'static str],
}

/// What comes before every source: types, conversions, the epilogue.
const PRELUDE: &str = include_str!("../../cuda/prelude.cuh");

/// A row whose files are called after it, and its headers beside the prelude.
macro_rules! row {
    ($name:literal, $capability:expr, $symbols:expr $(, $header:literal)*) => {
        Row {
            name: $name,
            text: concat!(
                $(
                    "#line 1 \"", $header, ".cuh\"\n", include_str!(concat!("../../cuda/", $header, ".cuh")),
                    "\n#line 1 \"", $name, ".cu\"\n",
                )*
                include_str!(concat!("../../cuda/", $name, ".cu")),
            ),
            ptx: include_bytes!(concat!("../../cuda/ptx/", $name, ".ptx.gz")),
            capability: $capability,
            symbols: $symbols,
        }
    };
}

impl Row {
    /// Whether the PTX is for one architecture alone: that of 9.0 is for `sm_90a`.
    #[must_use]
    pub const fn is_bound(&self) -> bool {
        matches!(self.capability, (9, 0))
    }
}

impl Source {
    /// All sources.
    pub const ALL: [Source; 10] = [
        Source::CsrSpmm,
        Source::TilesSpmm,
        Source::LibraSddmm,
        Source::Listed,
        Source::NmTile,
        Source::NmMma,
        Source::TwoFour,
        Source::TwoFourGroup,
        Source::Preprocess,
        Source::Measure,
    ];

    /// Its row.
    #[must_use]
    pub const fn row(self) -> Row {
        match self {
            Source::CsrSpmm => row!("csr_spmm", (8, 0), super::csr_spmm::SYMBOLS),
            Source::TilesSpmm => row!("tiles_spmm", (8, 0), super::tiles::SYMBOLS, "tiles_ring"),
            Source::LibraSddmm => row!("libra_sddmm", (8, 0), super::libra_sddmm::SYMBOLS),
            Source::Measure => row!("measure", (8, 0), super::measure::SYMBOLS),
            Source::Listed => row!("listed", (8, 0), super::listed::SYMBOLS),
            Source::NmTile => row!("nm_tile", (8, 0), super::nm::TILE_SYMBOLS),
            Source::NmMma => row!("nm_mma", (8, 0), super::nm::MMA_SYMBOLS),
            Source::TwoFour => row!("two_four", (8, 0), super::two_four::SYMBOLS, "two_four"),
            Source::TwoFourGroup => {
                row!("two_four_group", (9, 0), super::two_four::GROUP_SYMBOLS, "two_four")
            }
            Source::Preprocess => row!("preprocess", (8, 0), super::preprocess::SYMBOLS),
        }
    }

    /// The whole translation unit.
    #[must_use]
    pub fn unit(self) -> String {
        format!("{PRELUDE}\n#line 1 \"{}.cu\"\n{}", self.row().name, self.row().text)
    }

    /// The committed PTX, unless it was made from another text.
    #[must_use]
    pub fn precompiled(self) -> Option<String> {
        let row = self.row();
        let mut ptx = String::new();
        GzDecoder::new(row.ptx).read_to_string(&mut ptx).ok()?;
        let made_from = ptx.lines().next()?.strip_prefix("// source ")?;
        let fresh = made_from == format!("{:016x}", fnv(&[PRELUDE, row.text]));
        fresh.then_some(ptx)
    }
}

/// FNV-1a of 64 bits over the texts, one after another.
fn fnv(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv(&["", ""]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(&["foo", "bar"]), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn committed_ptx_is_made_from_these_sources_and_holds_their_kernels() {
        for source in Source::ALL {
            let name = source.row().name;
            let ptx = source.precompiled();
            let ptx = ptx.unwrap_or_else(|| panic!("{name}.ptx is stale: run ci/ptx.sh"));
            for symbol in source.row().symbols {
                let entry = format!(".entry {symbol}(");
                assert!(ptx.contains(&entry), "{name}.ptx defines no kernel {symbol}");
            }
            assert_eq!(ptx.matches(".entry ").count(), source.row().symbols.len(), "{name}");
        }
    }
}
