//! How elements are decided: in floats where they can be, which no verdict tells, but the number of those that were not.

use super::super::exact_dense::ExactDense;
use super::super::one_row::full_row;
use super::super::sheet::Sheet;
use super::super::tally::{Judged, judge_problem};
use super::*;
use crate::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Epilogue, Instruction, Reduction, Slot,
};
use crate::format::{Codec, Csr, CsrParts, Dense, Entries, Entry};
use crate::prelude::*;
use crate::profile::Profile;
use crate::scalar::Precision::{self, E4m3, F16, F32, F64};
use crate::scalar::{Element, Rounding, Values, encode};
use crate::verdict::{Defect, Verdict};

const COLS: usize = 9;
const TERMS: usize = 8;

/// One row of A and what stands beside it.
struct Case {
    arithmetic: Arithmetic,
    scalars: (f64, f64),
    a: [f64; TERMS],
    b: ExactDense<'static>,
    slots: Option<Csr<Slot>>,
    held: f64,
}

impl Case {
    /// Small integers, of which nothing is rounded: T0 applies to every element.
    fn of_integers(arithmetic: Arithmetic) -> Case {
        let b = |i: usize, j: usize| ((i * 5 + j * 3) % 7 + 1) as f32;
        Case {
            arithmetic,
            scalars: (1.0, 0.0),
            a: [1.0, -2.0, 3.0, 1.0, 2.0, -1.0, 4.0, 5.0],
            b: ExactDense::Narrow(Dense::from_fn(TERMS, COLS, b).into()),
            slots: None,
            held: 0.0,
        }
    }

    fn scaled(self, alpha: f64, beta: f64, held: f64) -> Case {
        Case { scalars: (alpha, beta), held, ..self }
    }

    /// With slots: where each term is, and whether it is in a tile.
    fn at(self, slot: impl Fn(u32) -> (u32, bool)) -> Case {
        let entry = |col| {
            let (at, in_tile) = slot(col);
            Entry { row: 0, col, value: Slot { in_tile, at } }
        };
        let list = (0..TERMS as u32).map(entry).collect();
        let slots = Csr::from_entries(&Entries { rows: 1, cols: TERMS, list }).expect("positions");
        Case { slots: Some(slots), ..self }
    }

    /// Of the right result, how many elements need big numbers. What is said of it, and of a wrong one, is what the rule says.
    fn in_big_numbers(&self) -> usize {
        let (arithmetic, profile, out) = (&self.arithmetic, Profile::default(), self.arithmetic.out);
        let a = full_row(&self.a);
        let problem = Problem::Spmm { a: &a, pads: None, b: &self.b, slots: self.slots.as_ref() };
        let (held, place) = (Values::from_f64(out, &[self.held; COLS]), Place::Strides(COLS, 1));
        let before = (self.scalars.1 != 0.0).then_some(held.as_slice());
        let mut rule = Rule::of(&problem, (arithmetic, &profile), self.scalars);
        let mut right = Vec::new();
        let visited = problem.for_each(&mut |site| right.push(rule.accepts(site, self.held).expected_bits()));
        visited.expect("operands fit");
        let sheet = Sheet::new(
            &problem,
            (arithmetic, &profile),
            self.scalars,
            before.map(|before| (before, place)),
            usize::MAX,
        );
        let sheet = sheet.expect("operands fit").expect("no limit");
        let judge = |bits: &[u64]| {
            let found = values(out, bits);
            let output = Output { found: found.as_slice(), place, poison: None, before, before_place: place };
            let judged = judge_problem(&problem, arithmetic, &profile, self.scalars, &output);
            let by_rule = sheet.judge(found.as_slice(), place, None);
            assert_eq!(said(&judged), said(&by_rule), "{arithmetic:?}");
            judged
        };
        let judged = judge(&right);
        assert!(!judged.verdict.is_finding() && judged.elements == COLS, "{arithmetic:?}: {judged:?}");
        for at in [0, COLS - 1] {
            let mut wrong = right.clone();
            // The first bit behind the point.
            wrong[at] ^= 1 << (out.spec().significand - 2);
            assert!(judge(&wrong).verdict.is_finding(), "{arithmetic:?}");
        }
        judged.in_big_numbers
    }
}

fn values(out: Precision, bits: &[u64]) -> Values {
    crate::with_scalar!(out, T => <T as Element>::wrap(bits.iter().map(|&b| T::from_bits64(b)).collect()))
}

fn said(judged: &Judged) -> String {
    format!("{:?} {:?} {}", judged.verdict, judged.tiers, judged.elements)
}

fn chain(reduction: Reduction, precision: Precision) -> Arithmetic {
    Arithmetic::chain(reduction, precision, precision)
}

