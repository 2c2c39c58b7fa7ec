/* SuperLU 5.3.0 (Debian 12): sp_dgemv skips zeros of x, so that Inf * 0 is 0, and returns at once, without beta * y, where A is empty.
 *
 *     cc superlu_gemv.c -o superlu_gemv -lsuperlu && ./superlu_gemv
 *
 * The reference BLAS does both (dgemv.f: "IF (X(JX).NE.ZERO)" in versions before 3.6; "Quick return if possible"). */
#include <stdio.h>
#include <superlu/slu_ddefs.h>

int main(void) {
    double value[1] = {1.0 / 0.0}, x[1] = {0}, y[1] = {3};
    int row[1] = {0}, ptr[2] = {0, 1};
    NCformat columns = {1, value, row, ptr};
    SuperMatrix a = {SLU_NC, SLU_D, SLU_GE, 1, 1, &columns};
    sp_dgemv("N", 1.0, &a, x, 1, 0.0, y, 1);
    printf("Inf * 0 is NaN; found %g\n", y[0]);
    ptr[1] = 0, columns.nnz = 0, a.ncol = 0, y[0] = 3;
    sp_dgemv("N", 1.0, &a, x, 1, 2.0, y, 1);
    printf("2 * y = 6; found %g\n", y[0]);
    return 0;
}
