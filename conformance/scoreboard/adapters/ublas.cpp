// Boost uBLAS (Debian's libboost-dev, header only) as a plug-in: axpy_prod and sparse_prod on compressed_matrix, in f64 and f32.
// axpy_prod(A, x, y, init) writes or adds; alpha is 1. Rows or columns are filled with push_back, in order, as its manual advises.
#include "score.hpp"
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/matrix_sparse.hpp>
#include <boost/numeric/ublas/operation.hpp>
#include <boost/numeric/ublas/operation_sparse.hpp>
#include <boost/version.hpp>

namespace {
namespace ub = boost::numeric::ublas;
template <class T, class Major> using Sparse = ub::compressed_matrix<T, Major>;

template <class T, class Major> Sparse<T, Major> load(const sc_sparse *operand) {
    const score::View<T> a(operand);
    const auto size = [](int n) { return static_cast<size_t>(n); };
    Sparse<T, Major> m(operand->rows, operand->cols, size(a.nnz));
    for (int lane = 0; lane < (a.csr ? a.rows : a.cols); lane++)
        for (int e = a.outer[lane]; e < a.outer[lane + 1]; e++)
            a.csr ? m.push_back(size(lane), size(a.inner[e]), a.values[e]) : m.push_back(size(a.inner[e]), size(lane), a.values[e]);
    m.complete_index1_data();
    return m;
}
template <class T, class Major> int32_t answer(sc_result *result, Sparse<T, Major> m, bool csr) {
    m.complete_index1_data();
    return score::answer(result, csr ? "csr" : "csc", &m.index1_data()[0], (csr ? m.size1() : m.size2()) + 1, &m.index2_data()[0],
                         &m.value_data()[0], m.nnz());
}
template <class T, class Major> int32_t run(const sc_task *task, sc_result *result) {
    const Sparse<T, Major> a = load<T, Major>(task->a);
    if (task->op == SC_TRANSPOSE) return answer<T, Major>(result, Sparse<T, Major>(ub::trans(a)), score::is(task->a->format, "csr"));
    if (task->op == SC_SPGEMM) {
        const Sparse<T, Major> b = load<T, Major>(task->b_sparse);
        Sparse<T, Major> c(a.size1(), b.size2());
        ub::sparse_prod(a, b, c);
        return answer<T, Major>(result, c, score::is(task->a->format, "csr"));
    }
    const sc_dense *from = task->b, *to = result->c;
    const std::vector<T> b = score::tight<T>(from, true), c = score::tight<T>(to, true);
    ub::matrix<T> x(from->rows, from->cols), y(to->rows, to->cols);
    std::copy(b.begin(), b.end(), x.data().begin());
    std::copy(c.begin(), c.end(), y.data().begin());
    if (task->op == SC_SPMM) return score::put(result, &ub::axpy_prod(a, x, y, task->beta == 0).data()[0], true);
    ub::vector<T> v(from->rows, x.data()), w(to->rows, y.data());
    task->transpose_a ? ub::axpy_prod(v, a, w, task->beta == 0) : ub::axpy_prod(a, v, w, task->beta == 0);
    return score::put(result, &w[0]);
}
template <class T> int32_t either(const sc_task *task, sc_result *result) {
    return score::is(task->a->format, "csr") ? run<T, ub::row_major>(task, result) : run<T, ub::column_major>(task, result);
}
} // namespace

SCORE_PLUGIN(score::manifest("ublas", std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000), "axpy_prod, sparse_prod, trans on compressed_matrix", R"(
    {"contracts": ["spmm.cs[rc].f64*", "spmm.cs[rc].f32_*"], "only": {"alpha": [1], "beta": [0, 1], "layout_b": "row", "layout_c": "row", "transpose_a": false, "transpose_b": false, "padded": false, "faults": []}},
    {"contracts": ["spmv.cs[rc].f64*", "spmv.cs[rc].f32_*"], "only": {"alpha": [1], "beta": [0, 1], "faults": []}},
    {"contracts": ["spgemm.cs[rc].f64*", "spgemm.cs[rc].f32_*"], "only": {"faults": []},
     "profile": [{"choice": "numeric-pattern", "reason": "sparse_prod stores no sum that is zero"}]},
    {"contracts": ["transpose.cs[rc].f64", "transpose.cs[rc].f32"],
     "profile": [{"choice": "explicit-zeros-dropped", "reason": "assigning an expression to a compressed_matrix stores no zeros"}]})"),
             (task->a->dtype == SC_F64 ? either<double> : either<float>)(task, result))
