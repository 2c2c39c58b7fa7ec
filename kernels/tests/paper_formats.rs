//! Every format of the papers, reference and optimised conversion against one another: round trips in all precisions,
//! bit-identical encodings, and damaged encodings that are refused or decoded alike.

use crate::papers;

use papers::{corrupted, damage, params, patterns, round_trip};
use proptest::prelude::*;
use sparse_oracle::format::FormatKind;
use sparse_oracle::with_scalar;

macro_rules! laws {
    ($($name:ident: $kind:ident),* $(,)?) => {$(
        mod $name {
            use super::*;

            const KIND: FormatKind = FormatKind::$kind;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(96))]

                #[test]
                fn decodes_to_what_was_encoded(entries in patterns(), params in params(KIND)) {
                    for &precision in KIND.precisions() {
                        with_scalar!(precision, T => round_trip::<T>(KIND, &entries, params)?);
                    }
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(1024))]

                #[test]
                fn damage_is_refused_or_decoded_alike(
                    entries in patterns(),
                    params in params(KIND),
                    damage in damage(),
                ) {
                    corrupted(KIND, &entries, params, damage)?;
                }
            }
        }
    )*

        /// Every format of the papers has its module here.
        #[test]
        fn no_format_is_forgotten() {
            let tested = [$(FormatKind::$kind),*];
            assert_eq!(tested, FormatKind::PAPERS);
        }
    };
}

laws! {
    loops: Loops,
    rs_tile: RsTile,
    libra_spmm: LibraSpmm,
    libra_sddmm: LibraSddmm,
    rp_csc: RpCsc,
    cp_csr: CpCsr,
    nm: Nm,
    two_four: TwoFour,
    vnm: Vnm,
    tcf: Tcf,
    me_tcf: MeTcf,
    bit_tcf: BitTcf,
    sr_bcrs: SrBcrs,
}
