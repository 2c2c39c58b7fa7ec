/* A kernel of one's own in C: y = alpha A x + beta y and C = alpha A B + beta C in f64, A in CSR. CMakeLists.txt judges it with CTest.
 *
 * With -DPLANTED_BUG a row of more than 64 entries loses its last one, as where a loop in steps forgets what is left over. */
#include "sparse_conformance.h"

static void spmm(const uint32_t *row_ptr, const uint32_t *col_idx, const double *values, const sc_task *task, const sc_dense *c) {
    const double *b = (const double *)task->b->data;
    for (uint64_t i = 0; i < c->rows; i++) {
        uint32_t start = row_ptr[i], end = row_ptr[i + 1];
#ifdef PLANTED_BUG
        if (end - start > 64) end--;
#endif
        if (task->alpha == 0) end = start; /* then A and B are not read */
        for (uint64_t j = 0; j < c->cols; j++) {
            double sum = 0, *to = (double *)c->data + sc_at(c, i, j);
            for (uint32_t e = start; e < end; e++) sum += values[e] * b[sc_at(task->b, col_idx[e], j)];
            *to = task->beta == 0 ? task->alpha * sum : task->alpha * sum + task->beta * *to; /* C is read if beta is not 0 */
        }
    }
}

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

/* "muladd": an element is one chain in ascending columns, product and sum rounded apart. It is judged bit for bit. */
const char *sc_manifest(void) {
    return "{ \"protocol\": 1, \"name\": \"my-kernel\", \"version\": \"1\", \"supports\": [ {"
           "    \"contracts\": [\"spmm.csr.f64_*\", \"spmv.csr.f64_*\"],"
           "    \"only\": { \"transpose_a\": false, \"transpose_b\": false }, \"arithmetic\": \"muladd\" } ] }";
}

int32_t sc_run(const sc_task *task, sc_result *result) {
    const char *illegal = sc_illegal(task, result);
    if (illegal) return sc_refuse(result, illegal);
    spmm(sc_u32(task->a, "row_ptr"), sc_u32(task->a, "col_idx"), sc_f64(task->a, "values"), task, result->c);
    return SC_OK;
}