fn mma(shape: (u16, u16, u16), acc: Precision, input: Precision) -> Arithmetic {
    Arithmetic::mma(Some(Architecture::Sm90), Instruction::mma(shape, acc, input), acc)
}

/// Found by mutation: a declaration whose rows are left to the rule, every element of them, gets the same verdicts.
#[test]
fn plain_rows_need_no_big_numbers() {
    let fma = chain(Reduction::FmaChain, F32);
    let core = mma((16, 8, 8), F32, F16);
    let cut = |arithmetic: Arithmetic, blocks| arithmetic.along(Along::TwoPass { blocks });
    let of_c = |arithmetic: Arithmetic| arithmetic.from_c().epilogue(Epilogue::None);
    let plain = Case::of_integers;
    let hybrid = |combine| plain(Arithmetic::hybrid(core, *fma.part(), combine));
    let cases = [
        ("any order", plain(Arithmetic::any(F32, F32))),
        ("any order, f16", plain(Arithmetic::any(F16, F16))),
        ("any order, f64", plain(Arithmetic::any(F64, F64)).scaled(2.0, -1.0, 3.0)),
        ("fused", plain(fma)),
        ("fused, f64", plain(chain(Reduction::FmaChain, F64))),
        ("fused, to f16", plain(Arithmetic::chain(Reduction::FmaChain, F32, F16))),
        ("not fused", plain(chain(Reduction::MulAddChain, F32)).scaled(2.0, 1.0, 3.0)),
        ("from C", plain(of_c(fma)).scaled(1.0, 1.0, 3.0)),
        ("fma of C", plain(fma.epilogue(Epilogue::MulThenFma)).scaled(-2.0, 2.0, 3.0)),
        ("fused, in slots", plain(fma).at(|k| (3 * k + 2, true))),
        ("two passes", plain(cut(fma, 3)).at(|k| (3 * k + 5, true))),
        ("two passes without slots", plain(cut(fma, 64))),
        (
            "three passes",
            plain(fma.along(Along::ThreePass { blocks: 2, segments: 2 })).at(|k| (3 * k + 5, true)),
        ),
        ("cut into parts", plain(fma.along(Along::SplitK { parts: 3 }))),
        ("instruction", plain(core)),
        ("instruction, f16", plain(mma((16, 8, 16), F16, F16))),
        ("instruction, scaled", plain(core).scaled(2.0, -1.0, 3.0)),
        ("instruction of f64", plain(mma((8, 8, 4), F64, F64))),
        ("instruction, in slots", plain(core).at(|k| (2 * k + 1, true))),
        (
            "instruction, ranges that begin late",
            plain(cut(of_c(core), 1)).scaled(1.0, 1.0, 3.0).at(|k| (k + 24, true)),
        ),
        ("both parts", hybrid(Combine::Ordered).at(|k| (k, k % 2 == 0))),
        ("both parts, whichever first", hybrid(Combine::Free).at(|k| (k, k % 2 == 0))),
        ("either part, tiles", hybrid(Combine::Disjoint).at(|k| (k, true))),
        ("either part, the rest", hybrid(Combine::Disjoint).at(|k| (k, false))),
    ];
    for (name, case) in cases {
        assert_eq!(case.in_big_numbers(), 0, "{name}");
    }
}

/// Found by mutation: what rows do not tell must be left to the rule, whole.
#[test]
fn rows_that_tell_too_little_are_left_to_the_rule() {
    let core = mma((16, 8, 8), F32, F16);
    let plain = Case::of_integers;
    let wide = |case: Case, value: f64| {
        let b = |i: usize, j: usize| if (i, j) == (3, 4) { value } else { case.b.at(i, j) };
        Case { b: ExactDense::Wide(Dense::from_fn(TERMS, COLS, b).into()), ..case }
    };
    let hybrid = |combine| plain(Arithmetic::hybrid(core, *chain(Reduction::FmaChain, F32).part(), combine));
    let split = chain(Reduction::FmaChain, F32).along(Along::SplitK { parts: 3 });
    let cases = [
        ("a unit that is modelled by elements", plain(Arithmetic::cpu(CpuUnit::FmopaF32, F32))),
        ("slots do not tell where parts are cut", plain(split).at(|k| (k, true))),
        ("a chain of f32 wants its type", wide(plain(chain(Reduction::FmaChain, F32)), 3.0)),
        ("two parts where there is one", hybrid(Combine::Disjoint).at(|k| (k, k % 2 == 0))),
    ];
    for (name, case) in cases {
        assert_eq!(case.in_big_numbers(), COLS, "{name}");
    }
}

