//! The cases of matrices that are named: their own values, or drawn ones where they have none, all operations, the formats that they fit.
//!
//! ```text
//! every tier    alpha = 1, beta = 0, no padding: the product as programs ask for it
//!               and, where C can be read, alpha = -2, beta = 0.5 with odd extents and padded leading dimensions
//! full          4 more with parameters drawn as for generated matrices          extensive  12 more
//! ```

use super::make::on_matrix;
use super::{Group, Mix, Options, Tier};
use crate::case::{Case, Filling, Params};
use crate::origin::Origin;
use sparse_oracle::contract::{Contract, Returned, TYPES};
use sparse_oracle::format::{FormatKind, Layout};
use sparse_oracle::scalar::Precision;
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::SddmmMode;

/// Cases with drawn parameters, for each contract of a matrix.
const fn drawn(tier: Tier) -> u64 {
    match tier {
        Tier::Quick => 0,
        Tier::Full => 4,
        Tier::Extensive => 12,
    }
}

/// One group a matrix. Where types or contracts are asked for, those; else in quick what [`suits_file`].
pub(super) fn groups(options: &Options, contracts: &[(u64, Contract)]) -> Vec<Group> {
    let chosen = !(options.precisions.is_empty() && options.contracts.is_empty());
    let group = |origin: &Origin| {
        let cases = contracts
            .iter()
            .filter(|(_, c)| chosen || suits_file(c, options.tier))
            .flat_map(|&(i, contract)| cases(contract, origin, options, i));
        Group { cases: cases.collect(), origin: origin.clone() }
    };
    options.matrices.iter().map(group).collect()
}

fn cases(contract: Contract, origin: &Origin, options: &Options, place: u64) -> Vec<Case> {
    let plain = plain(contract, origin.clone(), &mut Mix::new(&[options.seed, place]));
    let reading = reading(&plain);
    let drawn = (0..drawn(options.tier)).filter_map(|round| {
        let mut mix = Mix::new(&[options.seed, place, 2000, round]);
        let mut case = on_matrix(contract, origin, None, &mut mix)?;
        // The values of the plain case as often as other ones.
        if round % 2 == 0 {
            case.filling = plain.filling;
        }
        Some(case)
    });
    let drawn: Vec<Case> = drawn.collect();
    [Some(plain), reading].into_iter().flatten().chain(drawn).collect()
}

/// A second case for a file, with beta, alpha, a larger ldb and an odd n. The plain case would not notice a kernel that ignores them.
fn reading(plain: &Case) -> Option<Case> {
    let mut case = plain.clone();
    let p = &mut case.params;
    let signature = case.contract.op.signature();
    signature.output?;
    if signature.has_layout() {
        (p.n, p.pad_b) = (13, 3);
    }
    if signature.returned == Returned::Matrix {
        p.pad_c = 2;
    }
    if signature.has_mode {
        p.mode = SddmmMode::AddS;
    }
    p.alpha = -2.0;
    if signature.has_beta() {
        p.beta = 0.5;
    }
    Some(case)
}

/// In quick, one contract per thing that can go wrong on a real matrix; from full on, and where precisions are asked for, all of
/// them.
fn suits_file(contract: &Contract, tier: Tier) -> bool {
    if tier != Tier::Quick {
        return true;
    }
    // 2:4 is not defined for f32.
    let of_f32 = |format: FormatKind| format.precisions().contains(&Precision::F32);
    let has_f32 = of_f32(contract.format) && contract.to.is_none_or(of_f32);
    let f32_only = contract.types.a == if has_f32 { Precision::F32 } else { Precision::F16 };
    // What kernels for matrix units take: nothing else would ask them for a product on a file. 2:4 in bf16 is left to the full tier.
    let of_unit = matches!(contract.types.a, Precision::Tf32 | Precision::F16)
        && (contract.types.acc, contract.types.out) == (Precision::F32, Precision::F32);
    let has_unit = matches!(
        contract.format,
        FormatKind::Loops | FormatKind::RsTile | FormatKind::LibraSpmm | FormatKind::Nm | FormatKind::TwoFour
    );
    let is_csr = contract.format == FormatKind::Csr;
    match contract.op.signature().returned {
        Returned::Matrix if is_csr => {
            matches!(
                contract.types.a,
                Precision::F64 | Precision::F32 | Precision::Tf32 | Precision::F16 | Precision::Bf16
            ) && contract.types.out != Precision::Bf16
                && contract.types.acc != Precision::F16
        }
        Returned::Matrix if contract.format == FormatKind::Csc => contract.types.a == Precision::F64,
        Returned::Matrix => f32_only || of_unit && has_unit,
        Returned::Product => is_csr && contract.types.a == Precision::F64,
        Returned::Sampled => is_csr && (f32_only || of_unit || contract.types == TYPES[0]),
        Returned::Vector => is_csr && (f32_only || contract.types == TYPES[0]),
        Returned::Moved => (is_csr || contract.to.is_some()) && f32_only,
    }
}

/// The plain product, as programs ask for it.
fn plain(contract: Contract, origin: Origin, mix: &mut Mix) -> Case {
    let narrow = matches!(contract.types.a, Precision::F16 | Precision::E4m3 | Precision::E5m2);
    // A file's own values may overflow the narrow types, and a generator has none: values near one on the pattern.
    let seed = mix.below(1 << 16);
    let is_drawn = narrow || matches!(origin, Origin::Spec(_));
    let filling = if is_drawn { Filling::Drawn(ValueFamily::NearOne, seed) } else { Filling::Own(seed) };
    let n = match contract.op.signature().returned {
        Returned::Sampled => 16,
        Returned::Vector | Returned::Moved => Params::default().n,
        Returned::Matrix | Returned::Product => 32,
    };
    let layout_c = if contract.op.signature().returned == Returned::Matrix && contract.types == TYPES[0] {
        Layout::ColMajor
    } else {
        Layout::RowMajor
    };
    Case { contract, origin, filling, params: Params { n, layout_c, ..Params::default() } }
}
