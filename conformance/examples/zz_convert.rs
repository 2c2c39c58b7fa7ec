//! Scratch: a report of schema 1 written as one of schema 2.
use sparse_conformance::report::{CaseRecord, Report, write_all};
fn main() {
    let mut a = std::env::args().skip(1);
    let text = std::fs::read_to_string(a.next().unwrap()).unwrap();
    let mut v: serde_json::Value = serde_json::from_str(&text).unwrap();
    drop(text);
    let cases: Vec<CaseRecord> = serde_json::from_value(v["cases"].take()).unwrap();
    v["cases"] = serde_json::json!({"stamps": [], "lines": []});
    v["schema"] = "sparse-conformance-report-2".into();
    let mut report: Report = serde_json::from_value(v).unwrap();
    report.cases = cases;
    report.seal();
    let t = std::time::Instant::now();
    for p in write_all(&report, std::path::Path::new(&a.next().unwrap())).unwrap() {
        println!("{} {}", p.display(), std::fs::metadata(&p).unwrap().len());
    }
    println!("{:?}", t.elapsed());
}
