// N:M times dense in f32 on the general cores, in tiles: C (cols of W x n) = W^T * B, W vector-wise N:M, B row-major.
//
//   NM-SpMM calls W its weights (k x n'), B the transpose of its activations (k x m'), C the transpose of its result.
//
//   one block: TN columns of W x TM columns of B          one warp: 32 columns of W x TM columns of B
//
//     slice s of B in shared memory        slice of W            lanes of a warp: 8 groups of rows x 4 columns of 8
//     rows x TM                            ws x TN                  0 1   2 3   4 5  ..  14 15     columns 0..7, 8..15
//     -------- d[0] ---->  a[0..TY]   *    w[0] [8]                16 17 18 19  ..        30 31    columns 16..23, 24..31
//     -------- d[1] ---->  a[0..TY]   *    w[1] [8]
//
// Row u of a slice of W meets row d[u] of the slice of B; d is premultiplied to bytes, and belongs to a group of L columns,
// so a lane, whose 8 columns lie in one group (L is a multiple of 8), has one d per u. Lanes 2i and 2i + 1 share their rows of
// B, lanes i and i + 2 their columns of W: every 16-byte load of shared memory takes two passes (NM-SpMM, listing 2).
//
//   V1  blocking: load a slice, wait, multiply          STAGES 1, all rows of the slice
//   V2  packing: only the rows that the block names     STAGES 1, rows listed per (block, slice)
//   V3  pipelines: slices ahead by cp.async             STAGES 3, either
//
// Every element of C takes its terms in ascending u, one fused step each, from +0. What pads the arrays (u past the end, rows
// past k) meets a row of -0: 0 * -0 added changes no accumulator, not even a -0.

struct Tile {
    const float *b;      // k x n, row-major, ldb; 16-byte aligned rows
    const float *w;      // slices * ws x ldw
    const u32 *d;        // [block][slice][group][ws]: byte offset of the row in the slice of shared memory
    const int *rows;     // packed: [block][slice][cap] rows of B; else null
    const int *counts;   // packed: [block][slice] rows of B listed
    float *c;            // element (column of W j, column of B i) at j * ldc + i
    u64 ldb, ldc;
    int ldw;
    int k, n, cols;      // rows of B, columns of B, columns of W
    int ks, cap;         // rows of B per slice, and what shared memory holds of them
    int ws, slices;      // rows of W per slice (a multiple of 4), slices
    int len, groups;     // L, groups of one block
    float alpha, beta;   // alpha is not 0
};

__device__ __forceinline__ void copy16(u32 to, const float *from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(bytes));
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n"); }

template <int PENDING> __device__ __forceinline__ void wait_all_but() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory");
}

