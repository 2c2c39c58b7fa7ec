// SUNDIALS' sparse matrix (Debian's libsundials-dev) as a plug-in: SUNMatMatvec and conversion between CSC and CSR, in f64.
#include "score.hpp"
#include <nvector/nvector_serial.h>
#include <sundials/sundials_version.h>
#include <sunmatrix/sunmatrix_sparse.h>

namespace {
struct Free {
    void operator()(SUNMatrix m) const { SUNMatDestroy(m); }
    void operator()(N_Vector v) const { N_VDestroy(v); }
};
using Matrix = std::unique_ptr<std::remove_pointer_t<SUNMatrix>, Free>;
using Vector = std::unique_ptr<std::remove_pointer_t<N_Vector>, Free>;

SUNContext context() {
    static SUNContext made = nullptr;
    if (!made) SUNContext_Create(nullptr, &made);
    return made;
}

int32_t answer(sc_result *result, const SUNMatrix m) {
    const bool csr = SUNSparseMatrix_SparseType(m) == CSR_MAT;
    const auto *outer = SUNSparseMatrix_IndexPointers(m);
    const auto lanes = static_cast<size_t>(SUNSparseMatrix_NP(m));
    return score::answer(result, csr ? "csr" : "csc", outer, lanes + 1, SUNSparseMatrix_IndexValues(m), SUNSparseMatrix_Data(m),
                         static_cast<size_t>(outer[lanes]));
}

int32_t run(const sc_task *task, sc_result *result) {
    const score::View<double> at(task->a);
    const Matrix a(SUNSparseMatrix(at.rows, at.cols, at.nnz, at.csr ? CSR_MAT : CSC_MAT, context()));
    if (!a) return sc_refuse(result, "SUNSparseMatrix returns NULL");
    std::copy_n(at.outer, (at.csr ? at.rows : at.cols) + 1, SUNSparseMatrix_IndexPointers(a.get()));
    if (at.nnz) std::copy_n(at.inner, at.nnz, SUNSparseMatrix_IndexValues(a.get()));
    if (at.nnz) std::copy_n(at.values, at.nnz, SUNSparseMatrix_Data(a.get()));
    if (task->op == SC_CONVERT) {
        SUNMatrix other = nullptr;
        const int error = (at.csr ? SUNSparseMatrix_ToCSC : SUNSparseMatrix_ToCSR)(a.get(), &other);
        const Matrix owned(other);
        return error ? sc_refuse(result, "SUNSparseMatrix_ToCSC or _ToCSR returns an error") : answer(result, other);
    }
    const Vector x(N_VMake_Serial(at.cols, static_cast<double *>(task->b->data), context()));
    const Vector y(N_VMake_Serial(at.rows, static_cast<double *>(result->c->data), context()));
    return SUNMatMatvec(a.get(), x.get(), y.get()) ? sc_refuse(result, "SUNMatMatvec returns an error") : SC_OK;
}
} // namespace

SCORE_PLUGIN(score::manifest("sundials", SUNDIALS_VERSION, "SUNMatMatvec, SUNSparseMatrix_ToCSR and _ToCSC", R"(
    {"contracts": ["spmv.cs[rc].f64*"], "only": {"alpha": [1], "beta": [0], "transpose_a": false, "faults": []}},
    {"contracts": ["convert.csr.csc.f64", "convert.csc.csr.f64"]})"),
             run(task, result))
