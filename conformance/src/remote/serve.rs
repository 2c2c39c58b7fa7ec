//! The backend's side of the protocol for any [`Backend`] in Rust: reads tasks, runs them, answers.
//!
//! Inputs are hashed before and after, outputs are guarded; both are reported, nothing is judged here.

use super::arrays::Payload;
use super::decode::{Request, unguarded};
use super::frame::{FrameError, message, read_message, write_message};
use super::header::{AnswerKind, Ask, Asked, Reply, ReplyKind};
use crate::backend::{Backend, Failure, Support};
use crate::case::Params;
use crate::declaration;
use crate::digest;
use crate::manifest::{Manifest, PROTOCOL, Rule, Settled};
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::format::{AnyParts, FieldRef, Fields, FormatKind, Parts};
use sparse_oracle::scalar::Element;
use sparse_oracle::task::{Answer, RawSparse};
use sparse_oracle::verdict::Defect;
use sparse_oracle::{each_parts, each_precision};
use std::any::Any;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longest request that is read, in bytes.
const MAX_REQUEST: u64 = 1 << 34;

/// Answers requests until `bye` or the end of the input.
///
/// # Errors
/// A message that is none, or of another version; a stream that breaks.
pub fn serve(
    backend: &dyn Backend,
    manifest: &Manifest,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<(), FrameError> {
    while let Some((header, payload)) = read_message(input, MAX_REQUEST)? {
        match respond(backend, manifest, &header, &payload)? {
            Some(reply) => write_message(output, &reply)?,
            None => break,
        }
    }
    Ok(())
}

/// The message that answers one of the judge's; `None` to `bye`.
///
/// # Errors
/// A header that is none; a request that does not hold what its operation needs.
pub fn respond(
    backend: &dyn Backend,
    manifest: &Manifest,
    header: &[u8],
    payload: &[u8],
) -> Result<Option<Vec<u8>>, FrameError> {
    let asked: Asked = serde_json::from_slice(header)?;
    match asked.kind {
        Ask::Hello => {
            let reply = Reply {
                kind: ReplyKind::Manifest,
                manifest: Some(manifest.clone()),
                id: None,
                outcome: None,
                ..Reply::answer(0, AnswerKind::Written)
            };
            message(&reply, &[]).map(Some)
        }
        Ask::Run => {
            let request = Request::decode(serde_json::from_slice(header)?, payload)?;
            answer(backend, request).map(Some)
        }
        Ask::Bye => Ok(None),
    }
}

fn answer(backend: &dyn Backend, mut request: Request) -> Result<Vec<u8>, FrameError> {
    let hash = |request: &Request| digest::arrays(request.inputs(), request.sparse());
    let (contract, id, before) = (request.contract, request.id, hash(&request));
    let task = request.task()?;
    let result = if backend.refuses_by_panic() {
        let ran = catch_unwind(AssertUnwindSafe(|| backend.run(&contract, task)));
        ran.unwrap_or_else(|payload| Err(Failure::Refused(panicked(payload.as_ref()))))
    } else {
        // A panic ends the process, as it would end the backend's: that is what the judge must see.
        backend.run(&contract, task)
    };
    let mut payload = Payload::default();
    let mut reply = Reply::answer(id, AnswerKind::Written);
    match result {
        Ok(Answer::Written) => {
            if let Some((name, values, _)) = request.output() {
                payload.values(name.to_owned(), unguarded(values));
            }
        }
        Ok(Answer::Parts(parts)) => {
            reply.outcome = Some(AnswerKind::Sparse);
            reply.sparse = Some(put_parts(&mut payload, &parts));
        }
        Ok(Answer::Sparse(raw)) => {
            reply.outcome = Some(AnswerKind::Sparse);
            reply.sparse = Some(put_raw(&mut payload, &raw));
        }
        Err(failure) => {
            reply.outcome = Some(AnswerKind::Refused);
            reply.message = Some(words(failure, &mut reply));
        }
    }
    reply.inputs_modified |= hash(&request) != before;
    reply.guard_broken = reply.guard_broken.or(request.output().and_then(|(_, _, broken)| broken));
    reply.arrays = payload.heads;
    message(&reply, &payload.bytes)
}

/// A failure's words; what only a judge can see of a process cannot come from one, except broken rules of memory.
fn words(failure: Failure, reply: &mut Reply) -> String {
    match failure {
        Failure::Refused(words) | Failure::NotAsked(words) => words,
        Failure::Crashed(words) => {
            reply.outcome = Some(AnswerKind::Failed);
            words
        }
        Failure::TimedOut { seconds, tail, .. } => {
            reply.outcome = Some(AnswerKind::Broke);
            format!("no answer within {seconds} s: {tail}")
        }
        Failure::Broke(mismatch) => {
            reply.inputs_modified |= mismatch.defect == Defect::InputModified;
            reply.environment_changed |= mismatch.defect == Defect::Environment;
            if mismatch.defect == Defect::Canary {
                reply.guard_broken = Some(-1);
            }
            reply.outcome = Some(AnswerKind::Broke);
            mismatch.message
        }
    }
}

fn panicked(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

fn put_parts(payload: &mut Payload, parts: &AnyParts) -> super::header::SparseHead {
    each_parts!(parts, p => payload.fields("", p.kind(), p.fields()))
}

/// A general format's arrays under their field names.
fn put_raw(payload: &mut Payload, raw: &RawSparse) -> super::header::SparseHead {
    fn put<T: Element>(payload: &mut Payload, raw: &RawSparse, values: &[T]) -> super::header::SparseHead {
        let (block_rows, block_cols) = (raw.params.block_rows as usize, raw.params.block_cols as usize);
        let mut fields = vec![("rows", FieldRef::Extent(&raw.rows)), ("cols", FieldRef::Extent(&raw.cols))];
        if matches!(raw.kind, FormatKind::Bcsr | FormatKind::BlockedEll) {
            fields.push(("block_rows", FieldRef::Extent(&block_rows)));
            fields.push(("block_cols", FieldRef::Extent(&block_cols)));
        }
        let (offsets, indices) = raw_names(raw.kind);
        if offsets.is_empty() {
            fields.push(("width", FieldRef::Extent(&raw.width)));
        } else {
            fields.push((offsets, FieldRef::U32(&raw.offsets)));
        }
        fields.push((indices, FieldRef::U32(&raw.indices)));
        fields.push(("values", FieldRef::Values(values)));
        payload.fields("", raw.kind, fields)
    }
    each_precision!(Values, &raw.values, v => put(payload, raw, v))
}

/// Field names of both index arrays of a general format; the first is empty where there is a width instead. A result that names a
/// paper's format goes out under the names of COO: it is the judge who says that these are not that format's arrays.
fn raw_names(kind: FormatKind) -> (&'static str, &'static str) {
    let is_general = FormatKind::GENERAL.contains(&kind);
    let parts = Parts::<u8>::empty(kind);
    let fields = parts.fields().into_iter();
    let index: Vec<&str> =
        fields.filter(|(_, field)| matches!(field, FieldRef::U32(_))).map(|(name, _)| name).collect();
    match index[..] {
        [offsets, indices] if is_general => (offsets, indices),
        [indices] if is_general => ("", indices),
        _ => ("row_idx", "col_idx"),
    }
}

/// Units and options that a declaration may be, when it is written as text.
const UNITS: [&str; 2] = ["fma", "muladd"];
const OPTIONS: [&str; 4] = ["", ",rna", ",from-c", ",no-pads"];

/// A declaration as text; `None` for one that has no text here and is not what "any" says.
fn text_of(contract: &Contract, arithmetic: &Arithmetic) -> Option<String> {
    if contract.op.is_exact() {
        return Some("any".to_owned());
    }
    let texts = UNITS.iter().flat_map(|unit| OPTIONS.map(|option| format!("{unit}{option}")));
    let mut texts = texts.chain(["any".to_owned()]);
    texts.find(|text| declaration::parse(text, contract, (1.0, 0.0)).is_ok_and(|a| a == *arithmetic))
}

/// A manifest for a backend of this process, from what it says about each contract with default parameters. A backend whose
/// support depends on parameters writes its own. A contract whose arithmetic has no text is left out.
#[must_use]
pub fn manifest_of(backend: &dyn Backend) -> Manifest {
    let supports = all_contracts().iter().filter_map(|contract| {
        let Support::Supported { arithmetic, profile } = backend.support(contract, &Params::default()) else {
            return None;
        };
        let settled = |(choice, reason): &(sparse_oracle::profile::Choice, String)| Settled {
            choice: choice.name().to_owned(),
            reason: reason.clone(),
        };
        Some(Rule {
            contracts: vec![contract.to_string()],
            arithmetic: text_of(contract, &arithmetic)?,
            profile: profile.choices().iter().map(settled).collect(),
            ..Rule::default()
        })
    });
    Manifest {
        protocol: PROTOCOL,
        name: backend.name().to_owned(),
        version: backend.version(),
        description: backend.description().to_owned(),
        determinism: backend.determinism(),
        thread_safe: false,
        supports: supports.collect(),
        excludes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_arrays_go_out_under_the_names_of_their_format() {
        assert_eq!(raw_names(FormatKind::Csc), ("col_ptr", "row_idx"));
        assert_eq!(raw_names(FormatKind::BlockedEll), ("", "block_col"));
        for kind in FormatKind::ALL.into_iter().filter(|kind| !FormatKind::GENERAL.contains(kind)) {
            assert_eq!(raw_names(kind), ("row_idx", "col_idx"), "{}", kind.name());
        }
    }
}
