//! Faults put into the text of our PTX, one at a time.
//!
//! ```text
//! text of a source -> lines of each entry -> class of a line -> the line with the fault -> text again
//! ```

use serde::{Deserialize, Serialize};
use sparse_kernels::cuda::source::Source;
use xxhash_rust::xxh3::xxh3_64;

/// What is done to a line. The table below says of which lines, and of how many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Class {
    /// `bar.sync` is deleted.
    Barrier,
    /// `bar.warp.sync` is deleted.
    WarpBarrier,
    /// `cp.async.wait_group` is deleted.
    Wait,
    /// `cp.async.commit_group` is deleted.
    Commit,
    /// `wgmma.wait_group` is deleted.
    GroupWait,
    /// `wgmma.commit_group` is deleted.
    GroupCommit,
    /// `wgmma.fence` is deleted.
    GroupFence,
    /// `fence.proxy.async` is deleted.
    ProxyFence,
    /// Lane 31 is taken out of the members of a shuffle, vote or reduction.
    Members,
    /// An instruction is executed whether its guard says so or not.
    Guard,
    /// An address is off by one byte.
    Shift1,
    /// By four bytes.
    Shift4,
    /// By sixteen.
    Shift16,
    /// The stage after the last is not the first, and the one after any other is.
    Stage,
}

/// A class, and one of how many of its lines is taken.
pub(crate) const CLASSES: [(Class, u64); 14] = [
    (Class::Barrier, 1),
    (Class::WarpBarrier, 1),
    (Class::Wait, 1),
    (Class::Commit, 1),
    (Class::GroupWait, 1),
    (Class::GroupCommit, 1),
    (Class::GroupFence, 1),
    (Class::ProxyFence, 1),
    (Class::Members, 1),
    (Class::Guard, 40),
    (Class::Shift1, 60),
    (Class::Shift4, 60),
    (Class::Shift16, 60),
    (Class::Stage, 1),
];

/// A fault.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) class: Class,
    pub(crate) source: Source,
    pub(crate) entry: String,
    /// Index of the line.
    pub(crate) line: usize,
    /// What stands there instead.
    pub(crate) becomes: String,
}

/// Reads from address 0: a finding wherever it is executed.
const PROBE: &str = "{ .reg .b64 %no; .reg .b32 %got; mov.u64 %no, 0; ld.global.u32 %got, [%no]; }";

impl Mutant {
    /// A fault at the same line that shows whenever a lane comes there.
    pub(crate) fn probe(&self, lines: &[&str]) -> Mutant {
        Mutant { becomes: format!("{PROBE} {}", lines[self.line]), ..self.clone() }
    }

    /// The whole text with the fault.
    pub(crate) fn text(&self, lines: &[&str]) -> String {
        let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum::<usize>() + 64);
        for (number, line) in lines.iter().enumerate() {
            text.push_str(if number == self.line { &self.becomes } else { line });
            text.push('\n');
        }
        text
    }
}

/// All faults of a source that the table asks for, in the order of the lines; of each class one for each entry at least, as far as there
/// are lines of it.
pub(crate) fn mutants(source: Source, lines: &[&str]) -> Vec<Mutant> {
    let mut all = Vec::new();
    let (mut entry, mut pipelined) = (String::new(), false);
    for (number, line) in lines.iter().enumerate() {
        if let Some(name) = line.split(".entry ").nth(1) {
            entry = name.trim_end_matches(['(', ' ']).to_owned();
            let body = lines[number..].iter().skip(1).take_while(|line| !line.contains(".entry "));
            pipelined = body.into_iter().any(|line| line.contains("cp.async.commit_group"));
        }
        for (class, _) in CLASSES {
            let made = becomes(class, line.trim(), pipelined);
            all.extend(made.map(|becomes| Mutant {
                class,
                source,
                entry: entry.clone(),
                line: number,
                becomes,
            }));
        }
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|mutant| {
        let one_of = CLASSES.iter().find(|(class, _)| *class == mutant.class).map_or(1, |row| row.1);
        let first = seen.insert((mutant.entry.clone(), mutant.class));
        let name = format!("{} {}", mutant.entry, mutant.line);
        first || xxh3_64(name.as_bytes()).is_multiple_of(one_of)
    });
    all
}

