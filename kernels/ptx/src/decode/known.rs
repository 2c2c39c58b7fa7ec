//! What PTX has and this machine does not play, so that nobody takes it for a misspelling: one table, by the beginnings of names.

/// Instructions, as many words of them as tell them apart, and what is said about them.
const INSTRUCTIONS: &[(&[&str], &str)] = &[
    (&["multimem"], "there is one device here: write `ld`, `st` or `red`"),
    (
        &["call", "brx", "alloca", "stacksave", "stackrestore"],
        "the machine runs entries without calls and jump tables",
    ),
    (
        &["tcgen05", "wmma"],
        "of matrix instructions the machine plays `mma.sync`, `mma.sp`, `wgmma` and `ldmatrix`",
    ),
    (
        &["stmatrix", "movmatrix"],
        "of matrix instructions the machine plays `mma.sync`, `mma.sp`, `wgmma` and `ldmatrix`",
    ),
    (
        &["cp.async.bulk", "cp.async.mbarrier", "cp.reduce", "tensormap", "st.async", "st.bulk", "red.async"],
        "of asynchronous copies the machine plays `cp.async.ca` and `cp.async.cg` with groups",
    ),
    (
        &[
            "mbarrier",
            "bar.red",
            "bar.arrive",
            "bar.cta.red",
            "bar.cta.arrive",
            "barrier.red",
            "barrier.arrive",
            "barrier.cta.red",
            "barrier.cta.arrive",
            "barrier.cluster",
        ],
        "of barriers the machine plays `bar.sync`, `barrier.sync` and `bar.warp.sync`",
    ),
    (&["ldu"], "write `ld.global`, which gives the same"),
    (&["mapa", "getctarank", "clusterlaunchcontrol"], "there are no clusters of blocks here"),
    (&["ld.mmio", "st.mmio"], "there is nothing but memory here: write `.relaxed.sys`"),
    (
        &["fence.mbarrier_init", "fence.acquire", "fence.release"],
        "of fences the machine plays `fence.sc`, `fence.acq_rel` and `membar`",
    ),
    (
        &["tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"],
        "textures and surfaces are not part of this machine",
    ),
    (
        &["isspacep", "cvta.shared", "cvta.local", "cvta.const", "cvta.param"],
        "use the address of its own state space",
    ),
    (
        &["cvta.to.shared", "cvta.to.local", "cvta.to.const", "cvta.to.param"],
        "use the address of its own state space",
    ),
    (
        &["prefetch", "prefetchu", "applypriority", "createpolicy"],
        "caches are not part of this machine; leave it out, as it changes no value",
    ),
    (
        &["activemask", "match", "elect"],
        "of what lanes tell each other the machine plays `shfl.sync`, `vote.sync` and `redux.sync`",
    ),
    (
        &["shfl.up", "shfl.down", "shfl.bfly", "shfl.idx", "vote.all", "vote.any", "vote.uni", "vote.ballot"],
        "write it with `.sync`",
    ),
    (
        &["addc", "subc", "madc", "add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"],
        "the machine has no carry; add in 64 bits instead",
    ),
    (
        &["discard", "dp2a", "dp4a", "bmsk", "szext", "fns", "cvt.pack"],
        "the machine knows it and does not play it",
    ),
    (
        &["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"],
        "the machine does not play video instructions",
    ),
    (
        &["trap", "brkpt", "pmevent", "nanosleep", "setmaxnreg", "griddepcontrol"],
        "the machine knows it and does not play it",
    ),
];

/// Special registers, by their beginnings.
const REGISTERS: &[(&[&str], &str)] = &[
    (
        &["%clock", "%globaltimer", "%pm"],
        "there are no clocks here: a result that depends on one is no result",
    ),
    (&["%smid", "%nsmid", "%nwarpid", "%gridid"], "where and when a block runs is not part of this machine"),
    (&["%lanemask_"], "compute the mask from '%laneid'"),
    (&["%cluster", "%ncluster", "%is_explicit_cluster"], "there are no clusters of blocks here"),
    (
        &[
            "%envreg",
            "%dynamic_smem_size",
            "%total_smem_size",
            "%aggr_smem_size",
            "%reserved_smem",
            "%current_graph_exec",
        ],
        "give what it says as a parameter",
    ),
];

/// The same for what is no form of the table, of families that are played in part.
const IN_PART: &[(&str, &str)] = &[
    ("atom.", "of atomics the machine plays those of one number of 16 to 64 bits, without a cache policy"),
    ("red.", "of atomics the machine plays those of one number of 16 to 64 bits, without a cache policy"),
    (
        "wgmma.",
        "of `wgmma` the machine plays `fence`, `commit_group`, `wait_group`, and `mma_async` of m64n8 to m64n256, in steps of 8, of f16 and bf16 \
         with k16 and tf32 with k8, and `.sp` with twice that k, all with `.sync.aligned`",
    ),
    ("fence.proxy.", "of fences between proxies the machine plays `fence.proxy.async`, for `wgmma`"),
];

/// What is said about a form that is not in the table, of a family that is.
pub(super) fn in_part(form: &str) -> Option<&'static str> {
    IN_PART.iter().find(|(start, _)| form.starts_with(start)).map(|(_, help)| *help)
}

/// What is said about an instruction of PTX that the machine does not play; nothing where it is no such instruction.
pub(super) fn instruction(form: &str) -> Option<&'static str> {
    let begins = |start: &&str| {
        let rest = form.strip_prefix(*start);
        // `vadd2` and `vadd4` are families of `vadd`.
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':', '2', '4']))
    };
    // The longest beginning decides: `cp.async.bulk` is said of by itself.
    let all = INSTRUCTIONS.iter().flat_map(|(starts, help)| starts.iter().map(move |start| (start, *help)));
    all.filter(|(start, _)| begins(start)).max_by_key(|(start, _)| start.len()).map(|(_, help)| help)
}

/// The same for a special register.
pub(super) fn register(name: &str) -> Option<&'static str> {
    let mut rows = REGISTERS.iter();
    rows.find(|(starts, _)| starts.iter().any(|start| name.starts_with(start))).map(|(_, help)| *help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn nothing_that_is_played_is_said_not_to_be() {
        let both: Vec<&str> = table::forms().into_iter().filter(|form| instruction(form).is_some()).collect();
        assert!(both.is_empty(), "{both:?}");
    }

    /// The longest beginning decides, and a beginning ends where a word does.
    #[test]
    fn words_are_told_apart() {
        let copies = instruction("cp.async.bulk.wait_group");
        assert!(copies.is_some() && instruction("red.async.relaxed.cluster") == copies);
        assert!(in_part("fence.proxy.tensormap").is_some_and(|help| help.contains("fence.proxy.async")));
        assert!(instruction("vadd4.u32.u32.u32").is_some_and(|help| help.contains("video")));
        for stranger in ["reduce.u32", "matched", "cp.async.bulky", "fencing.sc"] {
            assert_eq!(instruction(stranger), None, "{stranger}");
        }
        assert!(register("%clock64").is_some() && register("%tid.w").is_none());
    }
}
