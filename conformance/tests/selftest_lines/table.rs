//! The lines themselves; `S`, `V`, `D` and `G` stand for SpMM, SpMV, SDDMM and SpGEMM of CSR in f32.

/// A bug, lines, and how often they are run in turn.
pub(super) static DIES: &[(&str, &[&str], usize)] = &[
    (
        "columns: only the first 64",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=65"],
        1,
    ),
    (
        "columns: only the first 128",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=129"],
        1,
    ),
    (
        "columns: only the first 256",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=257"],
        1,
    ),
    (
        "columns: only the first 512",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=513"],
        1,
    ),
    (
        "columns: tail after tiles of 64",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=100"],
        1,
    ),
    (
        "columns: tail after tiles of 128",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=200"],
        1,
    ),
    (
        "columns: odd n past 64",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=65"],
        1,
    ),
    (
        "columns: n = 64 forgets the last",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=64"],
        1,
    ),
    (
        "columns: a last tile of one",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=97"],
        1,
    ),
    (
        "columns: border of 256 taken twice",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=257"],
        1,
    ),
    (
        "columns: long rows cut where n > 511",
        &["S/dense:rows=3,cols=40,seed=1/values=near-one,3/n=512"],
        1,
    ),
    (
        "columns: n = 128 ignores alpha",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=128/alpha=0.5"],
        1,
    ),
    (
        "columns: n past 256 ignores beta",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=257/beta=1"],
        1,
    ),
    (
        "columns: halves exchanged at n = 256",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=256"],
        1,
    ),
    (
        "columns: index of B in a byte",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=300"],
        1,
    ),
    (
        "elements: only the first 2^17",
        &["S/uniform:rows=140,cols=3,density=0.5,seed=1/values=near-one,3/n=1000"],
        1,
    ),
    (
        "elements: last warp of a wide C",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=65"],
        1,
    ),
    (
        "rows: only the first 256",
        &["V/diagonal:rows=300,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: only the first 1,024",
        &["V/diagonal:rows=1100,cols=1100,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: only the first 4,096",
        &["V/diagonal:rows=4200,cols=4200,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: only the first 32,767",
        &["V/diagonal:rows=33000,cols=33000,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: only the first 65,535",
        &["V/diagonal:rows=66000,cols=66000,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: 16 bits",
        &["V/diagonal:rows=66000,cols=66000,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: tail after tiles of 128",
        &["V/diagonal:rows=200,cols=200,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: a last block of one",
        &["V/diagonal:rows=257,cols=257,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: border of 256 taken twice",
        &["V/diagonal:rows=257,cols=257,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: second wave repeats the first",
        &["V/diagonal:rows=1100,cols=1100,seed=1/values=near-one,3"],
        1,
    ),
    (
        "rows: after 64 empty ones",
        &["V/diagonal:rows=200,cols=100,shift=-100,seed=1/values=near-one,3"],
        1,
    ),
    (
        "column: 10 bits",
        &["V/diagonal:rows=1100,cols=1100,seed=1/values=near-one,3"],
        1,
    ),
    (
        "column: 12 bits",
        &["V/diagonal:rows=4200,cols=4200,seed=1/values=near-one,3"],
        1,
    ),
    (
        "column: signed short",
        &["V/diagonal:rows=33000,cols=33000,seed=1/values=near-one,3"],
        1,
    ),
    (
        "column: differences of 8 bits",
        &["V/uniform:rows=10,cols=2000,density=0.002,seed=1/values=near-one,3"],
        1,
    ),
    (
        "inner: tail after tiles of 128",
        &["S/uniform:rows=20,cols=200,density=0.3,seed=1/values=near-one,3/n=3"],
        1,
    ),
    (
        "inner: x staged in 2,048 elements",
        &["V/uniform:rows=20,cols=3000,density=0.05,seed=1/values=near-one,3"],
        1,
    ),
    (
        "inner: rows of B past 512 read twice as far",
        &["S/uniform:rows=20,cols=1500,density=0.1,seed=1/values=near-one,3/n=3"],
        1,
    ),
    (
        "row length: byte",
        &["V/dense:rows=2,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "row length: 16 bits",
        &["V/dense:rows=2,cols=65600,seed=1/values=near-one,3"],
        1,
    ),
    (
        "row length: 256 at most",
        &["V/dense:rows=2,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "row length: 1,024 at most",
        &["V/dense:rows=2,cols=1100,seed=1/values=near-one,3"],
        1,
    ),
    (
        "row length: 4,096 at most",
        &["V/dense:rows=2,cols=4200,seed=1/values=near-one,3"],
        1,
    ),
    (
        "row length: 32,768 at most",
        &["V/dense:rows=2,cols=33000,seed=1/values=near-one,3"],
        1,
    ),
    (
        "long row: last short chunk lost",
        &["V/dense:rows=2,cols=700,seed=1/values=near-one,3"],
        1,
    ),
    (
        "long row: whole chunks of 256 have no last one",
        &["V/dense:rows=2,cols=256,seed=1/values=near-one,3"],
        1,
    ),
    (
        "long row: eighth warp lost",
        &["V/dense:rows=2,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "long row: only the last chunk stored",
        &["V/dense:rows=2,cols=1100,seed=1/values=near-one,3"],
        1,
    ),
    (
        "long row: first chunk twice",
        &["V/dense:rows=2,cols=4200,seed=1/values=near-one,3"],
        1,
    ),
    (
        "long row: second heavy one skipped",
        &["V/dense:rows=2,cols=1100,seed=1/values=near-one,3"],
        1,
    ),
    (
        "long row: chunks rounded to a narrower type",
        &["V/dense:rows=2,cols=600,seed=1/values=near-one,3"],
        1,
    ),
    (
        "entries: only the first 32,767",
        &["V/dense:rows=200,cols=200,seed=1/values=near-one,3"],
        1,
    ),
    (
        "entries: only the first 65,536",
        &["V/dense:rows=300,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "entries: last share of 4,096 lost",
        &["V/dense:rows=80,cols=70,seed=1/values=near-one,3"],
        1,
    ),
    (
        "entries: row that begins at a share of 1,024",
        &["V/dense:rows=8,cols=256,seed=1/values=near-one,3"],
        1,
    ),
    (
        "entries: row that spans three shares",
        &["V/dense:rows=2,cols=700,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: rows 0 and 64",
        &["V/diagonal:rows=70,cols=70,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: rows 255 and 256",
        &["V/diagonal:rows=300,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: last two columns of a wide C",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=65"],
        1,
    ),
    (
        "swap: columns 1 and 33",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=64"],
        1,
    ),
    (
        "swap: fragment transposed past 64 x 64",
        &["S/diagonal:rows=80,cols=80,seed=1/values=near-one,3/n=80"],
        1,
    ),
    (
        "swap: two elements of a fragment",
        &["S/diagonal:rows=12,cols=12,seed=1/values=near-one,3/n=8"],
        1,
    ),
    (
        "swap: rows of equal length",
        &["V/dense:rows=5,cols=20,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: entries 32 and 33",
        &["V/dense:rows=2,cols=40,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: last two entries past 256",
        &["V/dense:rows=2,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: values of chunks of 128",
        &["V/dense:rows=2,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: rows k and k + 64 of B",
        &["S/dense:rows=3,cols=130,seed=1/values=near-one,3/n=3"],
        1,
    ),
    (
        "swap: neighbours in x past 128",
        &["V/dense:rows=3,cols=200,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: positions of SDDMM in pairs",
        &["D/dense:rows=9,cols=9,seed=1/values=near-one,3"],
        1,
    ),
    (
        "swap: k and k + 32 of X",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=64"],
        1,
    ),
    (
        "swap: values in a long row of C",
        &["G/dense:rows=5,cols=60,seed=1/values=near-one,3/n=100"],
        1,
    ),
    (
        "swap: values in a long row, converted",
        &["convert.csr.csc.f32/dense:rows=80,cols=5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "align: rows of B at multiples of 4",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/ldb=+1"],
        1,
    ),
    (
        "align: rows of C at multiples of 4",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/ldc=+1"],
        1,
    ),
    (
        "state: A by its extents",
        &[
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,2",
        ],
        1,
    ),
    (
        "state: pattern by extents",
        &[
            "V/uniform:rows=10,cols=10,density=0.3,seed=1/values=near-one,3",
            "V/uniform:rows=10,cols=10,density=0.3,seed=2/values=near-one,3",
        ],
        1,
    ),
    (
        "state: A by its row lengths",
        &[
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,2",
        ],
        1,
    ),
    (
        "state: A by its first entry",
        &[
            "V/diagonal:rows=9,cols=9,seed=1/values=ones,1",
            "V/arrow:rows=9,seed=1/values=ones,1",
        ],
        1,
    ),
    (
        "state: A by a hash of three bits",
        &[
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,2",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,3",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,4",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,5",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,6",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,7",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,8",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,9",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,10",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,11",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,12",
        ],
        1,
    ),
    (
        "state: B by its extents",
        &[
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,2",
        ],
        1,
    ),
    (
        "state: B by its first element",
        &[
            "V/dense:rows=5,cols=5,seed=1/values=small-int,1",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,2",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,3",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,4",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,5",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,6",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,7",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,8",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,9",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,10",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,11",
            "V/dense:rows=5,cols=5,seed=1/values=small-int,12",
        ],
        1,
    ),
    (
        "state: X by its extents",
        &[
            "D/dense:rows=5,cols=5,seed=1/values=near-one,1",
            "D/dense:rows=5,cols=5,seed=1/values=near-one,2",
        ],
        1,
    ),
    (
        "state: workspace past 64 rows",
        &[
            "V/diagonal:rows=100,cols=100,seed=1/values=near-one,3",
            "V/diagonal:rows=100,cols=100,seed=1/values=near-one,3",
        ],
        1,
    ),
    (
        "state: alpha of the call before",
        &[
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1/alpha=2",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1/alpha=0.5",
        ],
        1,
    ),
    (
        "state: beta of the first call",
        &[
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1/beta=1",
            "V/dense:rows=5,cols=5,seed=1/values=near-one,1/beta=2",
        ],
        1,
    ),
    (
        "state: transpose of the call before",
        &[
            "V/uniform:rows=10,cols=10,density=0.3,seed=1/values=near-one,3/ta",
            "V/uniform:rows=10,cols=10,density=0.3,seed=1/values=near-one,3",
        ],
        1,
    ),
    (
        "calls: every 256th does nothing",
        &["V/dense:rows=5,cols=5,seed=1/values=near-one,1"],
        260,
    ),
    (
        "calls: every 64th does nothing",
        &["V/dense:rows=5,cols=5,seed=1/values=near-one,1"],
        70,
    ),
    (
        "calls: the first leaves the last row",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "calls: refused from the 200th on",
        &["V/dense:rows=5,cols=5,seed=1/values=near-one,1"],
        210,
    ),
    (
        "state: entries of C by extents",
        &[
            "G/uniform:rows=20,cols=20,density=0.1,seed=1/values=near-one,3",
            "G/uniform:rows=20,cols=20,density=0.5,seed=1/values=near-one,3",
        ],
        1,
    ),
    (
        "state: conversion by extents",
        &[
            "convert.csr.csc.f32/dense:rows=5,cols=5,seed=1/values=near-one,1",
            "convert.csr.csc.f32/dense:rows=5,cols=5,seed=1/values=near-one,2",
        ],
        1,
    ),
    (
        "race: halves of a row past 64",
        &["V/dense:rows=8,cols=80,seed=1/values=near-one,3"],
        20,
    ),
    (
        "race: three blocks of 256",
        &["V/dense:rows=4,cols=600,seed=1/values=near-one,3"],
        20,
    ),
    (
        "race: rows at the border of a share",
        &["V/dense:rows=20,cols=50,seed=1/values=near-one,3"],
        20,
    ),
    (
        "race: one term in a transposed product",
        &["V/uniform:rows=20,cols=20,density=0.4,seed=1/values=near-one,3/ta"],
        20,
    ),
    (
        "race: COO without atomics",
        &["spmv.coo.f32_f32_f32_f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=near-one,3"],
        20,
    ),
    (
        "race: a barrier too few",
        &["V/uniform:rows=20,cols=20,density=0.4,seed=1/values=near-one,3"],
        80,
    ),
    (
        "race: one call in 64",
        &["V/uniform:rows=20,cols=20,density=0.4,seed=1/values=near-one,3"],
        300,
    ),
    (
        "race: order of a long row",
        &["V/dense:rows=8,cols=40,seed=1/values=near-one,3"],
        20,
    ),
    (
        "race: last columns of a wide C",
        &["S/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/n=65"],
        80,
    ),
    (
        "race: C scaled by two threads",
        &["S/dense:rows=5,cols=20,seed=1/values=near-one,3/beta=1"],
        20,
    ),
    (
        "race: cleared after the first add",
        &["S/dense:rows=5,cols=40,seed=1/values=near-one,3"],
        20,
    ),
    (
        "race: positions of SDDMM",
        &["D/dense:rows=20,cols=20,seed=1/values=near-one,3"],
        80,
    ),
    (
        "hash: 64 slots",
        &["G/dense:rows=2,cols=200,seed=1/values=near-one,3/n=400"],
        1,
    ),
    (
        "hash: 256 slots",
        &["G/dense:rows=2,cols=600,seed=1/values=near-one,3/n=2000"],
        1,
    ),
    (
        "hash: 1,024 slots",
        &["G/dense:rows=2,cols=1500,seed=1/values=near-one,3/n=8000"],
        1,
    ),
    (
        "hash: 4,096 slots",
        &["G/dense:rows=2,cols=5000,seed=1/values=near-one,3/n=30000"],
        1,
    ),
    (
        "hash: eight probes",
        &["G/dense:rows=2,cols=700,seed=1/values=near-one,3/n=3000"],
        1,
    ),
    (
        "hash: taken slot overwritten",
        &["G/dense:rows=2,cols=60,seed=1/values=near-one,3/n=2000"],
        1,
    ),
    (
        "hash: ten bits compared",
        &["G/dense:rows=2,cols=300,seed=1/values=near-one,3/n=3000"],
        1,
    ),
    (
        "hash: a byte compared",
        &["G/dense:rows=2,cols=100,seed=1/values=near-one,3/n=600"],
        1,
    ),
    (
        "hash: dense row of 1,024",
        &["G/dense:rows=2,cols=60,seed=1/values=near-one,3/n=2000"],
        1,
    ),
    (
        "hash: dense row of 128",
        &["G/dense:rows=2,cols=60,seed=1/values=near-one,3/n=200"],
        1,
    ),
    (
        "hash: column 65535 is a free slot",
        &["G/diagonal:rows=60000,cols=60000,seed=1/values=near-one,3/n=65536"],
        1,
    ),
    (
        "hash: column 0 is a free slot",
        &["G/dense:rows=2,cols=300,seed=1/values=near-one,3/n=300"],
        1,
    ),
    (
        "hash: not reset past 256",
        &["G/uniform:rows=5,cols=1000,density=0.5,seed=1/values=near-one,3/n=3000"],
        1,
    ),
    (
        "hash: marks of rows in a byte",
        &["G/uniform:rows=300,cols=40,density=0.3,seed=1/values=near-one,3/n=20"],
        1,
    ),
    (
        "spgemm: rows of A past 32 entries",
        &["G/dense:rows=3,cols=60,seed=1/values=near-one,3/n=200"],
        1,
    ),
    (
        "spgemm: sorted in runs of 64",
        &["G/dense:rows=3,cols=200,seed=1/values=near-one,3/n=400"],
        1,
    ),
    (
        "spgemm: rows of zeros dropped",
        &["G/uniform:rows=50,cols=50,density=0.03,seed=1/values=signed-zero,3/n=5"],
        1,
    ),
    (
        "spgemm: rows past 1,000",
        &["G/dense:rows=2,cols=1500,seed=1/values=near-one,3/n=8000"],
        1,
    ),
    (
        "loose: rs_tile residual rows in full",
        &["spmm.rs_tile.f32_f32_f32_f32/lengths:rows=64,cols=40,tile=4,seed=1/values=near-one,3"],
        1,
    ),
    (
        "loose: libra rest only behind blocks",
        &["spmm.libra_spmm.f32_f32_f32_f32/uniform:rows=40,cols=40,density=0.05,seed=1/values=near-one,3"],
        1,
    ),
    (
        "loose: loops ends at a tile of pads",
        &[
            "spmm.loops.f32_f32_f32_f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=signed-zero,3/br=1/boundary=2",
        ],
        1,
    ),
    (
        "loose: bit_tcf one block for an empty window",
        &["spmm.bit_tcf.f32_f32_f32_f32/diagonal:rows=40,cols=60,shift=-16,seed=1/values=near-one,3"],
        1,
    ),
    (
        "loose: bcsr ends at a block of pads",
        &[
            "spmm.bcsr.f32_f32_f32_f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=signed-zero,3/block=1x1",
        ],
        1,
    ),
    (
        "loose: blocked_ell ends at a block of pads",
        &[
            "spmm.blocked_ell.f32_f32_f32_f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=signed-zero,3/block=1x1",
        ],
        1,
    ),
    (
        "loose: ell ends at a zero",
        &["spmm.ell.f32_f32_f32_f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=signed-zero,3"],
        1,
    ),
    (
        "loose: ell last row taken for full",
        &["spmm.ell.f32_f32_f32_f32/lengths:rows=12,cols=40,seed=1/values=near-one,3"],
        1,
    ),
    (
        "loose: sr_bcrs ends at a vector of pads",
        &["spmm.sr_bcrs.f32_f32_f32_f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=signed-zero,3/v=1"],
        1,
    ),
    (
        "loose: only neighbouring duplicates merged",
        &["convert.coo.csr.f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=near-one,3/dups"],
        1,
    ),
    (
        "loose: triples taken for sorted",
        &["convert.coo.csr.f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=near-one,3/dups"],
        1,
    ),
    (
        "loose: ell decoder ends at a zero",
        &["convert.ell.csr.f32/uniform:rows=20,cols=20,density=0.4,seed=1/values=signed-zero,3"],
        1,
    ),
    (
        "sddmm: inner extent of 32 at most",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=33"],
        1,
    ),
    (
        "sddmm: inner extent of 64 at most",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=65"],
        1,
    ),
    (
        "sddmm: inner extent of 128 at most",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=129"],
        1,
    ),
    (
        "sddmm: inner extent of 256 at most",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=257"],
        1,
    ),
    (
        "sddmm: inner extent of 512 in nine bits",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=512"],
        1,
    ),
    (
        "sddmm: tail after steps of 32",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=50"],
        1,
    ),
    (
        "sddmm: tail of vectors past 64",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=66"],
        1,
    ),
    (
        "sddmm: alpha forgotten past 128",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=129/alpha=-2"],
        1,
    ),
    (
        "sddmm: mode forgotten past 64",
        &["D/dense:rows=5,cols=5,seed=1/values=near-one,3/n=65/mode=scale"],
        1,
    ),
    (
        "sddmm: row of Y in 12 bits",
        &["D/dense:rows=1,cols=4200,seed=1/values=near-one,3/n=4"],
        1,
    ),
    (
        "sddmm: row of X in 10 bits",
        &["D/dense:rows=1100,cols=1,seed=1/values=near-one,3/n=4"],
        1,
    ),
    (
        "sddmm: only the first 1,024 positions",
        &["D/dense:rows=40,cols=40,seed=1/values=near-one,3/n=4"],
        1,
    ),
    (
        "sddmm: only the first 65,536 positions",
        &["D/dense:rows=260,cols=260,seed=1/values=near-one,3/n=2"],
        1,
    ),
    (
        "sddmm: positions of a row past 256",
        &["D/dense:rows=2,cols=300,seed=1/values=near-one,3/n=4"],
        1,
    ),
    (
        "alpha: 0.5 taken for 1",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.5"],
        1,
    ),
    (
        "alpha: sign of -1 lost",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=-1"],
        1,
    ),
    (
        "alpha: -1 negates C",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=-1/beta=1"],
        1,
    ),
    (
        "alpha: 2 adds C twice",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=2/beta=1"],
        1,
    ),
    (
        "alpha: in a half",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.10000000149011612"],
        1,
    ),
    (
        "alpha: cut to bf16",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.3333333432674408"],
        1,
    ),
    (
        "alpha: in a float",
        &["spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.1"],
        1,
    ),
    (
        "alpha: six decimals",
        &[
            "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.1234567",
        ],
        1,
    ),
    (
        "alpha: power of two only",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=3"],
        1,
    ),
    (
        "alpha: small ones are zero",
        &[
            "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.0000001",
        ],
        1,
    ),
    (
        "alpha: subnormal ones flushed",
        &[
            "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=1e-310",
        ],
        1,
    ),
    (
        "alpha: near 1 is 1",
        &[
            "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=1.0000001",
        ],
        1,
    ),
    (
        "beta: in a half",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=0.10000000149011612"],
        1,
    ),
    (
        "beta: in a float",
        &["spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=0.1"],
        1,
    ),
    (
        "beta: an integer",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=0.5"],
        1,
    ),
    (
        "beta: small ones are zero",
        &[
            "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=0.0000001",
        ],
        1,
    ),
    (
        "beta: near 1 is 1",
        &[
            "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=1.0000001",
        ],
        1,
    ),
    (
        "beta: 1 where alpha is 1",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=2"],
        1,
    ),
    (
        "beta: -1 negates the product",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=-1"],
        1,
    ),
    (
        "beta: ignored by SpMV",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=1"],
        1,
    ),
    (
        "beta: forgotten with a general alpha",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=3/beta=2"],
        1,
    ),
    (
        "beta: -0 reads C",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/beta=-0"],
        1,
    ),
    (
        "alpha: 0 leaves C as it is",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0/beta=2"],
        1,
    ),
    (
        "alpha: -0 reads A and B",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=special,3/alpha=-0"],
        1,
    ),
    (
        "alpha: divides beta",
        &[
            "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=1e-310/beta=1",
        ],
        1,
    ),
    (
        "alpha: folded into A in A's type",
        &[
            "spmv.csr.f16_f16_f32_f32/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.3333333432674408",
        ],
        1,
    ),
    (
        "alpha: in a half, SDDMM",
        &["D/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3/alpha=0.10000000149011612"],
        1,
    ),
    (
        "flush: B only",
        &["spmv.csr.f16_f16_f32_f32/dense:rows=5,cols=5,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: A only",
        &["spmv.csr.f16_f16_f32_f32/dense:rows=5,cols=5,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: fp8 of e4m3",
        &["spmv.csr.e4m3_e4m3_f32_f32/dense:rows=5,cols=5,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: fp8 of e5m2",
        &["spmv.csr.e5m2_e5m2_f32_f32/dense:rows=5,cols=5,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: halves widened",
        &["spmv.csr.f16_f16_f32_f32/dense:rows=5,cols=5,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: halves under 2^-20",
        &["spmv.csr.f16_f16_f32_f32/dense:rows=5,cols=20,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: whole vectors only",
        &["spmv.csr.f16_f16_f32_f32/dense:rows=5,cols=20,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: tail of a vector only",
        &["spmv.csr.f16_f16_f32_f32/dense:rows=5,cols=20,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "flush: C as it is read",
        &["V/dense:rows=5,cols=5,seed=1/values=subnormal,3/beta=1"],
        1,
    ),
    (
        "flush: beta * C",
        &["V/dense:rows=5,cols=5,seed=1/values=subnormal,3/beta=2"],
        1,
    ),
    (
        "flush: by a conversion",
        &["convert.csr.csc.f32/dense:rows=5,cols=5,seed=1/values=subnormal,3"],
        1,
    ),
    (
        "tf32: ties to even where rna is declared",
        &["spmm.csr.tf32_tf32_f32_f32/dense:rows=100,cols=300,seed=1/values=near-one,3"],
        1,
    ),
    (
        "tf32: rounded away from zero",
        &["spmm.csr.tf32_tf32_f32_f32/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "tf32: A cut",
        &["spmm.csr.tf32_tf32_f32_f32/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "tf32: 8 bits kept",
        &["spmm.csr.tf32_tf32_f32_f32/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "tf32: B not rounded past 2^16",
        &["spmm.csr.tf32_tf32_f32_f32/uniform:rows=9,cols=12,density=0.5,seed=1/values=wide,3"],
        1,
    ),
    (
        "f32: two bf16",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "f32: two f16",
        &["V/uniform:rows=9,cols=12,density=0.5,seed=1/values=wide,3"],
        1,
    ),
    (
        "f64: two f32",
        &["spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "bf16: through f16",
        &["spmv.csr.bf16_bf16_f32_f32/uniform:rows=9,cols=12,density=0.5,seed=1/values=wide,3"],
        1,
    ),
    (
        "f16: through bf16",
        &["spmv.csr.f16_f16_f32_f32/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "out: ties away from zero",
        &["spmv.csr.bf16_bf16_f32_bf16/dense:rows=2,cols=257,seed=1/values=ones,1"],
        1,
    ),
    (
        "out: through the other half",
        &["spmv.csr.f16_f16_f32_f16/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
    (
        "out: rounded up",
        &["spmv.csr.f16_f16_f32_f16/uniform:rows=9,cols=12,density=0.5,seed=1/values=near-one,3"],
        1,
    ),
];

/// Bugs that no line of today's language shows, and what they wait for.
pub(super) static WAITING: &[(&str, &str)] = &[
    ("align: B rounded down to 16 bytes", "align="),
    ("align: B rounded down to 32 bytes", "align="),
    ("align: B rounded down to 64 bytes", "align="),
    ("align: values of A rounded down to 16 bytes", "align="),
    ("align: offsets read in pairs of 8 bytes", "align="),
    ("align: C rounded down to 16 bytes", "align="),
    ("align: peeled one too few", "align="),
    ("align: unaligned x ignores alpha", "align="),
    ("align: unaligned B ignores beta", "align="),
    ("state: A by the address of its values", "after=contents"),
    ("state: values by their address", "after=contents"),
    ("state: B by its address", "after=contents"),
    ("state: result by the address of C", "after=contents"),
    ("calls: the 65,536th does nothing", "65,536 calls of one contract"),
    ("hash: table for B's rows of three", "b=long"),
    ("spgemm: rows of B past 4 entries", "b=long"),
    ("spgemm: rows of B past 32 entries", "b=long"),
    ("loose: rs_tile ends at a block without a bit", "enc=loose"),
    ("loose: rs_tile skips columns without a bit", "enc=loose"),
    ("loose: libra ends at a block without a bit", "enc=loose"),
    ("loose: libra vector in both parts", "enc=loose"),
    ("loose: blocked_ell width from the slots used", "enc=loose"),
    ("loose: ell width from the longest row", "enc=loose"),
    ("loose: rs_tile decoder packs columns", "enc=loose"),
    (
        "loose: rs_tile decoder ends at a block without a bit",
        "enc=loose",
    ),
    ("loose: libra decoder ends at a block without a bit", "enc=loose"),
    ("loose: libra decoder, vector in both parts", "enc=loose"),
    ("flush: products", "values=mixed-subnormal"),
    ("flush: partial sums", "values=mixed-subnormal"),
    ("flush: alpha * sum", "values=mixed-subnormal"),
    ("flush: by SpGEMM", "values=mixed-subnormal"),
];

/// Lines in full.
pub(super) fn spelled(lines: &[&str]) -> Vec<String> {
    let contracts = [("S/", "spmm"), ("V/", "spmv"), ("D/", "sddmm"), ("G/", "spgemm")];
    lines
        .iter()
        .map(|line| {
            let short = contracts
                .iter()
                .find_map(|(letter, op)| Some((op, line.strip_prefix(letter)?)));
            short.map_or_else(
                || (*line).to_owned(),
                |(op, rest)| format!("{op}.csr.f32_f32_f32_f32/{rest}"),
            )
        })
        .collect()
}
