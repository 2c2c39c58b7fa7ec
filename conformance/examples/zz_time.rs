use sparse_conformance::fuzzing::TARGETS;
fn main() {
    for t in &TARGETS {
        for len in 0..40 {
            for b in [0u8, 0xff] {
                let s = std::time::Instant::now();
                let o = (t.run)(&vec![b; len]);
                if s.elapsed().as_millis() > 200 {
                    println!("{} len {len} byte {b:x} {:?} {o:?}", t.name, s.elapsed());
                }
            }
        }
    }
}
