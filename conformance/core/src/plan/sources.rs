//! Matrices that plans choose from: a few of every generator in every class of shapes.
//!
//! ```text
//! shape    none   single   small   medium   tall   wide   border   large   far-tall   far-wide
//! extents  0      1        <= 33   <= 70    rows 4 times columns, or columns 4 times rows     ..  4,095 and more
//! ```
//!
//! The class of a shape is a function of rows and columns, so that it can be told from a case line. The extents of a class lie around the
//! borders of blocks and grids: 32, 64, 128, 256, 1024 and one less and more.

use super::mix::Mix;
use crate::origin::Origin;
use rayon::prelude::*;
use sparse_oracle::source::generator::{FAMILIES, Family, SourceSpec, quick_spec};

/// Names of the classes of shapes, in the order of [`shape_class`].
pub(crate) const SHAPES: [&str; 10] =
    ["none", "single", "small", "medium", "tall", "wide", "border", "large", "far-tall", "far-wide"];

/// The class of a matrix of so many rows and columns.
pub(crate) fn shape_class(rows: u64, cols: u64) -> usize {
    let (least, most) = (rows.min(cols), rows.max(cols));
    match () {
        () if least == 0 => 0,
        () if rows >= FAR => 8,
        () if cols >= FAR => 9,
        () if least == 1 => 1,
        () if most > 70 && rows >= 4 * cols => 4,
        () if most > 70 && cols >= 4 * rows => 5,
        () if most <= 33 => 2,
        () if most <= 70 => 3,
        () if most <= 260 => 6,
        () => 7,
    }
}

/// Extent from which a shape is far.
const FAR: u64 = 4095;

/// Generators that are alike, so that a plan needs not pair each with everything; each group's members take turns.
pub(crate) const GROUPS: [(&str, &[Family]); 8] = [
    ("uniform", &[Family::Uniform, Family::Tails, Family::Borders]),
    ("banded", &[Family::Banded, Family::Stencil]),
    ("single-entry", &[Family::Diagonal, Family::Permutation, Family::Corners]),
    ("power-law", &[Family::Rmat, Family::Zipf, Family::Circuit, Family::Synth]),
    ("blocks", &[Family::Block, Family::Nm, Family::Dense]),
    ("empty-lines", &[Family::Empty, Family::Zero]),
    ("full-lines", &[Family::DenseRow, Family::Arrow, Family::Lp]),
    ("row-lengths", &[Family::Lengths, Family::LongRows, Family::Collide, Family::Pairs]),
];

/// The group of a generator.
pub(crate) fn group_of(family: Family) -> Option<usize> {
    GROUPS.iter().position(|(_, members)| members.contains(&family))
}

/// Group and class of shape of a generated matrix; none for files and the embedded pack.
pub(crate) fn classes(origin: &Origin) -> Option<(usize, usize)> {
    let Origin::Spec(spec) = origin else { return None };
    let shape = spec.shape().ok()?;
    Some((group_of(spec.family())?, shape_class(shape.rows, shape.cols)))
}

/// A matrix to choose, and what is known of it once it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub spec: SourceSpec,
    pub rows: u64,
    pub cols: u64,
    pub nnz: u64,
    /// Entries of its longest row.
    pub longest_row: u64,
    /// Entries of its longest column.
    pub longest_col: u64,
}

impl Choice {
    pub(super) fn of(spec: SourceSpec) -> Option<Choice> {
        let pattern = spec.generate().ok()?;
        let lengths = pattern.row_ptr.windows(2).map(|w| u64::from(w[1]) - u64::from(w[0]));
        let mut columns = vec![0; pattern.cols];
        pattern.col_idx.iter().for_each(|&col| columns[col as usize] += 1);
        Some(Choice {
            spec,
            rows: pattern.rows as u64,
            cols: pattern.cols as u64,
            nnz: pattern.col_idx.len() as u64,
            longest_row: lengths.max().unwrap_or(0),
            longest_col: columns.into_iter().max().unwrap_or(0),
        })
    }
}

/// Matrices by generator and class of shape.
#[derive(Debug)]
pub(crate) struct Pool {
    by_family: Vec<[Vec<Choice>; SHAPES.len()]>,
}

/// Entries of a matrix at most, but for far shapes and long rows, whose other costs are small.
const MAX_NNZ: u64 = 20_000;

impl Pool {
    /// So many matrices for each generator and class, where the generator has some.
    pub(crate) fn new(seed: u64, variants: usize) -> Pool {
        let of = |info: &sparse_oracle::source::generator::FamilyInfo| {
            std::array::from_fn(|class| {
                let mut mix = Mix::new(&[seed, info.family as u64, class as u64, 0x5005]);
                choices(info.family, class, variants, &mut mix)
            })
        };
        Pool { by_family: FAMILIES.par_iter().map(of).collect() }
    }

    /// A matrix of this group and class that `fits`; generators and matrices take turns by `turn`.
    pub(crate) fn choose(
        &self,
        (group, class): (usize, usize),
        turn: u64,
        fits: impl Fn(&Choice) -> bool,
    ) -> Option<Choice> {
        let families = GROUPS.get(group)?.1;
        let has = |f: &&Family| self.of(**f, class).iter().any(&fits);
        let able: Vec<&Family> = families.iter().filter(has).collect();
        let family = *able.get((turn % able.len().max(1) as u64) as usize)?;
        self.of_family(*family, class, turn / able.len() as u64, &fits)
    }

