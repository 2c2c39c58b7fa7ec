// One mma.sync a warp: registers in, the instruction, registers out. Nothing here computes.
//
// Prepended by kernels/src/cuda/probe/source.rs: NAME, A_WORDS, B_WORDS, C_WORDS (32-bit words a lane), ACC (type of one
// accumulator register), IN (type of one operand register), and EXECUTE, the inline assembly over a[], b[], c[] and e.
//
//   word [(warp * WORDS + i) * 32 + lane]  <->  word i of that lane's registers; an f64 is two words, low first

typedef unsigned int u32;

template <typename To> __device__ To word_pair(const u32 *w);
template <> __device__ u32 word_pair<u32>(const u32 *w) { return w[0]; }
template <> __device__ float word_pair<float>(const u32 *w) { return __uint_as_float(w[0]); }
template <> __device__ double word_pair<double>(const u32 *w) { return __hiloint2double((int)w[1], (int)w[0]); }

__device__ void to_words(u32 x, u32 *w) { w[0] = x; }
__device__ void to_words(float x, u32 *w) { w[0] = __float_as_uint(x); }
__device__ void to_words(double x, u32 *w) {
    w[0] = (u32)__double2loint(x);
    w[1] = (u32)__double2hiint(x);
}

template <typename To, int WORDS> __device__ void load(To *out, const u32 *in, size_t warp, u32 lane) {
    const int each = sizeof(To) / 4;
    u32 w[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++) w[i] = in[(warp * WORDS + i) * 32 + lane];
#pragma unroll
    for (int i = 0; i < WORDS / each; i++) out[i] = word_pair<To>(w + i * each);
}

extern "C" __global__ void NAME(const u32 *ga, const u32 *gb, const u32 *gc, const u32 *ge, u32 *gd, u32 warps) {
    const size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const u32 lane = threadIdx.x % 32;
    if (warp >= warps) return;
    IN a[A_WORDS], b[B_WORDS];
    ACC c[C_WORDS];
    load<IN, A_WORDS>(a, ga, warp, lane);
    load<IN, B_WORDS>(b, gb, warp, lane);
    load<ACC, C_WORDS>(c, gc, warp, lane);
    const u32 e = ge[warp * 32 + lane];
    (void)e;
    EXECUTE;
    const int each = sizeof(ACC) / 4;
    u32 w[C_WORDS];
#pragma unroll
    for (int i = 0; i < C_WORDS / each; i++) to_words(c[i], w + i * each);
#pragma unroll
    for (int i = 0; i < C_WORDS; i++) gd[(warp * C_WORDS + i) * 32 + lane] = w[i];
}
