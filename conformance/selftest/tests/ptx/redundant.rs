//! Survivors that are no faults: why the kernel does the same with them. Each was looked up in the source.

use super::mutant::Class;

/// Faults of a kind that do nothing.
struct Reason {
    class: Class,
    /// How names of entries begin.
    entry: &'static str,
    /// How the line begins and ends.
    line: (&'static str, &'static str),
    /// What one of the two lines above holds.
    above: &'static str,
    /// How many of an entry were looked up.
    most: usize,
    text: &'static str,
}

const fn reason_of(
    class: Class,
    entry: &'static str,
    line: (&'static str, &'static str),
    most: usize,
    text: &'static str,
) -> Reason {
    Reason { class, entry, line, above: "", most, text }
}

const SUMS: &str = "before the sums are laid down: a lane writes them where it alone has read its words of B, since rows lie as \
                    slots do";

/// In kernels whose rows of C begin at multiples of 16 bytes.
const fn last_of_four(entry: &'static str, most: usize) -> Reason {
    let text = "fours of columns inside of C are stored at once: of others the last is never inside";
    Reason { above: ", 3;", ..reason_of(Class::Guard, entry, ("@%p", ";"), most, text) }
}

const REASONS: [Reason; 11] = [
    reason_of(
        Class::Barrier,
        "sum_",
        ("bar.sync", "0;"),
        1,
        "the second barrier of the sum of a block keeps its shared memory from the next sum, and these entries form one",
    ),
    reason_of(
        Class::Wait,
        "tiles_finish",
        ("cp.async.wait_all", ";"),
        2,
        "each copy that has bytes was waited for where its group was summed; the groups that are open at the end are empty",
    ),
    reason_of(
        Class::Shift4,
        "fill_windows",
        ("st.local.u32 \t[%rd1]", ";"),
        1,
        "the zero of number[0], which is never read, goes into number[1], which is written before it is read",
    ),
    reason_of(
        Class::Shift16,
        "fill_windows",
        ("st.local.u32 \t[%rd1]", ";"),
        1,
        "the zero of number[0], which is never read, goes into number[4], which is written before it is read",
    ),
    reason_of(Class::WarpBarrier, "rsh_tf32_", ("bar.warp.sync", "-1;"), 1, SUMS),
    reason_of(Class::WarpBarrier, "libra_tf32_", ("bar.warp.sync", "-1;"), 2, SUMS),
    reason_of(
        Class::Guard,
        "listed_",
        ("@%p", "_2;"),
        1,
        "it chooses a division of 32 bits instead of 64, which only more than 2^32 warps need",
    ),
    last_of_four("rsh_tf32_32", 2),
    last_of_four("rsh_f16_32", 1),
    last_of_four("libra_tf32_32", 1),
    last_of_four("libra_f16_32", 1),
];

/// Why a survivor is none, where that is known; `before` says how many of its entry were given the same reason.
pub(crate) fn reason(
    class: Class,
    entry: &str,
    (above, line): (&[String], &str),
    before: impl Fn(&str) -> usize,
) -> Option<&'static str> {
    let is_so = |reason: &&Reason| {
        reason.class == class
            && entry.starts_with(reason.entry)
            && line.starts_with(reason.line.0)
            && line.ends_with(reason.line.1)
            && above.iter().any(|line| line.contains(reason.above))
    };
    let found = REASONS.iter().find(is_so)?;
    (before(found.text) < found.most).then_some(found.text)
}