/// Found by mutation: integers of which nothing is rounded do not tell in which order, and in which ranges, a row is summed.
#[test]
fn rows_are_summed_in_the_order_of_their_slots() {
    let fma = chain(Reduction::FmaChain, F32);
    let large = 16_777_216.0;
    let rounded = |arithmetic| {
        let b = ExactDense::Narrow(Dense::from_fn(TERMS, COLS, |_, j| 1.0 + j as f32).into());
        Case { a: [large, 1.0, 1.0, 1.0, -large, 1.0, 1.0, 1.0], b, ..Case::of_integers(arithmetic) }
    };
    let ranges = |blocks| rounded(fma.along(Along::TwoPass { blocks }));
    let grouped = |blocks, segments| rounded(fma.along(Along::ThreePass { blocks, segments }));
    let cases = [
        rounded(fma).at(|k| (7 - k, true)),
        rounded(fma).at(|k| (k ^ 1, true)),
        ranges(2),
        ranges(3).at(|k| (k, true)),
        ranges(3).at(|k| (2 * k, true)),
        ranges(4).at(|k| (9 - k, true)),
        grouped(1, 2),
        grouped(1, 3),
        grouped(2, 2).at(|k| (2 * k, true)),
        grouped(1, 1).at(|k| (k + 3, true)),
        Case {
            a: [0.0; TERMS],
            ..rounded(mma((16, 8, 8), F32, F16).from_c().along(Along::TwoPass { blocks: 1 }))
        }
        .scaled(1.0, 1.0, -0.0)
        .at(|k| (9 * k, true)),
    ];
    for (number, case) in cases.iter().enumerate() {
        let in_big_numbers = case.in_big_numbers();
        assert!(in_big_numbers < COLS, "case {number}: {in_big_numbers}");
    }
    // 0.1 is no number of the accumulator's type.
    let case = Case { a: [0.1; TERMS], ..Case::of_integers(fma) };
    assert_eq!(case.in_big_numbers(), COLS);
}

/// Found by mutation: an instruction of zeros alone that changes C, whose sums have 14 bits, was never beside ranges that begin late.
#[test]
fn a_first_range_without_terms_is_left_open_where_it_would_matter() {
    let fp8 = Arithmetic::mma(Some(Architecture::Sm89), Instruction::mma((16, 8, 32), F32, E4m3), F32);
    let fp8 = fp8.from_c().epilogue(Epilogue::None).along(Along::TwoPass { blocks: 2 });
    let first_at = |at: u32, held: f64| {
        Case::of_integers(fp8).scaled(1.0, 1.0, held).at(|k| (k + at, true)).in_big_numbers()
    };
    // Few bits of C survive everything; of many, only where a term is in the first range.
    assert_eq!([0, 32, 64, 96, 640].map(|at| first_at(at, 3.0)), [0; 5]);
    assert_eq!([64, 96, 640].map(|at| first_at(at, 1_000_003.0)), [COLS; 3]);
}

/// Where elements are, what was there before, and what they are filled with, decide who judges.
#[test]
fn results_are_screened_wherever_their_elements_have_a_place() {
    let a = full_row(&[1.0, 2.0]);
    let b = ExactDense::Narrow(Dense::from_fn(2, 3, |i, j| (i + j) as f32).into());
    let problem = Problem::Spmm { a: &a, pads: None, b: &b, slots: None };
    let (held, profile) = ([1.0f32; 3], Profile::default());
    let (strides, visited) = (Place::Strides(3, 1), Place::Visited);
    let nan = Some(u64::from(f32::NAN.to_bits()));
    let judge = |beta: f64, found: [f32; 3], (place, before, before_place): (Place, bool, Place), poison| {
        let before = before.then_some(AnySlice::F32(&held));
        let output = Output { found: AnySlice::F32(&found), place, poison, before, before_place };
        judge_problem(&problem, &Arithmetic::any(F32, F32), &profile, (1.0, beta), &output)
    };
    let (right, added) = ([2.0, 5.0, 8.0], [3.0, 6.0, 9.0]);
    let in_big_numbers = |judged: Judged| {
        assert!(matches!(judged.verdict, Verdict::Exact), "{:?}", judged.verdict);
        judged.in_big_numbers
    };
    for (place, before, before_place, by_rule) in [
        (strides, false, strides, 0),
        (strides, false, visited, 0),
        (strides, true, strides, 0),
        (strides, true, visited, 3),
        (visited, false, strides, 3),
        (visited, true, visited, 3),
    ] {
        let places = (place, before, before_place);
        assert_eq!(in_big_numbers(judge(0.0, right, places, nan)), by_rule, "{places:?}");
        if before {
            assert_eq!(in_big_numbers(judge(1.0, added, places, nan)), by_rule, "{places:?}");
        }
    }
    // Found by mutation: a poison that is a number would pass for the right one.
    let five = Some(encode(5.0, F32, Rounding::NearestEven));
    let defect = |judged: Judged| match judged.verdict {
        Verdict::Wrong(mismatch) => (mismatch.defect, mismatch.at, mismatch.count),
        other => panic!("{other:?}"),
    };
    let places = (strides, false, strides);
    assert_eq!(defect(judge(0.0, right, places, five)), (Defect::Unwritten, Some((0, 1)), 1));
    // Found by mutation: an element that was not written is named before one that is only wrong.
    let unwritten = [f32::INFINITY, 5.0, f32::NAN];
    assert_eq!(defect(judge(0.0, unwritten, places, nan)), (Defect::Unwritten, Some((0, 2)), 2));
}

