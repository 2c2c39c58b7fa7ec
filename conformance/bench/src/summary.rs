//! Each kernel against each peer over all matrices: geometric mean, and the worst single ratio.

use super::preset::Preset;
use super::report::{BenchReport, Comparison, Measured, Summary};
use super::statistics::{Ratio, geometric_mean};

/// In the order in which kernels and peers first appear. LOOPS kernels are told apart by their boundary's kind, not by its
/// value, which differs from matrix to matrix.
pub(super) fn summary(report: &BenchReport, preset: Option<&Preset>) -> Vec<Summary> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (comparison, measured) in timed(report) {
        let against = measured.speed.iter().flat_map(|speed| speed.against.keys());
        for peer in against {
            let pair = (kind(comparison, measured), peer.clone());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    let claims = preset.map_or(&[][..], |preset| preset.claims);
    pairs
        .into_iter()
        .filter_map(|(kernel, peer)| {
            let ratios: Vec<(&Comparison, Ratio)> = timed(report)
                .filter(|(c, m)| kind(c, m) == kernel)
                .filter_map(|(c, m)| Some((c, *m.speed.as_ref()?.against.get(&peer)?)))
                .collect();
            let (at, worst) = ratios.iter().min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))?;
            Some(Summary {
                claimed: claims.contains(&kernel.as_str()),
                peer,
                matrices: ratios.len() as u64,
                mean: geometric_mean(ratios.iter().map(|r| r.1.ratio)),
                worst: *worst,
                worst_matrix: at.matrix.clone(),
                kernel,
            })
        })
        .collect()
}

fn timed(report: &BenchReport) -> impl Iterator<Item = (&Comparison, &Measured)> {
    let of = |c| Comparison::kernels(c).map(move |m| (c, m));
    report.comparisons.iter().flat_map(of)
}

/// The name, and which kind of boundary.
pub(super) fn kind(comparison: &Comparison, measured: &Measured) -> String {
    match measured.parameters.get("boundary") {
        Some(_) if measured.is_planned() => format!("{} as planned", measured.name),
        None => measured.label(),
        Some(0) => format!("{} boundary=0", measured.name),
        Some(&all) if all == comparison.rows => format!("{} boundary=rows", measured.name),
        Some(_) => format!("{} hybrid", measured.name),
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::*;

    #[test]
    fn means_and_worst_by_hand() {
        let report = sample::report(&[("one", 2.0), ("two", 8.0)]);
        let summary = summary(&report, None);
        assert_eq!(summary.len(), 1);
        let row = &summary[0];
        assert_eq!((row.peer.as_str(), row.matrices, row.claimed), ("sprs", 2, false));
        assert!((row.mean - 4.0).abs() < 1e-12);
        assert_eq!((row.worst.ratio, row.worst_matrix.as_str()), (2.0, "one"));
    }
}
