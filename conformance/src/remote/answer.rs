//! An answer judged as a message: is it the one that was asked for, and does it hold what it must? Then its arrays go where
//! the task wants them.

use super::arrays::{Arrays, bad};
use super::frame::FrameError;
use super::header::{AnswerKind, Reply, ReplyKind};
use super::tail::sanitised;
use crate::backend::Failure;
use sparse_oracle::contract::Contract;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::{Defect, Mismatch};
use sparse_oracle::{each_precision, with_scalar};

/// Longest refusal that is kept, in bytes.
const MAX_WORDS: usize = 4096;

/// Reads the answer to request `id` into the task.
///
/// # Errors
/// What the backend refuses, or what is wrong with its answer.
pub fn read(
    (header, payload): &(Vec<u8>, Vec<u8>),
    id: u64,
    contract: &Contract,
    task: &mut Task<'_>,
) -> Result<Answer, Failure> {
    let reply: Reply =
        serde_json::from_slice(header).map_err(|source| broke(&FrameError::Json { source }))?;
    if reply.kind != ReplyKind::Answer {
        return Err(protocol("it sent a manifest where an answer was due".to_owned()));
    }
    if reply.id != Some(id) {
        let found = reply.id.map_or("none".to_owned(), |id| id.to_string());
        return Err(protocol(format!("it answered request {found}, asked was {id}")));
    }
    let words = || {
        let text = sanitised(reply.message.as_deref().unwrap_or("(no reason given)").as_bytes());
        text.chars().take(MAX_WORDS).collect::<String>()
    };
    // What runs the backend may say where; the words are its own, the verdict is not.
    let told = |what: String| match reply.message {
        Some(_) => format!("{what}: {}", words()),
        None => what,
    };
    if reply.inputs_modified {
        let message = told("an input operand changed during the call".to_owned());
        return Err(rule(Defect::InputModified, message));
    }
    if reply.environment_changed {
        let message = told("the floating-point environment was left changed after the call".to_owned());
        return Err(rule(Defect::Environment, message));
    }
    if let Some(at) = reply.guard_broken {
        let message = match reply.outcome {
            Some(AnswerKind::Broke) => told("what lies outside the output was written".to_owned()),
            _ => format!("offset {at} lies outside the output, and was written"),
        };
        return Err(rule(Defect::Canary, message));
    }
    match reply.outcome {
        None => Err(protocol("its answer has no outcome".to_owned())),
        Some(AnswerKind::Refused) => Err(Failure::Refused(words())),
        Some(AnswerKind::Unsupported) => {
            let text = format!("answered \"unsupported\" to what its manifest takes: {}", words());
            Err(Failure::Refused(text))
        }
        Some(AnswerKind::Failed) => Err(Failure::Crashed(words())),
        Some(AnswerKind::Broke) => Err(protocol(words())),
        Some(AnswerKind::Written) => written(&reply, payload, task).map_err(|e| broke(&e)),
        Some(AnswerKind::Sparse) => sparse(&reply, payload, contract).map_err(|e| broke(&e)),
    }
}

fn written(reply: &Reply, payload: &[u8], task: &mut Task<'_>) -> Result<Answer, FrameError> {
    let arrays = Arrays::new(&reply.arrays, payload)?;
    let name = task.op().signature().output;
    let (Some(name), Some(out)) = (name, task.output_mut()) else {
        // Nothing was to be written: the judge says so.
        return arrays.whole().map(|()| Answer::Written);
    };
    if let Some(other) = arrays.names().find(|other| *other != name) {
        return Err(bad(other, format!("is not what was to be written, which is {name:?}")));
    }
    each_precision!(AnySliceMut, out.data, v => arrays.copy_to(name, v))?;
    arrays.whole().map(|()| Answer::Written)
}

fn sparse(reply: &Reply, payload: &[u8], contract: &Contract) -> Result<Answer, FrameError> {
    let head = reply.sparse.as_ref().ok_or_else(|| bad("sparse", "is missing".to_owned()))?;
    let arrays = Arrays::new(&reply.arrays, payload)?;
    with_scalar!(contract.types.out, T => {
        let parts = arrays.parts::<T>("", head)?;
        let answer = Answer::from_parts(parts).map_err(|refusal| bad("blocks", refusal.to_string()))?;
        arrays.whole().map(|()| answer)
    })
}

fn broke(error: &FrameError) -> Failure {
    protocol(error.to_string())
}

fn protocol(message: String) -> Failure {
    rule(Defect::Protocol, message)
}

fn rule(defect: Defect, message: String) -> Failure {
    Failure::Broke(Box::new(Mismatch::plain(defect, message)))
}
