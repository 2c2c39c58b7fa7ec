//! Small real matrices compiled in, so that tests, examples and reports have some without any file on disk.
//!
//! The files lie in `oracle/data/matrices`; its README says where each comes from and under which terms. They are
//! kept as they came, and read by the ordinary readers.

use super::file::{FileMatrix, read_named};
use super::file_error::FileError;
use super::matrix_market::Limits;

/// One file of the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Name without ending, as [`read`] takes it.
    pub name: &'static str,
    /// Name of the file, whose ending says the format.
    pub file: &'static str,
    /// Collection name and the place it was taken from.
    pub origin: &'static str,
    /// Terms, as its source states them.
    pub licence: &'static str,
    bytes: &'static [u8],
}

/// Cuts the format ending off at compile time: the part before `.mtx` or `.smtx`.
const fn stem(file: &'static str) -> &'static str {
    let bytes = file.as_bytes();
    let mut at = bytes.len();
    while at > 0 {
        at -= 1;
        let (head, tail) = bytes.split_at(at);
        if matches!(tail, [b'.', b'm', b't', b'x', ..] | [b'.', b's', b'm', b't', b'x', ..])
            && let Ok(name) = std::str::from_utf8(head)
        {
            return name;
        }
    }
    file
}

macro_rules! pack {
    ($file:literal, $origin:literal, $licence:literal) => {
        Embedded {
            name: stem($file),
            file: $file,
            origin: $origin,
            licence: $licence,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/matrices/", $file)),
        }
    };
}

static ALL: [Embedded; 14] = [
    pack!(
        "lp_afiro.mtx",
        "LPnetlib/lp_afiro, github:GraphBLAS/LAGraph@afeb9dffca46:data/lp_afiro.mtx",
        "LAGraph BSD-2-Clause; matrix data CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "LFAT5.mtx",
        "Oberwolfach/LFAT5, github:GraphBLAS/LAGraph@afeb9dffca46:data/LFAT5.mtx",
        "LAGraph BSD-2-Clause; matrix data CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "karate.mtx",
        "Newman/karate, github:GraphBLAS/LAGraph@afeb9dffca46:data/karate.mtx",
        "LAGraph BSD-2-Clause; matrix data CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "west0067.mtx",
        "HB/west0067, github:GraphBLAS/LAGraph@afeb9dffca46:data/west0067.mtx",
        "LAGraph BSD-2-Clause; matrix data CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "bfwa62.mtx",
        "Bai/bfwa62, github:DrTimothyAldenDavis/SuiteSparse@038d66350964:ParU/Matrix/bfwa62.mtx",
        "CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "lp_blend.mtx",
        "LPnetlib/lp_blend, github:finch-tensor/Finch.jl@6c5b2d63f413:test/data/LPnetlib/lp_blend.mtx",
        "CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "Trec4.mtx",
        "JGD_Kocay/Trec4, github:finch-tensor/Finch.jl@6c5b2d63f413:test/data/JGD_Kocay/Trec4.mtx",
        "CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "bibd_9_5.mtx",
        "bibd_9_5 (constructed equivalent of JGD_BIBD/bibd_9_5), constructed",
        "public domain (mathematical object)"
    ),
    pack!(
        "plskz362.mtx",
        "HB/plskz362, debian-src:suitesparse_5.12.0+dfsg:RBio/Tcov/matrices/plskz362.tar.gz",
        "CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "well1850.mtx.gz",
        "HB/well1850, github:scikit-sparse/scikit-sparse@14fd45a8078a:sksparse/test_data/well1850.mtx.gz (history blob d81d60ea98)",
        "CC-BY 4.0 (SuiteSparse Matrix Collection)"
    ),
    pack!(
        "cora.mtx.gz",
        "Planetoid/cora (GE-SpMM copy), github:hgyhungry/ge-spmm@f62f51169eb2:data/misc/cora.mtx",
        "MIT (ge-spmm repo); Planetoid data terms not stated"
    ),
    pack!(
        "citeseer.mtx.gz",
        "Planetoid/citeseer (GE-SpMM copy), github:hgyhungry/ge-spmm@f62f51169eb2:data/misc/citeseer.mtx",
        "MIT (ge-spmm repo); Planetoid data terms not stated"
    ),
    pack!(
        "swin_tiny_attn_proj_unstructured_50.smtx",
        "Swin-Tiny layers.0.blocks.0.attn.proj, 50% unstructured, github:gunrock/gunrock@01f125c85498:datasets/layers.0.blocks.0.attn.proj_swin_tiny_unstructured_50.smtx",
        "Apache-2.0 (gunrock)"
    ),
    pack!(
        "rn50_vd0.9_initial_conv.smtx",
        "DLMC rn50/variational_dropout/0.9/initial_conv, github:zubair23517/dlspm-esimd@a6b1cd8965f2:dlmc/rn50/variational_dropout/0.9/initial_conv.smtx",
        "not stated (repo has no licence; DLMC from Gale et al. 2020, Sputnik code is Apache-2.0)"
    ),
];

impl Embedded {
    /// The file as it is on disk, possibly gzip.
    #[must_use]
    pub fn bytes(&self) -> &'static [u8] {
        self.bytes
    }

    /// Reads the matrix.
    ///
    /// # Errors
    /// None on the files of the pack, as a test shows.
    pub fn read(&self) -> Result<FileMatrix, FileError> {
        read_named(self.file, self.bytes, Limits::default())
    }
}

/// The whole pack, in a fixed order.
#[must_use]
pub fn all() -> &'static [Embedded] {
    &ALL
}

/// Reads the matrix called `name`.
///
/// # Errors
/// [`FileError::UnknownName`] when the pack has no such matrix.
pub fn read(name: &str) -> Result<FileMatrix, FileError> {
    let found = ALL.iter().find(|e| e.name == name);
    found.ok_or_else(|| FileError::UnknownName { name: name.to_string() })?.read()
}
