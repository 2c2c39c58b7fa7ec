// cuSPARSELt alone: a window of A with fewer than two elements meets rows of B that it has no element for; beta = -0 reads C; a result of
// -infinity is NaN; alpha = 0 still multiplies; no extent may be zero.
//
//   P is nvidia/cusparselt of the wheel, C the CUDA toolkit:
//   c++ -std=c++17 -IP/include -IC/include cusparselt_edges.cpp -LC/lib64 -lcudart -LP/lib -l:libcusparseLt.so.0 -o cusparselt_edges
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuda_runtime_api.h>
#include <cusparseLt.h>
#include <vector>

using Halves = std::vector<uint16_t>;
constexpr uint16_t ONE = 0x3C00, INF = 0x7C00, MINUS_INF = 0xFC00, NOT = 0x7E00;
constexpr int64_t SIDE = 64;
cusparseLtHandle_t handle;

void *device(size_t bytes, const void *from = nullptr) {
    void *at = nullptr;
    cudaMalloc(&at, bytes + 16);
    if (from) cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice);
    return at;
}

// The first element of alpha * A * B + beta * C, all 64 x 64 in f16, summed in f32.
void product(const char *what, const Halves &a, const Halves &b, const Halves &c, float alpha, float beta) {
    cusparseLtMatDescriptor_t of_a, of_b, of_c;
    cusparseLtMatmulDescriptor_t matmul;
    cusparseLtMatmulAlgSelection_t chosen;
    cusparseLtMatmulPlan_t plan;
    cusparseLtStructuredDescriptorInit(&handle, &of_a, SIDE, SIDE, SIDE, 16, CUDA_R_16F, CUSPARSE_ORDER_ROW, CUSPARSELT_SPARSITY_50_PERCENT);
    cusparseLtDenseDescriptorInit(&handle, &of_b, SIDE, SIDE, SIDE, 16, CUDA_R_16F, CUSPARSE_ORDER_ROW);
    cusparseLtDenseDescriptorInit(&handle, &of_c, SIDE, SIDE, SIDE, 16, CUDA_R_16F, CUSPARSE_ORDER_ROW);
    cusparseLtMatmulDescriptorInit(&handle, &matmul, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &of_a, &of_b, &of_c, &of_c, CUSPARSE_COMPUTE_32F);
    cusparseLtMatmulAlgSelectionInit(&handle, &chosen, &matmul, CUSPARSELT_MATMUL_ALG_DEFAULT);
    cusparseLtMatmulPlanInit(&handle, &plan, &matmul, &chosen);
    size_t small, buffer, work;
    cusparseLtSpMMACompressedSize(&handle, &plan, &small, &buffer);
    cusparseLtMatmulGetWorkspace(&handle, &plan, &work);
    void *dense = device(a.size() * 2, a.data()), *packed = device(small), *out = device(c.size() * 2, c.data());
    cusparseLtSpMMACompress(&handle, &plan, dense, packed, device(buffer), nullptr);
    const cusparseStatus_t status = cusparseLtMatmul(&handle, &plan, &alpha, packed, device(b.size() * 2, b.data()), &beta, out, out, device(work), nullptr, 0);
    uint16_t first = 0;
    cudaMemcpy(&first, out, 2, cudaMemcpyDeviceToHost);
    printf("%s: %s, 0x%04x\n", what, cusparseLtGetErrorString(status), first);
}

int main() {
    cusparseLtInit(&handle);
    Halves a(SIDE * SIDE), ones(SIDE * SIDE, ONE), zeros(SIDE * SIDE), nans(SIDE * SIDE, NOT);
    a[0] = ONE; // the only element: row 0 of A takes row 0 of B alone
    product("A has one element, B is ones (right: 3c00)", a, ones, zeros, 1, 0);
    for (int row = 1; row < 8; row++) {
        Halves b = ones;
        b[row * SIDE] = INF;
        char what[80];
        snprintf(what, sizeof what, "the same, B is infinite in row %d (right: 3c00)", row);
        product(what, a, b, zeros, 1, 0);
    }
    product("C is NaN, beta is 0 (right: 3c00)", a, ones, nans, 1, 0.0f);
    product("C is NaN, beta is -0 (right: 3c00)", a, ones, nans, 1, -0.0f);
    Halves infinite(SIDE * SIDE, INF), above(SIDE * SIDE), below(SIDE * SIDE);
    above[0] = INF, below[0] = MINUS_INF;
    product("B begins with infinity (right: 7c00)", a, above, zeros, 1, 0);
    product("B begins with -infinity (right: fc00)", a, below, zeros, 1, 0);
    product("B begins with infinity, alpha is -1 (right: fc00)", a, above, zeros, -1, 0);
    product("C begins with infinity, A is zeros, beta is 1 (right: 7c00)", zeros, ones, above, 1, 1);
    product("C begins with -infinity, A is zeros, beta is 1 (right: fc00)", zeros, ones, below, 1, 1);
    product("B is infinite, alpha is 0 (right where alpha = 0 reads neither A nor B: 0000)", a, infinite, zeros, 0, 0);
    cusparseLtMatDescriptor_t none;
    printf("64 x 0: %s\n", cusparseLtGetErrorString(cusparseLtDenseDescriptorInit(&handle, &none, SIDE, 0, SIDE, 16, CUDA_R_16F, CUSPARSE_ORDER_ROW)));
    return 0;
}
