//! The comparison on the terminal.

use super::Diff;
use super::lists::{List, headline, lists, lone, settings};
use crate::report::show::count;
use std::fmt::Write;

/// Lines printed of each list.
const SHOWN: usize = 20;

/// The comparison as text for a terminal.
#[must_use]
pub fn to_text(diff: &Diff) -> String {
    let mut text = String::new();
    for sentence in lone(diff) {
        let _ = writeln!(text, "{sentence}");
    }
    for (what, old, new) in settings(diff) {
        let _ = writeln!(text, "{what}: {old:?} -> {new:?}");
    }
    for list in lists(diff) {
        write_list(&mut text, &list);
    }
    let _ = writeln!(text, "{}", headline(diff));
    text
}

fn write_list(text: &mut String, list: &List) {
    let _ = writeln!(text, "{}: {}", list.title, count(list.items.len() as u64));
    for item in list.items.iter().take(SHOWN) {
        let separator = if item.what.is_empty() { "" } else { ": " };
        let replay = item.replay.as_ref().map(|line| format!("\n    {line}")).unwrap_or_default();
        let _ = writeln!(text, "  {}{separator}{}{replay}", item.what, item.place);
    }
    if list.items.len() > SHOWN {
        let _ =
            writeln!(text, "  ... and {} more (--json has all)", count((list.items.len() - SHOWN) as u64));
    }
}
