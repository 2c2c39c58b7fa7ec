// Boost uBLAS 1.74: with a dense matrix, axpy_prod visits all positions of a sparse A, so that an absent one times Inf is NaN.
//
//     c++ -O2 -DNDEBUG ublas_axpy_prod.cpp -o ublas_axpy_prod && ./ublas_axpy_prod
//
// The unit matrix times (Inf, 3): (Inf, 3) with a vector, (Inf, NaN) with a matrix of one column.
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/matrix_sparse.hpp>
#include <boost/numeric/ublas/operation.hpp>
#include <boost/numeric/ublas/vector.hpp>
#include <cstdio>
#include <limits>

int main() {
    namespace ub = boost::numeric::ublas;
    ub::compressed_matrix<double> unit(2, 2);
    unit.push_back(0, 0, 1), unit.push_back(1, 1, 1);
    ub::matrix<double> x(2, 1), y(2, 1);
    ub::vector<double> v(2), w(2);
    x(0, 0) = v(0) = std::numeric_limits<double>::infinity(), x(1, 0) = v(1) = 3;
    ub::axpy_prod(unit, x, y, true);
    ub::axpy_prod(unit, v, w, true);
    std::printf("vector: %g %g; matrix: %g %g\n", w(0), w(1), y(0, 0), y(1, 0));
}
