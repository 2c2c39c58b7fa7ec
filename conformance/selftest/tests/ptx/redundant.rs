//! Survivors that are no faults: why the kernel does the same with them. Each was looked up in the source.

use super::mutant::Class;

/// Of kernels whose rows of C begin at multiples of 16 bytes.
const LAST_OF_FOUR: &str =
    "fours of columns inside of C are stored at once: of others the last is never inside";

/// Class, how the entry's name begins, how the line begins and ends and what a line above it holds, how many such faults of an entry were
/// looked up, and the reason.
const REASONS: [(Class, &str, (&str, &str, &str), usize, &str); 11] = [
    (
        Class::Barrier,
        "sum_",
        ("bar.sync", "0;", ""),
        1,
        "the second barrier of the sum of a block keeps its shared memory from the next sum, and these entries form one",
    ),
    (
        Class::Wait,
        "tiles_finish",
        ("cp.async.wait_all", ";", ""),
        2,
        "each copy that has bytes was waited for where its group was summed; the groups that are open at the end are empty",
    ),
    (
        Class::Shift4,
        "fill_windows",
        ("st.local.u32 \t[%rd1]", ";", ""),
        1,
        "the zero of number[0], which is never read, goes into number[1], which is written before it is read",
    ),
    (
        Class::Shift16,
        "fill_windows",
        ("st.local.u32 \t[%rd1]", ";", ""),
        1,
        "the zero of number[0], which is never read, goes into number[4], which is written before it is read",
    ),
    (
        Class::WarpBarrier,
        "rsh_tf32_",
        ("bar.warp.sync", "-1;", ""),
        1,
        "before the sums are laid down: a lane writes them where it alone has read its words of B, since rows lie as slots do",
    ),
    (
        Class::WarpBarrier,
        "libra_tf32_",
        ("bar.warp.sync", "-1;", ""),
        2,
        "before the sums are laid down: a lane writes them where it alone has read its words of B, since rows lie as slots do",
    ),
    (
        Class::Guard,
        "listed_",
        ("@%p", "_2;", ""),
        1,
        "it chooses a division of 32 bits instead of 64, which only more than 2^32 warps need",
    ),
    (Class::Guard, "rsh_tf32_32", ("@%p", ";", ", 3;"), 2, LAST_OF_FOUR),
    (Class::Guard, "rsh_f16_32", ("@%p", ";", ", 3;"), 1, LAST_OF_FOUR),
    (Class::Guard, "libra_tf32_32", ("@%p", ";", ", 3;"), 1, LAST_OF_FOUR),
    (Class::Guard, "libra_f16_32", ("@%p", ";", ", 3;"), 1, LAST_OF_FOUR),
];

/// Why a survivor is none, where that is known; `before` says how many of its entry were given the same reason.
pub(crate) fn reason(
    class: Class,
    entry: &str,
    (above, line): (&[String], &str),
    before: impl Fn(&str) -> usize,
) -> Option<&'static str> {
    let mut rows = REASONS.iter().filter(|row| row.0 == class && entry.starts_with(row.1));
    let is_so = |(begin, end, near): (&str, &str, &str)| {
        line.starts_with(begin) && line.ends_with(end) && above.iter().any(|line| line.contains(near))
    };
    let row = rows.find(|row| is_so(row.2))?;
    (before(row.4) < row.3).then_some(row.4)
}
