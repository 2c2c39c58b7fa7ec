/* A conversion as a plug-in: CSR in, the arrays of CSC out, for every element type.
 *
 * Values are moved as bytes of their type and never looked at. The host allocates the result's arrays (sc_new); what rows and
 * columns it has is known. */
#include "sparse_conformance.h"
#include <stdlib.h>

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

const char *sc_manifest(void) {
    return "{ \"protocol\": 1, \"name\": \"c-convert\", \"version\": \"1.0\", \"description\": \"CSR to CSC in C\","
           "  \"determinism\": \"threads\", \"supports\": [ { \"contracts\": [\"convert.csr.csc.*\"] } ] }";
}

static uint64_t bytes_of(int32_t dtype) {
    return dtype == SC_F64 ? 8 : dtype == SC_F32 || dtype == SC_TF32 ? 4 : dtype == SC_F16 || dtype == SC_BF16 ? 2 : 1;
}

int32_t sc_run(const sc_task *task, sc_result *result) {
    const sc_sparse *a = task->a;
    const uint32_t *row_ptr = sc_u32(a, "row_ptr"), *col_idx = sc_u32(a, "col_idx");
    const uint64_t nnz = sc_count(a, "values"), size = bytes_of(a->dtype);
    const char *values = (const char *)sc_data(a, "values", a->dtype);
    uint32_t *col_ptr = sc_new_u32(result, "col_ptr", a->cols + 1);
    uint32_t *row_idx = sc_new_u32(result, "row_idx", nnz);
    char *moved = (char *)sc_new(result, "values", a->dtype, nnz);
    uint32_t *next = (uint32_t *)calloc(a->cols + 1, sizeof *next);
    if (!col_ptr || !row_idx || !moved || !next) {
        free(next);
        return sc_refuse(result, "no memory");
    }
    for (uint64_t e = 0; e < nnz; e++) next[col_idx[e] + 1]++;
    for (uint64_t j = 0; j < a->cols; j++) next[j + 1] += next[j];
    memcpy(col_ptr, next, (a->cols + 1) * sizeof *next);
    for (uint64_t i = 0; i < a->rows; i++)
        for (uint32_t e = row_ptr[i]; e < row_ptr[i + 1]; e++) {
            uint32_t to = next[col_idx[e]]++;
            row_idx[to] = (uint32_t)i;
            memcpy(moved + to * size, values + e * size, size);
        }
    free(next);
    return SC_OK;
}
