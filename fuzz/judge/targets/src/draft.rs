//! Inputs that start with a low byte are drafts: edits of one of a target's own texts. Others are read as they are.

use super::Input;
use super::json_edit::edited;
use serde_json::Value;
use sparse_oracle::source::Random;
use std::borrow::Cow;

/// Bytes below this start no text: what follows is a draft.
pub(super) const DRAFT: u8 = 8;

/// What follows a first byte that no text starts with.
pub(super) fn drafts(bytes: &[u8]) -> Option<Input<'_>> {
    bytes.split_first().filter(|(first, _)| **first < DRAFT).map(|(_, rest)| Input::new(rest))
}

/// What a target is to read: the draft that these bytes ask for, or the bytes as they are.
pub(super) fn drafted_or<'b>(
    bytes: &'b [u8],
    drafted: impl FnOnce(&mut Input<'_>) -> Vec<u8>,
) -> Cow<'b, [u8]> {
    drafts(bytes).map_or(Cow::Borrowed(bytes), |mut input| Cow::Owned(drafted(&mut input)))
}

/// One of the texts, edited.
pub(super) fn draft(input: &mut Input<'_>, texts: &[String], words: &[String]) -> Value {
    let at = input.word(2) as usize % texts.len().max(1);
    let text = texts.get(at).map_or("null", String::as_str);
    edited(input, serde_json::from_str(text).expect("the target's own text is JSON"), words)
}

/// Seeds: every text as a draft without an edit and as it is, and drafts of random bytes.
pub(super) fn seeds(texts: &[String], turns: u64) -> Vec<Vec<u8>> {
    let plain = (0..texts.len() as u16).map(|at| {
        let [low, high] = at.to_le_bytes();
        vec![0, low, high]
    });
    let random = (0..turns).map(|turn| {
        let mut random = Random::new(turn, "fuzz drafts of JSON");
        let rest = (1..64).map(|_| random.below(256) as u8);
        std::iter::once(turn as u8 % DRAFT).chain(rest).collect()
    });
    let verbatim = texts.iter().map(|text| text.clone().into_bytes());
    plain.chain(random).chain(verbatim).collect()
}
