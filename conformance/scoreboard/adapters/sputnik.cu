// Sputnik (Gale et al., "Sparse GPU kernels for deep learning", SC20) as a plug-in: SpMM and SDDMM of CSR in f32, from the source that
// xformers ships. alpha is 1 and beta 0; dense operands lie by rows without gaps, and Y by the rows that S has columns. Its kernels in half
// precision want an even number of elements in every row, and are not asked. Rows are given in their own order.
#include "device.hpp"
#include "sputnik/sddmm/cuda_sddmm.h"
#include "sputnik/spmm/cuda_spmm.h"
#include <numeric>

namespace {
int32_t run(const sc_task *task, sc_result *result) {
    const score::View<float> a(task->a);
    std::vector<int> order(static_cast<size_t>(a.rows));
    std::iota(order.begin(), order.end(), 0);
    const size_t nnz = static_cast<size_t>(a.nnz);
    const score::Device rows(order), offsets(a.outer, (order.size() + 1) * 4), columns(a.inner, nnz * 4), values(a.values, nnz * 4);
    const score::Device left(score::tight<float>(task->b, true));
    if (task->op == SC_SDDMM) {
        const score::Device right(score::tight<float>(task->y, true)), out(nnz * 4);
        score::cuda(sputnik::CudaSddmm(a.rows, static_cast<int>(task->b->cols), a.cols, a.nnz, rows.as<int>(), offsets.as<int>(),
                                       columns.as<int>(), left.as<float>(), right.as<float>(), out.as<float>(), nullptr));
        return score::put(result, out.fetch<float>(nnz).data());
    }
    const size_t n = task->b->cols, count = order.size() * n;
    const score::Device out(count * 4);
    score::cuda(sputnik::CudaSpmm(a.rows, a.cols, static_cast<int>(n), a.nnz, rows.as<int>(), values.as<float>(), offsets.as<int>(),
                                  columns.as<int>(), left.as<float>(), out.as<float>(), nullptr));
    return score::put(result, out.fetch<float>(count).data(), true);
}
} // namespace

SCORE_PLUGIN(score::manifest("sputnik", SCORE_PACKAGE_VERSION, "CudaSpmm and CudaSddmm", R"(
    {"contracts": ["spmm.csr.f32_f32_f32_f32"], "only": {"alpha": [1], "beta": [0], "transpose_a": false, "transpose_b": false, "faults": []}},
    {"contracts": ["sddmm.csr.f32_f32_f32_f32"], "only": {"alpha": [1], "beta": [0], "modes": ["pattern"], "faults": []}})"),
             run(task, result))
