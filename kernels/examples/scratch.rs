use sparse_kernels::kernels_here;
use sparse_oracle::format::*;
use sparse_oracle::scalar::*;
use sparse_oracle::task::*;
use std::time::Instant;
struct R(u64);
impl R {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }
}
fn gen_csr(rows: usize, cols: usize, per: usize, band: usize, prec: Precision) -> AnySparse {
    let mut r = R(7);
    let mut ptr = vec![0u32];
    let mut idx = vec![];
    let mut v = vec![];
    for i in 0..rows {
        let mut set = std::collections::BTreeSet::new();
        let p = 1 + r.next() as usize % (2 * per - 1);
        for _ in 0..p {
            let j = if band == 0 {
                r.next() as usize % cols
            } else {
                (i + r.next() as usize % band).min(cols - 1)
            };
            set.insert(j as u32);
        }
        for j in set {
            idx.push(j);
            v.push((r.next() % 1000) as f64 / 512.0 - 1.0);
        }
        ptr.push(idx.len() as u32);
    }
    RawSparse {
        kind: FormatKind::Csr,
        rows,
        cols,
        params: FormatParams::default(),
        width: 0,
        offsets: ptr,
        indices: idx,
        values: Values::from_f64(prec, &v),
    }
    .check()
    .unwrap()
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().ok();
    let which = &args[1];
    for (rows, per, band) in [
        (100_000usize, 10usize, 0usize),
        (100_000, 10, 200),
        (20_000, 100, 0),
        (20_000, 100, 400),
        (4000, 400, 0),
    ] {
        for prec in [Precision::F64, Precision::F32] {
            let s = gen_csr(rows, rows, per, band, prec);
            let nnz = match &s {
                AnySparse::F64(m) => m.stored(),
                AnySparse::F32(m) => m.stored(),
                _ => 0,
            };
            println!("rows {rows} per {per} band {band} {prec} nnz {nnz}");
            if which == "sddmm" {
                let k = 32;
                let x = Values::from_f64(prec, &vec![0.37; rows * k]);
                let y = x.clone();
                let mut out = Values::from_f64(prec, &vec![0.0; nnz]);
                for kernel in
                    kernels_here().filter(|q| q.name.starts_with(&format!("sddmm_csr_{prec}_{prec}")))
                {
                    let mut best = f64::MAX;
                    for _ in 0..7 {
                        let d = |v: &'_ Values| -> () {};
                        let _ = d;
                        let t = Instant::now();
                        let dx = DenseRef {
                            rows,
                            cols: k,
                            ld: k,
                            layout: Layout::RowMajor,
                            data: x.as_slice(),
                        };
                        let dy = DenseRef {
                            rows,
                            cols: k,
                            ld: k,
                            layout: Layout::RowMajor,
                            data: y.as_slice(),
                        };
                        (kernel.run)(Task::Sddmm {
                            s: &s,
                            x: dx,
                            y: dy,
                            alpha: 1.0,
                            beta: 0.0,
                            mode: SddmmMode::Pattern,
                            out: out.as_mut_slice(),
                        })
                        .unwrap();
                        best = best.min(t.elapsed().as_secs_f64());
                    }
                    println!(
                        "   {:50} {:8.3} ms {:7.2} GFLOP/s",
                        kernel.name,
                        best * 1e3,
                        2.0 * nnz as f64 * k as f64 / best / 1e9
                    );
                }
            } else {
                for kernel in
                    kernels_here().filter(|q| q.name.starts_with(&format!("spgemm_csr_{prec}_{prec}")))
                {
                    let mut best = f64::MAX;
                    let mut o = 0;
                    for _ in 0..3 {
                        let t = Instant::now();
                        let r = (kernel.run)(Task::Spgemm { a: &s, b: &s }).unwrap();
                        best = best.min(t.elapsed().as_secs_f64());
                        if let Answer::Sparse(r) = r {
                            o = r.indices.len()
                        }
                    }
                    println!("   {:50} {:8.3} ms  {o}", kernel.name, best * 1e3);
                }
            }
        }
    }
}