/// The line with a fault of this class, where it can have one.
fn becomes(class: Class, line: &str, pipelined: bool) -> Option<String> {
    let (guard, bare) = match line.strip_prefix('@') {
        Some(rest) => rest.split_once([' ', '\t']).map(|(_, bare)| (true, bare.trim()))?,
        None => (false, line),
    };
    let deleted = |what: &str| bare.starts_with(what).then(String::new);
    match class {
        Class::Barrier => deleted("bar.sync"),
        Class::WarpBarrier => deleted("bar.warp.sync"),
        Class::Wait => deleted("cp.async.wait"),
        Class::Commit => deleted("cp.async.commit"),
        Class::GroupWait => deleted("wgmma.wait"),
        Class::GroupCommit => deleted("wgmma.commit"),
        Class::GroupFence => deleted("wgmma.fence"),
        Class::ProxyFence => deleted("fence.proxy"),
        Class::Members => {
            let collective = ["shfl.sync", "vote.sync", "redux.sync"].iter().any(|op| bare.starts_with(op));
            let (before, members) = bare.strip_suffix(';')?.rsplit_once(", ")?;
            collective.then(|| {
                format!("{{ .reg .b32 %few; and.b32 %few, {members}, 2147483647; {before}, %few; }}")
            })
        }
        Class::Guard => guard.then(|| bare.to_owned()),
        Class::Shift1 => shifted(line, bare, 1),
        Class::Shift4 => shifted(line, bare, 4),
        Class::Shift16 => shifted(line, bare, 16),
        Class::Stage => {
            let (to, from) = bare.strip_prefix("selp.b32")?.split_once(", 0, ")?;
            let (next, last) = from.split_once(", ")?;
            pipelined.then(|| format!("selp.b32 {to}, {next}, 0, {last}"))
        }
    }
}

/// The first address of an access, so many bytes on; of what is stored, where something is copied.
fn shifted(line: &str, bare: &str, bytes: u32) -> Option<String> {
    let accesses = ["ld.", "st.", "cp.async.c", "ldmatrix"].iter().any(|op| bare.starts_with(op));
    if !accesses || bare.starts_with("ld.param") {
        return None;
    }
    let (before, rest) = line.split_once('[')?;
    let (address, after) = rest.split_once(']')?;
    let address = match address.rsplit_once('+') {
        Some((base, offset)) => format!("{base}+{}", offset.trim().parse::<i64>().ok()? + i64::from(bytes)),
        None => format!("{address}+{bytes}"),
    };
    Some(format!("{before}[{address}]{after}"))
}

#[test]
fn faults_of_lines_are_what_the_table_says() {
    let of = |class, line| becomes(class, line, true);
    assert_eq!(of(Class::Barrier, "bar.sync \t0;").as_deref(), Some(""));
    assert_eq!(of(Class::Barrier, "bar.warp.sync \t-1;"), None);
    assert_eq!(of(Class::Guard, "@%p1 bra $L;").as_deref(), Some("bra $L;"));
    assert_eq!(
        of(Class::Shift4, "@p st.global.u32 [%rd1+8], %r1;").as_deref(),
        Some("@p st.global.u32 [%rd1+12], %r1;")
    );
    assert_eq!(
        of(Class::Shift1, "ld.shared.u32 %r1, [%r2];").as_deref(),
        Some("ld.shared.u32 %r1, [%r2+1];")
    );
    assert_eq!(of(Class::Shift1, "ld.param.u32 %r1, [p];"), None);
    assert_eq!(
        of(Class::Stage, "selp.b32 \t%r1, 0, %r2, %p3;").as_deref(),
        Some("selp.b32  \t%r1, %r2, 0, %p3;")
    );
    let few = of(Class::Members, "shfl.sync.idx.b32 \t%r1|%p1, %r2, %r3, %r4, %r5;").expect("a shuffle");
    assert!(few.contains("and.b32 %few, %r5, 2147483647;") && few.ends_with("%r4, %few; }"), "{few}");
}
