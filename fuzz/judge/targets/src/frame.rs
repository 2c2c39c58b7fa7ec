//! Messages of the protocol: what the judge reads from a child, and what a backend reads of the judge.

use super::draft::{DRAFT, drafted_or};
use super::json_edit::edited;
use super::wire::{Conversation, RECORDED, parts};
use super::{FuzzOutcome, Input};
use serde_json::Value;
use sparse_conformance::backend::{Backend, Failure, Support};
use sparse_conformance::case::Params;
use sparse_conformance::manifest::{Manifest, Rule};
use sparse_conformance::remote::{
    FrameError, PREFIX, Reply, Request, Run, encode, message, parse_prefix, read_answer, read_message,
    respond,
};
use sparse_oracle::contract::Contract;
use sparse_oracle::source::Random;
use sparse_oracle::task::{Answer, Task};

/// Header and payload.
type Message = (Vec<u8>, Vec<u8>);

/// Longest payload that is read.
const LIMIT: u64 = 1 << 16;

/// Bytes of a message before they are read: mostly a recorded one with edits in its header and payload.
fn drafted(input: &mut Input<'_>) -> Vec<u8> {
    let conversation = conversation(input);
    let recorded = if input.one_in(2) { conversation.request } else { conversation.answer };
    let (header, mut payload) = parts(recorded);
    let header: Value = serde_json::from_slice(&header).expect("a recorded header");
    let header = edited(input, header, &words());
    for _ in 0..input.pick(&[0, 1, 0, 2]) {
        let at = input.word(2) as usize % payload.len().max(1);
        match input.below(4) {
            0 => payload.truncate(at),
            1 => payload.push(input.byte()),
            _ => payload.iter_mut().skip(at).take(1).for_each(|byte| *byte = input.byte()),
        }
    }
    let mut bytes = message(&header, &payload).unwrap_or_default();
    if input.one_in(8) {
        let at = input.below(PREFIX);
        bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = input.byte());
    }
    if input.one_in(8) {
        bytes.truncate(input.word(2) as usize % bytes.len().max(1));
    }
    bytes
}

fn conversation(input: &mut Input<'_>) -> &'static Conversation {
    &RECORDED[input.below(RECORDED.len())]
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let verbatim = RECORDED.iter().flat_map(|c| [c.request, c.answer]).filter(|bytes| bytes.len() < 1200);
    let mut seeds: Vec<Vec<u8>> = verbatim.map(<[u8]>::to_vec).collect();
    let plain = |at: usize| (0..2).map(move |side| vec![0, at as u8, side]);
    seeds.extend((0..RECORDED.len()).flat_map(plain));
    seeds.extend((0..60).map(|turn| {
        let mut random = Random::new(turn, "fuzz drafts of messages");
        let rest = (1..48).map(|_| random.below(256) as u8);
        std::iter::once(turn as u8 % DRAFT).chain(rest).collect()
    }));
    seeds
}

pub(super) fn words() -> Vec<String> {
    let words = [
        "hello",
        "run",
        "bye",
        "manifest",
        "answer",
        "written",
        "sparse",
        "refused",
        "unsupported",
        "failed",
        "broke",
        "a",
        "b",
        "c",
        "x",
        "y",
        "s",
        "out",
        "row",
        "col",
        "rows",
        "cols",
        "values",
        "row_ptr",
        "a.row_ptr",
        "a.col_idx",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "f32",
        "f64",
        "csr",
        "coo",
        "bcsr",
        "rs_tile",
        "0x7ff8000000000000",
        "0x3ff0000000000000",
        "scale",
        "block_rows",
        "spmm.csr.f32_f32_f32_f32",
        "convert.csr.ell.f16",
    ];
    words.map(str::to_owned).to_vec()
}

/// A backend that answers what it is told to.
struct Told(Answer);

impl Backend for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn support(&self, _: &Contract, _: &Params) -> Support {
        Support::Excluded { reason: "nobody asks".into() }
    }

    fn run(&self, _: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
        Ok(self.0.clone())
    }
}

fn manifest() -> Manifest {
    let supports = vec![Rule { contracts: vec!["*".to_owned()], ..Rule::default() }];
    let text = serde_json::json!({"protocol": 1, "name": "told", "supports": supports}).to_string();
    Manifest::parse(text.as_bytes()).expect("a manifest")
}