template <int TY, int WARPS, int STAGES, bool PACKED> struct Block {
    static constexpr int TM = 8 * TY, TN = 32 * WARPS, THREADS = 32 * WARPS;
    static constexpr int PER_ROW = TM / 4;           // lanes that copy one row of B, 16 bytes each
    static constexpr int AT_ONCE = 32 / PER_ROW;     // rows of B that a warp copies at once

    const Tile &t;
    char *shared;
    u32 shared_at;
    int warp, lane, i0, j0, block;
    int a_bytes, w_bytes, stage_bytes;

    // Where a stage holds B (cap rows and the one of -0), W and d.
    __device__ __forceinline__ Block(const Tile &t, char *shared) : t(t), shared(shared) {
        shared_at = (u32)__cvta_generic_to_shared(shared);
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        a_bytes = (t.cap + 1) * TM * 4;
        w_bytes = t.ws * TN * 4;
        stage_bytes = a_bytes + w_bytes + t.groups * t.ws * 4;
        // Blocks in groups of 16 rows of blocks, so that those at work share slices of B and of W in the L2 cache.
        const int high = (t.n + TM - 1) / TM, wide = (t.cols + TN - 1) / TN;
        const int full = 16 * wide, first = blockIdx.x / full * 16, height = min(16, high - first);
        i0 = (first + blockIdx.x % full % height) * TM;
        block = blockIdx.x % full / height;
        j0 = block * TN;
    }

    __device__ __forceinline__ void fill_minus_zero() {
        for (int s = 0; s < STAGES; s++) {
            float *row = (float *)(shared + s * stage_bytes + t.cap * TM * 4);
            for (int i = threadIdx.x; i < TM; i += THREADS) row[i] = -0.0f;
        }
    }

    // The rows that this warp copies of a slice: lane p holds number p of them, -1 where there are fewer.
    __device__ __forceinline__ int listed(int s) const {
        if (!PACKED || s >= t.slices) return -1;
        const int r = (lane / AT_ONCE * WARPS + warp) * AT_ONCE + lane % AT_ONCE;
        const int at = block * t.slices + s;
        return r < t.counts[at] ? t.rows[(size_t)at * t.cap + r] : -1;
    }

    __device__ __forceinline__ void copy_slice(int s, int stage, int list) const {
        const u32 base = shared_at + stage * stage_bytes;
        const int column = lane % PER_ROW * 4, sub = lane / PER_ROW;
        const int bytes = max(0, min(16, (t.n - i0 - column) * 4));
        const float *from = t.b + (bytes > 0 ? i0 + column : 0);
        const int here = PACKED ? t.cap : min(t.ks, t.k - s * t.ks);
        int slot = 0;
        for (int first = warp * AT_ONCE; first < here; first += WARPS * AT_ONCE, slot += AT_ONCE) {
            const int r = first + sub;
            int row = s * t.ks + r;
            if (PACKED) {
                row = __shfl_sync(~0u, list, slot + sub);
            } else if (r >= here) {
                row = -1;
            }
            if (row >= 0) copy16(base + (r * TM + column) * 4, from + row * t.ldb, bytes);
        }
        const int across = TN / 4;
        for (int at = threadIdx.x; at < t.ws * across; at += THREADS) {
            const int u = at / across, j = at % across * 4;
            copy16(base + a_bytes + at * 16, t.w + (size_t)(s * t.ws + u) * t.ldw + j0 + j, 16);
        }
        const u32 *d = t.d + (size_t)(block * t.slices + s) * t.groups * t.ws;
        for (int at = threadIdx.x; at < t.groups * t.ws / 4; at += THREADS) {
            copy16(base + a_bytes + w_bytes + at * 16, (const float *)(d + at * 4), 16);
        }
    }

    __device__ __forceinline__ void multiply(int stage, float (&acc)[TY][8]) const {
        const char *base = shared + stage * stage_bytes;
        const int column = warp * 32 + (lane / 16 * 2 + lane % 2) * 8;
        const int group = (j0 + column) / t.len - j0 / t.len;
        const char *a = base + lane % 16 / 2 * 16;
        const char *w = base + a_bytes + column * 4;
        const uint4 *d = (const uint4 *)(base + a_bytes + w_bytes + group * t.ws * 4);
        float fa[2][TY], fw[2][8];
        uint4 at = d[0];
        load(fa[0], fw[0], a + at.x, w);
        const int quads = t.ws / 4;
#pragma unroll 1
        for (int q = 0; q < quads; q++) {
            // Past the end: the first ones again, unused.
            const int next = q + 1 < quads ? q + 1 : 0;
            const uint4 then = d[next];
            const char *wq = w + q * 4 * TN * 4;
            load(fa[1], fw[1], a + at.y, wq + TN * 4);
            step(acc, fa[0], fw[0]);
            load(fa[0], fw[0], a + at.z, wq + 2 * TN * 4);
            step(acc, fa[1], fw[1]);
            load(fa[1], fw[1], a + at.w, wq + 3 * TN * 4);
            step(acc, fa[0], fw[0]);
            load(fa[0], fw[0], a + then.x, w + next * 4 * TN * 4);
            step(acc, fa[1], fw[1]);
            at = then;
        }
    }

    // Rows 4 * group + 32 * q + 0..4 of the tile, and 8 columns.
    __device__ __forceinline__ static void load(float (&a)[TY], float (&w)[8], const char *from, const char *values) {
#pragma unroll
        for (int q = 0; q < TY / 4; q++) {
            const float4 v = *(const float4 *)(from + q * 128);
            a[4 * q] = v.x, a[4 * q + 1] = v.y, a[4 * q + 2] = v.z, a[4 * q + 3] = v.w;
        }
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const float4 v = *(const float4 *)(values + q * 16);
            w[4 * q] = v.x, w[4 * q + 1] = v.y, w[4 * q + 2] = v.z, w[4 * q + 3] = v.w;
        }
    }

    __device__ __forceinline__ static void step(float (&acc)[TY][8], const float (&a)[TY], const float (&w)[8]) {
#pragma unroll
        for (int i = 0; i < TY; i++) {
#pragma unroll
            for (int x = 0; x < 8; x++) {
                const int j = i % 2 ? 7 - x : x;
                acc[i][j] = fmaf(a[i], w[j], acc[i][j]);
            }
        }
    }

    // By way of shared memory, one of the 8 columns of every lane at a time: stores of whole rows, and little code.
    __device__ __forceinline__ void store(float (&acc)[TY][8]) const {
        float *mine = reinterpret_cast<float *>(shared) + warp * 4 * TM;
        const int c = lane / 16 * 2 + lane % 2;
        const bool whole = (reinterpret_cast<u64>(t.c) | t.ldc * 4) % 16 == 0 && i0 + TM <= t.n;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int q = 0; q < TY / 4; q++) {
                float4 *to = reinterpret_cast<float4 *>(mine + c * TM + lane % 16 / 2 * 4 + 32 * q);
                *to = make_float4(acc[4 * q][j], acc[4 * q + 1][j], acc[4 * q + 2][j], acc[4 * q + 3][j]);
            }
            __syncwarp();
