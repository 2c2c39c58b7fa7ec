#include "sparse_conformance.h"
#include <cuda_runtime.h>

__global__ void spmv(uint32_t rows, const uint32_t *row_ptr, const uint32_t *col_idx, const float *values, const float *x, float *y) {
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (uint32_t at = row_ptr[row]; at < row_ptr[row + 1]; at++) sum = fmaf(values[at], x[col_idx[at]], sum);
    y[row] = sum;
}

template <typename T> static T *on_gpu(const T *from, uint64_t count) {
    T *to = NULL;
    cudaMalloc(&to, count * sizeof(T));
    cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}

extern "C" uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

extern "C" const char *sc_manifest(void) {
    return R"({ "protocol": 1, "name": "my-cuda", "supports": [ { "contracts": ["spmv.csr.f32_f32_f32_f32"], "arithmetic": "fma",
                "only": { "alpha": [1], "beta": [0], "transpose_a": false } } ] })";
}

extern "C" int32_t sc_run(const sc_task *task, sc_result *result) {
    const char *illegal = sc_illegal(task, result);
    if (illegal) return sc_refuse(result, illegal);
    const sc_sparse *a = task->a;
    uint32_t rows = (uint32_t)result->c->rows;
    uint32_t *row_ptr = on_gpu(sc_u32(a, "row_ptr"), sc_count(a, "row_ptr"));
    uint32_t *col_idx = on_gpu(sc_u32(a, "col_idx"), sc_count(a, "col_idx"));
    float *values = on_gpu(sc_f32(a, "values"), sc_count(a, "values"));
    float *x = on_gpu((const float *)task->b->data, task->b->count);
    float *y = on_gpu((const float *)result->c->data, result->c->count);
    if (rows) spmv<<<(rows + 127) / 128, 128>>>(rows, row_ptr, col_idx, values, x, y);
    cudaMemcpy(result->c->data, y, rows * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(row_ptr), cudaFree(col_idx), cudaFree(values), cudaFree(x), cudaFree(y);
    return cudaGetLastError() == cudaSuccess ? SC_OK : 1;
}
