// SpMM of CSR on the general cores: C = alpha * A * B + beta * C, B and C row-major. An element of C is a fused chain in
// ascending column from +0; a row of more than `cut` entries is cut into pieces of `cut`, one chain each, whose sums a second
// pass adds in ascending order.
//
//   threads of a block        groups of `lanes` threads, a row or a piece of A each; a thread owns V neighbouring columns of C
//
//        lane 0   lane 1          entry (column, value): the same word for all lanes of a group, one broadcast
//   C[r] |--V--|--V--|--V--| ..   B[column][j..j+V]: 16 bytes a lane, whole rows of B for a group
//
// The gathers of DEPTH entries are in flight before the first is used; the entries after those are fetched meanwhile. The
// bits depend on nothing but A, B and the factors. `wide` kernels need V to divide n, ldb and ldc, and addresses aligned to V
// elements; the host gives the columns past the last multiple of V to `narrow` ones.

// One stored entry; the host interleaves columns and values so that one load brings both.
template <typename Bits> struct Entry { u32 col; Bits value; };
SIZE_OF(Entry<E4m3>, 8); SIZE_OF(Entry<F16>, 8); SIZE_OF(Entry<Tf32>, 8); SIZE_OF(Entry<double>, 16);
OFFSET_OF(Entry<E4m3>, value, 4); OFFSET_OF(Entry<F16>, value, 4); OFFSET_OF(Entry<Tf32>, value, 4);
OFFSET_OF(Entry<double>, value, 8);

template <typename T, int V> struct __align__(sizeof(T) * V) Pack { T at[V]; };

// Long rows: entries [begin, end) of each piece, whose sums go to row `piece` of the workspace. None where alpha = 0.
template <typename Acc> struct Pieces {
  const uint2* ends;
  Acc* workspace;
  u64 ldw;
  u32 count, cut;
};
SIZE_OF(Pieces<float>, 32); OFFSET_OF(Pieces<float>, ends, 0); OFFSET_OF(Pieces<float>, workspace, 8);
OFFSET_OF(Pieces<float>, ldw, 16); OFFSET_OF(Pieces<float>, count, 24); OFFSET_OF(Pieces<float>, cut, 28);

template <typename In, typename Acc, typename Out, int V, int DEPTH>
__device__ __forceinline__ void spmm(const u32* __restrict__ row_ptr, const Entry<In>* __restrict__ entries,
                                     const Pieces<Acc>& pieces, const In* __restrict__ b, u64 ldb, Out* __restrict__ c,
                                     u64 ldc, u32 rows, u32 n, u32 lanes, Acc alpha, Acc beta) {
  const u32 group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const u64 task = static_cast<u64>(blockIdx.x) * (blockDim.x / lanes) + group;
  const u64 first = (static_cast<u64>(blockIdx.y) * lanes + lane) * V;
  const bool piece = task < pieces.count;
  if (task >= static_cast<u64>(pieces.count) + rows || first >= n) return;  // V divides n: no group of columns is half outside
  const u32 row = static_cast<u32>(task - pieces.count);

  u32 at = 0, left = 0;
  if (alpha != Acc(0)) {
    const uint2 ends = piece ? pieces.ends[task] : make_uint2(row_ptr[row], row_ptr[row + 1]);
    at = ends.x;
    left = ends.y - ends.x;
    if (!piece && left > pieces.cut) return;
  }

  Acc acc[V];
#pragma unroll
  for (int v = 0; v < V; ++v) acc[v] = Acc(0);
  const In* const column = b + first;
  const Entry<In>* entry = entries + at;
  Entry<In> ahead[DEPTH];
#pragma unroll
  for (u32 d = 0; d < DEPTH; ++d)
    if (d < left) ahead[d] = entry[d];
  while (left > 0) {
    In values[DEPTH];
    Pack<In, V> gathered[DEPTH];
#pragma unroll
    for (u32 d = 0; d < DEPTH; ++d) {
      values[d] = ahead[d].value;
      if (d < left) gathered[d] = *reinterpret_cast<const Pack<In, V>*>(column + ahead[d].col * ldb);
    }
    entry += DEPTH;
#pragma unroll
    for (u32 d = 0; d < DEPTH; ++d)
      if (DEPTH + d < left) ahead[d] = entry[d];
#pragma unroll
    for (u32 d = 0; d < DEPTH; ++d)
      if (d < left) {
        const Acc value = enter(values[d]);
#pragma unroll
        for (int v = 0; v < V; ++v) acc[v] = fused(value, enter(gathered[d].at[v]), acc[v]);
      }
    left = left > DEPTH ? left - DEPTH : 0;
  }

  if (piece) {
    Pack<Acc, V> sums;
#pragma unroll
    for (int v = 0; v < V; ++v) sums.at[v] = acc[v];
    *reinterpret_cast<Pack<Acc, V>*>(pieces.workspace + task * pieces.ldw + first) = sums;
    return;
  }
  Out* const out = c + row * ldc + first;
  Pack<Out, V> result;
  if (beta != Acc(0)) result = *reinterpret_cast<const Pack<Out, V>*>(out);
#pragma unroll
  for (int v = 0; v < V; ++v) finish(acc[v], alpha, beta, &result.at[v]);
  *reinterpret_cast<Pack<Out, V>*>(out) = result;
}

