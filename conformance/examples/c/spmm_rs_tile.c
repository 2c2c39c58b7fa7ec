/* A contract on a format of a paper: RS-Tile arrays in (RSH-SpMM, 8 x 8 bitmap blocks and short rows apart), C out, in f32.
 * The arrays and their names are those at the top of oracle/types/src/format/rs_tile.rs.
 *
 * A row's terms come in ascending columns: blocks of a window are in ascending columns, and so are the bits of a row of a
 * block; rows of the residual part are in no window. So the chain is that of CSR, and is declared and checked as such; "no-pads"
 * says that positions without a bit are skipped, and not multiplied as zeros (which shows where B is infinite). */
#include "sparse_conformance.h"
#include <stdlib.h>

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

const char *sc_manifest(void) {
    return "{ \"protocol\": 1, \"name\": \"c-rs-tile\", \"version\": \"1.0\", \"description\": \"RS-Tile bitmaps in C\","
           "  \"determinism\": \"threads\", \"supports\": [ {"
           "    \"contracts\": [\"spmm.rs_tile.f32_*\"], \"only\": { \"transpose_a\": false }, \"arithmetic\": \"muladd,no-pads\" } ] }";
}

/* sums[i, :] += value * B[k, :] */
static void add(const sc_task *task, uint64_t n, float *sums, uint64_t i, uint64_t k, float value) {
    const float *b = (const float *)task->b->data;
    for (uint64_t j = 0; j < n; j++)
        sums[i * n + j] += value * b[task->transpose_b ? sc_at(task->b, j, k) : sc_at(task->b, k, j)];
}

static void multiply(const sc_task *task, uint64_t n, float *sums) {
    const sc_sparse *a = task->a;
    const uint32_t *window_row = sc_u32(a, "window_row"), *blocks = sc_u32(a, "window_block_ptr");
    const uint32_t *first = sc_u32(a, "block_value_ptr"), *block_col = sc_u32(a, "block_col");
    const uint64_t *bitmap = sc_u64(a, "bitmap");
    const float *values = sc_f32(a, "values");
    for (uint64_t w = 0; w < sc_count(a, "window_row"); w++)
        for (uint32_t block = blocks[w]; block < blocks[w + 1]; block++)
            for (uint32_t bit = 0, at = first[block]; bit < 64; bit++)
                if (bitmap[block] >> bit & 1)
                    add(task, n, sums, window_row[w] + bit / 8, block_col[8 * block + bit % 8], values[at++]);
    const uint32_t *row = sc_u32(a, "residual_row"), *col = sc_u32(a, "residual_col");
    const float *residual = sc_f32(a, "residual_values");
    const uint64_t width = sc_extent(a, "residual_width");
    for (uint64_t r = 0; r < sc_count(a, "residual_row"); r++)
        for (uint64_t s = r * width; s < (r + 1) * width && col[s] != UINT32_MAX; s++)
            add(task, n, sums, row[r], col[s], residual[s]);
}

int32_t sc_run(const sc_task *task, sc_result *result) {
    const char *illegal = sc_illegal(task, result);
    if (illegal) return sc_refuse(result, illegal);
    const sc_dense *c = result->c;
    const float alpha = (float)task->alpha, beta = (float)task->beta;
    float *sums = (float *)calloc(c->rows * c->cols + 1, sizeof *sums);
    if (!sums) return sc_refuse(result, "no memory");
    if (alpha != 0) multiply(task, c->cols, sums);
    for (uint64_t i = 0; i < c->rows; i++)
        for (uint64_t j = 0; j < c->cols; j++) {
            float *to = (float *)c->data + sc_at(c, i, j), scaled = alpha * sums[i * c->cols + j];
            *to = beta == 0 ? scaled : scaled + beta * *to;
        }
    free(sums);
    return SC_OK;
}
