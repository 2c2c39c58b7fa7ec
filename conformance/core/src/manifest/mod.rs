//! What a backend outside this program says about itself beforehand, as JSON: the same for a plug-in (C ABI) and for a
//! program (protocol).
//!
//! ```text
//! { "protocol": 1, "name": "mine", "version": "0.3", "description": "...", "determinism": "runs",
//!   "supports": [ { "contracts": ["spmm.csr.f32*"], "only": { "beta": [0, 1] }, "arithmetic": "fma",
//!                   "profile": [ { "choice": "beta0-reads-c", "reason": "..." } ] } ],
//!   "excludes": [ { "contracts": ["*.e4m3*"], "reason": "no fp8" } ] }
//!
//! support(contract, params):  excludes, in order  ->  the first rule that takes both  ->  excluded by the manifest
//! ```
//!
//! [`Manifest`] is the data; [`Capabilities`] is what it means, checked against the tables of contracts, choices, faults
//! and parameters, so that `support` is answered here, without asking the backend.

mod error;
mod only;
mod rules;

pub use self::error::{ManifestError, ManifestPlace};
pub use self::only::{LayoutName, ModeName, Only};
pub use self::rules::Capabilities;

use crate::backend::Determinism;
use serde::{Deserialize, Serialize};

/// The version of the C ABI and of the wire protocol, which change together.
pub const PROTOCOL: u32 = 1;

/// Longest manifest that is read, in bytes.
pub const MAX_MANIFEST: usize = 1 << 20;

/// Longest name of a backend, in bytes.
const MAX_NAME: usize = 64;

/// A backend's own words about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the protocol (or C ABI) that it speaks: [`PROTOCOL`].
    pub protocol: u32,
    /// Name in reports: letters, digits, `_`, `-`, `.`, `+`.
    pub name: String,
    /// Version of what is judged.
    #[serde(default)]
    pub version: String,
    /// One line about it.
    #[serde(default)]
    pub description: String,
    /// What it claims about its bits.
    #[serde(default)]
    pub determinism: Determinism,
    /// It may be called by several threads at once. Tried of plug-ins; a program has one request at a time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thread_safe: bool,
    /// What it takes; the first rule that fits a request counts.
    pub supports: Vec<Rule>,
    /// What it does not take, with better reasons than "no rule fits"; looked at first.
    #[serde(default)]
    pub excludes: Vec<Exclude>,
}

/// Contracts that the backend takes, alike in what it says about them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Patterns over contract names (`*`, `?`, `[..]`), each of which must fit at least one contract.
    pub contracts: Vec<String>,
    /// The requests of these contracts that it takes; all, if nothing is said.
    #[serde(default, skip_serializing_if = "Only::is_empty")]
    pub only: Only,
    /// How it rounds, in the grammar of [`declaration`](crate::declaration). Ignored where nothing is rounded.
    #[serde(default = "any")]
    pub arithmetic: String,
    /// Choice points settled away from the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<Settled>,
}

fn any() -> String {
    "any".to_owned()
}

/// One choice point settled away from the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// Machine name of the choice (`conformance list choices`).
    pub choice: String,
    /// Why; stands in every report.
    pub reason: String,
}

/// Contracts that the backend does not take, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exclude {
    /// Patterns over contract names.
    pub contracts: Vec<String>,
    /// Why; stands in every report.
    pub reason: String,
}

impl Manifest {
    /// Reads a manifest. What it says is not looked at yet: see [`Capabilities::new`].
    ///
    /// # Errors
    /// Text that is no JSON, or whose fields are missing, unknown or of another type; more than [`MAX_MANIFEST`] bytes.
    pub fn parse(text: &[u8]) -> Result<Manifest, ManifestError> {
        if text.len() > MAX_MANIFEST {
            return Err(ManifestError::TooLong { found: text.len() });
        }
        // A later version may have fields of its own: say that it is one, not which field is unknown.
        #[derive(Deserialize)]
        struct Version {
            protocol: u32,
        }
        match serde_json::from_slice::<Version>(text) {
            Ok(Version { protocol: found }) if found != PROTOCOL => Err(ManifestError::Protocol { found }),
            _ => Ok(serde_json::from_slice(text)?),
        }
    }
}