// A row in pieces: its number, the first of them and how many.
struct CutRow { u32 row, first, count; };
SIZE_OF(CutRow, 12);

// The second pass: the sums of a row's pieces in ascending order, a thread a column.
template <typename Acc, typename Out>
__device__ __forceinline__ void add_pieces(const CutRow* rows, const Acc* workspace, u64 ldw, Out* c, u64 ldc, u32 n, Acc alpha,
                                           Acc beta) {
  constexpr u32 AHEAD = 16;
  const CutRow r = rows[blockIdx.x];
  const u32 column = blockIdx.y * blockDim.x + threadIdx.x;
  if (column >= n) return;
  const Acc* part = workspace + r.first * ldw + column;
  Acc sum = Acc(-0.0);  // adding to it changes nothing
  for (u32 i = 0; i < r.count; i += AHEAD, part += AHEAD * ldw) {
    Acc parts[AHEAD];
#pragma unroll
    for (u32 q = 0; q < AHEAD; ++q) parts[q] = q < r.count - i ? part[q * ldw] : Acc(-0.0);
#pragma unroll
    for (u32 q = 0; q < AHEAD; ++q) sum = plus(sum, parts[q]);
  }
  finish(sum, alpha, beta, c + r.row * ldc + column);
}

#define FINISH(NAME, ACC, OUT)                                                                                    \
  extern "C" __global__ void __launch_bounds__(128)                                                               \
      NAME(const CutRow* rows, const ACC* workspace, u64 ldw, OUT* c, u64 ldc, u32 n, ACC alpha, ACC beta) {      \
    add_pieces<ACC, OUT>(rows, workspace, ldw, c, ldc, n, alpha, beta);                                           \
  }

FINISH(csr_finish_f64, double, double)
FINISH(csr_finish_f32, float, float)
FINISH(csr_finish_f16, float, F16)
FINISH(csr_finish_bf16, float, Bf16)

#define KERNEL(NAME, IN, ACC, OUT, V, PER_SM)                                                                     \
  extern "C" __global__ void __launch_bounds__(128, PER_SM)                                                       \
      NAME(const u32* row_ptr, const Entry<IN>* entries, Pieces<ACC> pieces, const IN* b, u64 ldb, OUT* c,        \
           u64 ldc, u32 rows, u32 n, u32 lanes, ACC alpha, ACC beta) {                                            \
    spmm<IN, ACC, OUT, V, 4>(row_ptr, entries, pieces, b, ldb, c, ldc, rows, n, lanes, alpha, beta);          \
  }

KERNEL(csr_f64_wide, double, double, double, 2, 8)
KERNEL(csr_f64_narrow, double, double, double, 1, 8)
KERNEL(csr_f32_wide, float, float, float, 4, 10)
KERNEL(csr_f32_narrow, float, float, float, 1, 10)
KERNEL(csr_tf32_wide, Tf32, float, float, 4, 10)
KERNEL(csr_tf32_narrow, Tf32, float, float, 1, 10)
KERNEL(csr_f16_f32_wide, F16, float, float, 8, 9)
KERNEL(csr_f16_f32_narrow, F16, float, float, 1, 10)
KERNEL(csr_f16_f16_wide, F16, float, F16, 8, 9)
KERNEL(csr_f16_f16_narrow, F16, float, F16, 1, 10)
KERNEL(csr_bf16_f32_wide, Bf16, float, float, 8, 9)
KERNEL(csr_bf16_f32_narrow, Bf16, float, float, 1, 10)
KERNEL(csr_bf16_bf16_wide, Bf16, float, Bf16, 8, 9)
KERNEL(csr_bf16_bf16_narrow, Bf16, float, Bf16, 1, 10)
KERNEL(csr_e4m3_wide, E4m3, float, float, 4, 10)
KERNEL(csr_e4m3_narrow, E4m3, float, float, 1, 10)
KERNEL(csr_e5m2_wide, E5m2, float, float, 4, 10)
KERNEL(csr_e5m2_narrow, E5m2, float, float, 1, 10)
