// GSL's sparse matrices (Debian's libgsl-dev) as a plug-in: SpMV, sparse products, transposes and compression in f64.
//
// Operands are copied into matrices that GSL made, whose workspace its functions use. gsl_spblas_dgemv adds alpha * A(i, j) * x(j) to
// beta * y (spblas/spdgemv.c): "fold-alpha". Columns are sorted by transposing twice, as CSparse does, on which this part of GSL is based.
#include "score.hpp"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_spblas.h>
#include <gsl/gsl_version.h>

namespace {
using Owned = std::unique_ptr<gsl_spmatrix, void (*)(gsl_spmatrix *)>;
Owned own(gsl_spmatrix *m) { return m ? Owned(m, gsl_spmatrix_free) : throw std::runtime_error("GSL returns NULL"); }
void check(int status) { if (status) throw std::runtime_error(gsl_strerror(status)); }

Owned load(const sc_sparse *operand) {
    const score::View<double> a(operand);
    Owned m = own(gsl_spmatrix_alloc_nzmax(operand->rows, operand->cols, static_cast<size_t>(a.nnz), a.coo ? GSL_SPMATRIX_COO : a.csr ? GSL_SPMATRIX_CSR : GSL_SPMATRIX_CSC));
    for (int e = 0; a.coo && e < a.nnz; e++) check(gsl_spmatrix_set(m.get(), static_cast<size_t>(a.outer[e]), static_cast<size_t>(a.inner[e]), a.values[e]));
    if (a.coo) return m;
    std::copy_n(a.outer, (a.csr ? a.rows : a.cols) + 1, m->p);
    if (a.nnz) std::copy_n(a.inner, a.nnz, m->i), std::copy_n(a.values, a.nnz, m->data);
    m->nz = static_cast<size_t>(a.nnz);
    return m;
}

Owned turned(const Owned &m) {
    Owned to = own(gsl_spmatrix_alloc_nzmax(m->size2, m->size1, m->nz, m->sptype));
    check(gsl_spmatrix_transpose_memcpy(to.get(), m.get()));
    return to;
}

int32_t answer(sc_result *result, const Owned &m) {
    const bool csr = m->sptype == GSL_SPMATRIX_CSR;
    return score::answer(result, csr ? "csr" : "csc", m->p, (csr ? m->size1 : m->size2) + 1, m->i, m->data, m->nz);
}

int32_t run(const sc_task *task, sc_result *result) {
    gsl_set_error_handler_off();
    const Owned a = load(task->a);
    if (task->op == SC_TRANSPOSE) return answer(result, turned(a));
    if (task->op == SC_CONVERT) return answer(result, turned(turned(own(gsl_spmatrix_compress(a.get(), score::is(task->to, "csr") ? GSL_SPMATRIX_CSR : GSL_SPMATRIX_CSC)))));
    if (task->op == SC_SPGEMM) {
        const Owned b = load(task->b_sparse), c = own(gsl_spmatrix_alloc_nzmax(a->size1, b->size2, a->nz + b->nz + 1, GSL_SPMATRIX_CSC));
        check(gsl_spblas_dgemm(1.0, a.get(), b.get(), c.get()));
        return answer(result, c);
    }
    gsl_vector_view x = gsl_vector_view_array(static_cast<double *>(task->b->data), task->b->rows);
    gsl_vector_view y = gsl_vector_view_array(static_cast<double *>(result->c->data), result->c->rows);
    check(gsl_spblas_dgemv(task->transpose_a ? CblasTrans : CblasNoTrans, task->alpha, a.get(), &x.vector, task->beta, &y.vector));
    return SC_OK;
}
} // namespace

SCORE_PLUGIN(score::manifest("gsl", gsl_version, "gsl_spblas_dgemv, gsl_spblas_dgemm, gsl_spmatrix_compress", R"(
    {"contracts": ["spmv.cs[rc].f64*"], "arithmetic": "any,fold-alpha", "only": {"faults": []}},
    {"contracts": ["spmv.coo.f64*"], "arithmetic": "any,fold-alpha", "only": {"duplicates": false, "faults": []}},
    {"contracts": ["spgemm.csc.f64*"], "only": {"faults": []}, "profile": [{"choice": "unsorted", "reason": "rows of a column stand as they are found, as in CSparse"}]},
    {"contracts": ["transpose.cs[rc].f64"]},
    {"contracts": ["convert.coo.cs[rc].f64"], "profile": [{"choice": "duplicates-last-wins", "reason": "gsl_spmatrix_set replaces an element that is there"}]})"),
             run(task, result))