/// Any bytes are a message or a typed error. A request that a backend takes is encoded to one that it takes again, to the same
/// bytes; an answer that the judge takes can be sent, and is read as the same.
///
/// # Panics
/// When one of this is not so.
pub fn protocol_frame(bytes: &[u8]) -> FuzzOutcome {
    let bytes = drafted_or(bytes, drafted);
    let bytes = bytes.as_ref();
    let mut rest = bytes;
    let read = read_message(&mut rest, LIMIT);
    prefixes(bytes, &read);
    let Ok(Some((header, payload))) = read else {
        return FuzzOutcome::Refused;
    };
    let taken = request(&header, &payload);
    let message = (header, payload);
    if answered(&message) || taken { FuzzOutcome::Accepted } else { FuzzOutcome::Refused }
}

/// A prefix is one as soon as it is whole, and what no further byte can mend is refused at once.
fn prefixes(bytes: &[u8], read: &Result<Option<Message>, FrameError>) {
    for len in 0..PREFIX.min(bytes.len()) {
        match parse_prefix(&bytes[..len]) {
            Ok(lengths) => assert_eq!(lengths, None, "of {len} bytes"),
            Err(error) => assert!(read.is_err(), "{len} bytes were refused, and then taken: {error}"),
        }
    }
    match read {
        Ok(None) => assert!(bytes.is_empty()),
        Ok(Some((header, payload))) => {
            let lengths = parse_prefix(bytes).ok().flatten().expect("a message has a prefix");
            assert_eq!((lengths.header, lengths.payload), (header.len(), payload.len() as u64));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Whether it is a request; then what a backend makes of it goes round.
fn request(header: &[u8], payload: &[u8]) -> bool {
    let answered = respond(&Told(Answer::Written), &manifest(), header, payload);
    if let Ok(Some(reply)) = &answered {
        let (header, _) = parts(reply);
        serde_json::from_slice::<Reply>(&header).expect("a reply is one");
    }
    let Ok(run) = serde_json::from_slice::<Run>(header) else {
        return false;
    };
    let Ok(once) = recoded(run, payload) else {
        return false;
    };
    let (header, payload) = parts(&once);
    let run: Run = serde_json::from_slice(&header).expect("what was encoded is a request");
    let twice = recoded(run, &payload).expect("what was encoded is taken");
    assert!(once == twice, "{}", String::from_utf8_lossy(&header));
    true
}

/// A request decoded, and encoded again.
fn recoded(run: Run, payload: &[u8]) -> Result<Vec<u8>, String> {
    let mut request = Request::decode(run, payload).map_err(|error| error.to_string())?;
    let (id, contract) = (request.id, request.contract);
    let task = request.task().map_err(|error| error.to_string())?;
    encode(id, &contract, &task).map_err(|error| error.to_string())
}

/// Whether it is an answer to one of the recorded requests; then it is sent, and read again.
fn answered((header, payload): &Message) -> bool {
    let Ok(reply) = serde_json::from_slice::<Reply>(header) else {
        return false;
    };
    let message = (header.clone(), payload.clone());
    let mut any = false;
    for conversation in &RECORDED {
        let mut request = conversation.request();
        // An answer to an other request is refused for that alone.
        let (id, contract) = (reply.id.unwrap_or(request.id), request.contract);
        let mut task = request.task().expect("a recorded task");
        match read_answer(&message, id, &contract, &mut task) {
            Err(Failure::Refused(words) | Failure::Crashed(words)) => {
                assert!(!words.contains('\u{0}'), "{words:?}");
            }
            Err(Failure::Broke(mismatch)) => assert!(!mismatch.message.is_empty()),
            Err(Failure::TimedOut { .. } | Failure::NotAsked(_)) => {
                panic!("an answer came, and counts as none")
            }
            Ok(answer) => {
                any = true;
                sent(conversation, &answer);
            }
        }
    }
    any
}

fn sent(conversation: &Conversation, answer: &Answer) {
    let (header, payload) = parts(conversation.request);
    let reply = respond(&Told(answer.clone()), &manifest(), &header, &payload);
    let reply = parts(&reply.expect("a recorded request is answered").expect("it is no goodbye"));
    let mut request = conversation.request();
    let (id, contract) = (request.id, request.contract);
    let mut task = request.task().expect("a recorded task");
    let again = read_answer(&reply, id, &contract, &mut task);
    // Where nothing was written, a NaN of the answer is one of the same bits: its text says so.
    assert_eq!(format!("{:?}", Ok::<_, Failure>(answer)), format!("{:?}", again.as_ref()));
    match answer.clone() {
        Answer::Written => {}
        Answer::Sparse(raw) => _ = raw.check().map_err(|refusal| assert!(!refusal.to_string().is_empty())),
        Answer::Parts(parts) => _ = parts.check().map_err(|refusal| assert!(!refusal.to_string().is_empty())),
    }
}
