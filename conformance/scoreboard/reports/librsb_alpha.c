/* librsb 1.3.0.2 (Debian 12): which operand rsb_spmm multiplies by alpha first. Each line asks for 1e10 * a * x = 1e15, which is no large number.
 *
 *     cc librsb_alpha.c -o librsb_alpha -lrsb && OMP_NUM_THREADS=1 ./librsb_alpha
 *
 * A is a row of 8 equal entries, B has 2 columns. Inf where x = 1e305 says that x was multiplied first. That is so for the transpose of A
 * with operands by rows, and not by columns. */
#include <rsb.h>
#include <stdio.h>

int main(void) {
    const double alpha = 1e10, zero = 0;
    double a[8], x[16], y[16];
    int row[8] = {0}, col[8];
    rsb_err_t error = RSB_ERR_NO_ERROR;
    for (int i = 0; i < 8; i++) a[i] = 1e-300, col[i] = i;
    for (int i = 0; i < 16; i++) x[i] = 1e305, y[i] = 0;
    if (rsb_lib_init(RSB_NULL_INIT_OPTIONS)) return 1;
    struct rsb_mtx_t *m = rsb_mtx_alloc_from_coo_const(a, row, col, 8, RSB_NUMERICAL_TYPE_DOUBLE, 1, 8, 0, 0, RSB_FLAG_NOFLAGS, &error);
    error = rsb_spmm(RSB_TRANSPOSITION_T, &alpha, m, 2, RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, x, 1, &zero, y, 8);
    printf("by columns: %g, error %d\n", y[0], error);
    error = rsb_spmm(RSB_TRANSPOSITION_T, &alpha, m, 2, RSB_FLAG_WANT_ROW_MAJOR_ORDER, x, 2, &zero, y, 2);
    printf("by rows: %g, error %d\n", y[0], error);
    return 0;
}
