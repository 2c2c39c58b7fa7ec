//! Nothing is forgotten: systems, operations, types, architectures, matrix families, values, both parts of hybrids.

mod reviewed;

use reviewed::reviewed;
use sparse_golden::case::{Case, patterns};
use sparse_golden::families::{MATRICES, Values};
use sparse_golden::layout::Work;
use sparse_golden::table::{GPUS, Op, ROWS, Row, System, Target, Unit};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::scalar::{F16, Precision};
use sparse_oracle::source::generator::FAMILIES;
use sparse_oracle::source::values::VALUE_FAMILIES;
use std::collections::BTreeSet;

/// Families of patterns that are not pinned, and why.
const WITHOUT: [(&str, &str); 11] = [
    ("lp", "rows like those of dense_row and uniform"),
    ("diagonal", "sums of one term, which are exact before they are rounded"),
    ("permutation", "sums of one term"),
    ("arrow", "dense_row with a diagonal"),
    ("corners", "sums of two terms"),
    ("zero", "no sums"),
    ("borders", "uniform with counted entries"),
    ("longrows", "long rows like those of dense_row and zipf"),
    ("collide", "rows like those of uniform, other columns"),
    ("pairs", "rows like those of uniform, other columns"),
    ("synth", "published matrices: too large, or cut to rows of the families here"),
];

/// Values that are not pinned, and why; the others are drawn by `Values`.
const WITHOUT_VALUES: [(&str, &str); 16] = [
    ("ones", "exact"),
    ("small-int", "exact"),
    ("huge", "overflows"),
    ("cancelling", "near-cancelling is what rounding shows in"),
    ("subnormal", "bounds of subnormal operands are tested in hardware_bound"),
    ("special", "not finite"),
    ("signed-zero", "exact"),
    ("coded", "exact but for long rows"),
    ("ones-a", "exact but for long rows"),
    ("ones-b", "exact but for long rows"),
    ("subnormal-a", "bounds of subnormal operands are tested in hardware_bound"),
    ("subnormal-b", "bounds of subnormal operands are tested in hardware_bound"),
    ("one-big", "exact but for long rows"),
    ("placed-special", "not finite"),
    ("subnormal-sums", "exact"),
    ("one-term", "mostly exact"),
];

#[test]
fn every_system_has_the_operations_and_types_of_its_paper() {
    let wanted = [
        (System::Loops, Op::Spmm, Precision::F16),
        (System::Rsh, Op::Spmm, Precision::F16),
        (System::Rsh, Op::Spmm, Precision::Tf32),
        (System::Libra, Op::Spmm, Precision::F16),
        (System::Libra, Op::Spmm, Precision::Tf32),
        (System::Libra, Op::Sddmm, Precision::F16),
        (System::Libra, Op::Sddmm, Precision::Tf32),
        (System::Nm, Op::Spmm, Precision::F16),
        (System::Nm, Op::Spmm, Precision::Tf32),
        (System::Nm, Op::Spmm, Precision::F32),
        (System::CudaCore, Op::Spmm, Precision::F32),
    ];
    let pinned: BTreeSet<(System, Op, Precision)> =
        ROWS.iter().map(|row| (row.system, row.op, row.input)).collect();
    assert_eq!(pinned, wanted.into_iter().collect());
    for system in System::ALL {
        assert!(ROWS.iter().any(|row| row.system == system), "{}", system.name());
    }
}

#[test]
fn every_row_runs_on_every_architecture_of_the_papers() {
    let wanted = [Architecture::Sm80, Architecture::Sm86, Architecture::Sm89, Architecture::Sm90];
    assert_eq!(GPUS, wanted.map(Target::Gpu));
    for row in &ROWS {
        match row.system {
            System::Loops => assert_eq!(row.targets, [Target::Sme]),
            _ => assert_eq!(row.targets, GPUS, "{}", row.name(row.targets[0])),
        }
        let (chain, tensor_core) = (row.unit == Unit::Fma, row.instruction().is_some());
        assert!(!(chain && tensor_core));
        assert_eq!(chain, row.input == Precision::F32);
    }
}

#[test]
fn every_name_is_unique_and_parses_back() {
    let mut names = BTreeSet::new();
    for row in &ROWS {
        for &target in row.targets {
            let name = row.name(target);
            let (found, on) = Row::from_name(&name).expect("its own name");
            assert_eq!((found.name(on), on), (name.clone(), target));
            assert!(names.insert(name));
        }
    }
    assert!(Row::from_name("libra.spmm.f16.m16n8k8.sme").is_none());
}

#[test]
fn every_family_is_pinned_or_left_out_for_a_reason() {
    let pinned: BTreeSet<&str> =
        patterns().expect("patterns").iter().map(|source| source.family().name()).collect();
    assert_eq!(pinned.len(), MATRICES.len(), "a family occurs twice");
    let mut all = pinned.clone();
    for (name, _) in &WITHOUT {
        assert!(all.insert(name), "{name} is pinned and left out");
    }
    let known: BTreeSet<&str> = FAMILIES.iter().map(|info| info.name).collect();
    assert_eq!(all, known);
    let mut values: BTreeSet<&str> = ["near-one", "wide", "near-cancelling"].into();
    values.extend(WITHOUT_VALUES.iter().map(|(name, _)| *name));
    let known: BTreeSet<&str> = VALUE_FAMILIES.iter().map(|info| info.name).collect();
    assert_eq!(values, known);
}

#[test]
fn every_row_target_and_family_is_in_the_reviewed_snapshot() {
    let mut lines = 0;
    for system in System::ALL {
        let text = reviewed(system.name());
        let mut sections = text.split("\n\n").skip(2).map(|section| section.lines());
        for row in ROWS.iter().filter(|row| row.system == system) {
            for &target in row.targets {
                let mut section = sections.by_ref().find(|s| s.clone().next() == Some(&row.name(target)));
                let section = section.as_mut().expect("a section of each row and target, in order").skip(1);
                let families: Vec<&str> =
                    section.map(|line| line.split_whitespace().next().expect("a family")).collect();
                let wanted: Vec<&str> =
                    MATRICES.iter().map(|line| line.split(':').next().expect("a family")).collect();
                assert_eq!(families, wanted, "{}", row.name(target));
                lines += families.len();
            }
        }
    }
    assert_eq!(lines, (14 * 4 + 1) * MATRICES.len());
}

#[test]
fn both_parts_of_every_hybrid_have_terms_and_libra_writes_elements_from_both() {
    for row in ROWS.iter().filter(|row| row.arithmetic(row.targets[0]).parts.second().is_some()) {
        let (mut tiles, mut rest, mut both) = (0, 0, 0);
        for source in patterns().expect("patterns") {
            let case = Case::pinned(
                Row::from_name(&row.name(row.targets[0])).expect("a row").0,
                row.targets[0],
                source,
                Values::NearOne,
            );
            let pattern = source.generate().expect("a pattern");
            // The division does not depend on the type of the values.
            let work = Work::<F16>::new(row, &pattern, case.values, case.n, source.seed()).expect("encoded");
            for lane in &work.lanes {
                tiles += usize::from(!lane.tiles.is_empty());
                rest += usize::from(!lane.rest.is_empty());
                both += usize::from(!lane.tiles.is_empty() && !lane.rest.is_empty());
            }
        }
        let name = row.name(row.targets[0]);
        assert!(tiles > 30 && rest > 10, "{name}: {tiles} lanes with tiles, {rest} with a rest");
        let may = (row.system, row.op) == (System::Libra, Op::Spmm);
        assert_eq!(both > 30, may, "{name}: {both} lanes with both");
    }
}
