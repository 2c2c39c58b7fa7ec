//! How many roundings each declared arithmetic performs: one exhaustive match over reductions.
//!
//! ```text
//!                   most roundings of one term                 all roundings of a sum
//! FmaChain          n                                          n               (0 + first is exact)
//! MulAddChain, Any  n: its product, then n - 1 additions       2n
//! FMOPA 2-way       q: its pair, then q - 1 additions          2q              q pairs that hold a product
//! BFMOPA            q, each off by a whole unit: to odd        4q              products are exact unless tiny
//! VDPBF16PS         n: an fma each                             n
//! AMX               min(n, 16) fmas, e + o, then q - 1 adds    n + 2q          q instructions
//! mma               see `fused`; fp8 by the f16 unit: that, and q additions of instructions
//! split k, two passes: the longest range, then one addition for every other range that is not empty
//! ```

use super::fused::{FusedError, Links, error};
use super::term_counts::{RangeCounts, TermCounts};
use crate::arithmetic::{Architecture, Arithmetic, CpuUnit, Epilogue, Init, Instruction, Part, Reduction};
use crate::model::tensor_core::{Datapath, FusedSum, TensorCore};

/// Roundings that a declared arithmetic performs for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roundings {
    /// Most roundings in the accumulator type on the way of any one term (or of C) to the result. Links of tensor cores
    /// are not among them.
    pub depth: u64,
    /// Roundings inside the sum, all of them; each may underflow.
    pub inside: u64,
    /// Roundings after the sum in the accumulator type.
    pub epilogue: u64,
    /// One more rounding, to the output type.
    pub output: bool,
}

/// The sum of one part, before alpha and beta.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    depth: u64,
    inside: u64,
    /// A further rounding above everything, where C is what the sum starts from.
    starts_from_c: bool,
    /// What tensor cores add to that; the outer `None` of [`sums`] where they promise nothing.
    pub(super) fused: Option<FusedError>,
}

impl Sum {
    fn ieee(depth: u64, inside: u64) -> Sum {
        Sum { depth, inside, starts_from_c: true, fused: None }
    }
}

/// The architectures whose bound must hold.
fn cores(architecture: Option<Architecture>, instruction: Instruction) -> impl Iterator<Item = TensorCore> {
    Architecture::ALL
        .into_iter()
        .filter(move |&a| architecture.is_none_or(|known| known == a))
        .filter_map(move |a| TensorCore::new(a, instruction).ok())
}

/// The sum of one part; one for each architecture that it may run on. `None` where nothing is promised: an instruction that
/// no table has, or too many roundings.
pub(super) fn sums(part: &Part, census: &TermCounts, from_c: bool) -> Option<Vec<Sum>> {
    let ranges = census.ranges(part, from_c);
    let RangeCounts { longest: range, above, additions: adds } = ranges;
    let TermCounts { terms, products, blocks, .. } = *census;
    let most = |n: u64, total: u64| n.saturating_mul(part.block() as u64).min(total);
    // Terms of the longest range: those of its blocks.
    let long = if adds == 0 { terms } else { most(range, terms) };
    let sum = match part.reduction {
        Reduction::FmaChain => Sum::ieee(long + above, terms + adds),
        Reduction::MulAddChain => Sum::ieee(long + above, 2 * terms + adds),
        Reduction::Any => Sum::ieee(terms + above, 2 * terms + adds),
        Reduction::Cpu(unit) => match unit {
            CpuUnit::Fmopa2Way | CpuUnit::Bfmopa { ebf: true } => Sum::ieee(range + above, 2 * blocks + adds),
            CpuUnit::Bfmopa { ebf: false } => Sum::ieee(range + above, 4 * blocks + adds),
            CpuUnit::Tdpbf16ps | CpuUnit::Tdpfp16ps => {
                let pairs = unit.products() as u64 / 2;
                Sum::ieee(long.min(pairs) + range + above, terms + 2 * blocks + adds)
            }
            CpuUnit::Vdpbf16ps
            | CpuUnit::FmopaF64
            | CpuUnit::FmopaF32
            | CpuUnit::FmopaF16
            | CpuUnit::FmlaF64
            | CpuUnit::FmlaF32
            | CpuUnit::FmlaF16
            | CpuUnit::Vfmaddpd
            | CpuUnit::Vfmaddps
            | CpuUnit::Vfmaddph => Sum::ieee(long + above, terms + adds),
        },
        Reduction::Mma { architecture, instruction } => {
            let long = if adds == 0 { products } else { most(range, products) };
            let links = |core: &TensorCore| {
                let per_block = core.links() as u64;
                Links {
                    products: long,
                    links: range.saturating_mul(per_block).min(long),
                    all_products: products,
                    all_links: blocks.saturating_mul(per_block).min(products),
                    steps: census.extent.saturating_mul(per_block),
                    from_c,
                }
            };
            let all: Option<Vec<Sum>> = cores(architecture, instruction)
                .map(|core| {
                    Some(match core.datapath() {
                        Datapath::FmaChain => Sum::ieee(long + above, terms + adds),
                        Datapath::Fused(sum) => Sum {
                            depth: above,
                            inside: adds,
                            starts_from_c: false,
                            fused: Some(error(&sum, links(&core))?),
                        },
                        Datapath::HalfPairs(sum) => half_pairs(&core, &sum, census, ranges)?,
                    })
                })
                .collect();
            return all.filter(|sums| !sums.is_empty());
        }
    };
    Some(vec![sum])
}

