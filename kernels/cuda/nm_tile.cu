// N:M times dense in f32 on the general cores, in tiles: C (cols of W x n) = W^T * B, W vector-wise N:M, B row-major.
//
//   NM-SpMM calls W its weights (k x n'), B the transpose of its activations (k x m'), C the transpose of its result.
//
//   one block: TN columns of W x TM columns of B          one warp: 32 columns of W x TM columns of B
//
//     slice s of B in shared memory        slice of W            lanes of a warp: 8 groups of columns of B x 4 of 8 of W
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
//   V3  pipelines: the next slice by cp.async           STAGES 2, either
//
// Every element of C takes its terms in ascending u, one fused step each, from +0. What pads the arrays (u past the end, rows
// past k) meets a row of -0: 0 * -0 added changes no accumulator, not even a -0.

struct Tile {
    const float *b;      // k x n, row-major, ldb; 16-byte aligned rows
    const char *w;       // [block][slice]: values, ws x TN, then d, groups x ws: byte offset of the row in the slice of B
    const int *rows;     // packed: [block][slice][cap] rows of B, -1 behind the last; else null
    float *c;            // element (column of W j, column of B i) at j * ldc + i
    u64 ldb, ldc;
    int k, n, cols;      // rows of B, columns of B, columns of W
    int ks, cap;         // rows of B per slice, and what shared memory holds of them
    int ws, slices;      // rows of W per slice (a multiple of 4), slices
    int len, groups;     // L, groups of one block
    float alpha, beta;   // alpha is not 0
};
SIZE_OF(Tile, 96); OFFSET_OF(Tile, b, 0); OFFSET_OF(Tile, w, 8); OFFSET_OF(Tile, rows, 16); OFFSET_OF(Tile, c, 24);
OFFSET_OF(Tile, ldb, 32); OFFSET_OF(Tile, ldc, 40); OFFSET_OF(Tile, k, 48); OFFSET_OF(Tile, n, 52);
OFFSET_OF(Tile, cols, 56); OFFSET_OF(Tile, ks, 60); OFFSET_OF(Tile, cap, 64); OFFSET_OF(Tile, ws, 68);
OFFSET_OF(Tile, slices, 72); OFFSET_OF(Tile, len, 76); OFFSET_OF(Tile, groups, 80); OFFSET_OF(Tile, alpha, 84);
OFFSET_OF(Tile, beta, 88);