#pragma unroll 1
            for (int at = lane * 4; at < 4 * TM; at += 128) {
                const int column = j0 + warp * 32 + at / TM * 8 + j, i = i0 + at % TM;
                if (column < t.cols) store4(mine + at, t.c + column * t.ldc + i, whole, t.n - i);
            }
            __syncwarp();
        }
    }

    __device__ __forceinline__ void store4(const float *from, float *to, bool whole, int count) const {
        if (whole) {
            float4 c = make_float4(0, 0, 0, 0);
            if (t.beta != 0.0f) c = *reinterpret_cast<const float4 *>(to);
            finish(from[0], t.alpha, t.beta, &c.x);
            finish(from[1], t.alpha, t.beta, &c.y);
            finish(from[2], t.alpha, t.beta, &c.z);
            finish(from[3], t.alpha, t.beta, &c.w);
            *reinterpret_cast<float4 *>(to) = c;
        } else {
            for (int x = 0; x < min(4, count); x++) finish(from[x], t.alpha, t.beta, to + x);
        }
    }

    __device__ __forceinline__ void run() {
        float acc[TY][8];
#pragma unroll
        for (int i = 0; i < TY; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) acc[i][j] = 0.0f;
        fill_minus_zero();
        if (STAGES == 1) {
#pragma unroll 1
            for (int s = 0; s < t.slices; s++) {
                const int list = listed(s);
                __syncthreads();
                copy_slice(s, 0, list);
                commit();
                wait_all_but<0>();
                __syncthreads();
                multiply(0, acc);
            }
        } else {
            int list = listed(0);
            for (int s = 0; s < STAGES - 1; s++) {
                if (s < t.slices) copy_slice(s, s, list);
                list = listed(s + 1);
                commit();
            }
            int stage = 0, ahead = STAGES - 1;
#pragma unroll 1
            for (int s = 0; s < t.slices; s++) {
                wait_all_but<(STAGES > 1 ? STAGES - 2 : 0)>();
                __syncthreads();
                // The stage that slice s - 1 was in: every warp has passed the barrier behind it.
                if (s + STAGES - 1 < t.slices) copy_slice(s + STAGES - 1, ahead, list);
                commit();
                list = listed(s + STAGES);
                multiply(stage, acc);
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                ahead = ahead + 1 == STAGES ? 0 : ahead + 1;
            }
        }
        store(acc);
    }
};

#define KERNEL(NAME, TY, WARPS, STAGES, PACKED, PER_SM)                                       \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, PER_SM) NAME(const Tile t) {     \
        extern __shared__ __align__(16) char shared[];                                        \
        Block<TY, WARPS, STAGES, PACKED>(t, shared).run();                                    \
    }
#define PIPELINES(SHAPE, TY, WARPS, PER_SM)                      \
    KERNEL(nm_v3_##SHAPE, TY, WARPS, 3, false, PER_SM)           \
    KERNEL(nm_v3p_##SHAPE, TY, WARPS, 3, true, PER_SM)

KERNEL(nm_v1, 16, 4, 1, false, 2)
KERNEL(nm_v2, 16, 4, 1, true, 2)
PIPELINES(small, 4, 2, 8)
PIPELINES(medium, 8, 4, 4)
PIPELINES(large, 16, 4, 2)
PIPELINES(wide, 16, 8, 1)
