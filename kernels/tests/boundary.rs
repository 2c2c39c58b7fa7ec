//! Kernels share the judge's data and none of its algorithms: of the suite's crates this one depends on `sparse-types` alone, and on
//! others in tests only. The compiler does the rest; this test sees that nobody adds a dependency.

/// The crates of the suite that the manifest names, in sections of this kind.
fn named(manifest: &str, tests: bool) -> Vec<&str> {
    let mut of_tests = None;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            of_tests = section.contains("dependencies").then(|| section.contains("dev-dependencies"));
        } else if of_tests == Some(tests) && line.starts_with("sparse-") {
            found.push(line.split(['.', ' ', '=']).next().unwrap_or_default());
        }
    }
    found
}

#[test]
fn kernels_do_not_depend_on_the_oracle() {
    let manifest = include_str!("../Cargo.toml");
    assert_eq!(named(manifest, false), ["sparse-types"]);
    assert!(named(manifest, true).contains(&"sparse-oracle"), "the tests compare with the oracle");
    // A section for one target counts as well.
    let hidden =
        format!("{manifest}\n[target.'cfg(unix)'.dependencies]\nsparse-schedules = {{ path = \"..\" }}\n");
    assert_eq!(named(&hidden, false), ["sparse-types", "sparse-schedules"]);
}
