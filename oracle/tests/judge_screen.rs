//! The screen decides in floats what the rule decides in exact numbers: both judge the same results, of every family of values, at every
//! distance from the exact value and from the bound, and must say the same to the last bit of the share.
//!
//! A [`Sheet`] has every element worked out by the rule; [`judge_problem`] screens. Results are perturbed one element at a time, so that a
//! verdict, its count, its first element and its share speak of that element.

use sparse_oracle::Precision::{self, Bf16, E4m3, F16, F32, F64, Tf32};
use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Engine, Epilogue, Instruction, Pads, Part, Reduction,
    Slot,
};
use sparse_oracle::format::{Csr, CsrParts, Dense, Entries, Entry};
use sparse_oracle::judge::{
    Accepted, Alternative, ElementVerdict, ExactDense, Judged, Output, Place, Problem, Rule, Sheet,
    judge_problem, vacuity,
};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{Rounding, Scalar, Values, decode, encode};
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::{VALUE_FAMILIES, ValueFamily};

/// Elements that both judges look at.
const ELEMENTS: usize = 10_000_000;

/// Multiplied pads, and places along k.
type Layout = (Option<Csr<()>>, Option<Csr<Slot>>);

/// A layout for a declaration that has one: some positions without an entry are multiplied pads, and terms have places along k, mostly
/// ascending, with gaps.
fn layout(random: &mut Random, a: &Csr<f64>, arithmetic: &Arithmetic) -> Layout {
    let (part, is_hybrid) = (arithmetic.part(), arithmetic.parts.second().is_some());
    if random.below(if is_hybrid { 12 } else { 3 }) == 0 {
        return (None, None);
    }
    let (mut pads, mut slots) = (Vec::new(), Vec::new());
    for i in 0..a.rows {
        let stored = a.row(i).0;
        let is_pad =
            |col: &u32| part.pads == Pads::Multiplied && !stored.contains(col) && random.below(3) == 0;
        let of_row: Vec<u32> = (0..a.cols as u32).filter(is_pad).collect();
        let mut terms: Vec<u32> = stored.iter().chain(&of_row).copied().collect();
        terms.sort_unstable();
        let mut at = random.below(40) as u32;
        let mut places: Vec<u32> = terms
            .iter()
            .map(|_| {
                at += 1 + [0, 0, 0, 3, 50][random.below(5) as usize];
                at
            })
            .collect();
        if random.below(8) == 0 {
            random.shuffle(&mut places);
        }
        // Of a hybrid, rows in tiles, rows outside, and rows of both.
        let in_tiles = if is_hybrid { random.below(4) } else { 0 };
        for (&col, at) in terms.iter().zip(places) {
            let in_tile = in_tiles == 0 || in_tiles > 1 && random.below(2) == 0;
            slots.push(Entry { row: i as u32, col, value: Slot { in_tile, at } });
        }
        pads.extend(of_row.iter().map(|&col| Entry { row: i as u32, col, value: () }));
    }
    let (rows, cols) = (a.rows, a.cols);
    let pads = Csr::from_entries(&Entries { rows, cols, list: pads }).expect("positions");
    let slots = Csr::from_entries(&Entries { rows, cols, list: slots }).expect("positions");
    ((part.pads == Pads::Multiplied).then_some(pads), (random.below(4) > 0).then_some(slots))
}

