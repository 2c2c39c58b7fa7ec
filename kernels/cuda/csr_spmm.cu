// SpMM of CSR on the general cores: C = alpha * A * B + beta * C, B and C row-major, one fused chain in ascending column
// for each element of C, started at +0.
//
//   threads of a block        groups of `lanes` threads, one row of A each; a thread owns V neighbouring columns of C
//
//        lane 0   lane 1          entry (column, value): the same word for all lanes of a group, one broadcast
//   C[r] |--V--|--V--|--V--| ..   B[column][j..j+V]: 16 bytes a lane, whole rows of B for a group
//
// The gathers of DEPTH entries are in flight before the first is used; the entries after those are fetched meanwhile. No
// thread splits a chain, so the bits depend on nothing but A, B and the factors. `wide` kernels need V to divide n, ldb and
// ldc, and addresses aligned to V elements; the host gives the columns past the last multiple of V to `narrow` ones.

// One stored entry; the host interleaves columns and values so that one load brings both.
template <typename Bits> struct Entry { u32 col; Bits value; };

template <typename T, int V> struct __align__(sizeof(T) * V) Pack { T at[V]; };

template <typename In, typename Acc, typename Out, int V>
__device__ __forceinline__ void spmm(const u32* __restrict__ row_ptr, const Entry<In>* __restrict__ entries,
                                     const In* __restrict__ b, u64 ldb, Out* __restrict__ c, u64 ldc, u32 rows, u32 n,
                                     u32 lanes, Acc alpha, Acc beta) {
  constexpr int DEPTH = 4;
  const u32 group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const u32 row = blockIdx.x * (blockDim.x / lanes) + group;
  const u64 first = (static_cast<u64>(blockIdx.y) * lanes + lane) * V;
  if (row >= rows || first >= n) return;  // V divides n: no group of columns is half outside

  Acc acc[V];
#pragma unroll
  for (int v = 0; v < V; ++v) acc[v] = Acc(0);

  u32 at = 0, end = 0;
  if (alpha != Acc(0)) {
    at = row_ptr[row];
    end = row_ptr[row + 1];
  }
  const In* const column = b + first;
  Entry<In> ahead[DEPTH];
#pragma unroll
  for (int d = 0; d < DEPTH; ++d)
    if (at + d < end) ahead[d] = entries[at + d];
  for (; at < end; at += DEPTH) {
    Entry<In> now[DEPTH];
    Pack<In, V> gathered[DEPTH];
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      now[d] = ahead[d];
      if (at + d < end) gathered[d] = *reinterpret_cast<const Pack<In, V>*>(column + now[d].col * ldb);
    }
#pragma unroll
    for (int d = 0; d < DEPTH; ++d)
      if (at + DEPTH + d < end) ahead[d] = entries[at + DEPTH + d];
#pragma unroll
    for (int d = 0; d < DEPTH; ++d)
      if (at + d < end) {
        const Acc value = enter(now[d].value);
#pragma unroll
        for (int v = 0; v < V; ++v)
          acc[v] = fused(value, enter(gathered[d].at[v]), acc[v]);
      }
  }

  Out* const out = c + row * ldc + first;
  Pack<Out, V> result;
  if (beta != Acc(0)) result = *reinterpret_cast<const Pack<Out, V>*>(out);
#pragma unroll
  for (int v = 0; v < V; ++v) finish(acc[v], alpha, beta, &result.at[v]);
  *reinterpret_cast<Pack<Out, V>*>(out) = result;
}

#define KERNEL(NAME, IN, ACC, OUT, V)                                                                             \
  extern "C" __global__ void __launch_bounds__(128)                                                               \
      NAME(const u32* row_ptr, const Entry<IN>* entries, const IN* b, u64 ldb, OUT* c, u64 ldc, u32 rows, u32 n,  \
           u32 lanes, ACC alpha, ACC beta) {                                                                      \
    spmm<IN, ACC, OUT, V>(row_ptr, entries, b, ldb, c, ldc, rows, n, lanes, alpha, beta);                         \
  }

KERNEL(csr_f64_wide, double, double, double, 2)
KERNEL(csr_f64_narrow, double, double, double, 1)
KERNEL(csr_f32_wide, float, float, float, 4)
KERNEL(csr_f32_narrow, float, float, float, 1)
KERNEL(csr_tf32_wide, Tf32, float, float, 4)
KERNEL(csr_tf32_narrow, Tf32, float, float, 1)
KERNEL(csr_f16_f32_wide, F16, float, float, 4)
KERNEL(csr_f16_f32_narrow, F16, float, float, 1)
KERNEL(csr_f16_f16_wide, F16, float, F16, 4)
KERNEL(csr_f16_f16_narrow, F16, float, F16, 1)
KERNEL(csr_bf16_f32_wide, Bf16, float, float, 4)
KERNEL(csr_bf16_f32_narrow, Bf16, float, float, 1)
KERNEL(csr_bf16_bf16_wide, Bf16, float, Bf16, 4)
KERNEL(csr_bf16_bf16_narrow, Bf16, float, Bf16, 1)
KERNEL(csr_e4m3_wide, E4m3, float, float, 4)
KERNEL(csr_e4m3_narrow, E4m3, float, float, 1)
KERNEL(csr_e5m2_wide, E5m2, float, float, 4)
KERNEL(csr_e5m2_narrow, E5m2, float, float, 1)