    /// A matrix of this generator and class that `fits`.
    pub(crate) fn of_family(
        &self,
        family: Family,
        class: usize,
        turn: u64,
        fits: impl Fn(&Choice) -> bool,
    ) -> Option<Choice> {
        let fitting: Vec<&Choice> = self.of(family, class).iter().filter(|c| fits(c)).collect();
        fitting.get((turn % fitting.len().max(1) as u64) as usize).map(|choice| **choice)
    }

    fn of(&self, family: Family, class: usize) -> &[Choice] {
        self.by_family.get(family as usize).map_or(&[], |classes| &classes[class])
    }
}

fn choices(family: Family, class: usize, variants: usize, mix: &mut Mix) -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    for _ in 0..40 * variants {
        if found.len() == variants {
            break;
        }
        let spec = sized(quick_spec(family, mix.below(1 << 20)), class, mix);
        let Ok(shape) = spec.shape() else { continue };
        let known = found.iter().any(|c| c.spec == spec);
        if !known && shape_class(shape.rows, shape.cols) == class && shape.nnz_at_most <= u128::from(MAX_NNZ)
        {
            // Without an entry a matrix shows little: where nothing else can be is place enough for it.
            let shows = |c: &Choice| c.nnz > 0 || class == 0 || family == Family::Zero;
            found.extend(Choice::of(spec).filter(shows));
        }
    }
    found
}

/// The spec with extents of a class, where the generator takes extents, and few enough entries, where it takes a density.
fn sized(spec: SourceSpec, class: usize, mix: &mut Mix) -> SourceSpec {
    let (rows, cols) = extents(class, mix);
    let mut spec = spec;
    for (key, value) in [("rows", rows), ("cols", cols)] {
        // A published matrix has the rows that it has, or fewer.
        if spec.family() != Family::Synth {
            spec = spec.with(key, value as i64).unwrap_or(spec);
        }
    }
    if spec.get("density").is_some() && spec.shape().is_ok_and(|s| s.nnz_at_most > u128::from(MAX_NNZ / 4)) {
        let places = rows.saturating_mul(cols).max(1);
        let density = (1_000_000 * (MAX_NNZ / 5) / places).max(1);
        spec = spec.with("density", density as i64).unwrap_or(spec);
    }
    // Lengths that fit, long ones at the borders of blocks.
    for key in ["longest", "length"] {
        if let Some(length) = spec.get(key) {
            let border =
                i64::from(mix.pick(&[33, 64, 128, 256, 257, 512, 1000, 1024, 4096])).min(cols as i64);
            let length = if key == "length" { border } else { length.min(cols as i64) };
            spec = spec.with(key, length).unwrap_or(spec);
        }
    }
    if spec.get("entries").is_some() {
        let places = rows.saturating_mul(cols);
        let border = mix.pick(&[31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025]).min(places);
        spec = spec.with("entries", border as i64).unwrap_or(spec);
    }
    spec
}

/// Rows and columns of a class.
fn extents(class: usize, mix: &mut Mix) -> (u64, u64) {
    let mut near = |of: &[u64]| (mix.pick(of) + mix.below(3)).saturating_sub(1);
    let small = |near: &mut dyn FnMut(&[u64]) -> u64| near(&[2, 3, 4, 5, 7, 8, 11, 16, 17, 24, 32]);
    match class {
        0 => match near(&[2, 8, 33]) % 3 {
            0 => (0, small(&mut near)),
            1 => (small(&mut near), 0),
            _ => (0, 0),
        },
        1 => {
            let other = near(&[1, 2, 9, 17, 33, 64, 128, 256, 1024]).max(1);
            if near(&[4, 5]).is_multiple_of(2) { (1, other) } else { (other, 1) }
        }
        2 => (small(&mut near).max(2), small(&mut near).max(2)),
        3 => (near(&[34, 40, 48, 56, 64, 64, 65]), near(&[8, 16, 32, 40, 48, 64, 65])),
        4 => (near(&[72, 96, 128, 256, 512]), near(&[3, 8, 16])),
        5 => (near(&[3, 8, 16]), near(&[72, 128, 256, 512, 1024])),
        6 => (near(&[72, 100, 128, 192, 256]), near(&[64, 100, 128, 256])),
        7 => match near(&[2, 9]) % 2 {
            0 => (near(&[512, 1024]), near(&[300, 512, 1024])),
            _ => (near(&[300, 512]), near(&[512, 1024])),
        },
        8 => (near(&[4096, 4096, 4097]).max(FAR), near(&[2, 8, 64, 257, 1024])),
        _ => (near(&[2, 8, 16, 33]), near(&[4096, 8192, 16_384, 32_768, 65_536]).max(FAR)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_is_in_one_group_and_every_group_has_shapes() {
        for info in &FAMILIES {
            let groups = GROUPS.iter().filter(|g| g.1.contains(&info.family)).count();
            assert_eq!(groups, 1, "{} belongs to one group of GROUPS", info.name);
        }
        let pool = Pool::new(0, 3);
        for (place, (name, _)) in GROUPS.iter().enumerate() {
            let classes: Vec<&str> = (0..SHAPES.len())
                .filter(|&class| pool.choose((place, class), 0, |_| true).is_some())
                .map(|class| SHAPES[class])
                .collect();
            println!("{name}: {classes:?}");
            assert!(classes.len() >= 4, "{name} has {classes:?}");
        }
    }

    #[test]
    fn the_extents_of_a_class_are_in_it() {
        let mut mix = Mix::new(&[1]);
        for (class, name) in SHAPES.iter().enumerate() {
            let hits = (0..200).filter(|_| {
                let (rows, cols) = extents(class, &mut mix);
                shape_class(rows, cols) == class
            });
            let hits = hits.count();
            assert!(hits > 120, "{name}: {hits} of 200");
        }
    }
}
