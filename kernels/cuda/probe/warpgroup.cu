// One wgmma a warpgroup (block of 128 threads): A, C and D in registers, B in shared memory. Nothing here computes.
//
// Prepended by kernels/src/cuda/probe/source.rs: NAME, A_WORDS, C_WORDS (32-bit words a thread), B_WORDS (words a group),
// ACC (type of one accumulator register), and EXECUTE, the inline assembly over a[], c[], e and desc.
//
//   B is K-major without swizzle: byte (kb / 16) * 128 + n * 16 + kb % 16 of the tile, kb = byte of element k in column n.
//   Descriptor (PTX ISA 9.1, 9.7.15.5.1.2): address >> 4, leading and stride byte offsets >> 4, no swizzle. The tile is one
//   core matrix wide (n = 8), so only the step along k, 128 bytes, is used; both offsets hold it.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ void set(u32 &x, u32 w) { x = w; }
__device__ void set(float &x, u32 w) { x = __uint_as_float(w); }
__device__ u32 word(u32 x) { return x; }
__device__ u32 word(float x) { return __float_as_uint(x); }

extern "C" __global__ void __launch_bounds__(128)
    NAME(const u32 *ga, const u32 *gb, const u32 *gc, const u32 *ge, u32 *gd, u32 groups) {
    __shared__ __align__(1024) u32 tile[B_WORDS];
    const size_t group = blockIdx.x;
    const u32 thread = threadIdx.x;
    if (group >= groups) return;
    for (u32 i = thread; i < B_WORDS; i += 128) tile[i] = gb[group * B_WORDS + i];
    u32 a[A_WORDS];
    ACC c[C_WORDS];
#pragma unroll
    for (int i = 0; i < A_WORDS; i++) a[i] = ga[(group * A_WORDS + i) * 128 + thread];
#pragma unroll
    for (int i = 0; i < C_WORDS; i++) set(c[i], gc[(group * C_WORDS + i) * 128 + thread]);
    const u32 e = ge[group * 128 + thread];
    (void)e;
    // Ordinary stores become visible to the tensor core: fence in each writer, then the barrier.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const u64 address = (u64)__cvta_generic_to_shared(tile);
    const u64 desc = ((address & 0x3ffff) >> 4) | ((u64)(128 >> 4) << 16) | ((u64)(128 >> 4) << 32);
    // Fence, wgmma, commit and wait are one statement: nothing touches the registers between them.
    EXECUTE;
#pragma unroll
    for (int i = 0; i < C_WORDS; i++) gd[(group * C_WORDS + i) * 128 + thread] = word(c[i]);
}
