// cuSPARSELt as a plug-in: products with A of 2:4 in f16 and bf16, and of 1:2 in TF32, along the inner dimension: the contracts of N:M with
// vectors of one element and A transposed. The library compresses a dense A itself, so that this one is written out, filled up with zeros to
// multiples of 64 as B and C are, by rows; B of TF32 by columns, because version 0.8.0 does not return from a product with rows of it
// (reports/cusparselt_tf32.cpp). What is rounded to TF32 is rounded to even, as B is. The library takes alpha and beta, and chooses the kernel.
#include "device.hpp"
#include <cusparseLt.h>

namespace {
void must(cusparseStatus_t status) { if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseLtGetErrorString(status)); }
const cusparseLtHandle_t *handle() {
    static const cusparseLtHandle_t made = [] { cusparseLtHandle_t handle; return must(cusparseLtInit(&handle)), handle; }();
    return &made;
}
uint64_t whole(uint64_t extent) { return (extent + 63) / 64 * 64; }
// The transpose of A, dense: slot s of a column holds the row `index` of window s / n.
template <class T> std::vector<T> written_out(const sc_sparse *a, uint64_t inner) {
    const uint64_t n = sc_extent(a, "n"), m = sc_extent(a, "m"), slots = sc_count(a, "index");
    const T *values = static_cast<const T *>(sc_data(a, "values", a->dtype));
    std::vector<T> full(whole(a->cols) * inner);
    for (uint64_t s = 0; s < slots; s++) {
        const uint64_t row = s / a->cols / n * m + sc_u32(a, "index")[s];
        if (row < a->rows) full[s % a->cols * inner + row] = values[s];
    }
    return full;
}
template <class T> int32_t run(const sc_task *task, sc_result *result, cudaDataType type) {
    const uint64_t rows = whole(result->c->rows), cols = whole(result->c->cols), inner = whole(task->a->rows);
    const auto by_rows = CUSPARSE_ORDER_ROW, order_of_b = type == CUDA_R_32F ? CUSPARSE_ORDER_COL : by_rows;
    cusparseLtMatDescriptor_t of_a, of_b, of_c;
    cusparseLtMatmulDescriptor_t product;
    cusparseLtMatmulAlgSelection_t chosen;
    cusparseLtMatmulPlan_t plan;
    must(cusparseLtStructuredDescriptorInit(handle(), &of_a, rows, inner, inner, 16, type, by_rows, CUSPARSELT_SPARSITY_50_PERCENT));
    must(cusparseLtDenseDescriptorInit(handle(), &of_b, inner, cols, order_of_b == by_rows ? cols : inner, 16, type, order_of_b));
    must(cusparseLtDenseDescriptorInit(handle(), &of_c, rows, cols, cols, 16, type, by_rows));
    must(cusparseLtMatmulDescriptorInit(handle(), &product, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &of_a, &of_b, &of_c, &of_c, CUSPARSE_COMPUTE_32F));
    must(cusparseLtMatmulAlgSelectionInit(handle(), &chosen, &product, CUSPARSELT_MATMUL_ALG_DEFAULT));
    must(cusparseLtMatmulPlanInit(handle(), &plan, &product, &chosen));
    const std::unique_ptr<cusparseLtMatmulPlan_t, cusparseStatus_t (*)(const cusparseLtMatmulPlan_t *)> ended(&plan, cusparseLtMatmulPlanDestroy);
    size_t compressed, while_compressing, working;
    must(cusparseLtSpMMACompressedSize(handle(), &plan, &compressed, &while_compressing));
    must(cusparseLtMatmulGetWorkspace(handle(), &plan, &working));
    const score::Device a(written_out<T>(task->a, inner)), b(score::tight<T>(task->b, order_of_b == by_rows, inner, cols)), small(compressed), buffer(while_compressing), work(working);
    // Where beta is 0, nothing has been written to C.
    const score::Device out = task->beta == 0 ? score::Device(rows * cols * sizeof(T)) : score::Device(score::tight<T>(result->c, true, rows, cols));
    must(cusparseLtSpMMACompress(handle(), &plan, a.as<void>(), small.as<void>(), buffer.as<void>(), nullptr));
    const float alpha = static_cast<float>(task->alpha), beta = static_cast<float>(task->beta);
    must(cusparseLtMatmul(handle(), &plan, &alpha, small.as<void>(), b.as<void>(), &beta, out.as<void>(), out.as<void>(), work.as<void>(), nullptr, 0));
    return score::put(result, out.fetch<T>(rows * cols).data(), true, cols);
}
} // namespace

SCORE_PLUGIN(score::manifest("cusparselt", score::version(CUSPARSELT_VER_MAJOR, CUSPARSELT_VER_MINOR, CUSPARSELT_VER_PATCH), "cusparseLtMatmul, default algorithm", R"(
    {"contracts": ["spmm.nm.f16_f16_f32_f16", "spmm.nm.bf16_bf16_f32_bf16"], "arithmetic": "any", "only": {"transpose_a": true, "transpose_b": false, "faults": [], "params": {"nm_n": [2], "nm_m": [4], "nm_l": [1]}},
        "profile": [{"choice": "alpha0-reads-ab", "reason": "alpha = 0 still multiplies: shown by reports/cusparselt_edges.cpp"}]},
    {"contracts": ["spmm.nm.tf32_tf32_f32_f32"], "arithmetic": "any,rne", "only": {"transpose_a": true, "transpose_b": false, "faults": [], "params": {"nm_n": [1], "nm_m": [2], "nm_l": [1]}},
        "profile": [{"choice": "alpha0-reads-ab", "reason": "alpha = 0 still multiplies: shown by reports/cusparselt_edges.cpp"}]})"),
             task->a->dtype == SC_F16    ? run<uint16_t>(task, result, CUDA_R_16F)
             : task->a->dtype == SC_BF16 ? run<uint16_t>(task, result, CUDA_R_16BF)
                                         : run<float>(task, result, CUDA_R_32F))