/// On many threads as on one, on the screen and by the rule.
#[test]
fn the_places_of_all_wrong_elements_are_kept() {
    let (rows, cols) = (4096, 96);
    let a = Csr::try_new(CsrParts {
        rows,
        cols: 1,
        row_ptr: (0..=rows as u32).collect(),
        col_idx: vec![0; rows],
        values: vec![1.0; rows],
    });
    let (a, b) = (a.expect("legal"), ExactDense::Narrow(Dense::from_fn(1, cols, |_, j| j as f32).into()));
    let problem = Problem::Spmm { a: &a, pads: None, b: &b, slots: None };
    let is_wrong = |i: usize, j: usize| i % 16 > 13 && j > 63;
    let found: Vec<f32> =
        (0..rows * cols).map(|at| (at % cols) as f32 + f32::from(is_wrong(at / cols, at % cols))).collect();
    for place in [Place::Strides(cols, 1), Place::Visited] {
        let output =
            Output { found: AnySlice::F32(&found), place, poison: None, before: None, before_place: place };
        let judged =
            judge_problem(&problem, &Arithmetic::any(F32, F32), &Profile::default(), (1.0, 0.0), &output);
        let Verdict::Wrong(mismatch) = judged.verdict else { panic!("{:?}", judged.verdict) };
        let wrong = mismatch.elements.expect("places");
        assert_eq!((wrong.count, mismatch.count, wrong.shape), (rows / 8 * 32, rows / 8 * 32, (rows, cols)));
        assert_eq!(
            (wrong.rows.first, wrong.rows.last, wrong.rows.residues),
            (14, 4095, 0xc000_c000_c000_c000)
        );
        assert_eq!((wrong.cols.first, wrong.cols.last, wrong.cols.residues), (64, 95, 0xffff_ffff));
        let (cells, width) = wrong.grid();
        assert!(cells.iter().all(|cells| cells.trailing_zeros() == 21) && width == 32, "{cells:x?}");
    }
}

/// Found by mutation: an instruction that is not found, or B that is taken for its type, only shows in who judges.
#[test]
fn an_instruction_is_found_where_its_operands_are() {
    let rule = |arithmetic: &'static Arithmetic| Rule::new(arithmetic, &Profile::default(), 1.0, 0.0, 0.0);
    static CORE: std::sync::LazyLock<Arithmetic> = std::sync::LazyLock::new(|| mma((16, 8, 8), F32, F16));
    static CHAIN: std::sync::LazyLock<Arithmetic> =
        std::sync::LazyLock::new(|| chain(Reduction::FmaChain, F32));
    assert!(instruction(&rule(&CORE), 8).is_some());
    assert!(instruction(&rule(&CORE), 7).is_none() && instruction(&rule(&CHAIN), 8).is_none());
    let is_typed = |value: f64| {
        let b =
            ExactDense::Wide(Dense::from_fn(2, 2, |i, j| if (i, j) == (0, 1) { value } else { 1.0 }).into());
        crate::with_scalar!(F16, T => typed::<T>(&b, |_| true).is_some())
    };
    assert_eq!([3.0, 65_504.0, 0.1, 65_536.0].map(is_typed), [true, true, false, false]);
    let is_chain = |reduction, acc, out| {
        super::super::part_rows::is_chain(Arithmetic::chain(reduction, acc, out).part(), out)
    };
    assert!(is_chain(Reduction::FmaChain, F32, F16) && is_chain(Reduction::MulAddChain, F64, F64));
    assert!(!is_chain(Reduction::FmaChain, F16, F16) && !is_chain(Reduction::FmaChain, F32, F64));
    assert!(!is_chain(Reduction::Any, F32, F32) && !is_chain(CORE.part().reduction, F32, F32));
}
