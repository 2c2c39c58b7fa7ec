// ViennaCL 1.7.1: compressed_matrix::set asserts that there are rows, columns and entries ("number of nonzeros must be larger than zero").
//
//     c++ -O2 viennacl_empty.cpp -o viennacl_empty && ./viennacl_empty
#include <viennacl/compressed_matrix.hpp>

int main() {
    const unsigned rows[] = {0, 0, 0}, cols[] = {0};
    const double values[] = {0};
    viennacl::compressed_matrix<double> m(2, 2);
    m.set(rows, cols, values, 2, 2, 0);
}
