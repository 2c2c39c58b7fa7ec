//! Every format of the papers, reference and optimised conversion against one another: round trips in all precisions,
//! bit-identical encodings, and damaged encodings that are refused or decoded alike.

use crate::papers;

use papers::{corrupted, damage, params, patterns, round_trip};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sparse_oracle::format::FormatKind;
use sparse_oracle::with_scalar;

/// A law of each format on so many inputs, each format by itself.
fn holds_of_every_format(cases: u32, law: impl Fn(&mut TestRunner, FormatKind) -> Result<(), String> + Sync) {
    let law = &law;
    let broken: Vec<String> = std::thread::scope(|scope| {
        let run = |kind: FormatKind| {
            let mut runner = TestRunner::new(ProptestConfig::with_cases(cases));
            law(&mut runner, kind).err().map(|error| format!("{}: {error}", kind.name()))
        };
        let threads = FormatKind::PAPERS.map(|kind| scope.spawn(move || run(kind)));
        threads.into_iter().filter_map(|thread| thread.join().expect("a law does not panic")).collect()
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn decodes_to_what_was_encoded() {
    holds_of_every_format(96, |runner, kind| {
        let inputs = (patterns(), params(kind));
        let law = |(entries, params)| {
            for &precision in kind.precisions() {
                with_scalar!(precision, T => round_trip::<T>(kind, &entries, params)?);
            }
            Ok(())
        };
        runner.run(&inputs, law).map_err(|error| error.to_string())
    });
}

#[test]
fn damage_is_refused_or_decoded_alike() {
    holds_of_every_format(1024, |runner, kind| {
        let inputs = (patterns(), params(kind), damage());
        let law = |(entries, params, damage)| corrupted(kind, &entries, params, damage);
        runner.run(&inputs, law).map_err(|error| error.to_string())
    });
}
