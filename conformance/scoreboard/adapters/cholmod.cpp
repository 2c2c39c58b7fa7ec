// CHOLMOD (Debian's libsuitesparse-dev) as a plug-in: cholmod_sdmult, _ssmult, _transpose and _triplet_to_sparse, CSC in f64.
// cholmod_sdmult takes alpha, beta and leading dimensions, and multiplies x by alpha first where A is not transposed (t_cholmod_sdmult.c). Triplets that stand twice are added up, as its guide says.
#include "score.hpp"
#include <suitesparse/cholmod.h>

namespace {
struct Common : cholmod_common {
    Common() { cholmod_start(this); print = 0; }
    ~Common() { cholmod_finish(this); }
} common;

struct Free {
    void operator()(cholmod_sparse *m) const { cholmod_free_sparse(&m, &common); }
};
using Owned = std::unique_ptr<cholmod_sparse, Free>;

cholmod_sparse view(const score::View<double> &a) {
    return {static_cast<size_t>(a.rows), static_cast<size_t>(a.cols), static_cast<size_t>(a.nnz), a.outer, a.inner, nullptr, a.values,
            nullptr, 0, CHOLMOD_INT, CHOLMOD_REAL, CHOLMOD_DOUBLE, 1, 1};
}

cholmod_dense view(const sc_dense *d) {
    return {static_cast<size_t>(d->rows), static_cast<size_t>(d->cols), static_cast<size_t>(d->ld * d->cols), static_cast<size_t>(d->ld),
            d->data, nullptr, CHOLMOD_REAL, CHOLMOD_DOUBLE};
}

int32_t answer(sc_result *result, const Owned &m) {
    if (!m) return sc_refuse(result, "CHOLMOD returns NULL");
    const int *offsets = static_cast<int *>(m->p);
    return score::answer(result, "csc", offsets, m->ncol + 1, static_cast<int *>(m->i), static_cast<double *>(m->x),
                         static_cast<size_t>(offsets[m->ncol]));
}

int32_t run(const sc_task *task, sc_result *result) {
    const score::View<double> at(task->a);
    if (at.coo) {
        cholmod_triplet t = {static_cast<size_t>(at.rows), static_cast<size_t>(at.cols), static_cast<size_t>(at.nnz),
                             static_cast<size_t>(at.nnz), at.outer, at.inner, at.values, nullptr, 0, CHOLMOD_INT, CHOLMOD_REAL, CHOLMOD_DOUBLE};
        return answer(result, Owned(cholmod_triplet_to_sparse(&t, 0, &common)));
    }
    cholmod_sparse a = view(at);
    if (task->op == SC_TRANSPOSE) return answer(result, Owned(cholmod_transpose(&a, 1, &common)));
    if (task->op == SC_SPGEMM) {
        cholmod_sparse b = view(score::View<double>(task->b_sparse));
        return answer(result, Owned(cholmod_ssmult(&a, &b, 0, 1, 1, &common)));
    }
    double alpha[2] = {task->alpha, 0}, beta[2] = {task->beta, 0};
    cholmod_dense x = view(task->b), y = view(result->c);
    return cholmod_sdmult(&a, task->transpose_a, alpha, beta, &x, &y, &common) ? SC_OK : sc_refuse(result, "cholmod_sdmult returns 0");
}

const std::string VERSION = score::version(CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION);
} // namespace

SCORE_PLUGIN(score::manifest("cholmod", VERSION, "cholmod_sdmult, _ssmult, _transpose, _triplet_to_sparse", R"(
    {"contracts": ["spm[mv].csc.f64*"], "arithmetic": "any,fold-alpha-b", "only": {"transpose_a": false, "transpose_b": false, "layout_b": "col", "layout_c": "col", "faults": []}},
    {"contracts": ["spm[mv].csc.f64*"], "only": {"transpose_a": true, "transpose_b": false, "layout_b": "col", "layout_c": "col", "faults": []}},
    {"contracts": ["spgemm.csc.f64*"], "only": {"faults": []}}, {"contracts": ["transpose.csc.f64"]},
    {"contracts": ["convert.coo.csc.f64"], "profile": [{"choice": "duplicates-sum-rounded", "reason": "duplicate entries are summed"}]})"),
             run(task, result))
