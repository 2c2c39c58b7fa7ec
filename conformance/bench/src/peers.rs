//! The libraries that kernels are compared with: which there are, and what is said about them.

use super::report::PeerRecord;
use sparse_conformance_core::backend::Backend;
use sparse_conformance_peers::{Mkl, NalgebraSparse, Sprs};
use std::path::Path;

/// A peer by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as on the command line")]
pub enum Peer {
    Sprs,
    NalgebraSparse,
    Mkl,
}

impl Peer {
    /// All of them.
    pub const ALL: [Peer; 3] = [Peer::Sprs, Peer::NalgebraSparse, Peer::Mkl];

    /// Name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Peer::Sprs => "sprs",
            Peer::NalgebraSparse => "nalgebra-sparse",
            Peer::Mkl => "mkl",
        }
    }

    /// The peer with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Peer> {
        Peer::ALL.into_iter().find(|peer| peer.name() == name)
    }
}

/// The peers that were asked for and are here.
pub(super) struct Peers {
    present: Vec<Box<dyn Backend>>,
    mkl: Option<Mkl>,
    pub(super) records: Vec<PeerRecord>,
}

impl Peers {
    /// Loads what must be loaded. What is absent is on record.
    pub(super) fn open(asked: &[Peer], mkl: Option<&Path>, threads: usize) -> Peers {
        let mut peers = Peers { present: Vec::new(), mkl: None, records: Vec::new() };
        for &peer in asked {
            match peer {
                Peer::Sprs => peers.add(
                    Box::new(Sprs),
                    "csr_mulacc_dense_rowmaj after zeroing C; smmp::mul_csr_csr; one thread",
                ),
                Peer::NalgebraSparse => peers.add(
                    Box::new(NalgebraSparse),
                    "spmm_csr_dense, B and C by columns; CsrMatrix * CsrMatrix; one thread",
                ),
                Peer::Mkl => peers.open_mkl(mkl, threads),
            }
        }
        peers
    }

    fn add(&mut self, backend: Box<dyn Backend>, note: &str) {
        let (name, version) = (backend.name().to_owned(), backend.version());
        self.records.push(PeerRecord { name, version, threads: 1, note: note.to_owned(), present: true });
        self.present.push(backend);
    }

    fn open_mkl(&mut self, path: Option<&Path>, threads: usize) {
        match Mkl::open(path, threads) {
            Err(error) => {
                let (name, note) = (Peer::Mkl.name().to_owned(), error.to_string());
                self.records.push(PeerRecord {
                    name,
                    version: String::new(),
                    threads: 0,
                    note,
                    present: false,
                });
            }
            Ok(mkl) => {
                let library = mkl.library();
                let note = format!(
                    "mkl_sparse_?_mm row-major after set_mm_hint and optimize; mkl_sparse_spmm; {}, {} threads; {}",
                    library.layer(),
                    library.threads(),
                    library.path().display()
                );
                let (name, version, threads) =
                    (mkl.name().to_owned(), mkl.version(), library.threads() as u64);
                self.records.push(PeerRecord { name, version, threads, note, present: true });
                self.mkl = Some(mkl);
            }
        }
    }

    /// To be called on the thread that will call the contenders: MKL keeps its settings by thread.
    pub(super) fn settle(&self) {
        if let Some(mkl) = &self.mkl {
            mkl.settle();
        }
    }

    /// Everyone here.
    pub(super) fn backends(&self) -> impl Iterator<Item = &dyn Backend> {
        let mkl = self.mkl.iter().map(|mkl| mkl as &dyn Backend);
        self.present.iter().map(AsRef::as_ref).chain(mkl)
    }
}
