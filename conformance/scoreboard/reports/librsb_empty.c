/* librsb 1.3.0.2 (Debian 12): where A has no columns, rsb_spmv leaves y as it is: not beta * y. rsb_spmm refuses nrhs = 0.
 *
 *     cc librsb_empty.c -o librsb_empty -lrsb && ./librsb_empty */
#include <rsb.h>
#include <stdio.h>

int main(void) {
    double none[1] = {0}, one = 1, two = 2, y[2] = {3, 4};
    int ptr[3] = {0, 0, 0}, index[1] = {0}, full[3] = {0, 1, 2}, at[2] = {0, 1};
    double values[2] = {1, 1};
    rsb_err_t error = RSB_ERR_NO_ERROR;
    if (rsb_lib_init(RSB_NULL_INIT_OPTIONS)) return 1;
    struct rsb_mtx_t *a = rsb_mtx_alloc_from_csr_const(none, ptr, index, 0, RSB_NUMERICAL_TYPE_DOUBLE, 2, 0, 0, 0, RSB_FLAG_NOFLAGS, &error);
    error = rsb_spmv(RSB_TRANSPOSITION_N, &one, a, none, 1, &two, y, 1);
    printf("2 * y = {6, 8}; found {%g, %g}, error %d\n", y[0], y[1], error);
    a = rsb_mtx_alloc_from_csr_const(values, full, at, 2, RSB_NUMERICAL_TYPE_DOUBLE, 2, 2, 0, 0, RSB_FLAG_NOFLAGS, &error);
    printf("nrhs = 0: error %d\n", rsb_spmm(RSB_TRANSPOSITION_N, &one, a, 0, RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, values, 2, &two, y, 2));
    return 0;
}
