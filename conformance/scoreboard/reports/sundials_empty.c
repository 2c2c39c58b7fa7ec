/* SUNDIALS 6.4.1: SUNSparseMatrix returns NULL for a matrix without rows or columns: "return with NULL matrix if dimensions are not positive".
 *
 *     cc sundials_empty.c -o sundials_empty -lsundials_sunmatrixsparse -lsundials_generic && ./sundials_empty */
#include <stdio.h>
#include <sunmatrix/sunmatrix_sparse.h>

int main(void) {
    SUNContext context;
    SUNContext_Create(NULL, &context);
    printf("3 x 3: %d, 0 x 3: %d, 3 x 0: %d (1: a matrix)\n", SUNSparseMatrix(3, 3, 1, CSR_MAT, context) != NULL,
           SUNSparseMatrix(0, 3, 1, CSR_MAT, context) != NULL, SUNSparseMatrix(3, 0, 1, CSC_MAT, context) != NULL);
    return 0;
}
