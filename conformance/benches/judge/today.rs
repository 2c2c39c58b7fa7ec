//! What people do today: a product in f64 and `allclose`, as an obvious loop, and by `SciPy` and `NumPy` where Python has them.

use sparse_conformance::operands::Operands;
use sparse_conformance::response::DenseResult;
use sparse_oracle::format::Csr;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;
use std::path::Path;
use std::process::Command;

/// Operands and result in f64, as a script would have them.
pub(crate) struct Plain {
    row_ptr: Vec<u32>,
    col_idx: Vec<u32>,
    values: Vec<f64>,
    b: Vec<f64>,
    n: usize,
    found: Vec<f64>,
}

/// Reads the arrays, multiplies and compares on one thread, and prints the seconds of the best of five turns in a row.
const SCRIPT: &str = "
import sys, time, numpy, scipy.sparse
folder, n = sys.argv[1], int(sys.argv[2])
read = lambda name, of: numpy.fromfile(f'{folder}/{name}', of)
row_ptr, col_idx, values = read('row_ptr', 'u4'), read('col_idx', 'u4'), read('values', 'f8')
b, found = read('b', 'f8').reshape(-1, n), read('found', 'f8').reshape(-1, n)
arrays = (values, col_idx.astype('i4'), row_ptr.astype('i4'))
a = scipy.sparse.csr_matrix(arrays, shape=(len(row_ptr) - 1, len(b)))
best = float('inf')
for _ in range(5):
    start = time.perf_counter()
    numpy.allclose(found, a @ b, rtol=1e-3, atol=1e-6)
    best = min(best, time.perf_counter() - start)
print(best)
";

impl Plain {
    pub(crate) fn new(operands: &Operands, result: &DenseResult) -> Plain {
        let b = operands.b.as_ref().expect("B");
        let (row_ptr, col_idx, values) = sparse_oracle::each_sparse!(&operands.a, m => {
            let m = Csr::from_entries(&m.entries()).expect("entries of a matrix");
            (m.row_ptr.clone(), m.col_idx.clone(), m.values.iter().map(|v| v.to_f64()).collect())
        });
        let dense = (0..b.rows).flat_map(|i| (0..b.cols).map(move |j| b.at(i, j))).collect();
        let found = result.found();
        let found =
            sparse_oracle::each_precision!(AnySlice, found, v => v.iter().map(|x| x.to_f64()).collect());
        Plain { row_ptr, col_idx, values, b: dense, n: b.cols, found }
    }

    /// C = A * B in f64, and whether the result is close to it.
    pub(crate) fn product_is_close(&self) -> bool {
        let n = self.n;
        let rows = self.row_ptr.len() - 1;
        let mut c = vec![0.0; rows * n];
        for i in 0..rows {
            let row = &mut c[i * n..(i + 1) * n];
            for t in self.row_ptr[i] as usize..self.row_ptr[i + 1] as usize {
                let (a, k) = (self.values[t], self.col_idx[t] as usize);
                for (c, b) in row.iter_mut().zip(&self.b[k * n..(k + 1) * n]) {
                    *c += a * b;
                }
            }
        }
        self.found.iter().zip(&c).all(|(y, x)| (y - x).abs() <= 1e-6 + 1e-3 * x.abs())
    }

    /// Seconds of the same in `SciPy` and `NumPy`.
    pub(crate) fn in_scipy(&self) -> f64 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, bytes: Vec<u8>| {
            std::fs::write(folder.path().join(name), bytes).expect("room for the operands");
        };
        let indices = |list: &[u32]| list.iter().flat_map(|v| v.to_le_bytes()).collect();
        let numbers = |list: &[f64]| list.iter().flat_map(|v| v.to_le_bytes()).collect();
        write("row_ptr", indices(&self.row_ptr));
        write("col_idx", indices(&self.col_idx));
        write("values", numbers(&self.values));
        write("b", numbers(&self.b));
        write("found", numbers(&self.found));
        run_script(folder.path(), self.n)
    }
}

/// True where Python has `SciPy` and `NumPy`.
pub(crate) fn has_scipy() -> bool {
    let imported = Command::new("python3").args(["-c", "import numpy, scipy.sparse"]).output();
    imported.is_ok_and(|output| output.status.success())
}

fn run_script(folder: &Path, n: usize) -> f64 {
    let mut python = Command::new("python3");
    python.args(["-c", SCRIPT]).arg(folder).arg(n.to_string());
    python.env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
    let output = python.output().expect("Python");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}
