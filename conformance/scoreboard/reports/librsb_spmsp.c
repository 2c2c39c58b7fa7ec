/* librsb 1.3.0.2 (Debian 12): rsb_spmsp fails with its internal error where B is a dense column of 21 rows; 3 rows work.
 *
 *     cc librsb_spmsp.c -o librsb_spmsp -lrsb && OMP_NUM_THREADS=1 ./librsb_spmsp
 *
 * Expected: a matrix of one entry, 1 * 1 + ... = 21. Found: NULL, and RSB_ERR_INTERNAL_ERROR, "not apparently caused by a user's fault". */
#include <rsb.h>
#include <stdio.h>

int main(void) {
    double ones[21], one = 1;
    int row[] = {0, 21}, across[21], column[22], zeros[21] = {0};
    char words[200];
    rsb_err_t error = RSB_ERR_NO_ERROR;
    for (int i = 0; i < 21; i++) ones[i] = 1, across[i] = i, column[i] = i;
    column[21] = 21;
    if (rsb_lib_init(RSB_NULL_INIT_OPTIONS)) return 1;
    for (int k = 3; k <= 21; k += 18) {
        row[1] = k;
        struct rsb_mtx_t *a = rsb_mtx_alloc_from_csr_const(ones, row, across, k, RSB_NUMERICAL_TYPE_DOUBLE, 1, k, 0, 0, RSB_FLAG_NOFLAGS, &error);
        struct rsb_mtx_t *b = rsb_mtx_alloc_from_csr_const(ones, column, zeros, k, RSB_NUMERICAL_TYPE_DOUBLE, k, 1, 0, 0, RSB_FLAG_NOFLAGS, &error);
        struct rsb_mtx_t *c = rsb_spmsp(RSB_NUMERICAL_TYPE_DOUBLE, RSB_TRANSPOSITION_N, &one, a, RSB_TRANSPOSITION_N, &one, b, &error);
        rsb_strerror_r(error, words, sizeof words);
        printf("1 x %d times %d x 1: %s, error %d, %s\n", k, k, c ? "a matrix" : "NULL", error, words);
    }
    return 0;
}
