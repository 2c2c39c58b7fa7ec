//! What is wrong about a program: kinds of findings, and how they are collected.

mod finding;
mod log;

pub use finding::{Checks, CudaPlace, Finding, Kind, Partner, Severity};
pub(crate) use log::{Log, Site, Wording};
