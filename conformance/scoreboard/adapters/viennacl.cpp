// ViennaCL (Debian's libviennacl-dev, header only) as a plug-in, on the CPU: prod of compressed_matrix and coordinate_matrix with a
// vector, a dense and a sparse matrix, f64 and f32.
// alpha and beta are left out: `y = prod(A, x)` is what its manual shows. Matrices are filled by its set() and copy().
#include "score.hpp"
#include <map>
#include <viennacl/linalg/sparse_matrix_operations.hpp>
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/coordinate_matrix.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>

namespace {
template <class T> void fill(viennacl::compressed_matrix<T> &m, const sc_sparse *operand) {
    const score::View<T> a(operand);
    m.set(a.outer, a.inner, a.values, operand->rows, operand->cols, static_cast<size_t>(a.nnz));
}
template <class T> void fill(viennacl::coordinate_matrix<T> &m, const sc_sparse *operand) {
    const score::View<T> a(operand);
    std::vector<std::map<unsigned, T>> rows(operand->rows);
    for (int e = 0; e < a.nnz; e++) rows[static_cast<size_t>(a.outer[e])][static_cast<unsigned>(a.inner[e])] = a.values[e];
    viennacl::copy(viennacl::tools::const_sparse_matrix_adapter<T>(rows, operand->rows, operand->cols), m);
}

template <class T, class Matrix> int32_t product(const sc_task *task, sc_result *result) {
    Matrix a(task->a->rows, task->a->cols);
    fill(a, task->a);
    const sc_dense *from = task->b, *to = result->c;
    const std::vector<T> b = score::tight<T>(from, true);
    std::vector<T> c(to->rows * to->cols);
    if (task->op == SC_SPMV) {
        viennacl::vector<T> x(from->rows), y(to->rows);
        viennacl::fast_copy(b.begin(), b.end(), x.begin());
        y = viennacl::linalg::prod(a, x);
        viennacl::fast_copy(y.begin(), y.end(), c.begin());
    } else {
        viennacl::matrix<T> x(from->rows, from->cols), y(to->rows, to->cols);
        for (size_t i = 0; i < b.size(); i++) x(i / from->cols, i % from->cols) = b[i];
        viennacl::linalg::prod_impl(a, x, y); // what `y = prod(a, x)` calls; GCC 12 does not find it from matrix.hpp
        for (size_t i = 0; i < c.size(); i++) c[i] = y(i / to->cols, i % to->cols);
    }
    return score::put(result, c.data(), true);
}
template <class T> int32_t run(const sc_task *task, sc_result *result) {
    if (task->op != SC_SPGEMM)
        return (score::is(task->a->format, "csr") ? product<T, viennacl::compressed_matrix<T>> : product<T, viennacl::coordinate_matrix<T>>)(task, result);
    viennacl::compressed_matrix<T> a, b, c;
    fill(a, task->a), fill(b, task->b_sparse);
    c = viennacl::linalg::prod(a, b);
    const auto *rows = viennacl::linalg::host_based::detail::extract_raw_pointer<unsigned>(c.handle1());
    const auto *cols = viennacl::linalg::host_based::detail::extract_raw_pointer<unsigned>(c.handle2());
    return score::answer(result, "csr", rows, c.size1() + 1, cols, viennacl::linalg::host_based::detail::extract_raw_pointer<T>(c.handle()), rows[c.size1()]);
}
} // namespace

SCORE_PLUGIN(score::manifest("viennacl", SCORE_PACKAGE_VERSION, "prod on compressed_matrix and coordinate_matrix, on the host", R"(
    {"contracts": ["spm[mv].csr.f64*", "spm[mv].csr.f32_*"], "only": {"alpha": [1], "beta": [0], "transpose_a": false, "transpose_b": false, "layout_b": "row", "layout_c": "row", "padded": false, "faults": []}},
    {"contracts": ["spm[mv].coo.f64*", "spm[mv].coo.f32_*"], "only": {"alpha": [1], "beta": [0], "transpose_a": false, "transpose_b": false, "layout_b": "row", "layout_c": "row", "padded": false, "duplicates": false, "faults": []}},
    {"contracts": ["spgemm.csr.f64*", "spgemm.csr.f32_*"], "only": {"faults": []}})"),
             (task->a->dtype == SC_F64 ? run<double> : run<float>)(task, result))
