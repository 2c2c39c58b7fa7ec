//! Rows of the table that come near to a form that it lacks.

use crate::table;

/// How many are named.
const NAMED: usize = 4;

/// "the nearest are a, b" for messages.
pub(super) fn to(form: &str) -> String {
    let parts: Vec<&str> = form.split('.').take(16).collect();
    let opcode = parts.first().copied().unwrap_or_default();
    let mut near: Vec<(usize, &str)> = table::rows()
        .filter(|row| row.forms.split(['.', '{']).next() == Some(opcode))
        .map(|row| {
            let words: Vec<&str> = row.forms.split(['.', '{', '}', ',']).collect();
            (parts.iter().filter(|part| words.contains(part)).count(), row.forms)
        })
        .collect();
    if near.is_empty() {
        return "nothing there has this name".into();
    }
    near.sort_by_key(|(shared, forms)| (std::cmp::Reverse(*shared), forms.len()));
    let names: Vec<String> = near.iter().take(NAMED).map(|(_, forms)| format!("'{forms}'")).collect();
    format!("near are {}", names.join(", "))
}
