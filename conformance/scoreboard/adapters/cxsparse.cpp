// CXSparse (Debian's libsuitesparse-dev) as a plug-in: y = A x + y, sparse products, transposes and compression, CSC in f64.
//
// cs_multiply leaves the rows of a column unsorted, and two transposes sort them: both are said in the CSparse book (section 2.8).
#include "score.hpp"
#include <suitesparse/cs.h>

namespace {
using Owned = std::unique_ptr<cs_di, cs_di *(*)(cs_di *)>;
Owned own(cs_di *m) { return Owned(m, cs_di_spfree); }

cs_di as_cs(const score::View<double> &a) {
    return {a.nnz, a.rows, a.cols, a.coo ? a.inner : a.outer, a.coo ? a.outer : a.inner, a.values, a.coo ? a.nnz : -1};
}

int32_t answer(sc_result *result, const Owned &m) {
    if (!m) return sc_refuse(result, "CXSparse returns NULL");
    return score::answer(result, "csc", m->p, static_cast<size_t>(m->n) + 1, m->i, m->x, static_cast<size_t>(m->p[m->n]));
}

int32_t run(const sc_task *task, sc_result *result) {
    const cs_di a = as_cs(score::View<double>(task->a));
    if (task->op == SC_SPMV) {
        auto *y = static_cast<double *>(result->c->data);
        if (!cs_di_gaxpy(&a, static_cast<const double *>(task->b->data), y)) return sc_refuse(result, "cs_gaxpy returns 0");
        return SC_OK;
    }
    if (task->op == SC_SPGEMM) {
        const cs_di b = as_cs(score::View<double>(task->b_sparse));
        return answer(result, own(cs_di_multiply(&a, &b)));
    }
    if (task->op == SC_TRANSPOSE) return answer(result, own(cs_di_transpose(&a, 1)));
    Owned m = own(cs_di_compress(&a));
    if (!m || !cs_di_dupl(m.get())) return sc_refuse(result, "cs_compress or cs_dupl returns 0");
    return answer(result, own(cs_di_transpose(own(cs_di_transpose(m.get(), 1)).get(), 1)));
}

const std::string VERSION = score::version(CS_VER, CS_SUBVER, CS_SUBSUB);
} // namespace

SCORE_PLUGIN(score::manifest("cxsparse", VERSION, "cs_di_gaxpy, _multiply, _transpose, _compress", R"(
    {"contracts": ["spmv.csc.f64*"], "only": {"alpha": [1], "beta": [1], "transpose_a": false, "faults": []}},
    {"contracts": ["spgemm.csc.f64*"], "only": {"faults": []},
     "profile": [{"choice": "unsorted", "reason": "the CSparse book says that columns of a product are not sorted"}]},
    {"contracts": ["transpose.csc.f64"]},
    {"contracts": ["convert.coo.csc.f64"], "profile": [{"choice": "duplicates-sum-rounded",
     "reason": "cs_dupl adds them one after the other in the order given"}]})"),
             run(task, result))
