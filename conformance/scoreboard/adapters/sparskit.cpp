// SPARSKIT 2 (Debian's libsparskit-dev, Fortran) as a plug-in: amux, atmuxr, amub and csrcsc2, CSR in f64.
// Fortran counts from 1, so that index arrays are copied. amub leaves columns of a row as they are found: unsorted.
#include "score.hpp"

extern "C" {
void amux_(const int *n, const double *x, double *y, const double *a, const int *ja, const int *ia);
void atmuxr_(const int *m, const int *n, const double *x, double *y, const double *a, const int *ja, const int *ia);
void amub_(const int *rows, const int *cols, const int *job, const double *a, const int *ja, const int *ia, const double *b, const int *jb,
           const int *ib, double *c, int *jc, int *ic, const int *room, int *work, int *error);
void csrcsc2_(const int *n, const int *n2, const int *job, const int *ipos, const double *a, const int *ja, const int *ia, double *ao, int *jao, int *iao);
}

namespace {
const int ONE = 1;
std::vector<int> up(const int *from, size_t count) {
    std::vector<int> to(from, from + count);
    for (int &index : to) index++;
    return to;
}

int32_t answer(sc_result *result, const char *format, std::vector<int> outer, std::vector<int> inner, const std::vector<double> &values) {
    const size_t nnz = static_cast<size_t>(outer.back() - 1);
    for (int &index : outer) index--;
    for (int &index : inner) index--;
    return score::answer(result, format, outer.data(), outer.size(), inner.data(), values.data(), nnz);
}
int32_t run(const sc_task *task, sc_result *result) {
    const score::View<double> a(task->a);
    const size_t rows = static_cast<size_t>(a.rows), cols = static_cast<size_t>(a.cols), nnz = static_cast<size_t>(a.nnz);
    const std::vector<int> ia = up(a.outer, rows + 1), ja = up(a.inner, nnz);
    if (task->op == SC_SPMV) {
        const auto *x = static_cast<const double *>(task->b->data);
        auto *y = static_cast<double *>(result->c->data);
        if (task->transpose_a) atmuxr_(&a.cols, &a.rows, x, y, a.values, ja.data(), ia.data());
        else amux_(&a.rows, x, y, a.values, ja.data(), ia.data());
        return SC_OK;
    }
    if (task->op == SC_SPGEMM) {
        const score::View<double> b(task->b_sparse);
        size_t products = 1;
        for (size_t e = 0; e < nnz; e++) products += static_cast<size_t>(b.outer[a.inner[e] + 1] - b.outer[a.inner[e]]);
        std::vector<int> ic(rows + 1), jc(products), work(static_cast<size_t>(b.cols)), ib = up(b.outer, cols + 1), jb = up(b.inner, static_cast<size_t>(b.nnz));
        std::vector<double> c(products);
        const int room = static_cast<int>(products);
        int error = 0;
        amub_(&a.rows, &b.cols, &ONE, a.values, ja.data(), ia.data(), b.values, jb.data(), ib.data(), c.data(), jc.data(), ic.data(), &room, work.data(), &error);
        return error ? sc_refuse(result, "amub returns an error") : answer(result, "csr", ic, jc, c);
    }
    std::vector<int> outer(cols + 1), inner(nnz);
    std::vector<double> values(nnz);
    csrcsc2_(&a.rows, &a.cols, &ONE, &ONE, a.values, ja.data(), ia.data(), values.data(), inner.data(), outer.data());
    return answer(result, task->op == SC_TRANSPOSE ? "csr" : task->to, outer, inner, values);
}
} // namespace

SCORE_PLUGIN(score::manifest("sparskit", SCORE_PACKAGE_VERSION, "amux, atmuxr, amub, csrcsc2", R"(
    {"contracts": ["spmv.csr.f64*"], "only": {"alpha": [1], "beta": [0], "faults": []}},
    {"contracts": ["spgemm.csr.f64*"], "only": {"faults": []}, "profile": [{"choice": "unsorted", "reason": "amub appends columns as it finds them"}]},
    {"contracts": ["transpose.csr.f64", "convert.csr.csc.f64"]})"),
             run(task, result))
