//! Worst and 99.9 % errors of many elements.
//!
//! ```text
//! errors in ascending order:   e1 <= e2 <= ... <= en      99.9 %: e_r, r the least rank with r >= 0.999 n
//! ```

use crate::bounds::Score;

/// The greatest error and where it is; the first of equals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst<P> {
    /// The error.
    pub error: f64,
    /// Where.
    pub place: P,
}

/// What is pinned of one row and family.
#[derive(Clone, Debug)]
pub struct Statistics<P> {
    /// Errors in ulp of the gauge, as they came.
    errors: Vec<f64>,
    /// The greatest of them.
    pub worst: Option<Worst<P>>,
    /// The greatest error in ulp of a result that is at least an eighth of its gauge.
    pub result: Option<Worst<P>>,
    /// The greatest share of the bound.
    pub share: Option<Worst<P>>,
}

impl<P> Default for Statistics<P> {
    fn default() -> Self {
        Statistics { errors: Vec::new(), worst: None, result: None, share: None }
    }
}

impl<P: Copy> Statistics<P> {
    /// Takes one element into account.
    pub fn add(&mut self, gauge_ulps: f64, result_ulps: Option<f64>, share: f64, place: P) {
        let raise = |worst: &mut Option<Worst<P>>, error: f64| {
            if worst.as_ref().is_none_or(|worst| error > worst.error) {
                *worst = Some(Worst { error, place });
            }
        };
        self.errors.push(gauge_ulps);
        raise(&mut self.worst, gauge_ulps);
        raise(&mut self.share, share);
        if let Some(ulps) = result_ulps {
            raise(&mut self.result, ulps);
        }
    }

    /// Takes the elements of one case into account.
    pub fn add_scores(&mut self, scores: &[Score], place: impl Fn(&Score) -> P) {
        for score in scores {
            self.add(score.gauge_ulps, score.result_ulps, score.share, place(score));
        }
    }

    /// Number of elements.
    #[must_use]
    pub const fn elements(&self) -> usize {
        self.errors.len()
    }

    /// The least error, in ulp of the gauge, that 99.9 % of the elements do not exceed; 0 without elements.
    #[must_use]
    pub fn most(&self) -> f64 {
        let mut sorted = self.errors.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * 999).div_ceil(1000);
        rank.checked_sub(1).map_or(0.0, |at| sorted[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_thousand_may_be_larger() {
        let mut statistics = Statistics::default();
        for i in (0..1000).rev() {
            statistics.add(f64::from(i), None, 0.0, i);
        }
        assert_eq!((statistics.elements(), statistics.most()), (1000, 998.0));
        assert_eq!(statistics.worst, Some(Worst { error: 999.0, place: 999 }));
        statistics.add(-1.0, Some(3.0), 0.5, 5000);
        // 1000 of 1001 are 99.9001 %.
        assert_eq!(statistics.most(), 998.0);
        assert_eq!(statistics.result, Some(Worst { error: 3.0, place: 5000 }));
        assert_eq!(statistics.share, Some(Worst { error: 0.5, place: 5000 }));
    }

    #[test]
    fn few_elements_have_their_worst_and_none_have_nothing() {
        let mut statistics = Statistics::default();
        assert_eq!((statistics.most(), statistics.worst), (0.0, None));
        for (place, error) in [1.0, 4.0, 4.0, 2.0].into_iter().enumerate() {
            statistics.add(error, None, 0.0, place);
        }
        assert_eq!(statistics.most(), 4.0);
        assert_eq!(statistics.worst, Some(Worst { error: 4.0, place: 1 }));
    }
}
