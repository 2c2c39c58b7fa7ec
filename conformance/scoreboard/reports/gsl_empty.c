/* GSL 2.7.1: gsl_spmatrix_alloc_nzmax takes no matrix without rows or columns. Its error says so: "must be positive integer".
 *
 *     cc gsl_empty.c -o gsl_empty -lgsl -lgslcblas -lm && ./gsl_empty */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_spmatrix.h>
#include <stdio.h>

static void say(const char *reason, const char *file, int line, int code) {
    (void)file, (void)line;
    printf("%s (%d)\n", reason, code);
}

int main(void) {
    gsl_set_error_handler(say);
    printf("0 x 3: %p\n", (void *)gsl_spmatrix_alloc_nzmax(0, 3, 1, GSL_SPMATRIX_CSC));
    printf("3 x 0: %p\n", (void *)gsl_spmatrix_alloc_nzmax(3, 0, 1, GSL_SPMATRIX_CSR));
    return 0;
}
