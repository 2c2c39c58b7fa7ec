//! Recorded conversations of version 1 of the protocol, from which messages are drafted: the protocol is frozen, and so are these.

use sparse_conformance::remote::{Reply, Request, Run, read_message};

/// A request and its answer, as they were sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conversation {
    pub(super) request: &'static [u8],
    pub(super) answer: &'static [u8],
}

macro_rules! recorded {
    ($name:literal) => {
        Conversation {
            request: include_bytes!(concat!("../../../../conformance/tests/protocol_v1/", $name, ".request")),
            answer: include_bytes!(concat!("../../../../conformance/tests/protocol_v1/", $name, ".answer")),
        }
    };
}

/// One per operation, and one per format.
pub(super) const RECORDED: [Conversation; 23] = [
    recorded!("00-spmm-csr-f32_f32_f32_f32"),
    recorded!("01-spmm-bcsr-f64_f64_f64_f64"),
    recorded!("02-spmm-blocked_ell-bf16_bf16_f32_bf16"),
    recorded!("06-spmv-coo-f16_f16_f32_f32"),
    recorded!("07-spmv-csc-tf32_tf32_f32_f32"),
    recorded!("08-sddmm-csr-f16_f16_f32_f16"),
    recorded!("10-spgemm-csr-f64_f64_f64_f64"),
    recorded!("11-transpose-csc-e4m3"),
    recorded!("13-convert-csr-csc-f16"),
    recorded!("15-convert-csr-bcsr-f16"),
    recorded!("17-convert-csr-ell-f16"),
    recorded!("19-convert-csr-blocked_ell-f16"),
    recorded!("21-convert-csr-loops-f16"),
    recorded!("23-convert-csr-rs_tile-f16"),
    recorded!("25-convert-csr-libra_spmm-f16"),
    recorded!("26-convert-libra_spmm-csr-f16"),
    recorded!("27-convert-csr-libra_sddmm-f16"),
    recorded!("29-convert-csr-rp_csc-f16"),
    recorded!("31-convert-csr-cp_csr-f16"),
    recorded!("33-convert-csr-nm-f16"),
    recorded!("35-convert-csr-two_four-f16"),
    recorded!("37-convert-csr-vnm-f16"),
    recorded!("39-convert-csr-tcf-f16"),
];

/// Header and payload of a recorded message.
pub(super) fn parts(message: &[u8]) -> (Vec<u8>, Vec<u8>) {
    read_message(&mut &*message, u64::MAX).ok().flatten().expect("a recorded message is one")
}

impl Conversation {
    /// The request as a backend is given it.
    pub(super) fn request(&self) -> Request {
        let (header, payload) = parts(self.request);
        let run: Run = serde_json::from_slice(&header).expect("a recorded header");
        Request::decode(run, &payload).expect("a recorded request")
    }

    /// The answer's header, and its payload.
    pub(super) fn reply(&self) -> (Reply, Vec<u8>) {
        let (header, payload) = parts(self.answer);
        (serde_json::from_slice(&header).expect("a recorded header"), payload)
    }
}
