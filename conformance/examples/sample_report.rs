//! Writes a made-up report with every verdict and known deviations, to look at the files without running anything, and one without
//! findings beside it, in the folder `clean`.
//!
//! `cargo run -p sparse-conformance --example sample_report -- DIR [CASES_PER_CONTRACT]`

#[path = "../tests/report_expectations/expected.rs"]
mod expected;
#[path = "../tests/report_sample/mod.rs"]
mod report_sample;

use sparse_conformance::report::{Colour, to_text, write_all};
use std::path::PathBuf;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().unwrap_or_else(|| "report".to_owned()));
    let per_contract = arguments.next().map_or(Ok(8), |text| text.parse())?;
    let report = expected::expected_sample(per_contract);
    let written = write_all(&report, &directory)?;
    write_all(&report_sample::clean(), &directory.join("clean"))?;
    print!("{}", to_text(&report, &written, Colour::for_output(false)));
    Ok(())
}
