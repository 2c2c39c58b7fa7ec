//! Runs PTX on a CPU: text, a checked module, a launch, memory and what was wrong.
//!
//! ```text
//! text     PTX as text            -> Module: what stands there, with places        errors with line and column
//! table    the table of instructions: forms, types, versions, what executes them, how sure that is (isa: what a row says)
//! decode   Module, entry          -> Program: instructions with slots for registers
//! exec     what an instruction does to the registers of a warp, lane by lane
//! memory   global, shared, local and parameter memory; which bytes hold something, who touched them last
//! machine  Program, launch        -> memory, findings, counters: grids, blocks, warps, fragments of warps
//! check    findings: what they are called and how they read
//! ```
//!
//! The machine plays one architecture a launch (`sm_80` to `sm_100`), and is judged by PTX's rules and never by the order in which
//! it happens to run.
#![forbid(unsafe_code)]

pub mod check;
pub mod decode;
pub mod exec;
pub mod isa;
pub mod machine;
pub mod memory;
pub mod program;
pub mod registers;
pub mod table;
mod target;
pub mod text;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
