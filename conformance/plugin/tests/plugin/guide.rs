//! The table of formats in `PLUGIN.md` is that of the oracle.

use sparse_oracle::format::{FieldRef, Fields, FormatKind, Parts};
use std::fmt::Write as _;

/// `| name | extents | arrays |` for every format.
fn table() -> String {
    let mut text = String::from("| format | extents | arrays |\n|---|---|---|\n");
    for kind in FormatKind::ALL {
        let (mut extents, mut arrays) = (Vec::new(), Vec::new());
        for (name, field) in Parts::<f32>::empty(kind).fields() {
            let kind = match field {
                FieldRef::Extent(_) | FieldRef::Flag(_) => None,
                FieldRef::U8(_) => Some("u8"),
                FieldRef::U16(_) => Some("u16"),
                FieldRef::U32(_) => Some("u32"),
                FieldRef::U64(_) => Some("u64"),
                FieldRef::Values(_) => Some("values"),
            };
            match kind {
                None if name == "rows" || name == "cols" => {}
                None => extents.push(format!("`{name}`")),
                Some("values") => arrays.push(format!("**`{name}`**")),
                Some(kind) => arrays.push(format!("`{name}` {kind}")),
            }
        }
        let (extents, arrays) = (extents.join(", "), arrays.join(", "));
        writeln!(text, "| `{}` | {extents} | {arrays} |", kind.name()).expect("a string grows");
    }
    text
}

#[test]
fn the_guide_names_every_array_of_every_format() {
    let guide = include_str!("../../../PLUGIN.md");
    let wanted = table();
    assert!(guide.contains(&wanted), "PLUGIN.md, section Formats, must hold this table:\n{wanted}");
}
