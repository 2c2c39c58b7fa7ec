//! Operands: edges with edges, all of 16 bits, random ones.

use crate::source::Source;
use crate::types::{Form, Kind, Type};
use sparse_ptx::registers::{LANES, Mask};

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Values at which instructions change their ways.
fn edges(ty: Type, width: u32) -> Vec<u64> {
    let signs = |magnitudes: Vec<u64>| magnitudes.iter().flat_map(|&m| [m, m | 1 << (width - 1)]).collect();
    match (ty.kind, width) {
        (_, 1) => vec![0, 1],
        (Kind::Float | Kind::Tf32, 32) => signs(vec![
            0,
            1,
            2,
            0x3fff,
            0x0040_0000,
            0x007f_ffff,
            0x0080_0000,
            0x0080_0001,
            0x0100_0000,
            0x3300_0000,
            0x3300_0001,
            0x3380_0000,
            0x387f_c000,
            0x387f_f000,
            0x3880_0000,
            0x3f00_0000,
            0x3f7f_ffff,
            0x3f80_0000,
            0x3f80_1000,
            0x3f80_3000,
            0x3f80_0001,
            0x4020_0000,
            0x4060_0000,
            0x4f00_0000,
            0x4eff_ffff,
            0x5f00_0000,
            0x477f_efff,
            0x477f_f000,
            0x7f7f_ffff,
            0x7f80_0000,
            0x7f80_0001,
            0x7fc0_0000,
            0x7fff_ffff,
        ]),
        (Kind::Float, 64) => signs(vec![
            0,
            1,
            (1 << 52) - 1,
            1 << 52,
            0x3690_0000_0000_0000,
            0x3690_0000_0000_0001,
            0x380f_ffff_ffff_ffff,
            0x3810_0000_0000_0000,
            0x3fe0_0000_0000_0000,
            0x3ff0_0000_0000_0000,
            0x3ff0_0000_1000_0000,
            0x3ff0_0000_1000_0001,
            0x3ff0_0000_0000_0001,
            0x4004_0000_0000_0000,
            0x41df_ffff_ffff_ffff,
            0x43e0_0000_0000_0000,
            0x47ef_ffff_f000_0000,
            0x7fef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0x7ff0_0000_0000_0001,
            0x7ff8_0000_0000_0000,
        ]),
        (Kind::Float, 16) => signs(vec![
            0, 1, 0x3ff, 0x400, 0x401, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x4100, 0x7bff, 0x7c00, 0x7c01,
            0x7e00, 0x7fff,
        ]),
        (Kind::Brain, 16) => signs(vec![
            0, 1, 0x7f, 0x80, 0x81, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x4020, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0,
            0x7fff,
        ]),
        _ => {
            let mut edges = vec![0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256];
            for bit in [7, 8, 15, 16, 23, 24, 31, 32, 63] {
                edges.extend([1u64 << bit, (1u64 << bit).wrapping_sub(1), (1u64 << bit) + 1, !(1u64 << bit)]);
            }
            edges.extend([u64::MAX, u64::MAX - 1, 0x3210, 0x7654, 0xfedc_ba98, 0x0123_4567_89ab_cdef]);
            edges.iter_mut().for_each(|edge| *edge &= mask(width));
            edges.sort_unstable();
            edges.dedup();
            edges
        }
    }
}

/// A random value: any bits, few bits, near an edge, a float with an exponent near that of 1.
fn random(ty: Type, width: u32, edges: &[u64], source: &mut Source) -> u64 {
    let bits = source.next();
    let near = |fraction: u32, one: u64| {
        let exponent = (one >> fraction).wrapping_add(bits % 40).wrapping_sub(20);
        (source_fraction(bits, fraction) | exponent << fraction) & mask(width - 1)
            | (bits >> 63) << (width - 1)
    };
    match (bits >> 32 & 7, ty.kind, width) {
        (0, _, _) => edges[source.below(edges.len() as u64) as usize],
        (1 | 2, Kind::Float | Kind::Tf32, 32) => near(23, 0x3f80_0000),
        (1 | 2, Kind::Float, 64) => near(52, 0x3ff0_0000_0000_0000),
        (1, Kind::Float, 16) => near(10, 0x3c00),
        (1, Kind::Brain, 16) => near(7, 0x3f80),
        (3, _, _) => (source.next() & mask(width)) >> (bits % u64::from(width)),
        (4, _, _) => {
            edges[source.below(edges.len() as u64) as usize].wrapping_add(bits % 5).wrapping_sub(2)
                & mask(width)
        }
        _ => source.next() & mask(width),
    }
}

fn source_fraction(bits: u64, fraction: u32) -> u64 {
    bits.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask(fraction)
}

/// Shows batches of 32 tuples, with a random mask each.
pub(crate) fn batches(
    form: &Form<'_>,
    widths: &[u32],
    count: usize,
    source: &mut Source,
    mut show: impl FnMut(&[Vec<u64>], Mask),
) {
    let ty = form.source();
    let edges: Vec<Vec<u64>> = widths
        .iter()
        .map(|&width| {
            let pair = |edges: Vec<u64>| {
                edges
                    .iter()
                    .enumerate()
                    .map(|(i, &low)| edges[(i * 7 + 3) % edges.len()] << 16 | low)
                    .collect()
            };
            if form.pairs && ty.bits == 16 { pair(self::edges(ty, 16)) } else { self::edges(ty, width) }
        })
        .collect();
    let mut batch: Vec<Vec<u64>> = Vec::with_capacity(LANES);
    let mut add = |tuple: Vec<u64>, mask: u64| {
        batch.push(tuple);
        if batch.len() == LANES {
            show(&batch, mask as Mask);
            batch.clear();
        }
    };
    if let [16] = widths {
        (0..=0xffff).for_each(|bits| add(vec![bits], u64::MAX));
        return;
    }
    // Edges with edges, in the first two sources; the others turn at random.
    let second = edges.get(1).map_or(1, Vec::len);
    for i in 0..edges[0].len() * second {
        let random = source.next();
        let pick = |(n, edges): (usize, &Vec<u64>)| match n {
            0 => edges[i / second],
            1 => edges[i % second],
            _ => edges[(random >> (n * 8)) as usize % edges.len()],
        };
        add(edges.iter().enumerate().map(pick).collect(), random);
    }
    for _ in 0..count.next_multiple_of(LANES) {
        let tuple =
            widths.iter().zip(&edges).map(|(&width, edges)| random(ty, width, edges, source)).collect();
        add(tuple, source.next());
    }
}
