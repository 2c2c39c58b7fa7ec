//! The reviewed snapshot of all T1 tolerances.

use sparse_golden::tolerance_table;

#[test]
fn tolerances_are_the_reviewed_ones() {
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("tolerances", tolerance_table());
    });
}

#[test]
fn more_terms_never_tighten_a_tolerance() {
    let mut last: Option<(String, f64)> = None;
    let mut compared = 0;
    for line in tolerance_table().lines().skip(1) {
        let (head, numbers) = line.split_once(": ").expect("a head and numbers");
        let (setting, _n) = head.rsplit_once(' ').expect("n ends the head");
        let Some(rel) = numbers.split(", ").nth(1).and_then(|rel| rel.parse::<f64>().ok()) else {
            continue;
        };
        if let Some((before, smaller)) = &last
            && before == setting
        {
            assert!(rel >= *smaller, "{line}");
            compared += 1;
        }
        last = Some((setting.to_owned(), rel));
    }
    assert!(compared > 1000, "only {compared} pairs compared");
}
