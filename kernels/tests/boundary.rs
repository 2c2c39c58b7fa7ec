//! Kernels share the judge's data and none of its algorithms: the crate depends on `sparse-types`, and on the oracle in tests only.
//! The compiler does the rest; this test sees that nobody adds the dependency.

#[test]
fn kernels_do_not_depend_on_the_oracle() {
    let manifest = include_str!("../Cargo.toml");
    let (_, after) = manifest.split_once("\n[dependencies]\n").expect("a section of dependencies");
    let (dependencies, rest) = after.split_once("\n[dev-dependencies]\n").expect("a section for tests");
    assert!(dependencies.contains("sparse-types") && rest.contains("sparse-oracle"), "{manifest}");
    assert!(!dependencies.contains("oracle"), "{dependencies}");
}
