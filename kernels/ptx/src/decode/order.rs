//! Modifiers that a row of the table does not name: what an access orders, for whom, and how caches are used.
//!
//! ```text
//! ld.acquire.gpu.global.u32      .volatile .relaxed .acquire           .cta .gpu .sys     space, type: the row
//! st.release.cta.shared.u32      .volatile .relaxed .release
//! atom.acq_rel.gpu.global.inc.u32   .relaxed .acquire .release .acq_rel   all may be left out: .relaxed, .gpu
//! fence.sc.gpu, membar.gl        all are acquire and release
//! ```
//!
//! `.cluster` means the block: no launch here has clusters of more than one. `.shared::cta` is `.shared`.

use crate::program::{MemoryScope, Strong};

const SCOPES: [&str; 4] = ["cta", "cluster", "gpu", "sys"];
const ORDERS: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "acq_rel"];
/// Beside `.L1::` and `.L2::`; `weak` is what a plain access is.
const HINTS: [&str; 8] = ["weak", "ca", "cg", "cs", "cv", "lu", "wb", "wt"];

fn parts(form: &str) -> impl Iterator<Item = &str> {
    form.split('.').skip(1)
}

fn is_hint(part: &str) -> bool {
    HINTS.contains(&part) || part.starts_with("L1::") || part.starts_with("L2::")
}

/// Whether this part says what an access orders, and for whom.
pub(super) fn is_order(part: &str) -> bool {
    ORDERS.contains(&part) || SCOPES.contains(&part)
}

/// Whether this part of an `ld` or `st` is one of those that rows do not name.
pub(super) fn is_modifier(part: &str) -> bool {
    is_hint(part) || is_order(part)
}

/// The form without these modifiers, where it is of a family that may have some, has some, and they go together.
pub(super) fn stripped(form: &str) -> Option<String> {
    let family = form.split('.').next()?;
    let drops = |part: &str| match family {
        "ld" | "st" => is_modifier(part),
        "atom" | "red" => {
            part != "volatile" && (is_order(part) || part.starts_with("L2::") && part != "L2::cache_hint")
        }
        // `cp.async.cg` is an instruction of its own, `ld.global.cg` is not.
        "cp" => is_hint(part) && !matches!(part, "ca" | "cg"),
        _ => false,
    };
    let spaces = |part| if part == "shared::cta" && family != "cp" { "shared" } else { part };
    let rest: Vec<&str> = parts(form).filter(|part| !drops(part)).map(spaces).collect();
    let rest = format!("{family}.{}", rest.join("."));
    (rest.len() < form.len() && agrees(family, form)).then_some(rest)
}

/// `.relaxed` and the like of `ld` and `st` name a scope, weak and volatile accesses name none; a load releases nothing, a store
/// acquires nothing, and neither is both. Constants, parameters and (before PTX 9.1) local memory have only weak accesses.
fn agrees(family: &str, form: &str) -> bool {
    let count = |names: &[&str]| parts(form).filter(|part| names.contains(part)).count();
    let (scopes, orders) = (count(&SCOPES), count(&ORDERS));
    let plain = count(&["volatile", "weak"]);
    match family {
        "ld" | "st" => {
            let wrong = if family == "ld" { "release" } else { "acquire" };
            let strong = orders - count(&["volatile"]);
            let weak_only = count(&["const", "param", "local", "nc"]) > 0;
            count(&[wrong, "acq_rel"]) == 0
                && strong + plain <= 1
                && scopes == strong
                && !(weak_only && orders > 0)
        }
        // What `red` reads, nobody gets.
        "red" => scopes <= 1 && orders <= 1 && count(&["acquire", "acq_rel"]) == 0,
        _ => scopes <= 1 && orders <= 1,
    }
}

/// Of a form with `.volatile`, `.relaxed` and the like; nothing of one without.
pub(super) fn strong(form: &str) -> Option<Strong> {
    let (acquire, release) = parts(form).find_map(|part| match part {
        "volatile" | "relaxed" => Some((false, false)),
        "acquire" => Some((true, false)),
        "release" => Some((false, true)),
        "acq_rel" => Some((true, true)),
        _ => None,
    })?;
    Some(Strong { scope: scope(form), acquire, release })
}

/// Whom an access or a fence means.
pub(super) fn scope(form: &str) -> MemoryScope {
    if parts(form).any(|part| matches!(part, "cta" | "cluster")) {
        MemoryScope::Block
    } else {
        MemoryScope::Device
    }
}

/// The version of PTX and the architecture that brought these modifiers.
pub(super) fn since(form: &str) -> ((u8, u8), u16) {
    match form.split('.').next() {
        Some("ld" | "st" | "atom" | "red") => {}
        _ => return ((1, 0), 10),
    }
    if parts(form).any(|part| part == "cluster") {
        ((7, 8), 90)
    } else if parts(form).any(|part| ORDERS[1..].contains(&part)) {
        ((6, 0), 70)
    } else if parts(form).any(|part| SCOPES.contains(&part)) {
        ((5, 0), 60)
    } else {
        ((1, 0), 10)
    }
}

#[cfg(test)]
mod tests {
    use super::stripped;

    #[test]
    fn only_what_goes_together_is_read_over() {
        for (form, row) in [
            ("ld.acquire.gpu.global.u32", "ld.global.u32"),
            ("ld.volatile.shared.f32", "ld.shared.f32"),
            ("ld.weak.global.cg.u32", "ld.global.u32"),
            ("st.release.cta.u32", "st.u32"),
            ("atom.acq_rel.gpu.global.inc.u32", "atom.global.inc.u32"),
            ("red.gpu.add.f32", "red.add.f32"),
            ("atom.add.acq_rel.cluster.u32", "atom.add.u32"),
            ("ld.shared::cta.u32", "ld.shared.u32"),
            ("red.relaxed.cta.shared::cta.add.u32", "red.shared.add.u32"),
            ("cp.async.cg.shared.global.L2::128B", "cp.async.cg.shared.global"),
        ] {
            assert_eq!(stripped(form).as_deref(), Some(row), "{form}");
        }
        for form in [
            "ld.release.gpu.u32",
            "ld.acquire.u32",
            "ld.gpu.u32",
            "ld.volatile.gpu.u32",
            "ld.relaxed.acquire.gpu.u32",
            "st.acquire.gpu.u32",
            "st.acq_rel.gpu.u32",
            "atom.volatile.add.u32",
            "atom.relaxed.acquire.add.u32",
            "atom.cta.gpu.add.u32",
            "red.acq_rel.gpu.add.u32",
            "ld.volatile.const.u32",
            "ld.volatile.local.u32",
            "ld.acquire.gpu.global.nc.u32",
            "ld.global.u32",
            "bar.sync",
        ] {
            assert_eq!(stripped(form), None, "{form}");
        }
    }
}