/// A declaration and the type of its operands.
fn declarations() -> Vec<(Arithmetic, Precision)> {
    let chain = |reduction, acc, out| Arithmetic::chain(reduction, acc, out);
    let mma = |shape, acc, input| {
        Arithmetic::mma(Some(Architecture::Sm90), Instruction::mma(shape, acc, input), acc)
    };
    // Its sums have 14 bits: an instruction of zeros alone changes C.
    let fp8_of = |architecture, instruction| {
        let from_zero = Arithmetic::mma(Some(architecture), instruction, F32);
        from_zero.from_c().epilogue(Epilogue::None).multiplies_pads()
    };
    let wgmma = Instruction::mma((16, 8, 16), F32, F16);
    let cut = |arithmetic: Arithmetic, blocks| arithmetic.along(Along::TwoPass { blocks });
    let fma = chain(Reduction::FmaChain, F32, F32).multiplies_pads();
    let hybrid = |tiles: Arithmetic, rest: Arithmetic, combine| {
        Arithmetic::hybrid(tiles.multiplies_pads(), *rest.part(), combine)
    };
    let of_tiles = mma((16, 8, 8), F32, F16);
    vec![
        (Arithmetic::any(F32, F32), F32),
        (Arithmetic::any(F64, F64), F64),
        (Arithmetic::any(F32, F32), F16),
        (Arithmetic::any(F32, F16), F16),
        (Arithmetic::any(F32, Bf16), Bf16),
        (Arithmetic::any(F16, F16), F16),
        (chain(Reduction::FmaChain, F32, F32), F32),
        (chain(Reduction::MulAddChain, F32, F32).epilogue(Epilogue::MulThenFma), F32),
        (chain(Reduction::FmaChain, F64, F64), F64),
        (chain(Reduction::FmaChain, F32, F16), F16),
        (chain(Reduction::FmaChain, F32, F32).from_c().epilogue(Epilogue::None), F32),
        (chain(Reduction::FmaChain, F32, F32).from_c().epilogue(Epilogue::AlphaIntoA), F32),
        (Arithmetic::mma(None, wgmma, F32), F16),
        (Arithmetic::mma(Some(Architecture::Sm90), wgmma, F16), F16),
        (mma((16, 8, 16), F16, F16).multiplies_pads(), F16),
        (mma((16, 8, 16), F32, Bf16).from_c().epilogue(Epilogue::None).multiplies_pads(), Bf16),
        (mma((16, 8, 8), F32, Tf32).epilogue(Epilogue::MulThenFma), Bf16),
        (mma((16, 8, 32), F32, E4m3).multiplies_pads(), E4m3),
        (mma((16, 8, 32), F32, E4m3).from_c().epilogue(Epilogue::None), E4m3),
        (fp8_of(Architecture::Sm89, Instruction::mma((16, 8, 32), F32, E4m3)), E4m3),
        (fp8_of(Architecture::Sm90, Instruction::mma((64, 8, 32), F32, E4m3).engine(Engine::Wgmma)), E4m3),
        (mma((8, 8, 4), F64, F64), F64),
        (Arithmetic::cpu(CpuUnit::Vdpbf16ps, F32), Bf16),
        (cut(fma, 3), F32),
        (cut(fma, 512), F16),
        (cut(chain(Reduction::MulAddChain, F64, F64), 2), F64),
        (cut(chain(Reduction::FmaChain, F32, F16).epilogue(Epilogue::MulThenFma), 4), F16),
        (cut(fma.from_c(), 2), F32),
        (fma.along(Along::SplitK { parts: 3 }), F32),
        (cut(of_tiles, 2).multiplies_pads(), F16),
        (cut(of_tiles, 1).from_c().multiplies_pads(), F16),
        (cut(mma((16, 8, 32), F32, E4m3), 1).from_c(), E4m3),
        (of_tiles.along(Along::SplitK { parts: 2 }), F16),
        (hybrid(of_tiles, fma, Combine::Disjoint), F16),
        (hybrid(cut(of_tiles, 2), cut(fma, 3), Combine::Ordered), F16),
        (hybrid(of_tiles.from_c(), fma, Combine::Ordered), F16),
        (hybrid(of_tiles, fma, Combine::Free), F16),
        (hybrid(of_tiles, fma.along(Along::SplitK { parts: 2 }), Combine::Ordered), F16),
        (hybrid(cut(fma, 2), cut(fma, 3), Combine::Ordered), F32),
        (cut(mma((8, 8, 4), F64, F64), 2), F64),
        (cut(fma.from_c().epilogue(Epilogue::AlphaIntoA), 2), F32),
        (hybrid(Arithmetic::mma(None, wgmma, F32), cut(fma, 3), Combine::Ordered), F16),
    ]
}

/// Operands of one small product; `c` is what C held, of the type of the result.
struct Operands {
    a: Csr<f64>,
    b: Dense<f64>,
    c: Vec<f64>,
}

