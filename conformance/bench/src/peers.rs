//! The libraries that kernels are compared with: which there are, and what is said about them.

use super::contender::{Absent, Contender, Given, MklContender, NalgebraContender, SprsContender};
use super::report::PeerRecord;
use sparse_conformance_core::backend::Backend;
use sparse_conformance_peers::{NalgebraSparse, Sprs};
use sparse_mkl::{Mkl, find};
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

/// Milliseconds that idle threads of MKL spin.
const IDLE_MS: u32 = 1;

/// A peer on some operands, or why there is none.
type Opened<'p> = Result<Box<dyn Contender + 'p>, Absent>;

/// The peers that were asked for and are here.
pub(super) struct Peers {
    present: Vec<Peer>,
    mkl: Option<Mkl>,
    threads: usize,
    pub(super) records: Vec<PeerRecord>,
}

impl Peers {
    /// Loads what must be loaded. What is absent is on record.
    pub(super) fn open(asked: &[Peer], mkl: Option<&Path>, threads: usize) -> Peers {
        let mut peers = Peers { present: Vec::new(), mkl: None, threads, records: Vec::new() };
        for &peer in asked {
            let record = match peer {
                Peer::Sprs => {
                    here(&Sprs, "csr_mulacc_dense_rowmaj after zeroing C; smmp::mul_csr_csr; one thread")
                }
                Peer::NalgebraSparse => here(
                    &NalgebraSparse,
                    "spmm_csr_dense, B and C by columns; CsrMatrix * CsrMatrix; one thread",
                ),
                Peer::Mkl => peers.open_mkl(mkl),
            };
            if record.present {
                peers.present.push(peer);
            }
            peers.records.push(record);
        }
        peers
    }

    fn open_mkl(&mut self, path: Option<&Path>) -> PeerRecord {
        let name = Peer::Mkl.name().to_owned();
        match find(path).and_then(|path| Mkl::open(&path)) {
            Err(error) => {
                let note = error.to_string();
                PeerRecord { name, version: String::new(), threads: 0, note, present: false }
            }
            Ok(mkl) => {
                mkl.use_threads(self.threads, IDLE_MS);
                let note = format!(
                    "mkl_sparse_?_mm row-major after set_mm_hint and optimize; mkl_sparse_spmm; {}, {} threads; {}",
                    mkl.layer(),
                    mkl.threads(),
                    mkl.path().display()
                );
                let (version, threads) = (mkl.version(), mkl.threads() as u64);
                self.mkl = Some(mkl);
                PeerRecord { name, version, threads, note, present: true }
            }
        }
    }

    /// To be called on the thread that will call the contenders: MKL keeps its settings by thread.
    pub(super) fn settle(&self) {
        if let Some(mkl) = &self.mkl {
            mkl.use_threads(self.threads, IDLE_MS);
        }
    }

    /// Everyone here on these operands, or why not.
    pub(super) fn contenders<'p>(&'p self, given: Given<'_>) -> Vec<(Peer, Opened<'p>)> {
        let made = |peer: Peer| -> Opened<'p> {
            match (peer, &self.mkl) {
                (Peer::Sprs, _) => SprsContender::boxed(given).map(|c| c as Box<dyn Contender + 'p>),
                (Peer::NalgebraSparse, _) => {
                    NalgebraContender::boxed(given).map(|c| c as Box<dyn Contender + 'p>)
                }
                (Peer::Mkl, Some(mkl)) => MklContender::boxed(given, mkl),
                (Peer::Mkl, None) => Err(Absent::Failed("it is not loaded".to_owned())),
            }
        };
        self.present.iter().map(|&peer| (peer, made(peer))).collect()
    }
}

fn here(backend: &dyn Backend, note: &str) -> PeerRecord {
    PeerRecord {
        name: backend.name().to_owned(),
        version: backend.version(),
        threads: 1,
        note: note.to_owned(),
        present: true,
    }
}
