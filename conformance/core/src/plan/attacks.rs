//! Requests that show bugs which people planted to get past the plan; each bug was clean before.
//!
//! ```text
//! 133 x 140, n = 133       second tiles of rows and of columns of C, with A or B transposed, B or C by columns, pads, both factors
//! 3 x 9000, n = 9 to 514   rows longer than a block or a piece of shared memory, transposed (spread) or with many columns of C
//! 4200 x 16400, n = 65     rows, columns and elements past thresholds of 16 bits in kernels for many columns of C
//! 65,537, n = 2            columns and rows past 2^16 in kernels that do SpMV where C has one column
//! 65,536; 2 x 40,000       the last column of 16 bits, and the first that is negative in them
//! 200 x 200, groups = 1    lengths of 8 bits and rows of 16 bits whose sign is read
//! SDDMM                    rows of S longer than a block; an odd inner extent past 64, or none, times S; a zero times an infinite S
//! SpGEMM                   columns of A and rows of C past 2^16
//! parameters               N, M and L of N:M, strides, heights of vectors and tiles, and rests that plans do not draw
//! ```

use super::Tier::Quick;
use super::wide::{
    ANY, Capacity, INTEGERS, Landmark, MATRIX, NARROW, PLAIN, PRODUCTS, ROOMY, SAMPLED, SPARSE_PRODUCT,
    VECTORS, landmark,
};
use crate::case::Params;
use crate::right::Right;
use sparse_oracle::format::Layout::{ColMajor, RowMajor};
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::SddmmMode;

const VECTORWISE: &[Capacity] = &[Capacity::Vectors];
const STRUCTURED: &[Capacity] = &[Capacity::Full];
const WINDOWS: &[Capacity] = &[Capacity::Windows];
const BLOCKS: &[Capacity] = &[Capacity::Windows, Capacity::Plain];

const fn square() -> Landmark {
    landmark("uniform:rows=133,cols=140,density=0.2", 133, MATRIX, ANY, Quick)
}

/// One group, whose lengths are those of whole rows or columns.
const fn one_group(line: &'static str) -> Landmark {
    landmark(line, 2, VECTORS, NARROW, Quick).also(|p| p.blocks.groups = 1)
}

const fn sampled(n: usize) -> Landmark {
    landmark("uniform:rows=9,cols=24,density=0.4", n, SAMPLED, ANY, Quick)
}

const fn pattern(also: fn(&mut Params)) -> Landmark {
    landmark("uniform:rows=130,cols=150,density=0.5", 9, VECTORS, VECTORWISE, Quick).also(also)
}

const fn structured(also: fn(&mut Params)) -> Landmark {
    landmark("uniform:rows=37,cols=130,density=0.5", 9, VECTORS, STRUCTURED, Quick).also(also)
}

const fn blocked(also: fn(&mut Params)) -> Landmark {
    landmark("uniform:rows=70,cols=60,density=0.3", 9, VECTORS, BLOCKS, Quick).also(also)
}

