//! The table of formats. Every list, name and visitor of formats is made from its rows.
//!
//! ```text
//! row -> FormatKind, its lists, name and properties        each_format!, with_format!
//!     -> Sparse<T> (checked), Parts<T> (unchecked)         ... and, by the table of element types, AnySparse, AnyParts
//! ```

/// Hands the rows to a macro, a dollar sign first, for macros that make macros.
macro_rules! formats {
    ($d:tt $then:ident) => {
        $then! { $d
            // Matrix   arrays        name          group      in slots without an entry
            Coo        CooParts        "coo"         General    Nothing;
            Csr        CsrParts        "csr"         General    Nothing;
            Csc        CscParts        "csc"         General    Nothing;
            Bcsr       BcsrParts       "bcsr"        General    Zeros;
            Ell        EllParts        "ell"         General    Nothing;
            BlockedEll BlockedEllParts "blocked_ell" General    Zeros;
            Loops      LoopsParts      "loops"       Paper      Zeros;
            RsTile     RsTileParts     "rs_tile"     Paper      Bits;
            LibraSpmm  LibraSpmmParts  "libra_spmm"  Paper      Bits;
            LibraSddmm LibraSddmmParts "libra_sddmm" Paper      Bits;
            RpCsc      RpCscParts      "rp_csc"      Paper      Nothing;
            CpCsr      CpCsrParts      "cp_csr"      Paper      Nothing;
            Nm         NmParts         "nm"          Structured Zeros;
            TwoFour    TwoFourParts    "two_four"    Structured Zeros;
            Vnm        VnmParts        "vnm"         Structured Zeros;
            Tcf        TcfParts        "tcf"         Paper      Bits;
            MeTcf      MeTcfParts      "me_tcf"      Paper      Bits;
            BitTcf     BitTcfParts     "bit_tcf"     Paper      Bits;
            SrBcrs     SrBcrsParts     "sr_bcrs"     Paper      Zeros;
        }
    };
}
pub(crate) use formats;

/// Who a format comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// The textbook: every operation is defined on it.
    General,
    /// A paper.
    Paper,
    /// A paper; it holds only matrices of its N:M pattern.
    Structured,
}

/// What a slot without an entry holds, where a format has such slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// There are none, or their column marks them.
    Nothing,
    /// +0.0, which an explicit +0.0 cannot be told from. (In LOOPS, in the tile part only.)
    Zeros,
    /// Nothing is stored: a bitmap, or the positions of the entries alone, say which slots of a tile hold one.
    Bits,
}
