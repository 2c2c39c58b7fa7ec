//! The table of instructions: what lanes execute comes from `exec`, what memory and the warp as a whole execute stands here.
//! Decoding and the tests of coverage iterate [`rows`].

use crate::exec;
use crate::isa::Evidence::{Exact, Model};
use crate::isa::{Evidence, Kind, Row};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Every form, and its row.
static FORMS: LazyLock<HashMap<String, &'static Row>> =
    LazyLock::new(|| rows().flat_map(|row| row.forms().into_iter().map(move |form| (form, row))).collect());

/// The rows of the table.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    families().flatten()
}

/// The row of a form, such as `add.s32`.
#[must_use]
pub fn find(form: &str) -> Option<&'static Row> {
    FORMS.get(form).copied()
}

/// Every form, in the order of the alphabet.
#[must_use]
pub fn forms() -> Vec<&'static str> {
    let mut forms: Vec<&'static str> = FORMS.keys().map(String::as_str).collect();
    forms.sort_unstable();
    forms
}

/// Every row, a family of instructions a slice.
fn families() -> impl Iterator<Item = &'static [Row]> {
    exec::FAMILIES.iter().copied().chain([MEMORY, ATOMIC, WARP, CONTROL, MATRIX, GROUP])
}

const fn row(forms: &'static str, ptx: (u8, u8), sm: u16, kind: Kind, evidence: Evidence) -> Row {
    Row { forms, ptx, sm, kind, evidence }
}

/// `ld`, `st`, `cp.async`, `ldmatrix`.
#[rustfmt::skip]
const MEMORY: &[Row] = &[
    row("ld{,.global,.shared,.local,.param,.const}.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64}", (1, 0), 10, Kind::Load, Exact),
    row("ld{,.global,.shared,.local,.param,.const}.f64", (1, 0), 13, Kind::Load, Exact),
    row("ld{,.global,.shared,.local,.param,.const}.v2.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64}", (1, 0), 10, Kind::Load, Exact),
    row("ld{,.global,.shared,.local,.param,.const}.v2.f64", (1, 0), 13, Kind::Load, Exact),
    row("ld{,.global,.shared,.local,.param,.const}.v4.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32}", (1, 0), 10, Kind::Load, Exact),
    row("ld.global.nc.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64}", (3, 1), 32, Kind::Load, Exact),
    row("ld.global.nc.v2.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64}", (3, 1), 32, Kind::Load, Exact),
    row("ld.global.nc.v4.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32}", (3, 1), 32, Kind::Load, Exact),
    row("st{,.global,.shared,.local}.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64}", (1, 0), 10, Kind::Store, Exact),
    row("st{,.global,.shared,.local}.f64", (1, 0), 13, Kind::Store, Exact),
    row("st{,.global,.shared,.local}.v2.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64}", (1, 0), 10, Kind::Store, Exact),
    row("st{,.global,.shared,.local}.v2.f64", (1, 0), 13, Kind::Store, Exact),
    row("st{,.global,.shared,.local}.v4.{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32}", (1, 0), 10, Kind::Store, Exact),
    row("cp.async.{ca,cg}.shared.global", (7, 0), 80, Kind::Copy, Exact),
    row("cp.async.commit_group", (7, 0), 80, Kind::Commit, Exact),
    row("cp.async.{wait_group,wait_all}", (7, 0), 80, Kind::Wait, Exact),
    row("ldmatrix.sync.aligned.m8n8.{x1,x2,x4}{,.trans}.shared.b16", (6, 5), 75, Kind::LoadMatrix, Exact),
];

