// SuperLU's sparse BLAS (Debian's libsuperlu-dev) as a plug-in: sp_?gemv and sp_?gemm, compressed columns (NC) in f64 and f32.
//
// Both take alpha and beta and the transpose of A, and multiply x by alpha first where it is not transposed (dsp_blas2.c); matrices lie by columns, with leading dimensions.
#include "score.hpp"
#include <superlu/slu_ddefs.h>
extern "C" { // slu_sdefs.h can't be included beside slu_ddefs.h.
extern int sp_sgemv(char *, float, SuperMatrix *, float *, int, float, float *, int);
extern int sp_sgemm(char *, char *, int, int, int, float, SuperMatrix *, float *, int, float, float *, int);
}

namespace {
int gemv(char *t, double alpha, SuperMatrix *a, double *x, double beta, double *y) { return sp_dgemv(t, alpha, a, x, 1, beta, y, 1); }
int gemv(char *t, float alpha, SuperMatrix *a, float *x, float beta, float *y) { return sp_sgemv(t, alpha, a, x, 1, beta, y, 1); }
int gemm(char *t, int m, int n, int k, double alpha, SuperMatrix *a, double *b, int ldb, double beta, double *c, int ldc) {
    char plain[] = "N";
    return sp_dgemm(t, plain, m, n, k, alpha, a, b, ldb, beta, c, ldc);
}
int gemm(char *t, int m, int n, int k, float alpha, SuperMatrix *a, float *b, int ldb, float beta, float *c, int ldc) {
    char plain[] = "N";
    return sp_sgemm(t, plain, m, n, k, alpha, a, b, ldb, beta, c, ldc);
}

template <class T> int32_t run(const sc_task *task, sc_result *result) {
    const score::View<T> a(task->a);
    NCformat columns = {a.nnz, a.values, a.inner, a.outer};
    SuperMatrix m = {SLU_NC, sizeof(T) == 8 ? SLU_D : SLU_S, SLU_GE, a.rows, a.cols, &columns};
    const sc_dense *b = task->b, *c = result->c;
    const T alpha = static_cast<T>(task->alpha), beta = static_cast<T>(task->beta);
    char trans[] = "N";
    if (task->transpose_a) trans[0] = 'T';
    T *from = static_cast<T *>(b->data), *to = static_cast<T *>(c->data);
    if (task->op == SC_SPMV) gemv(trans, alpha, &m, from, beta, to);
    else
        gemm(trans, static_cast<int>(c->rows), static_cast<int>(c->cols), static_cast<int>(b->rows), alpha, &m, from, static_cast<int>(b->ld),
             beta, to, static_cast<int>(c->ld));
    return SC_OK;
}

const std::string VERSION = score::version(SUPERLU_MAJOR_VERSION, SUPERLU_MINOR_VERSION, SUPERLU_PATCH_VERSION);
} // namespace

SCORE_PLUGIN(score::manifest("superlu", VERSION, "sp_?gemv and sp_?gemm", R"(
    {"contracts": ["spm[mv].csc.f64*", "spm[mv].csc.f32_*"], "arithmetic": "any,fold-alpha-b", "only": {"transpose_a": false,
     "transpose_b": false, "layout_b": "col", "layout_c": "col", "faults": []}},
    {"contracts": ["spm[mv].csc.f64*", "spm[mv].csc.f32_*"],
     "only": {"transpose_a": true, "transpose_b": false, "layout_b": "col", "layout_c": "col", "faults": []}})"),
             (task->a->dtype == SC_F64 ? run<double> : run<float>)(task, result))