impl Operands {
    fn new(random: &mut Random, family: ValueFamily, input: Precision, out: Precision) -> Operands {
        let (rows, inner, cols) =
            (1 + random.below(6) as usize, 1 + random.below(12), 1 + random.below(37) as usize);
        let (mut row_ptr, mut col_idx) = (vec![0u32], Vec::new());
        for _ in 0..rows {
            let mut columns = Vec::new();
            let length = random.below(inner + 1);
            random.distinct(inner, length, &mut columns);
            col_idx.extend(columns.iter().map(|&c| c as u32));
            row_ptr.push(col_idx.len() as u32);
        }
        let seed = random.bits();
        let values = family.fill(col_idx.len(), seed, input);
        let b = family.fill(inner as usize * cols, seed ^ 1, input);
        let mut c = family.fill(rows * cols, seed ^ 2, out);
        if family == ValueFamily::Special {
            // NaN in every C would leave little to judge.
            c.iter_mut().for_each(|c| *c = if c.is_nan() { 1.0 } else { *c });
        }
        let parts = CsrParts { rows, cols: inner as usize, row_ptr, col_idx, values };
        let a = Csr::try_new(parts).expect("a legal matrix");
        Operands { a, b: Dense::from_fn(inner as usize, cols, |i, j| b[i * cols + j]), c }
    }
}

/// A result for one element: right, nearly right, at the bound, or of another kind.
fn disturbed(random: &mut Random, accepted: &Accepted, held: f64, out: Precision) -> u64 {
    let right = accepted.expected_bits();
    let width = out.spec().storage_bits;
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let near =
        |value: f64, ulps: i64| encode(value, out, Rounding::NearestEven).wrapping_add_signed(ulps) & mask;
    let exact = decode(accepted.nearest_bits(), out);
    match random.below(14) {
        0 => right,
        1 => right ^ 1,
        2 => near(exact, random.between(-3, 3)),
        3 => right ^ (1 << random.below(u64::from(width))),
        4..=7 => {
            // Bits around the bound, on both sides.
            let bound = accepted.bound().unwrap_or(1.0);
            let side = if random.below(2) == 0 { bound } else { -bound };
            near(exact + side * [1.0, 1.0, 0.5, 0.999][random.below(4) as usize], random.between(-2, 2))
        }
        8 => encode(0.0, out, Rounding::NearestEven),
        9 => encode(-0.0, out, Rounding::NearestEven),
        10 => encode(held, out, Rounding::NearestEven),
        11 => encode(f64::INFINITY, out, Rounding::NearestEven),
        12 => encode(f64::NAN, out, Rounding::NearestEven),
        _ => random.bits() & mask,
    }
}

#[test]
fn the_screen_says_what_the_rule_says() {
    let declared = declarations();
    let scalars =
        [(1.0, 0.0), (1.0, 1.0), (-1.0, 0.0), (2.0, -0.5), (1.3, 0.7), (1e-3, 1e4), (0.0, 1.0), (1.0, 1e-30)];
    let profile = Profile::default();
    let mut random = Random::new(21, "judge_screen");
    let (mut judged, mut turn, mut findings) = (0, 0, 0usize);
    let mut in_floats = vec![0; declared.len()];
    while judged < ELEMENTS {
        let (arithmetic, input) = &declared[turn % declared.len()];
        let family = VALUE_FAMILIES[turn / declared.len() % VALUE_FAMILIES.len()].family;
        let (alpha, beta) = *random.pick(&scalars);
        let in_floats = &mut in_floats[turn % declared.len()];
        turn += 1;
        if arithmetic.contradiction(alpha, beta).is_some() {
            continue;
        }
        let out = arithmetic.out;
        let operands = Operands::new(&mut random, family, *input, out);
        let Operands { a, b, c } = &operands;
        let (pads, slots) = layout(&mut random, a, arithmetic);
        let (pads, slots) = (pads.as_ref(), slots.as_ref());
        let problem = Problem::Spmm { a, pads, b: &b.clone().into(), slots };
        // The screen reads B in the type that it is stored in, mostly.
        let stored = if *input == F64 || turn % 4 == 0 {
            b.clone().into()
        } else {
            ExactDense::Narrow(Dense::from_fn(b.rows(), b.cols(), |i, j| b.at(i, j) as f32).into())
        };
        let screened_problem = Problem::Spmm { a, pads, b: &stored, slots };
        let held = Values::from_f64(out, c);
        let place = Place::Strides(b.cols(), 1);
        let before = Some((held.as_slice(), place));
        let poison = encode(f64::NAN, out, Rounding::NearestEven) ^ 1;
        let sheet = Sheet::new(&problem, (arithmetic, &profile), (alpha, beta), before, usize::MAX);
        let sheet = sheet.expect("operands fit").expect("no limit");
        let mut rule = Rule::of(&problem, (arithmetic, &profile), (alpha, beta));
        let mut accepted = Vec::new();
        let visited = problem.for_each(&mut |site| accepted.push(rule.accepts(site, c[accepted.len()])));
        visited.expect("operands fit");
        let right: Vec<u64> = accepted.iter().map(Accepted::expected_bits).collect();
        for round in 0..48 {
            let mut bits = right.clone();
            let disturb = if round < 2 {
                0
            } else if round < 40 {
                1
            } else {
                bits.len()
            };
            for _ in 0..disturb.min(bits.len()) {
                let at = random.below(bits.len() as u64) as usize;
                bits[at] = disturbed(&mut random, &accepted[at], c[at], out);
            }
            if round == 3 && !bits.is_empty() {
                bits[0] = poison;
            }
            let found = sparse_oracle::with_scalar!(out, T => {
                <T as sparse_oracle::scalar::Element>::wrap(bits.iter().map(|&b| T::from_bits64(b)).collect())
            });
            let output = Output {
                found: found.as_slice(),
                place,
                poison: Some(poison),
                before: Some(held.as_slice()),
                before_place: place,
            };
            let screened = judge_problem(&screened_problem, arithmetic, &profile, (alpha, beta), &output);
            let by_rule = sheet.judge(found.as_slice(), place, Some(poison));
            *in_floats += screened.elements - screened.in_big_numbers;
            let finding = by_rule.verdict.is_finding();
            assert_eq!(
                said(screened),
                said(by_rule),
                "{family}, {arithmetic:?}, alpha {alpha}, beta {beta}, turn {turn}, round {round}: {operands}"
            );
            findings += usize::from(finding);
            judged += bits.len();
        }
    }
    assert!(findings > 1000, "only {findings} wrong results");
    // Slots, which a hybrid needs, do not tell where `SplitK` cuts.
    let by_row = |arithmetic: &Arithmetic| {
        let hybrid = arithmetic.parts.second().is_some();
        let is_left = |part: &Part| {
            matches!(part.reduction, Reduction::Cpu(_))
                || hybrid && matches!(part.along, Along::SplitK { .. })
        };
        !arithmetic.parts.iter().any(is_left)
    };
    for ((arithmetic, _), in_floats) in declared.iter().zip(in_floats) {
        assert_eq!(in_floats > 0, by_row(arithmetic), "{in_floats} elements were screened of {arithmetic:?}");
    }
}

