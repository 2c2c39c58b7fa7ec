// Boost uBLAS 1.74: sparse_prod of a 3 x 2 and a 2 x 0 matrix ends with SIGSEGV where NDEBUG is set.
//
//     c++ -O2 -DNDEBUG ublas_sparse_prod.cpp -o ublas_sparse_prod && ./ublas_sparse_prod
//
// Expected: an empty 3 x 0 matrix, and the words below.
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/matrix_sparse.hpp>
#include <boost/numeric/ublas/operation.hpp>
#include <boost/numeric/ublas/operation_sparse.hpp>
#include <cstdio>

int main() {
    boost::numeric::ublas::compressed_matrix<double> a(3, 2), b(2, 0), c(3, 0);
    boost::numeric::ublas::sparse_prod(a, b, c);
    std::puts("3 x 0, no entries");
}
