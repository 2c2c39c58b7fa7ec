// Sputnik alone: what lies in row 0 of B reaches rows of A that have no element in column 0, and no dimension may be zero.
//
//   nvcc -std=c++17 -arch=native -I S -x cu sputnik_edges.cu S/sputnik/spmm/cuda_spmm.cu.cc -o sputnik_edges && ./sputnik_edges
//
// where S is third_party/sputnik of the source package xformers 0.0.22.
#include "sputnik/spmm/cuda_spmm.h"
#include <cmath>
#include <cstdio>
#include <vector>

template <class T> T *device(const std::vector<T> &from) {
    void *at = nullptr;
    cudaMalloc(&at, from.size() * sizeof(T) + 16);
    cudaMemcpy(at, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return static_cast<T *>(at);
}

// One row times B: an element of 1 in column 1, where B is 1.
void product(int m, int n, float first) {
    std::vector<float> b(2 * n, 1.0f), c(n);
    for (int j = 0; j < n; j++) b[j] = first;
    float *out = device(c);
    const cudaError_t status = sputnik::CudaSpmm(m, 2, n, 1, device<int>({0}), device<float>({1.0f}), device<int>({0, 1}), device<int>({1}), device(b), out, nullptr);
    cudaDeviceSynchronize();
    cudaMemcpy(c.data(), out, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    printf("m = %d, n = %d, row 0 of B is %g: %s", m, n, first, cudaGetErrorString(status));
    if (m > 0 && n > 0) printf(", c[0] = %g (1 is right)", c[0]);
    printf("\n");
}

int main() {
    for (float first : {2.0f, INFINITY, NAN}) product(1, 8, first);
    for (float first : {2.0f, INFINITY, NAN}) product(1, 7, first);
    product(0, 8, 2.0f);
    product(1, 0, 2.0f);
}