/// fp8 by the f16 unit: every instruction is a chain of its own from zero, of two links; instructions are added up by IEEE
/// additions, of which the first (0 + d) is exact.
fn half_pairs(core: &TensorCore, sum: &FusedSum, census: &TermCounts, ranges: RangeCounts) -> Option<Sum> {
    let per_block = core.links() as u64;
    let products = census.products.min(core.products() as u64);
    let links = Links {
        products,
        links: per_block.min(products),
        all_products: census.products,
        all_links: census.blocks.saturating_mul(per_block).min(census.products),
        steps: census.extent.saturating_mul(per_block),
        from_c: false,
    };
    Some(Sum {
        depth: ranges.longest.saturating_sub(1) + ranges.above,
        inside: census.blocks + ranges.additions,
        starts_from_c: true,
        fused: Some(error(sum, links)?),
    })
}

/// Counts the roundings of an element of `terms` stored terms that lie one after another in blocks. Multiplying by 1, 0 or
/// -1 does not round. Of several architectures, the most of each.
#[must_use]
pub fn roundings(arithmetic: &Arithmetic, terms: u64, alpha: f64, beta: f64) -> Roundings {
    let part = arithmetic.part();
    let from_c = part.init == Init::C && beta != 0.0;
    let none = || vec![Sum::ieee(u64::MAX / 4, u64::MAX / 4)];
    let all = sums(part, &TermCounts::of(part, terms), from_c).unwrap_or_else(none);
    let mut all = all.iter().map(|sum| around(arithmetic, part, sum, terms, (alpha, beta)));
    let first = all.next().unwrap_or(Roundings { depth: 0, inside: 0, epilogue: 0, output: false });
    all.fold(first, |most, next| Roundings {
        depth: most.depth.max(next.depth),
        inside: most.inside.max(next.inside),
        ..most
    })
}

