//! Named choices of matrices and kernels, as data, so that a claim of speed is fixed before it is measured.
//!
//! A claim is about every matrix of its preset: nobody picks those that came out well.

/// One preset.
#[derive(Debug)]
pub struct Preset {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Columns of B and C.
    pub n: usize,
    /// Threads of every contender that has any.
    pub threads: usize,
    /// The one kernel per precision that the claim is about.
    pub claims: &'static [&'static str],
    /// Kernels that are measured beside it.
    pub beside: &'static [&'static str],
    /// Generated matrices: source lines.
    pub sources: &'static [&'static str],
    /// Of matrices given by file or folder, those with fewer entries are left out.
    pub fewest_entries: usize,
}

/// All presets.
pub static PRESETS: [Preset; 1] = [Preset {
    name: "cpu",
    doc: "the CPU claim: N = 32, f32 and f64, two threads, matrices above a million entries",
    n: 32,
    threads: 2,
    claims: &["spmm_csr_f32_f32_f32_f32__avx512", "spmm_csr_f64_f64_f64_f64__avx512"],
    beside: &["spmm_loops_f32_f32_f32_f32__avx512", "spmm_loops_f64_f64_f64_f64__avx512"],
    sources: &[
        "synth:ASIC_680k,seed=1",
        "synth:Si41Ge41H72,seed=1",
        "synth:webbase-1M,seed=1",
        "synth:cop20k_A,seed=1",
        "synth:rma10,seed=1",
        "synth:consph,seed=1",
        "synth:pdb1HYS,seed=1",
        "synth:mip1,seed=1",
        "synth:mc2depi,seed=1",
        "synth:econ_fwd500,seed=1",
    ],
    fewest_entries: 1_000_000,
}];

/// The preset with this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_conformance_core::origin::Origin;
    use sparse_kernels::KernelName;
    use sparse_oracle::source::synth::PUBLISHED;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_in_the_table_means_something() {
        for preset in &PRESETS {
            for kernel in preset.claims.iter().chain(preset.beside) {
                kernel.parse::<KernelName>().expect("a kernel's name");
            }
            for source in preset.sources {
                let origin: Origin = source.parse().expect("a source line");
                assert_eq!(origin.to_string(), *source);
            }
        }
    }

    #[test]
    fn the_sources_are_large_and_of_every_class() {
        let published = |source: &str| {
            let name = source.trim_start_matches("synth:").split(',').next().expect("a name");
            PUBLISHED.iter().find(|p| p.name == name).expect("a published matrix")
        };
        for preset in &PRESETS {
            let chosen: Vec<_> = preset.sources.iter().map(|s| published(s)).collect();
            assert!(chosen.iter().all(|p| p.nnz as usize >= preset.fewest_entries));
            let classes = |list: &mut dyn Iterator<Item = String>| list.collect::<BTreeSet<String>>();
            assert_eq!(
                classes(&mut chosen.iter().map(|p| format!("{:?}", p.class))),
                classes(&mut PUBLISHED.iter().map(|p| format!("{:?}", p.class)))
            );
        }
    }
}
