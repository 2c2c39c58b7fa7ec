// Armadillo's SpMat (Debian's libarmadillo-dev) as a plug-in: products with a vector, a matrix and a sparse matrix, transposes, batch
// construction; CSC in f64 and f32.
// Its constructors drop zeros unless told not to (`check_for_zeros`, true by default), and its sparse results hold none: a zero is absent.
#define ARMA_DONT_USE_WRAPPER
#define ARMA_DONT_USE_LAPACK
#define ARMA_DONT_USE_BLAS
#define ARMA_DONT_USE_HDF5
#include "score.hpp"
#include <armadillo>

namespace {
using arma::uword;

arma::uvec indices(const int *from, size_t count) {
    arma::uvec to(count);
    for (size_t i = 0; i < count; i++) to[i] = static_cast<uword>(from[i]);
    return to;
}

template <class T> arma::SpMat<T> load(const sc_sparse *operand) {
    const score::View<T> a(operand);
    const auto rows = static_cast<uword>(a.rows), cols = static_cast<uword>(a.cols), nnz = static_cast<uword>(a.nnz);
    const arma::Col<T> values(a.values, nnz);
    if (a.coo) {
        arma::umat places(2, nnz);
        for (uword e = 0; e < nnz; e++) places(0, e) = static_cast<uword>(a.outer[e]), places(1, e) = static_cast<uword>(a.inner[e]);
        return arma::SpMat<T>(true, places, values, rows, cols);
    }
    return arma::SpMat<T>(indices(a.inner, nnz), indices(a.outer, cols + 1), values, rows, cols);
}

template <class T> int32_t answer(sc_result *result, const arma::SpMat<T> &m) {
    m.sync();
    const uword none = 0; // an empty product holds no offsets at all
    return score::answer(result, "csc", m.col_ptrs ? m.col_ptrs : &none, m.n_cols + 1, m.row_indices, m.values, m.n_nonzero);
}

template <class T> int32_t run(const sc_task *task, sc_result *result) {
    const arma::SpMat<T> a = load<T>(task->a);
    if (task->op == SC_SPGEMM) return answer<T>(result, a * load<T>(task->b_sparse));
    if (task->op == SC_TRANSPOSE) return answer<T>(result, a.t());
    if (task->op == SC_CONVERT) return answer<T>(result, a);
    const arma::Mat<T> b(score::tight<T>(task->b).data(), task->b->rows, task->b->cols);
    const arma::Mat<T> c = task->transpose_a ? arma::Mat<T>(a.t() * b) : arma::Mat<T>(a * b);
    return score::put(result, c.memptr());
}
} // namespace

SCORE_PLUGIN(score::manifest("armadillo", arma::arma_version::as_string().substr(0, 6), "SpMat, one thread", R"(
    {"contracts": ["spm[mv].csc.f64*", "spm[mv].csc.f32_*"], "only": {"alpha": [1], "beta": [0], "layout_b": "col", "layout_c": "col",
     "transpose_b": false, "padded": false, "faults": []},
     "profile": [{"choice": "stored-zeros-absent", "reason": "constructors drop zeros: check_for_zeros is true by default"}]},
    {"contracts": ["spgemm.csc.f64*", "spgemm.csc.f32_*"], "only": {"faults": []},
     "profile": [{"choice": "stored-zeros-absent", "reason": "constructors drop zeros"}, {"choice": "numeric-pattern", "reason": "results hold no zeros"}]},
    {"contracts": ["transpose.csc.f64", "transpose.csc.f32"],
     "profile": [{"choice": "explicit-zeros-dropped", "reason": "constructors drop zeros"}]},
    {"contracts": ["convert.coo.csc.f64", "convert.coo.csc.f32"],
     "profile": [{"choice": "duplicates-sum-any-order", "reason": "triplets of one position are added"},
     {"choice": "explicit-zeros-dropped", "reason": "constructors drop zeros"}]})"),
             (task->a->dtype == SC_F64 ? run<double> : run<float>)(task, result))
