//! How far one element is off, in ulp and as a share of what tier T1 allows the declared arithmetic.

use crate::case::Case;
use crate::error::GoldenError;
use crate::layout::{Lane, Term};
use crate::table::Unit;
use crate::ulp::Ulp;
use sparse_oracle::arithmetic::{Arithmetic, Part, Reduction, Selects};
use sparse_oracle::bound::{TermCounts, Tolerance, tolerance_of};
use sparse_oracle::exact::Element;
use sparse_oracle::format::PAD;
use sparse_oracle::scalar::{Precision, decode};
use std::collections::HashMap;

/// How far one element is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Row of the result.
    pub row: usize,
    /// Column of the result.
    pub col: usize,
    /// |error| in ulp of an f32 of the gauge's size.
    pub gauge_ulps: f64,
    /// |error| in ulp of the exact result, where that is at least an eighth of the gauge.
    pub result_ulps: Option<f64>,
    /// |error| as a share of the bound of tier T1.
    pub share: f64,
}

/// What the case's declared arithmetic allows, by the counts of a lane.
#[derive(Debug)]
pub(crate) struct Bounds {
    case: Case,
    arithmetic: Arithmetic,
    known: HashMap<[TermCounts; 2], Option<Tolerance>>,
}

impl Bounds {
    pub(crate) fn new(case: &Case) -> Bounds {
        Bounds { case: *case, arithmetic: case.row.arithmetic(case.target), known: HashMap::new() }
    }

    /// The allowance of the elements of a lane.
    fn of(&mut self, lane: &Lane) -> Option<&Tolerance> {
        let arithmetic = &self.arithmetic;
        let unit = self.case.row.unit;
        let census = |part: &Part| count(part, lane, unit);
        let key =
            [census(arithmetic.part()), arithmetic.parts.second().map_or(TermCounts::default(), census)];
        let fresh = || tolerance_of(arithmetic, census, (1.0, 0.0), 1.0);
        self.known.entry(key).or_insert_with(fresh).as_ref()
    }

    /// How far `bits` are off.
    pub(crate) fn score(
        &mut self,
        lane: &Lane,
        element: &Element,
        bits: u64,
        (row, col): (usize, usize),
    ) -> Result<Score, GoldenError> {
        let case = self.case;
        let gauge = element.gauge.approx();
        let unbounded = || GoldenError::Unbounded { case: case.to_string(), terms: element.terms };
        let tolerance = self.of(lane).ok_or_else(unbounded)?;
        let y = decode(bits, Precision::F32);
        if !y.is_finite() || tolerance.may_overflow(&element.gauge) {
            return Err(GoldenError::NotFinite { case: case.to_string(), row, col, gauge });
        }
        let distance = tolerance.distance(y, &element.value, &element.gauge);
        let ulp = Ulp::of(Precision::F32);
        Ok(Score {
            row,
            col,
            gauge_ulps: distance.error / ulp.at(gauge),
            result_ulps: ulp.of_result(&element.value, gauge).map(|ulp| distance.error / ulp),
            share: distance.share(),
        })
    }
}

/// What one part of the declared arithmetic has to add up for an element of a lane. Products with an unset slot are exact zeros, and
/// not counted.
fn count(part: &Part, lane: &Lane, unit: Unit) -> TermCounts {
    let of_tiles = match part.selects {
        Selects::Tiles => true,
        Selects::Rest => false,
        Selects::All => unit != Unit::Fma,
    };
    let terms = if of_tiles { &lane.tiles } else { &lane.rest };
    let block = match part.reduction {
        Reduction::FmaChain => 1,
        _ => part.block(),
    };
    let magnitude = |term: &Term| term.0 != PAD && term.1 != 0;
    let filled = |block: &&[Term]| block.iter().any(magnitude);
    let products = terms.iter().filter(|term| magnitude(term)).count() as u64;
    let last = terms.iter().rposition(magnitude);
    TermCounts {
        terms: products,
        products,
        blocks: terms.chunks(block).filter(filled).count() as u64,
        extent: last.map_or(0, |at| (at / block) as u64 + 1),
    }
}
