// GSL's sparse matrices (Debian's libgsl-dev) as a plug-in: SpMV, sparse products, transposes and compression in f64.
//
// gsl_spblas_dgemm takes CSC only. Triplets are set one by one, as its manual shows.
#include "score.hpp"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_spblas.h>
#include <gsl/gsl_version.h>
#include <memory>

namespace {

using Owned = std::unique_ptr<gsl_spmatrix, void (*)(gsl_spmatrix *)>;
Owned own(gsl_spmatrix *m) { return Owned(m, gsl_spmatrix_free); }

// GSL's struct around the operand's own arrays; triplets go through gsl_spmatrix_set as its manual shows.
gsl_spmatrix view(const score::View<double> &a) {
    gsl_spmatrix m = {};
    m.size1 = static_cast<size_t>(a.rows), m.size2 = static_cast<size_t>(a.cols);
    m.nz = m.nzmax = static_cast<size_t>(a.nnz);
    m.i = a.coo ? a.outer : a.inner, m.p = a.coo ? a.inner : a.outer, m.data = a.values;
    m.sptype = a.coo ? GSL_SPMATRIX_COO : a.csr ? GSL_SPMATRIX_CSR : GSL_SPMATRIX_CSC;
    return m;
}

int32_t answer(sc_result *result, const gsl_spmatrix *m) {
    const bool csr = m->sptype == GSL_SPMATRIX_CSR;
    return score::answer(result, csr ? "csr" : "csc", m->p, (csr ? m->size1 : m->size2) + 1, m->i, m->data, m->nz);
}

int32_t run(const sc_task *task, sc_result *result) {
    gsl_set_error_handler_off();
    const gsl_spmatrix a = view(score::View<double>(task->a));
    if (task->op == SC_SPMV) {
        gsl_vector_view x = gsl_vector_view_array(static_cast<double *>(task->b->data), task->b->rows);
        gsl_vector_view y = gsl_vector_view_array(static_cast<double *>(result->c->data), result->c->rows);
        const int status = gsl_spblas_dgemv(task->transpose_a ? CblasTrans : CblasNoTrans, task->alpha, &a, &x.vector, task->beta, &y.vector);
        return status ? sc_refuse(result, gsl_strerror(status)) : SC_OK;
    }
    if (task->op == SC_SPGEMM) {
        const gsl_spmatrix b = view(score::View<double>(task->b_sparse));
        const Owned c = own(gsl_spmatrix_alloc_nzmax(a.size1, b.size2, a.nz + b.nz + 1, GSL_SPMATRIX_CSC));
        const int status = c ? gsl_spblas_dgemm(1.0, &a, &b, c.get()) : GSL_ENOMEM;
        return status ? sc_refuse(result, gsl_strerror(status)) : answer(result, c.get());
    }
    if (task->op == SC_TRANSPOSE) {
        const Owned c = own(gsl_spmatrix_alloc_nzmax(a.size2, a.size1, a.nz, a.sptype));
        const int status = c ? gsl_spmatrix_transpose_memcpy(c.get(), &a) : GSL_ENOMEM;
        return status ? sc_refuse(result, gsl_strerror(status)) : answer(result, c.get());
    }
    const Owned triplets = own(gsl_spmatrix_alloc_nzmax(a.size1, a.size2, a.nz, GSL_SPMATRIX_COO));
    for (size_t e = 0; triplets && e < a.nz; e++)
        if (gsl_spmatrix_set(triplets.get(), static_cast<size_t>(a.i[e]), static_cast<size_t>(a.p[e]), a.data[e]))
            return sc_refuse(result, "gsl_spmatrix_set fails");
    if (!triplets) return sc_refuse(result, "gsl_spmatrix_alloc_nzmax returns NULL");
    const Owned c = own(gsl_spmatrix_compress(triplets.get(), score::is(task->to, "csr") ? GSL_SPMATRIX_CSR : GSL_SPMATRIX_CSC));
    return c ? answer(result, c.get()) : sc_refuse(result, "gsl_spmatrix_compress returns NULL");
}

} // namespace

SCORE_PLUGIN(score::manifest("gsl", gsl_version, "gsl_spblas_dgemv, gsl_spblas_dgemm", R"(
    {"contracts": ["spmv.cs[rc].f64*"], "only": {"faults": []}},
    {"contracts": ["spmv.coo.f64*"], "only": {"faults": []}, "profile": [{"choice": "duplicates-are-terms", "reason": "one addition a triplet"}]},
    {"contracts": ["spgemm.csc.f64*"], "only": {"faults": []},
     "profile": [{"choice": "unsorted", "reason": "rows of a column stand as they are found, as in CSparse, which it is based on"}]},
    {"contracts": ["transpose.cs[rc].f64"]},
    {"contracts": ["convert.coo.cs[rc].f64"], "profile": [{"choice": "duplicates-last-wins",
     "reason": "gsl_spmatrix_set: an element that is there already is replaced"}]})"),
             run(task, result))
