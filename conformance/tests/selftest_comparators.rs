//! Broken comparators are caught, by what they get wrong; our own judge and a careful comparator are not.

use sparse_conformance::selftest::comparator::{ALL, Probe, View, probes};
use std::sync::OnceLock;

fn all_probes() -> &'static [Probe] {
    static PROBES: OnceLock<Vec<Probe>> = OnceLock::new();
    PROBES.get_or_init(probes)
}

#[test]
fn our_own_judge_judges_every_probe_right() {
    for probe in all_probes() {
        assert_eq!(probe.misjudged_by_the_suite(), None, "{}", probe.name);
        assert!(probe.verdict.kind().ran(), "{}: {}", probe.name, probe.verdict);
    }
    assert!(all_probes().iter().filter(|p| p.right).count() >= 10);
    assert!(all_probes().iter().filter(|p| !p.right).count() >= 20);
}

/// Else a comparator might be killed by the slack of the others' common part, not by its own bug.
#[test]
fn a_careful_comparator_judges_every_probe_right() {
    let careful = |v: &View| {
        // One rounding to the output, and sums in f32 at least.
        let tolerance = v.unit() + 64.0 * v.inner.max(1) as f64 * v.unit().min(2f64.powi(-24));
        let close = |e: f64, f: f64| {
            e == f
                || e.is_nan() && f.is_nan()
                || e.is_finite() && f.is_finite() && (e - f).abs() <= tolerance * (1.0 + e.abs())
        };
        v.expected_at == v.found_at && v.pairs().all(|(e, f)| close(e, f))
    };
    for probe in all_probes() {
        assert_eq!(careful(&probe.view), probe.right, "{}", probe.name);
    }
}

#[test]
fn every_broken_comparator_misjudges_a_probe() {
    let mut survivors = Vec::new();
    for comparator in ALL {
        let (seen, found) = comparator.hunt(all_probes());
        match found {
            Some(m) => println!("{:40} probe {seen:2}: {} {}", comparator.name, m.said, m.probe),
            None => survivors.push(comparator.name),
        }
    }
    assert!(survivors.is_empty(), "{survivors:?}");
}

#[test]
fn every_probe_changes_what_it_says() {
    for probe in all_probes().iter().filter(|p| !p.right) {
        let view = &probe.view;
        let same = view.expected_at == view.found_at
            && view.pairs().all(|(e, f)| e.to_bits() == f.to_bits() || e.is_nan() && f.is_nan());
        assert!(!same, "{}: the result is still the right one", probe.name);
    }
}
