/* librsb 1.3.0.2 (Debian 12): rsb_mtx_get_csr of a matrix made from CSC makes a signalling NaN quiet; rsb_mtx_get_coo does not.
 *
 *     cc librsb_nan.c -o librsb_nan -lrsb && ./librsb_nan
 *
 * It copies such a matrix first, and multiplies the values by 1 on the way (rsb__do_copy_converted_scaled). Expected: the same bits everywhere. */
#include <inttypes.h>
#include <rsb.h>
#include <stdio.h>

static void show(const char *from, struct rsb_mtx_t *m) {
    uint64_t csr[1] = {0}, coo[1] = {0};
    int first[2], second[1];
    rsb_err_t error = rsb_mtx_get_csr(RSB_NUMERICAL_TYPE_DOUBLE, m, csr, first, second, RSB_FLAG_NOFLAGS);
    if (error == RSB_ERR_NO_ERROR) error = rsb_mtx_get_coo(m, coo, first, second, RSB_FLAG_NOFLAGS);
    printf("made from %s: get_csr %" PRIx64 ", get_coo %" PRIx64 ", error %d\n", from, csr[0], coo[0], error);
}

int main(void) {
    const uint64_t nan[1] = {0xfff0e656256c52d2};
    const int ptr[2] = {0, 1}, index[1] = {0};
    rsb_err_t error = RSB_ERR_NO_ERROR;
    if (rsb_lib_init(RSB_NULL_INIT_OPTIONS)) return 1;
    show("COO", rsb_mtx_alloc_from_coo_const(nan, index, index, 1, RSB_NUMERICAL_TYPE_DOUBLE, 1, 1, 0, 0, RSB_FLAG_NOFLAGS, &error));
    show("CSR", rsb_mtx_alloc_from_csr_const(nan, ptr, index, 1, RSB_NUMERICAL_TYPE_DOUBLE, 1, 1, 0, 0, RSB_FLAG_NOFLAGS, &error));
    show("CSC", rsb_mtx_alloc_from_csc_const(nan, index, ptr, 1, RSB_NUMERICAL_TYPE_DOUBLE, 1, 1, 0, 0, RSB_FLAG_NOFLAGS, &error));
    return 0;
}