/// A result that is judged in several pieces, side by side: the first of the worst elements, the count and the share are those of all.
#[test]
fn pieces_of_a_result_add_up() {
    const ROWS: usize = 2000;
    const COLS: usize = 64;
    const INNER: usize = 50;
    let arithmetic = Arithmetic::any(F32, F32);
    let profile = Profile::default();
    let mut random = Random::new(22, "judge_screen");
    let (mut row_ptr, mut col_idx) = (vec![0u32], Vec::new());
    for _ in 0..ROWS {
        let mut columns = Vec::new();
        let length = random.below(8);
        random.distinct(INNER as u64, length, &mut columns);
        col_idx.extend(columns.iter().map(|&c| c as u32));
        row_ptr.push(col_idx.len() as u32);
    }
    let values = ValueFamily::NearOne.fill(col_idx.len(), 1, F32);
    let b = ValueFamily::NearOne.fill(INNER * COLS, 2, F32);
    let parts = CsrParts { rows: ROWS, cols: INNER, row_ptr, col_idx, values };
    let a = Csr::try_new(parts).expect("a legal matrix");
    let b = Dense::from_fn(INNER, COLS, |i, j| b[i * COLS + j]);
    let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
    let place = Place::Strides(COLS, 1);
    let sheet = Sheet::new(&problem, (&arithmetic, &profile), (1.0, 0.0), None, usize::MAX);
    let sheet = sheet.expect("operands fit").expect("no limit");
    let mut rule = Rule::of(&problem, (&arithmetic, &profile), (1.0, 0.0));
    let mut right = Vec::new();
    let visited = problem.for_each(&mut |site| right.push(rule.accepts(site, 0.0).nearest_bits() as u32));
    visited.expect("operands fit");
    let poison = 0x7fcb_adde;
    let changes: [&[(usize, u32)]; 5] = [
        &[],
        // Within the bound, the larger share in a later piece.
        &[(3, 1), (120_000, 2)],
        // Beyond it in every piece, not written in the third.
        &[(10, 1 << 20), (40_000, 1 << 20), (90_000, u32::MAX), (127_000, 1 << 20)],
        &[(127_999, 1 << 20)],
        &[(127_000, u32::MAX), (126_000, u32::MAX)],
    ];
    for change in changes {
        let mut found: Vec<f32> = right.iter().map(|&bits| f32::from_bits(bits)).collect();
        for &(at, by) in change {
            found[at] = f32::from_bits(if by == u32::MAX { poison } else { found[at].to_bits() ^ by });
        }
        let found = sparse_oracle::scalar::AnySlice::F32(&found);
        let poison = Some(u64::from(poison));
        let output = Output { found, place, poison, before: None, before_place: place };
        let screened = judge_problem(&problem, &arithmetic, &profile, (1.0, 0.0), &output);
        assert_eq!(said(screened), said(sheet.judge(found, place, poison)), "{change:?}");
    }
}

