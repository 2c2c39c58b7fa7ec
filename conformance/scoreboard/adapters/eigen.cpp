// Eigen 3 (Debian's libeigen3-dev, header only) as a plug-in: SpMM, SpMV, SpGEMM, transposes and conversions of CSR and CSC, f64 and f32.
// `c = a * b` and `c += a * b`: alpha is 1, beta 0 or 1. Read in SparseDenseProduct.h: each element is a chain over ascending inner indices,
// product and sum rounded apart. It starts from zero where A lies by rows and B by columns, and is added to c; else it starts from c.
#include "score.hpp"
#include <Eigen/Dense>
#include <Eigen/SparseCore>

namespace {
template <class T, int Major> using Sparse = Eigen::SparseMatrix<T, Major, int>;
constexpr std::integral_constant<int, Eigen::RowMajor> ROWS;
constexpr std::integral_constant<int, Eigen::ColMajor> COLS;
// Operands where they lie; a transpose swaps rows, columns and layout. `then` gets the view.
template <class T, class Then> void sparse(const sc_sparse *operand, bool turned, Then then) {
    const score::View<T> a(operand);
    const auto view = [&](auto major) { then(Eigen::Map<const Sparse<T, major>>(turned ? a.cols : a.rows, turned ? a.rows : a.cols, a.nnz, a.outer, a.inner, a.values)); };
    a.csr != turned ? view(ROWS) : view(COLS);
}
template <class T, class Then> void dense(const sc_dense *d, bool turned, Then then) {
    const Eigen::Index rows = turned ? d->cols : d->rows, cols = turned ? d->rows : d->cols, ld = d->ld;
    const auto view = [&](auto major) { then(Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, major>, 0, Eigen::OuterStride<>>(static_cast<T *>(d->data), rows, cols, Eigen::OuterStride<>(ld))); };
    (d->layout == SC_ROW_MAJOR) != turned ? view(ROWS) : view(COLS);
}
template <class T, int Major> int32_t matrix(const sc_task *task, sc_result *result) {
    const score::View<T> from(task->a);
    Sparse<T, Major> m(from.rows, from.cols);
    if (task->op == SC_SPGEMM) {
        sparse<T>(task->a, false, [&](const auto &a) { sparse<T>(task->b_sparse, false, [&](const auto &b) { m = a * b; }); });
    } else if (from.coo) {
        std::vector<Eigen::Triplet<T>> list;
        for (int e = 0; e < from.nnz; e++) list.emplace_back(from.outer[e], from.inner[e], from.values[e]);
        m.setFromTriplets(list.begin(), list.end());
    } else sparse<T>(task->a, task->op == SC_TRANSPOSE, [&](const auto &a) { m = a; });
    return score::answer(result, Major == ROWS ? "csr" : "csc", m.outerIndexPtr(), static_cast<size_t>(m.outerSize()) + 1, m.innerIndexPtr(), m.valuePtr(), static_cast<size_t>(m.nonZeros()));
}
template <class T> int32_t run(const sc_task *task, sc_result *result) {
    const auto set = [&](auto &c, const auto &a, const auto &b) { task->beta == 0 ? void(c.noalias() = a * b) : void(c.noalias() += a * b); };
    if (task->op == SC_SPMV) return sparse<T>(task->a, task->transpose_a, [&](const auto &a) {
        Eigen::Map<Eigen::VectorX<T>> y(static_cast<T *>(result->c->data), a.rows());
        set(y, a, Eigen::Map<const Eigen::VectorX<T>>(static_cast<const T *>(task->b->data), a.cols()));
    }), SC_OK;
    if (task->op == SC_SPMM) return sparse<T>(task->a, task->transpose_a, [&](const auto &a) { dense<T>(task->b, task->transpose_b, [&](auto b) {
        dense<T>(result->c, false, [&](auto c) { set(c, a, b); }); }); }), SC_OK;
    return (score::is(task->op == SC_CONVERT ? task->to : task->a->format, "csr") ? matrix<T, ROWS> : matrix<T, COLS>)(task, result);
}
std::string rules() {
    std::string text;
    for (int i = 0; i < 32; i++) {
        const bool csr = i & 1, turned = i & 2, by_rows = i & 4, b_turned = i & 8, spmm = i & 16;
        if (!spmm && (by_rows || b_turned)) continue;
        text += std::string(R"({"contracts": ["spm)") + (spmm ? "m" : "v") + (csr ? ".csr" : ".csc") + R"(.f[36]*"], "arithmetic": ")" +
                (csr != turned && !by_rows ? "muladd" : "muladd,from-c") + R"(", "only": {"alpha": [1], "beta": [0, 1], "faults": [], "transpose_a": )" + (turned ? "true" : "false") +
                (spmm ? std::string(R"(, "layout_b": ")") + (by_rows != b_turned ? "row" : "col") + R"(", "transpose_b": )" + (b_turned ? "true" : "false") : "") + "}}, ";
    }
    return text + R"({"contracts": ["spgemm.cs[rc].f[36]*"], "only": {"faults": []}}, {"contracts": ["transpose.cs[rc].f[36]*", "convert.csr.csc.f[36]*", "convert.csc.csr.f[36]*"]},
        {"contracts": ["convert.coo.cs[rc].f[36]*"], "profile": [{"choice": "duplicates-sum-rounded", "reason": "setFromTriplets adds them one after the other in the matrix's type"}]})";
}
} // namespace

SCORE_PLUGIN(score::manifest("eigen", score::version(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION), "the sparse module, one thread", rules().c_str()),
             (task->a->dtype == SC_F64 ? run<double> : run<float>)(task, result))