pub(super) const ATTACKS: [Landmark; 48] = [
    square().transposed(true, false),
    square().transposed(false, true),
    square().transposed(true, true),
    square().also(|p| (p.layout_b, p.layout_c, p.transpose_b) = (ColMajor, RowMajor, false)),
    square().also(|p| (p.layout_b, p.layout_c, p.transpose_b) = (RowMajor, ColMajor, false)),
    square().also(|p| (p.layout_b, p.layout_c, p.pad_b, p.pad_c) = (RowMajor, RowMajor, 8, 8)),
    square().also(both),
    // A leading dimension that is no multiple of 4, beside a width that is one.
    landmark("uniform:rows=133,cols=140,density=0.2", 132, MATRIX, ANY, Quick).also(by_rows),
    landmark("longrows:rows=6,cols=700,count=3,length=600", 33, PRODUCTS, ROOMY, Quick)
        .transposed(true, false),
    landmark("longrows:rows=6,cols=300,count=3,length=250", 33, PRODUCTS, NARROW, Quick)
        .transposed(true, false),
    landmark("longrows:rows=3,cols=4400,count=1,length=4300", 9, MATRIX, ROOMY, Quick)
        .transposed(true, false),
    landmark("longrows:rows=3,cols=9000,count=1,length=8700", 9, MATRIX, ROOMY, Quick),
    landmark("longrows:rows=6,cols=1200,count=3,length=1100", 130, MATRIX, ROOMY, Quick),
    landmark("longrows:rows=3,cols=400,count=1,length=300", 514, MATRIX, ROOMY, Quick),
    landmark("longrows:rows=6,cols=300,count=3,length=250", 70, MATRIX, NARROW, Quick),
    landmark("uniform:rows=4200,cols=16400,density=0.0001", 65, MATRIX, PLAIN, Quick).also(both),
    landmark("uniform:rows=4,cols=66000,density=0.01", 34, MATRIX, PLAIN, Quick),
    landmark("diagonal:rows=65537,cols=65537", 2, MATRIX, PLAIN, Quick),
    landmark("diagonal:rows=65537,cols=65537", 2, PRODUCTS, PLAIN, Quick).transposed(true, false),
    landmark("diagonal:rows=65536,cols=65536", 2, VECTORS, PLAIN, Quick),
    landmark("longrows:rows=2,cols=40000,count=1,length=40000", 1, PRODUCTS, ROOMY, Quick).of(INTEGERS),
    one_group("dense:rows=200,cols=200"),
    one_group("dense:rows=255,cols=255"),
    one_group("uniform:rows=400,cols=400,density=0.45"),
    one_group("uniform:rows=40000,cols=400,density=0.0005"),
    one_group("uniform:rows=400,cols=40000,density=0.0005"),
    landmark("longrows:rows=4,cols=600,count=2,length=400", 8, SAMPLED, ANY, Quick),
    landmark("longrows:rows=4,cols=1200,count=2,length=1100", 33, SAMPLED, ANY, Quick),
    landmark("uniform:rows=200,cols=200,density=0.5", 33, SAMPLED, ANY, Quick)
        .of(ValueFamily::PlacedSpecial)
        .everywhere(),
    landmark("diagonal:rows=66000,cols=66000", 9, SAMPLED, ANY, Quick),
    sampled(129).also(scaled),
    sampled(0).of(ValueFamily::Special).also(scaled),
    sampled(1).of(ValueFamily::Special).also(scaled),
    sampled(4).of(ValueFamily::Special).also(|p| (p.mode, p.alpha, p.beta) = (SddmmMode::AddS, 1.0, 0.0)),
    landmark("uniform:rows=4,cols=66000,density=0.01", 3, SPARSE_PRODUCT, ANY, Quick).also(long),
    landmark("diagonal:rows=65537,cols=65537", 9, SPARSE_PRODUCT, ANY, Quick).also(long),
    pattern(|p| (p.blocks.n, p.blocks.m, p.blocks.l) = (4, 8, 4)),
    pattern(|p| (p.blocks.n, p.blocks.m, p.blocks.l) = (5, 12, 64)),
    pattern(|p| (p.blocks.n, p.blocks.m, p.blocks.l) = (8, 32, 32)),
    pattern(|p| (p.blocks.n, p.blocks.m, p.blocks.l) = (3, 64, 5)),
    structured(|p| p.blocks.m = 10),
    structured(|p| p.blocks.m = 40),
    structured(|p| (p.blocks.n, p.blocks.m) = (3, 8)),
    blocked(|p| (p.blocks.stride, p.blocks.boundary) = (16, Some(70))),
    blocked(|p| (p.blocks.v, p.blocks.br) = (32, 48)),
    blocked(|p| (p.blocks.stride, p.blocks.br, p.blocks.block_rows, p.blocks.block_cols) = (3, 5, 12, 7)),
    // Rests of 60 entries, which a warp takes in two turns.
    landmark("dense:rows=40,cols=60", 4, MATRIX, WINDOWS, Quick)
        .also(|p| (p.blocks.tau_nnz, p.blocks.tau_inc) = (Some(64), Some(0))),
    landmark("diagonal:rows=9000,cols=9000", 2, MATRIX, WINDOWS, Quick).also(|p| p.blocks.tau_nnz = Some(0)),
];

fn scaled(p: &mut Params) {
    (p.mode, p.alpha, p.beta) = (SddmmMode::Scale, 1.0, 0.0);
}

fn by_rows(p: &mut Params) {
    (p.layout_b, p.layout_c, p.transpose_b, p.pad_b, p.pad_c) = (RowMajor, RowMajor, false, 2, 2);
}

fn both(p: &mut Params) {
    (p.alpha, p.beta) = (-0.75, 0.5);
}

fn long(p: &mut Params) {
    p.right = Right::Long;
}
