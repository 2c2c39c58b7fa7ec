// cuSPARSELt as a plug-in: products with A of 2:4 in f16 and bf16, and of 1:2 in TF32, along the inner dimension: the contracts of N:M with
// vectors of one element and A transposed. The library compresses a dense A itself, so that this one is written out, filled up with zeros to
// multiples of 64 as B and C are, by rows; B of TF32 by columns, because version 0.8.0 does not return from a product with rows of it
// (reports/cusparselt_tf32.cpp). It takes alpha and beta, and chooses the kernel.
#include "device.hpp"
#include <cusparseLt.h>

namespace {
void must(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseLtGetErrorString(status));
}
const cusparseLtHandle_t *handle() {
    static const cusparseLtHandle_t made = [] { cusparseLtHandle_t handle; return must(cusparseLtInit(&handle)), handle; }();
    return &made;
}
uint64_t whole(uint64_t extent) { return (extent + 63) / 64 * 64; }
// A dense operand in a larger one of zeros, stored in this order.
template <class T> std::vector<T> grown(const sc_dense *d, uint64_t rows, uint64_t cols, cusparseOrder_t order) {
    std::vector<T> full(rows * cols);
    for (uint64_t i = 0; i < d->rows; i++)
        for (uint64_t j = 0; j < d->cols; j++) full[order == CUSPARSE_ORDER_ROW ? i * cols + j : j * rows + i] = static_cast<const T *>(d->data)[sc_at(d, i, j)];
    return full;
}
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
    const sc_dense *c = result->c;
    const uint64_t rows = whole(c->rows), cols = whole(c->cols), inner = whole(task->a->rows);
    const cusparseOrder_t by_rows = CUSPARSE_ORDER_ROW, order_of_b = type == CUDA_R_32F ? CUSPARSE_ORDER_COL : by_rows;
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
    const score::Device a(written_out<T>(task->a, inner)), b(grown<T>(task->b, inner, cols, order_of_b)), small(compressed), buffer(while_compressing), work(working);
    // Where beta is 0, nothing has been written to C.
    const score::Device out = task->beta == 0 ? score::Device(rows * cols * sizeof(T)) : score::Device(grown<T>(c, rows, cols, by_rows));
    must(cusparseLtSpMMACompress(handle(), &plan, a.as<void>(), small.as<void>(), buffer.as<void>(), nullptr));
    const float alpha = static_cast<float>(task->alpha), beta = static_cast<float>(task->beta);
    must(cusparseLtMatmul(handle(), &plan, &alpha, small.as<void>(), b.as<void>(), &beta, out.as<void>(), out.as<void>(), work.as<void>(), nullptr, 0));
    const std::vector<T> all = out.fetch<T>(rows * cols);
    for (uint64_t i = 0; i < c->rows; i++)
        for (uint64_t j = 0; j < c->cols; j++) static_cast<T *>(c->data)[sc_at(c, i, j)] = all[i * cols + j];
    return SC_OK;
}
// n of 2n; what is rounded to TF32 is rounded to even, as B is.
std::string rule(const char *contract, int n, const char *arithmetic = "any") {
    return std::string(R"({"contracts": [")") + contract + R"("], "arithmetic": ")" + arithmetic + R"(", "only": {"transpose_a": true, "transpose_b": false, "faults": [], "params": {"nm_n": [)" + std::to_string(n) +
           R"(], "nm_m": [)" + std::to_string(2 * n) + R"(], "nm_l": [1]}},
        "profile": [{"choice": "alpha0-reads-ab", "reason": "alpha = 0 still multiplies: shown by reports/cusparselt_edges.cpp"}]})";
}
} // namespace

SCORE_PLUGIN(score::manifest("cusparselt", std::to_string(CUSPARSELT_VER_MAJOR) + "." + std::to_string(CUSPARSELT_VER_MINOR) + "." + std::to_string(CUSPARSELT_VER_PATCH), "cusparseLtMatmul, default algorithm",
                             (rule("spmm.nm.f16_f16_f32_f16", 2) + ", " + rule("spmm.nm.bf16_bf16_f32_bf16", 2) + ", " + rule("spmm.nm.tf32_tf32_f32_f32", 1, "any,rne")).c_str()),
             task->a->dtype == SC_F16    ? run<uint16_t>(task, result, CUDA_R_16F)
             : task->a->dtype == SC_BF16 ? run<uint16_t>(task, result, CUDA_R_16BF)
                                         : run<float>(task, result, CUDA_R_32F))