/// All that is said of a result, but for how it was found.
fn said(judged: Judged) -> String {
    format!("{:?}", Judged { in_big_numbers: 0, ..judged })
}

impl std::fmt::Display for Operands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "A {:?} B {:?} C {:?}", self.a, self.b.data(), self.c)
    }
}

/// Which wrong kernels a case forgives is told by a few columns and the screen; by the rule, every element for itself, it is the same.
#[test]
fn what_a_case_forgives_is_what_every_element_forgives() {
    let declared = declarations();
    let scalars = [(1.0, 0.0), (1.0, 1.0), (2.0, -0.5), (0.0, 1.0), (1.0, 1e-30), (0.0, 0.0)];
    let mut random = Random::new(23, "judge_screen");
    let mut counts = [0; 4];
    for turn in 0..20_000 {
        let (arithmetic, input) = &declared[turn % declared.len()];
        let family = VALUE_FAMILIES[turn / declared.len() % VALUE_FAMILIES.len()].family;
        let (alpha, beta) = *random.pick(&scalars);
        if arithmetic.contradiction(alpha, beta).is_some() {
            continue;
        }
        let out = arithmetic.out;
        let Operands { a, b, c } = Operands::new(&mut random, family, *input, out);
        // Zeros in the columns that are looked at first, in most of them, or in all.
        let from = *random.pick(&[0, 0, 7, 8, 9, usize::MAX]);
        let b = Dense::from_fn(b.rows(), b.cols(), |i, j| if j < from { 0.0 } else { b.at(i, j) });
        let b = if *input == F64 {
            b.into()
        } else {
            ExactDense::Narrow(Dense::from_fn(b.rows(), b.cols(), |i, j| b.at(i, j) as f32).into())
        };
        let (pads, slots) = layout(&mut random, &a, arithmetic);
        let problem = Problem::Spmm { a: &a, pads: pads.as_ref(), b: &b, slots: slots.as_ref() };
        let held = Values::from_f64(out, &c);
        let reads_c = beta != 0.0;
        let place = if turn % 2 == 0 { Place::Visited } else { Place::Strides(b.cols(), 1) };
        let before = reads_c.then(|| (held.as_slice(), place));
        let found = vacuity(&problem, arithmetic, (alpha, beta), before).passes;

        let mut rule = Rule::of(&problem, (arithmetic, &Profile::default()), (alpha, beta));
        let (mut zeros, mut stale) = (false, !reads_c && a.rows * b.cols() > 0);
        let mut rows = vec![(false, false); a.rows];
        let visited = problem.for_each(&mut |site| {
            let c = if reads_c { c[site.at.0 * b.cols() + site.at.1] } else { 0.0 };
            let accepted = rule.accepts(site, c);
            let wrong = |y: f64| {
                let bits = encode(y, out, Rounding::NearestEven);
                matches!(accepted.judge(bits), ElementVerdict::Wrong(..))
            };
            zeros |= wrong(0.0);
            stale |= reads_c && wrong(c);
            let row = &mut rows[site.at.0];
            *row = (site.has_entries(), row.1 || wrong(if reads_c { beta * c } else { 0.0 }));
        });
        visited.expect("operands fit");
        let mut with_entries = rows.iter().filter(|row| row.0).peekable();
        let skipped = with_entries.peek().is_some() && with_entries.all(|row| row.1);
        let noticed = [zeros, stale, skipped];
        let passes = Alternative::ALL.into_iter().zip(noticed).filter(|(_, noticed)| !noticed);
        let expected: Vec<Alternative> = passes.map(|(alternative, _)| alternative).collect();
        assert_eq!(
            found, expected,
            "{family}, {arithmetic:?}, {alpha}, {beta}, {from}: A {a:?} B {b:?} C {c:?}"
        );
        counts[expected.len()] += 1;
    }
    assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
}
