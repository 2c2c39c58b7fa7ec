//! quickcheck and `arbitrary` implementations.
//!
//! From a fuzzer's bytes a spec is a family, a number and a few direct sizes; a matrix is a shape and a list of
//! triples, so that a changed byte changes one thing.

use super::proptests::{draw_spec, with_values};
use super::shrink::{smaller_matrices, smaller_specs};
use crate::format::{Csr, Entries, Entry};
use crate::prelude::*;
use crate::scalar::Precision;
use crate::source::generator::{FAMILIES, quick_spec};
use crate::source::{Random, SourceSpec, ValueFamily};
use ::arbitrary::Unstructured;
use std::collections::BTreeMap;

/// A small canonical CSR matrix of any family, whose values are exactly representable in every precision.
#[derive(Clone, Debug, PartialEq)]
pub struct ArbitraryCsr(pub Csr<f64>);

/// Largest side of a matrix built from bytes.
const SIDE: u32 = 40;
/// Most triples read from bytes.
const TRIPLES: usize = 512;
/// Values of a matrix built from bytes: representable in every precision.
const VALUES: [f64; 16] =
    [1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0, 0.0, -0.0, 0.5, -0.5, 8.0, -8.0, 0.25, 1.5];

impl quickcheck::Arbitrary for SourceSpec {
    fn arbitrary(g: &mut quickcheck::Gen) -> SourceSpec {
        draw_spec(&mut Random::new(u64::arbitrary(g) ^ u64::arbitrary(g).rotate_left(32), "quickcheck"))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = SourceSpec>> {
        smaller_specs(self)
    }
}

impl quickcheck::Arbitrary for ArbitraryCsr {
    fn arbitrary(g: &mut quickcheck::Gen) -> ArbitraryCsr {
        let spec = SourceSpec::arbitrary(g);
        let mut random = Random::new(u64::arbitrary(g), "quickcheck values");
        let values = *random.pick(&[ValueFamily::Ones, ValueFamily::SmallInt, ValueFamily::SignedZero]);
        // Small specs always generate.
        let pattern = spec.generate().unwrap_or_default();
        ArbitraryCsr(with_values(&pattern, &mut random, Precision::E5m2, values))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = ArbitraryCsr>> {
        Box::new(smaller_matrices(&self.0, (0, 0)).map(ArbitraryCsr))
    }
}

impl<'a> ::arbitrary::Arbitrary<'a> for SourceSpec {
    fn arbitrary(u: &mut Unstructured<'a>) -> ::arbitrary::Result<SourceSpec> {
        let family = FAMILIES[u.choose_index(FAMILIES.len())?].family;
        let mut spec = quick_spec(family, u64::from(u.arbitrary::<u16>()?));
        for key in ["rows", "cols"] {
            if spec.get(key).is_some() && u.arbitrary()? {
                // Zero rows mean full size in `synth`.
                let side = u.int_in_range(1..=70)?;
                spec = spec.with(key, side).unwrap_or(spec);
            }
        }
        Ok(spec)
    }
}

impl<'a> ::arbitrary::Arbitrary<'a> for ArbitraryCsr {
    fn arbitrary(u: &mut Unstructured<'a>) -> ::arbitrary::Result<ArbitraryCsr> {
        let (rows, cols) = (u.int_in_range(0..=SIDE)?, u.int_in_range(0..=SIDE)?);
        let mut cells = BTreeMap::new();
        while rows > 0 && cols > 0 && cells.len() < TRIPLES && !u.is_empty() {
            let position = (u.int_in_range(0..=rows - 1)?, u.int_in_range(0..=cols - 1)?);
            cells.insert(position, *u.choose(&VALUES)?);
        }
        let list = cells.into_iter().map(|((row, col), value)| Entry { row, col, value }).collect();
        let entries = Entries { rows: rows as usize, cols: cols as usize, list };
        let matrix = Csr::from_entries(&entries).map_err(|_| ::arbitrary::Error::IncorrectFormat)?;
        Ok(ArbitraryCsr(matrix))
    }
}