/// `atom`, `red`, fences. `.relaxed` and the like, and scopes, may stand before the space: see `decode::order`.
#[rustfmt::skip]
const ATOMIC: &[Row] = &[
    row("{atom,red}{,.global,.shared}.{add,min,max}.{u32,s32}", (1, 1), 11, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.{and,or,xor}.b32", (1, 1), 11, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.{inc,dec}.u32", (1, 1), 11, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.add.u64", (1, 2), 12, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.{min,max}.{u64,s64}", (3, 1), 32, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.{and,or,xor}.b64", (3, 1), 32, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.add.f32", (2, 0), 20, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.add.f64", (5, 0), 60, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.add.noftz.f16x2", (6, 2), 60, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.add.noftz.f16", (6, 3), 70, Kind::Atomic, Exact),
    row("{atom,red}{,.global,.shared}.add.noftz.{bf16,bf16x2}", (7, 8), 90, Kind::Atomic, Exact),
    row("atom{,.global,.shared}.{exch,cas}.b32", (1, 1), 11, Kind::Atomic, Exact),
    row("atom{,.global,.shared}.{exch,cas}.b64", (1, 2), 12, Kind::Atomic, Exact),
    row("atom{,.global,.shared}.cas.b16", (6, 3), 70, Kind::Atomic, Exact),
    row("membar.{cta,gl}", (1, 4), 10, Kind::Fence, Exact),
    row("membar.sys", (2, 0), 20, Kind::Fence, Exact),
    row("fence{,.sc,.acq_rel}.{cta,gpu,sys}", (6, 0), 70, Kind::Fence, Exact),
    row("fence{,.sc,.acq_rel}.cluster", (7, 8), 90, Kind::Fence, Exact),
];

/// What lanes tell each other.
#[rustfmt::skip]
const WARP: &[Row] = &[
    row("shfl.sync.{up,down,bfly,idx}.b32", (6, 0), 30, Kind::Shuffle, Exact),
    row("vote.sync.{all,any,uni}.pred", (6, 0), 30, Kind::Vote, Exact),
    row("vote.sync.ballot.b32", (6, 0), 30, Kind::Vote, Exact),
    row("redux.sync.{add,min,max}.{u32,s32}", (7, 0), 80, Kind::Reduce, Exact),
    row("redux.sync.{and,or,xor}.b32", (7, 0), 80, Kind::Reduce, Exact),
    row("bar.warp.sync", (6, 0), 30, Kind::WarpBarrier, Exact),
    row("bar.sync", (1, 0), 10, Kind::Barrier, Exact),
    row("barrier.sync{,.aligned}", (6, 0), 30, Kind::Barrier, Exact),
    row("bar.cta.sync", (7, 8), 30, Kind::Barrier, Exact),
    row("barrier.cta.sync{,.aligned}", (7, 8), 30, Kind::Barrier, Exact),
];

/// Where a thread goes on.
#[rustfmt::skip]
const CONTROL: &[Row] = &[
    row("bra{,.uni}", (1, 0), 10, Kind::Branch, Exact),
    row("{ret,exit}", (1, 0), 10, Kind::Exit, Exact),
];

/// Matrices. That a warp's architecture has a model is asked when a launch begins: see `exec::matrix`.
#[rustfmt::skip]
const MATRIX: &[Row] = &[
    row("mma.sync.aligned.m16n8k8.row.col.{f32.f16.f16.f32,f16.f16.f16.f16}", (6, 5), 75, Kind::Mma, Model),
    row("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", (7, 0), 80, Kind::Mma, Model),
    row("mma.sync.aligned.m16n8k16.row.col.{f32.f16.f16.f32,f16.f16.f16.f16,f32.bf16.bf16.f32}", (7, 0), 80, Kind::Mma, Model),
    row("mma.sync.aligned.{m16n8k4,m16n8k8}.row.col.f32.tf32.tf32.f32", (7, 0), 80, Kind::Mma, Model),
    row("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", (7, 0), 80, Kind::Mma, Model),
    row("mma.sp.sync.aligned.{m16n8k16,m16n8k32}.row.col.{f32.f16.f16.f32,f16.f16.f16.f16,f32.bf16.bf16.f32}", (7, 1), 80, Kind::Mma, Model),
    row("mma.sp.sync.aligned.{m16n8k8,m16n8k16}.row.col.f32.tf32.tf32.f32", (7, 1), 80, Kind::Mma, Model),
    row("mma.sp::ordered_metadata.sync.aligned.{m16n8k16,m16n8k32}.row.col.{f32.f16.f16.f32,f16.f16.f16.f16,f32.bf16.bf16.f32}", (8, 5), 80, Kind::Mma, Model),
    row("mma.sp::ordered_metadata.sync.aligned.{m16n8k8,m16n8k16}.row.col.f32.tf32.tf32.f32", (8, 5), 80, Kind::Mma, Model),
];

/// Matrices of a group of four warps, on `sm_90a` alone.
#[rustfmt::skip]
const GROUP: &[Row] = &[
    row("fence.proxy.async{,.shared::cta,.global}", (8, 0), 90, Kind::ProxyFence, Exact),
    row("wgmma.{fence,commit_group,wait_group}.sync.aligned", (8, 0), 90, Kind::Group, Exact),
    row("wgmma.mma_async.sync.aligned.m64n{8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248,256}k16.{f32.f16.f16,f16.f16.f16,f32.bf16.bf16}", (8, 0), 90, Kind::Group, Model),
    row("wgmma.mma_async.sync.aligned.m64n{8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248,256}k8.f32.tf32.tf32", (8, 0), 90, Kind::Group, Model),
    row("wgmma.mma_async.sp.sync.aligned.m64n{8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248,256}k32.{f32.f16.f16,f16.f16.f16,f32.bf16.bf16}", (8, 2), 90, Kind::Group, Model),
    row("wgmma.mma_async.sp.sync.aligned.m64n{8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248,256}k16.f32.tf32.tf32", (8, 2), 90, Kind::Group, Model),
];