/// The sum of one part with what comes before and after it.
pub(super) fn around(
    arithmetic: &Arithmetic,
    part: &Part,
    sum: &Sum,
    terms: u64,
    (alpha, beta): (f64, f64),
) -> Roundings {
    let scales = |factor: f64| u64::from(factor != 0.0 && factor.abs() != 1.0);
    let (mul_alpha, mul_beta, adds_c) = (scales(alpha), scales(beta), u64::from(beta != 0.0));
    let (sum_depth, sum_total) = (sum.depth, sum.inside);
    let from_c = match part.init {
        Init::C if sum.starts_from_c => adds_c,
        Init::C | Init::Zero => 0,
    };
    let (depth, inside, epilogue) = match arithmetic.epilogue {
        Epilogue::None => (sum_depth + from_c + mul_beta, sum_total + from_c + mul_beta, 0),
        Epilogue::AlphaIntoA | Epilogue::AlphaIntoB => {
            (sum_depth + from_c + mul_alpha + mul_beta, sum_total + from_c + mul_beta + terms * mul_alpha, 0)
        }
        Epilogue::MulThenFma => ((sum_depth + mul_alpha + adds_c).max(adds_c), sum_total, mul_alpha + adds_c),
        Epilogue::MulThenAdd => (
            (sum_depth + mul_alpha + adds_c).max(mul_beta + adds_c),
            sum_total,
            mul_alpha + mul_beta + adds_c,
        ),
    };
    Roundings { depth, inside, epilogue, output: !arithmetic.out.spec().holds(part.acc.spec()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{Along, Combine, Order};
    use crate::scalar::Precision::{E4m3, F16, F32, F64};

    const CENSUS: TermCounts = TermCounts { terms: 100, products: 90, blocks: 40, extent: 50 };
    const FEW: TermCounts = TermCounts { terms: 10, products: 9, blocks: 5, extent: 5 };

    /// Depth and all roundings of a sum in ranges of eight blocks, of few terms in one chain, and of terms in any order.
    fn counted(arithmetic: Arithmetic) -> [(u64, u64); 3] {
        let of = |census: &TermCounts, along, order| {
            let part = Part { along, order, ..*arithmetic.part() };
            let all = sums(&part, census, false).expect("few roundings");
            assert_eq!(all.len(), 1, "one architecture");
            (all[0].depth, all[0].inside)
        };
        let ranges = Along::TwoPass { blocks: 8 };
        [
            of(&CENSUS, ranges, Order::Ascending),
            of(&FEW, Along::Chain, Order::Ascending),
            of(&CENSUS, ranges, Order::Free),
        ]
    }

    /// Found by mutation: counts of several reductions could be less, or more, and no verdict of the cases that were judged changed.
    #[test]
    fn the_roundings_of_every_reduction_are_those_of_the_table() {
        let chain = |reduction| counted(Arithmetic::chain(reduction, F32, F32));
        let unit = |unit| counted(Arithmetic::cpu(unit, F32));
        // Ranges of eight blocks: seven of them, so that six additions follow. In any order, all 40 blocks may lie in one.
        assert_eq!(chain(Reduction::FmaChain), [(8 + 6, 100 + 6), (10, 10), (40 + 6, 100 + 6)]);
        assert_eq!(chain(Reduction::MulAddChain), [(8 + 6, 200 + 6), (10, 20), (40 + 6, 200 + 6)]);
        assert_eq!(chain(Reduction::Any), [(100 + 6, 200 + 6), (10, 20), (100 + 6, 200 + 6)]);
        for pairs in [CpuUnit::Fmopa2Way, CpuUnit::Bfmopa { ebf: true }] {
            assert_eq!(unit(pairs), [(8 + 6, 80 + 6), (5, 10), (40 + 6, 80 + 6)], "{pairs:?}");
        }
        assert_eq!(unit(CpuUnit::Bfmopa { ebf: false }), [(8 + 6, 160 + 6), (5, 20), (40 + 6, 160 + 6)]);
        for amx in [CpuUnit::Tdpbf16ps, CpuUnit::Tdpfp16ps] {
            let expected = [(16 + 8 + 6, 100 + 80 + 6), (10 + 5, 10 + 10), (16 + 40 + 6, 100 + 80 + 6)];
            assert_eq!(unit(amx), expected, "{amx:?}");
        }
        assert_eq!(unit(CpuUnit::Vdpbf16ps), [(16 + 6, 100 + 6), (10, 10), (80 + 6, 100 + 6)]);
        assert_eq!(unit(CpuUnit::FmopaF32), [(8 + 6, 100 + 6), (10, 10), (40 + 6, 100 + 6)]);
        // Instructions of f64 are chains; those of f16 have only what follows them.
        let mma = |architecture, shape, acc, input| {
            counted(Arithmetic::mma(Some(architecture), Instruction::mma(shape, acc, input), acc))
        };
        assert_eq!(
            mma(Architecture::Sm90, (8, 8, 4), F64, F64),
            [(32 + 6, 100 + 6), (9, 10), (90 + 6, 100 + 6)]
        );
        assert_eq!(mma(Architecture::Sm90, (16, 8, 8), F32, F16), [(6, 6), (0, 0), (6, 6)]);
        // Multiplied in halves: each instruction is added, but the first.
        assert_eq!(
            mma(Architecture::Sm90, (16, 8, 32), F32, E4m3),
            [(8 - 1 + 6, 40 + 6), (5 - 1, 5), (40 - 1 + 6, 40 + 6)]
        );
    }

    /// Found by mutation: a longest range of an instruction that is counted as all of its products, or the other way round.
    #[test]
    fn the_fused_sums_of_a_range_lose_less_than_those_of_a_chain() {
        let core = Arithmetic::mma(Some(Architecture::Sm90), Instruction::mma((16, 8, 8), F32, F16), F32);
        let lost = |along| {
            let part = Part { along, ..*core.part() };
            let all = sums(&part, &CENSUS, false).expect("few roundings");
            let fused = all[0].fused.as_ref().expect("a fused sum");
            let rel = &fused.whole - &fused.den;
            rel.to_f64(crate::scalar::Rounding::NearestEven)
                / fused.den.to_f64(crate::scalar::Rounding::NearestEven)
        };
        let (chain, ranges) = (lost(Along::Chain), lost(Along::TwoPass { blocks: 8 }));
        // Ranges of 8 blocks of 8 products hold 64 of 90 products, and 8 of 40 links.
        assert!(ranges < chain * 0.75 && ranges > chain * 0.2, "{ranges:e}, {chain:e}");
    }

    #[test]
    fn partials_that_are_added_in_groups_have_fewer_additions_above_them_and_as_many_in_all() {
        let of = |segments, extent| {
            let part = Part {
                along: Along::ThreePass { blocks: 8, segments },
                ..*Arithmetic::chain(Reduction::FmaChain, F32, F32).part()
            };
            let counts = TermCounts { extent, ..CENSUS }.ranges(&part, false);
            (counts.longest, counts.above, counts.additions)
        };
        // Seven ranges: (1 + 2) + (3 + 4) + (5 + 6) + 7.
        assert_eq!(of(2, 50), (8, 1 + 3, 6));
        assert_eq!(of(4, 50), (8, 3 + 1, 6));
        // All in one group, or each in its own: as in two passes.
        assert_eq!([of(7, 50), of(1, 50), of(u32::MAX, 50)], [(8, 6, 6); 3]);
        assert_eq!(of(4, 8), (8, 0, 0));
    }

    /// Found by mutation: nobody asked for a C that is added to a sum of ranges, or to nothing.
    #[test]
    fn what_comes_before_and_after_a_sum_is_counted() {
        let counted = |arithmetic: &Arithmetic, terms, alpha, beta| {
            let Roundings { depth, inside, epilogue, output } = roundings(arithmetic, terms, alpha, beta);
            (depth, inside, epilogue, output)
        };
        let any = Arithmetic::any(F32, F16);
        assert_eq!(counted(&any, 0, 1.0, 2.0), (2, 0, 2, true));
        assert_eq!(counted(&any, 3, 1.0, 0.0), (3, 6, 0, true));
        assert_eq!(counted(&any, 3, 1.0, 1.0), (4, 6, 1, true));
        assert_eq!(counted(&any, 3, -2.0, 2.0), (5, 6, 3, true));
        // A C that is not zero makes the first of four ranges one that is filled.
        let split =
            Arithmetic::chain(Reduction::FmaChain, F32, F32).from_c().along(Along::SplitK { parts: 4 });
        let split = split.epilogue(Epilogue::None);
        assert_eq!(counted(&split, 2, 1.0, 0.0), (2, 3, 0, false));
        assert_eq!(counted(&split, 2, 1.0, 1.0), (4, 5, 0, false));
        // Where two parts meet, a rounding more is allowed for; where every row is of one of them, none.
        let chain = Arithmetic::chain(Reduction::FmaChain, F32, F32);
        let relative = |combine| {
            let hybrid = Arithmetic::hybrid(chain, *chain.part(), combine);
            let of = super::super::tolerance(&hybrid, 3, 1.0, 0.0, 0.0);
            of.expect("few roundings").relative()
        };
        let of_roundings = |n: f64| n / (16_777_216.0 - n);
        assert_eq!(relative(Combine::Disjoint), of_roundings(3.0));
        assert_eq!(relative(Combine::Ordered), of_roundings(4.0));
    }
}
