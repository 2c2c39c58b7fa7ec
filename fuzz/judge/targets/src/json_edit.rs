//! From a fuzzer's bytes to edits of a JSON value: what is drafted so is JSON still, and often still what a reader takes.

use super::Input;
use serde_json::{Map, Number, Value};

/// How many edits follow a draft.
const EDITS: [usize; 8] = [0, 1, 1, 2, 1, 2, 3, 5];

/// Deepest place of an edit.
const DEPTH: usize = 8;

/// Text that some reader may trip over.
const TEXTS: [&str; 16] = [
    "",
    " ",
    "*",
    "?",
    "a",
    "\u{0}",
    "é\u{301}",
    "\u{202e}",
    "]]>",
    "<b>&\"'",
    "a\nb",
    "/",
    "..",
    "*/alpha=*",
    "1e999",
    "|`$(x)",
];

/// Numbers at the ends of types.
const NUMBERS: [u64; 12] =
    [0, 1, 2, 31, 255, 400, u32::MAX as u64, 1 << 32, 1 << 53, i64::MAX as u64, 1 << 63, u64::MAX];

/// Fractions, and numbers that are none of the above.
const FRACTIONS: [f64; 8] = [-0.0, 0.5, -1.0, 1e-320, 1.5e300, f64::MAX, f64::MIN, 1.000_000_1];

/// The value after some edits; `words` are texts that mean something to the reader.
pub(super) fn edited(input: &mut Input<'_>, mut value: Value, words: &[String]) -> Value {
    for _ in 0..input.pick(&EDITS) {
        let source = place(input, &mut value.clone()).clone();
        let target = place(input, &mut value);
        edit(input, target, source, words);
    }
    value
}

/// A node of the value, mostly a leaf.
fn place<'a>(input: &mut Input<'_>, value: &'a mut Value) -> &'a mut Value {
    let mut here = value;
    for _ in 0..DEPTH {
        let len = match here {
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        if len == 0 || input.one_in(6) {
            break;
        }
        let at = input.word(1 + usize::from(len > 256)) as usize % len;
        let next = match here {
            Value::Array(list) => list.get_mut(at),
            Value::Object(map) => map.values_mut().nth(at),
            _ => None,
        };
        here = next.expect("less than the length");
    }
    here
}

fn edit(input: &mut Input<'_>, target: &mut Value, source: Value, words: &[String]) {
    let kind = input.byte();
    match target {
        Value::Array(list) => edit_list(input, list, source, kind),
        Value::Object(map) => edit_map(input, map, source, kind),
        Value::String(text) => edit_text(input, text, source, words, kind),
        other => *other = scalar(input, source, words),
    }
}

fn edit_list(input: &mut Input<'_>, list: &mut Vec<Value>, source: Value, kind: u8) {
    let at = input.below(256) % list.len().max(1);
    match kind % 5 {
        _ if list.is_empty() => list.push(source),
        0 => drop(list.remove(at)),
        1 => list.insert(at, list[at].clone()),
        2 => list.swap(0, at),
        3 => list.push(source),
        _ => list.truncate(at),
    }
}

fn edit_map(input: &mut Input<'_>, map: &mut Map<String, Value>, source: Value, kind: u8) {
    let key = map.keys().nth(input.below(256) % map.len().max(1)).cloned().unwrap_or_default();
    match kind % 3 {
        0 => _ = map.remove(&key),
        1 => _ = map.insert(key, source),
        _ => _ = map.insert(input.pick(&TEXTS).to_owned(), source),
    }
}

fn edit_text(input: &mut Input<'_>, text: &mut String, source: Value, words: &[String], kind: u8) {
    let at = text.floor_char_boundary(input.below(256));
    match kind % 8 {
        0 => text.truncate(at),
        1 => text.insert_str(at, input.pick(&TEXTS)),
        2 => text.insert(at, char::from(input.byte())),
        3 => _ = text.pop(),
        4 | 5 if !words.is_empty() => text.clone_from(&words[input.word(2) as usize % words.len()]),
        6 => text.push_str(&text.clone()),
        _ => {
            if let Value::String(other) = source {
                *text = other;
            } else {
                *text = input.pick(&TEXTS).to_owned();
            }
        }
    }
}

/// A number, flag, word or null.
fn scalar(input: &mut Input<'_>, source: Value, words: &[String]) -> Value {
    match input.below(8) {
        0 => Value::Null,
        1 => Value::Bool(input.one_in(2)),
        2 => Value::from(input.pick(&NUMBERS)),
        3 => Number::from_f64(input.pick(&FRACTIONS)).map_or(Value::Null, Value::Number),
        4 => Value::from(input.word(2)),
        5 => words
            .get(input.below(256) % words.len().max(1))
            .map_or(Value::Null, |word| Value::from(word.as_str())),
        6 => Value::from(-i64::from(input.byte())),
        _ => source,
    }
}