template <int TY, int WARPS, int STAGES, bool PACKED> struct Block {
    static constexpr int TM = 8 * TY, TN = 32 * WARPS, THREADS = 32 * WARPS;
    static constexpr int PER_ROW = TM / 4;           // lanes that copy one row of B, 16 bytes each
    static constexpr int AT_ONCE = 32 / PER_ROW;     // rows of B that a warp copies at once
    static constexpr int STEP = WARPS * AT_ONCE;     // and a block

    const Tile &t;
    char *shared;
    int warp, lane, i0, j0, block;
    // A stage: B (cap rows and the one of -0), then W and d. All in bytes.
    int a_bytes, w_bytes, stage_bytes;
    // Copies: what this lane takes of a row of B, its first row, and where that and its part of W go in the first stage.
    int bytes, first;
    const char *from_b, *from_w;
    u32 to_b, to_w;
    // Loads: what this lane multiplies, from the start of a stage.
    int a_at, w_at, d_at;

    __device__ __forceinline__ Block(const Tile &t, char *shared) : t(t), shared(shared) {
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        raster<16>((t.n + TM - 1) / TM, (t.cols + TN - 1) / TN, i0, block);
        i0 *= TM;
        j0 = block * TN;
        a_bytes = (t.cap + 1) * TM * 4;
        w_bytes = t.ws * (TN + t.groups) * 4;
        stage_bytes = a_bytes + w_bytes;

        const int left = lane % PER_ROW * 4;
        bytes = max(0, min(4, t.n - i0 - left)) * 4;
        first = warp * AT_ONCE + lane / PER_ROW;
        from_b = reinterpret_cast<const char *>(t.b + (bytes > 0 ? i0 + left : 0));
        from_w = t.w + static_cast<u64>(block) * t.slices * w_bytes + threadIdx.x * 16;
        const u32 base = static_cast<u32>(__cvta_generic_to_shared(shared));
        to_b = base + (first * TM + left) * 4;
        to_w = base + a_bytes + threadIdx.x * 16;

        const int column = warp * 32 + (lane / 16 * 2 + lane % 2) * 8;
        const int group = (j0 + column) / t.len - j0 / t.len;
        a_at = lane % 16 / 2 * 16;
        w_at = a_bytes + column * 4;
        d_at = a_bytes + (TN + group) * t.ws * 4;
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
        const int r = lane / AT_ONCE * STEP + warp * AT_ONCE + lane % AT_ONCE;
        return r < t.cap ? t.rows[(static_cast<u64>(block) * t.slices + s) * t.cap + r] : -1;
    }

    // Slices are copied one after another. `at` is where the stage begins, from the start of shared memory.
    __device__ __forceinline__ void copy_slice(int s, int at, int list) const {
        const u64 pitch = t.ldb * 4;
        if (PACKED) {
            // All lanes of a warp go one way: they exchange what they hold in there.
            if (__all_sync(~0u, bytes == 16)) {
                copy_listed<true>(list, to_b + at, pitch);
            } else {
                copy_listed<false>(list, to_b + at, pitch);
            }
        } else {
            copy_rows(from_b + static_cast<u32>(s * t.ks + first) * pitch, to_b + at, min(t.ks, t.k - s * t.ks) - first);
        }
        copy_w(from_w + static_cast<u64>(static_cast<u32>(s)) * static_cast<u32>(w_bytes), to_w + at);
    }

    template <bool WHOLE> __device__ __forceinline__ void copy_listed(int list, u32 to, u64 pitch) const {
#pragma unroll 1
        for (int x = 0; x * STEP < t.cap; x += 4, to += 4 * STEP * TM * 4) {
#pragma unroll
            for (int y = 0; y < 4; y++) {
                const int row = __shfl_sync(~0u, list, (x + y) * AT_ONCE + lane / PER_ROW);
                const char *from = from_b + static_cast<u32>(row) * pitch;
                copy16_listed<WHOLE>(row, to + y * STEP * TM * 4, from, bytes);
            }
        }
    }

    // Every STEP-th row of B from one on: pointers advance, an address from the number of a row would cost more than the copy.
    __device__ __forceinline__ void copy_rows(const char *from, u32 to, int left) const {
        const u64 step = STEP * 4 * t.ldb;
        if (bytes == 16) {
#pragma unroll 1
            for (; left > 7 * STEP; left -= 8 * STEP, to += 8 * STEP * TM * 4) {
#pragma unroll
                for (int x = 0; x < 8; x++, from += step) copy16(to + x * STEP * TM * 4, from, 16);
            }
        }
#pragma unroll 1
        for (; left > 0; left -= STEP, from += step, to += STEP * TM * 4) copy16(to, from, bytes);
    }

    // W and d lie in memory as they do in a stage; a lane copies 16 bytes of every four rows of W.
    __device__ __forceinline__ void copy_w(const char *from, u32 to) const {
        int left = w_bytes - static_cast<int>(threadIdx.x) * 16;
#pragma unroll 1
        for (; left > 48 * THREADS; left -= 64 * THREADS, from += 64 * THREADS, to += 64 * THREADS) {
#pragma unroll
            for (int x = 0; x < 4; x++) copy16(to + x * THREADS * 16, from + x * THREADS * 16, 16);
        }
#pragma unroll 1
        for (; left > 0; left -= 16 * THREADS, from += 16 * THREADS, to += 16 * THREADS) copy16(to, from, 16);
    }

    __device__ __forceinline__ void multiply(int stage, float (&acc)[TY][8]) const {
        const char *base = shared + stage;
        const char *a = base + a_at, *w = base + w_at;
        const uint4 *d = reinterpret_cast<const uint4 *>(base + d_at);
        const int quads = t.ws / 4;
        uint4 at = d[0];
#pragma unroll 1
        for (int q = 0; q < quads; q++) {
            const char *wq = w + q * 4 * TN * 4;
            load_and_step(acc, a + at.x, wq);
            load_and_step(acc, a + at.y, wq + TN * 4);
            load_and_step(acc, a + at.z, wq + 2 * TN * 4);
            load_and_step(acc, a + at.w, wq + 3 * TN * 4);
            // Past the end: the first ones again, unused.
            at = d[q + 1 < quads ? q + 1 : 0];
        }
    }

    // The compiler loads ahead of itself here: written out as two buffers, fragments take registers from the banks that the
    // fused steps read. Neighbours in this order share an operand, which then comes from the cache of the last ones.
    __device__ __forceinline__ static void load_and_step(float (&acc)[TY][8], const char *from, const char *values) {
        float a[TY], w[8];
        load(a, w, from, values);
#pragma unroll
        for (int y = 0; y < 8; y++) {
            const int j = y < 4 ? y : 11 - y;
#pragma unroll
            for (int x = 0; x < TY; x++) {
                const int i = j % 2 ? TY - 1 - x : x;
                acc[i][j] = fmaf(a[i], w[j], acc[i][j]);
            }
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

    // By way of shared memory, for stores of whole rows. Not by vectors: those tie accumulators to aligned registers, and three
    // of ten fused steps then find both their operands in one bank. Element i of row r of the warp's part lies where 32 lanes
    // write, and read, 32 banks.
    __device__ __forceinline__ static int place(int r, int i) { return r * TM + i / 32 * 32 + (i % 4 ^ r / 8) * 8 + i % 32 / 4; }

    __device__ __forceinline__ void store(float (&acc)[TY][8]) const {
        float *mine = reinterpret_cast<float *>(shared) + warp * 32 * TM;
        const int c = (lane / 16 * 2 + lane % 2) * 8;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int i = 0; i < TY; i++) mine[place(c + j, i / 4 * 32 + lane % 16 / 2 * 4 + i % 4)] = acc[i][j];
        __syncwarp();
        const int columns = min(32, t.cols - j0 - warp * 32);
        float *to = t.c + static_cast<u64>(j0 + warp * 32) * t.ldc + i0;
        const bool plain = t.alpha == 1.0f && t.beta == 0.0f;
#pragma unroll 1
        for (int r = 0; r < columns; r++, to += t.ldc) {
            float result[TM / 32];
#pragma unroll
            for (int x = 0; x < TM / 32; x++) result[x] = mine[place(r, lane + 32 * x)];
#pragma unroll
            for (int x = 0; x < TM / 32; x++) {
                const int i = lane + 32 * x;
                if (i >= t.n - i0) continue;
                if (plain) {
                    to[i] = result[x];
                } else {
                    finish(result[x], t.alpha, t.beta, to + i);
                }
            }
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
            const int end = STAGES * stage_bytes;
            int list = listed(0);
#pragma unroll 1
            for (int s = 0; s < STAGES - 1; s++) {
                if (s < t.slices) copy_slice(s, s * stage_bytes, list);
                list = listed(s + 1);
                commit();
            }
            int stage = 0, ahead = end - stage_bytes;
#pragma unroll 1
            for (int s = 0; s < t.slices; s++) {
                wait_all_but<(STAGES > 1 ? STAGES - 2 : 0)>();
                __syncthreads();
                // The stage that slice s - 1 was in: every warp has passed the barrier behind it.
                if (s + STAGES - 1 < t.slices) copy_slice(s + STAGES - 1, ahead, list);
                commit();
                list = listed(s + STAGES);
                multiply(stage, acc);
                ahead = stage;
                stage = stage + stage_bytes == end ? 0 : stage + stage_bytes;
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
    KERNEL(nm_v3_##SHAPE, TY, WARPS, 2, false, PER_SM)           \
    KERNEL(nm_v3p_##SHAPE, TY, WARPS, 2, true, PER_SM)

KERNEL(nm_v1, 16, 4, 1, false, 2)
KERNEL(nm_v2, 16, 4, 1, true, 2)
PIPELINES(small, 4, 2, 8)
PIPELINES(medium, 8, 4, 4)
PIPELINES(broad, 8, 8, 2)
PIPELINES(large, 16, 4, 2)
PIPELINES(wide, 16, 8, 1)
