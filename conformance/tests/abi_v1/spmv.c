/* A plug-in of the first days of version 1. It must load and answer as long as version 1 is spoken. */
#include "sparse_conformance.h"

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

const char *sc_manifest(void) { return "{\"built\": \"then\"}"; }

int32_t sc_run(const sc_task *task, sc_result *result) {
    const sc_sparse *a = task->a;
    const uint32_t *row_ptr = sc_u32(a, "row_ptr"), *col_idx = sc_u32(a, "col_idx");
    const float *values = sc_f32(a, "values"), *x = (const float *)task->b->data;
    float *y = (float *)result->c->data;
    if (task->op != SC_SPMV || !row_ptr || !col_idx || !values) return sc_refuse(result, "not an f32 CSR SpMV");
    for (uint64_t i = 0; i < a->rows; i++) {
        float sum = 0;
        for (uint32_t e = row_ptr[i]; e < row_ptr[i + 1]; e++) sum += values[e] * x[col_idx[e]];
        y[sc_at(result->c, i, 0)] = sum;
    }
    return SC_OK;
}
