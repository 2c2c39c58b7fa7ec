// librsb (Debian's librsb-dev) as a plug-in: SpMM, SpMV and sparse products of CSR, CSC and COO, and conversions, in f64 and f32.
// rsb_spmm takes both layouts, leading dimensions, alpha and beta itself. Its own format (RSB) lies between the arrays given and the loop.
#include "score.hpp"
#include <rsb-config.h>
#include <rsb.h>

namespace {
using Owned = std::unique_ptr<rsb_mtx_t, rsb_mtx_t *(*)(rsb_mtx_t *)>;
template <class T> rsb_type_t type() { return sizeof(T) == 8 ? RSB_NUMERICAL_TYPE_DOUBLE : RSB_NUMERICAL_TYPE_FLOAT; }

template <class T> Owned load(const sc_sparse *operand) {
    const score::View<T> a(operand);
    const bool columns = !a.coo && !a.csr;
    const auto make = a.coo ? rsb_mtx_alloc_from_coo_const : a.csr ? rsb_mtx_alloc_from_csr_const : rsb_mtx_alloc_from_csc_const;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    return Owned(make(a.values, columns ? a.inner : a.outer, columns ? a.outer : a.inner, a.nnz, type<T>(), a.rows, a.cols, 0, 0,
                      RSB_FLAG_NOFLAGS | RSB_FLAG_DUPLICATES_SUM, &error), rsb_mtx_free);
}
template <class T> int32_t answer(sc_result *result, const Owned &m, const char *format) {
    int nnz = 0, rows = 0;
    if (!m || rsb_mtx_get_info(m.get(), RSB_MIF_MATRIX_NNZ__TO__RSB_NNZ_INDEX_T, &nnz) ||
        rsb_mtx_get_info(m.get(), RSB_MIF_MATRIX_ROWS__TO__RSB_COO_INDEX_T, &rows))
        return sc_refuse(result, "librsb returns no matrix");
    const bool csr = score::is(format, "csr");
    std::vector<int> outer(static_cast<size_t>(csr ? rows + 1 : nnz)), inner(static_cast<size_t>(nnz));
    std::vector<T> values(static_cast<size_t>(nnz));
    outer.reserve(1), inner.reserve(1), values.reserve(1); // it takes no null pointers
    if (csr ? rsb_mtx_get_csr(type<T>(), m.get(), values.data(), outer.data(), inner.data(), RSB_FLAG_NOFLAGS)
            : rsb_mtx_get_coo(m.get(), values.data(), outer.data(), inner.data(), RSB_FLAG_NOFLAGS)) return sc_refuse(result, "librsb gives no arrays");
    return score::answer(result, format, outer.data(), outer.size(), inner.data(), values.data(), values.size());
}
template <class T> int32_t run(const sc_task *task, sc_result *result) {
    static const rsb_err_t started = rsb_lib_init(RSB_NULL_INIT_OPTIONS);
    const Owned a = load<T>(task->a);
    if (started || !a) return sc_refuse(result, "librsb makes no matrix of this");
    const T alpha = static_cast<T>(task->alpha), beta = static_cast<T>(task->beta), one = 1;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    if (task->op == SC_CONVERT) return answer<T>(result, a, task->to);
    if (task->op == SC_SPGEMM) {
        const Owned b = load<T>(task->b_sparse);
        const Owned c(rsb_spmsp(type<T>(), RSB_TRANSPOSITION_N, &one, a.get(), RSB_TRANSPOSITION_N, &one, b.get(), &error), rsb_mtx_free);
        return c ? answer<T>(result, c, "csr") : sc_refuse(result, ("rsb_spmsp returns NULL and error " + std::to_string(error)).c_str());
    }
    const sc_dense *b = task->b, *c = result->c;
    const rsb_flags_t order = c->layout == SC_ROW_MAJOR && task->op == SC_SPMM ? RSB_FLAG_WANT_ROW_MAJOR_ORDER : RSB_FLAG_WANT_COLUMN_MAJOR_ORDER;
    const rsb_trans_t trans = task->transpose_a ? RSB_TRANSPOSITION_T : RSB_TRANSPOSITION_N;
    error = task->op == SC_SPMV ? rsb_spmv(trans, &alpha, a.get(), b->data, 1, &beta, c->data, 1)
                                : rsb_spmm(trans, &alpha, a.get(), static_cast<int>(c->cols), order, b->data, static_cast<int>(b->ld), &beta, c->data, static_cast<int>(c->ld));
    return error ? sc_refuse(result, "rsb_spmm or rsb_spmv returns an error") : SC_OK;
}
} // namespace

SCORE_PLUGIN(score::manifest("librsb", RSB_PACKAGE_VERSION, "rsb_spmm, rsb_spmv, rsb_spmsp, one thread", R"(
    {"contracts": ["spm[mv].cs[rc].f64*", "spm[mv].cs[rc].f32_*", "spm[mv].coo.f64*", "spm[mv].coo.f32_*"], "arithmetic": "any,fold-alpha",
     "profile": [{"choice": "alpha0-reads-ab", "reason": "alpha = 0 still multiplies A and B"}],
     "only": {"transpose_b": false, "same_layout": true, "duplicates": false, "faults": []}},
    {"contracts": ["spgemm.csr.f64*", "spgemm.csr.f32_*"], "only": {"faults": []}},
    {"contracts": ["convert.coo.csr.f64", "convert.coo.csr.f32", "convert.csr.coo.f64", "convert.csr.coo.f32", "convert.csc.csr.f64", "convert.csc.csr.f32"],
     "only": {"duplicates": false}})"),
             (task->a->dtype == SC_F64 ? run<double> : run<float>)(task, result))
