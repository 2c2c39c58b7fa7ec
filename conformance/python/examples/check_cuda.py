"""A CUDA kernel judged by `check`: compiled by PyTorch with nvcc, called on tensors where they lie."""

import sparse_conformance as sc
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void spmv_rows(int rows, const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int at = row_ptr[row]; at < row_ptr[row + 1]; ++at) sum = fmaf(values[at], x[col_idx[at]], sum);
  y[row] = sum;
}
void spmv(torch::Tensor row_ptr, torch::Tensor col_idx, torch::Tensor values, torch::Tensor x, torch::Tensor y) {
  int rows = y.numel();
  if (rows) spmv_rows<<<(rows + 127) / 128, 128>>>(rows, row_ptr.data_ptr<int>(), col_idx.data_ptr<int>(),
                                                   values.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>());
}
"""
declared = "void spmv(torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor);"
module = load_inline("own_spmv", declared, cuda_sources=source, functions=["spmv"])


def spmv(a, x, y):
    module.spmv(a.row_ptr, a.col_idx, a.values, x, y)


# It says how it adds, and is held to these bits.
print(sc.check(spmv, "spmv.csr.f32", arrays="torch", device="cuda", arithmetic="fma").summary)
