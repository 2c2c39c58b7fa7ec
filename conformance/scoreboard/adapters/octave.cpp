// GNU Octave's sparse matrices (Debian's liboctave-dev) as a plug-in: its C++ library does what `A * B` and `A.'` do. CSC in f64.
//
// Octave's sparse results hold no zeros: a product and a matrix made from triplets drop them, which `help sparse` says.
#include "score.hpp"
#include <octave/oct.h>
#include <octave/version.h>

namespace {
SparseMatrix load(const sc_sparse *operand) {
    const score::View<double> a(operand);
    if (a.coo) {
        ColumnVector values(a.nnz), row(a.nnz), col(a.nnz);
        for (int e = 0; e < a.nnz; e++) values(e) = a.values[e], row(e) = a.outer[e] + 1, col(e) = a.inner[e] + 1;
        return SparseMatrix(values, octave::idx_vector(row), octave::idx_vector(col), a.rows, a.cols);
    }
    const octave_idx_type rows = a.rows, cols = a.cols, nnz = a.nnz;
    SparseMatrix m(rows, cols, nnz);
    std::copy_n(a.outer, a.cols + 1, m.cidx());
    if (a.nnz) std::copy_n(a.inner, a.nnz, m.ridx());
    if (a.nnz) std::copy_n(a.values, a.nnz, m.data());
    return m;
}

int32_t answer(sc_result *result, const SparseMatrix &m) {
    return score::answer(result, "csc", m.cidx(), static_cast<size_t>(m.cols()) + 1, m.ridx(), m.data(), static_cast<size_t>(m.cidx(m.cols())));
}

int32_t run(const sc_task *task, sc_result *result) {
    const SparseMatrix a = load(task->a);
    if (task->op == SC_SPGEMM) return answer(result, a * load(task->b_sparse));
    if (task->op == SC_TRANSPOSE) return answer(result, a.transpose());
    if (task->op == SC_CONVERT) return answer(result, a);
    Matrix b(static_cast<octave_idx_type>(task->b->rows), static_cast<octave_idx_type>(task->b->cols));
    const std::vector<double> from = score::tight<double>(task->b);
    std::copy(from.begin(), from.end(), b.fortran_vec());
    const Matrix c = task->transpose_a ? trans_mul(a, b) : a * b;
    return score::put(result, c.data());
}
} // namespace

SCORE_PLUGIN(score::manifest("octave", OCTAVE_VERSION, "SparseMatrix * Matrix, * SparseMatrix, transpose, triplets", R"(
    {"contracts": ["spm[mv].csc.f64*"], "only": {"alpha": [1], "beta": [0], "layout_b": "col", "layout_c": "col", "transpose_b": false, "padded": false, "faults": []}},
    {"contracts": ["spgemm.csc.f64*"], "only": {"faults": []},
     "profile": [{"choice": "numeric-pattern", "reason": "sparse results hold no zeros"}]},
    {"contracts": ["transpose.csc.f64"]},
    {"contracts": ["convert.coo.csc.f64"], "profile": [{"choice": "duplicates-sum-any-order", "reason": "triplets of one position are added"},
     {"choice": "explicit-zeros-dropped", "reason": "sparse matrices made from triplets hold no zeros"}]})"),
             run(task, result))
