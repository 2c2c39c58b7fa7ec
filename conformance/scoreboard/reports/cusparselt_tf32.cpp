// cuSPARSELt alone, f32 of 1:2 by TF32: which bits of A and of B count, and which subnormal numbers; and B stored by rows, where a call does not return (the one after
// what is printed last).
//
//   P is nvidia/cusparselt of the wheel, C the CUDA toolkit:
//   c++ -std=c++17 -IP/include -IC/include cusparselt_tf32.cpp -LC/lib64 -lcudart -LP/lib -l:libcusparseLt.so.0 -o cusparselt_tf32
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime_api.h>
#include <cusparseLt.h>
#include <vector>

constexpr int64_t SIDE = 64;
cusparseLtHandle_t handle;
bool talks = false;

void *device(size_t bytes, const void *from = nullptr) {
    void *at = nullptr;
    cudaMalloc(&at, bytes + 16);
    if (from) cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice);
    return at;
}

float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

void said(const char *what, cusparseStatus_t status) {
    if (!talks && status == CUSPARSE_STATUS_SUCCESS) return;
    printf("  %s: %s\n", what, cusparseLtGetErrorString(status));
    fflush(stdout);
}

// The bits of the first element of A * B, both 64 x 64: A has one element, B is one number.
uint32_t product(float element, float of_b, cusparseOrder_t order, int column = 0) {
    cusparseLtMatDescriptor_t a, b, c;
    cusparseLtMatmulDescriptor_t matmul;
    cusparseLtMatmulAlgSelection_t chosen;
    cusparseLtMatmulPlan_t plan;
    cusparseLtStructuredDescriptorInit(&handle, &a, SIDE, SIDE, SIDE, 16, CUDA_R_32F, CUSPARSE_ORDER_ROW, CUSPARSELT_SPARSITY_50_PERCENT);
    said("cusparseLtDenseDescriptorInit of B", cusparseLtDenseDescriptorInit(&handle, &b, SIDE, SIDE, SIDE, 16, CUDA_R_32F, order));
    cusparseLtDenseDescriptorInit(&handle, &c, SIDE, SIDE, SIDE, 16, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    said("cusparseLtMatmulDescriptorInit", cusparseLtMatmulDescriptorInit(&handle, &matmul, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &a, &b, &c, &c, CUSPARSE_COMPUTE_32F));
    said("cusparseLtMatmulAlgSelectionInit", cusparseLtMatmulAlgSelectionInit(&handle, &chosen, &matmul, CUSPARSELT_MATMUL_ALG_DEFAULT));
    said("cusparseLtMatmulPlanInit", cusparseLtMatmulPlanInit(&handle, &plan, &matmul, &chosen));
    size_t small, buffer, work;
    cusparseLtSpMMACompressedSize(&handle, &plan, &small, &buffer);
    cusparseLtMatmulGetWorkspace(&handle, &plan, &work);
    std::vector<float> numbers(SIDE * SIDE), others(SIDE * SIDE, of_b);
    numbers[column] = element;
    const float alpha = 1, beta = 0;
    void *dense = device(SIDE * SIDE * 4, numbers.data()), *packed = device(small), *out = device(SIDE * SIDE * 4);
    said("cusparseLtSpMMACompress", cusparseLtSpMMACompress(&handle, &plan, dense, packed, device(buffer), nullptr));
    said("cusparseLtMatmul", cusparseLtMatmul(&handle, &plan, &alpha, packed, device(SIDE * SIDE * 4, others.data()), &beta, out, out, device(work), nullptr, 0));
    uint32_t first = 0;
    cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost);
    cusparseLtMatmulPlanDestroy(&plan);
    return first;
}

int main() {
    cusparseLtInit(&handle);
    // TF32 has 10 bits behind the point: 0x2000 is its last one.
    for (uint32_t low : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x1fffu, 0x2000u, 0x3000u, 0x3fffu, 0x4000u, 0x6000u, 0x8000u, 0xa000u, 0xc000u, 0xe000u}) {
        const float value = of_bits(0x3f800000 + low);
        printf("0x%08x in A gives 0x%08x, in B 0x%08x, minus it in A 0x%08x\n", 0x3f800000 + low, product(value, 1, CUSPARSE_ORDER_COL), product(1, value, CUSPARSE_ORDER_COL), product(-value, 1, CUSPARSE_ORDER_COL));
    }
    // 2^100 times a subnormal number is a normal one. Of two columns of A, one holds a number.
    const float large = of_bits(0x71800000);
    for (uint32_t bits : {0x00800000u, 0x007fc000u, 0x00400000u, 0x00004000u, 0x80004000u, 0x80400000u, 0x80800000u}) {
        const float value = of_bits(bits);
        printf("0x%08x times 2^100: in column 0 of A 0x%08x, in column 1 0x%08x, in B 0x%08x\n", bits, product(value, large, CUSPARSE_ORDER_COL), product(value, large, CUSPARSE_ORDER_COL, 1), product(large, value, CUSPARSE_ORDER_COL));
    }
    talks = true;
    printf("B by columns\n");
    product(1, 1, CUSPARSE_ORDER_COL);
    printf("B by rows\n");
    product(1, 1, CUSPARSE_ORDER_ROW);
    return 0;
}
