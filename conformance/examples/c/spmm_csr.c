/* A plug-in in C: SpMM and SpMV with a CSR matrix, in f32 and f64.
 *
 *     cc -O2 -ffp-contract=off -shared -fPIC -I conformance/include conformance/examples/c/spmm_csr.c -o spmm_csr.so
 *     conformance run --plugin ./spmm_csr.so
 *
 * "muladd" declares what the loop does: a chain in ascending columns, product and sum rounded apart, then
 * alpha * sum + beta * c. It is checked bit for bit, so the compiler must not contract a * b + c (-ffp-contract=off). */
#include "sparse_conformance.h"

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

const char *sc_manifest(void) {
    return "{ \"protocol\": 1, \"name\": \"c-spmm\", \"version\": \"1.0\", \"description\": \"a loop in C\","
           "  \"determinism\": \"threads\", \"supports\": [ {"
           "    \"contracts\": [\"spmm.csr.f32_*\", \"spmm.csr.f64_*\", \"spmv.csr.f32_*\", \"spmv.csr.f64_*\"],"
           "    \"only\": { \"transpose_a\": false }, \"arithmetic\": \"muladd\" } ] }";
}

#define SPMM(T, get)                                                                                      \
    static void spmm_##T(const sc_task *task, const sc_dense *c) {                                        \
        const uint32_t *row_ptr = sc_u32(task->a, "row_ptr"), *col_idx = sc_u32(task->a, "col_idx");      \
        const T *values = get(task->a, "values"), *b = (const T *)task->b->data;                          \
        const T alpha = (T)task->alpha, beta = (T)task->beta;                                             \
        for (uint64_t i = 0; i < c->rows; i++)                                                            \
            for (uint64_t j = 0; j < c->cols; j++) {                                                      \
                T sum = 0, *to = (T *)c->data + sc_at(c, i, j);                                           \
                for (uint32_t e = row_ptr[i]; alpha != 0 && e < row_ptr[i + 1]; e++) {                    \
                    uint64_t k = col_idx[e];                                                              \
                    sum += values[e] * b[task->transpose_b ? sc_at(task->b, j, k) : sc_at(task->b, k, j)]; \
                }                                                                                         \
                *to = beta == 0 ? alpha * sum : alpha * sum + beta * *to;                                 \
            }                                                                                             \
    }
SPMM(float, sc_f32)
SPMM(double, sc_f64)

int32_t sc_run(const sc_task *task, sc_result *result) {
    const char *illegal = sc_illegal(task, result);
    if (illegal) return sc_refuse(result, illegal);
    (task->a->dtype == SC_F32 ? spmm_float : spmm_double)(task, result->c);
    return SC_OK;
}
