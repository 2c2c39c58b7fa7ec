// N:M times dense on the matrix unit: C (cols of W x n) = W^T * B, W vector-wise N:M, B row-major, in tf32, f16 or bf16.
//
//   one block: 128 or 256 columns of W x 128 of B      one warp: 32 columns of W x 128 columns of B
//
//   instruction m16n8:  m = 16 columns of B,  n = 8 columns of W,  k = 8 (tf32) or 16 successive rows u of W
//
//     rows of B that the block's groups name in a slice of W, listed once (packing), in shared memory
//     [row 0]  <- d[u] = 0, 3, ..          gathered as operand A: row d[u] of the slice is its column k = u
//     [row 1]
//
// A slice is ws rows of W, a multiple of the instruction's k, so that the instructions of one element are those of the
// declaration: rows u = 0..k of W, then k..2k, and so on. f16 is gathered by ldmatrix.trans, which takes the address of each
// row; tf32 by 16-byte loads, of which instruction x uses element x, so that its rows g and g + 8 are columns 4 g + x and
// 32 + 4 g + x of B. Chunks of 16 bytes are exchanged by the row's number, so that rows do not share banks.
//
// W comes in the order of the registers that hold it: [u / k][column / 8][lane][2], by way of shared memory. Past the end of W
// all is 0, and d names the row of zeros behind the list. PTX ISA 9.0: mma 9.7.14.5, ldmatrix 9.7.14.5.15, cp.async 9.7.9.25.

struct NmMma {
    const void *b;       // k x n, row-major, ldb; 16-byte aligned rows
    const char *w;       // [block][slice]: registers, [ws / K][TN / 8][32][2], then d, groups x ws: byte offset of the row
    const int *rows;     // [block][slice][cap] rows of B, -1 behind the last
    void *c;             // element (column of W j, column of B i) at j * ldc + i
    u64 ldb, ldc;
    int n, cols;         // columns of B, columns of W
    int cap;             // rows of B in shared memory
    int ws, slices;      // rows of W per slice, slices
    int len, groups;     // L, groups of one block
    float alpha, beta;   // alpha is not 0
};
SIZE_OF(NmMma, 88); OFFSET_OF(NmMma, b, 0); OFFSET_OF(NmMma, w, 8); OFFSET_OF(NmMma, rows, 16);
OFFSET_OF(NmMma, c, 24); OFFSET_OF(NmMma, ldb, 32); OFFSET_OF(NmMma, ldc, 40); OFFSET_OF(NmMma, n, 48);
OFFSET_OF(NmMma, cols, 52); OFFSET_OF(NmMma, cap, 56); OFFSET_OF(NmMma, ws, 60); OFFSET_OF(NmMma, slices, 64);
OFFSET_OF(NmMma, len, 68); OFFSET_OF(NmMma, groups, 72); OFFSET_OF(NmMma, alpha, 76); OFFSET_OF(NmMma, beta, 80);

constexpr int TM = 128, STAGES = 2;

struct Tf32Unit {
    typedef Tf32 In;
    static constexpr int K = 8;
    float acc[4];

    __device__ __forceinline__ void zero() { acc[0] = acc[1] = acc[2] = acc[3] = 0.0f; }
    __device__ __forceinline__ void step(const u32 (&a)[4], uint2 b) { mma_tf32(acc, a, b.x, b.y); }
    template <typename Out> __device__ __forceinline__ void store(int x, float alpha, float beta, Out *c) const {
        finish(acc[x], alpha, beta, c);
    }
    __device__ __forceinline__ static int swizzle(u32 row) { return (row & 3) << 1 | (row >> 2 & 1); }
    // Column of B of row `half` * 8 + g of the instruction for part `m` of the tile.
    __device__ __forceinline__ static int column(int m, int half, int g) {
        return m / 4 * 64 + half * 32 + 4 * g + m % 4;
    }
    // Where the rows are that this lane loads of K rows of W: offsets from the start of the slice.
    struct Rows { u32 at[2]; };
    __device__ __forceinline__ static Rows rows(const u32 *d, int lane) { return {{d[lane % 4], d[lane % 4 + 4]}}; }
    // Operand A of the 8 parts of the tile.
    __device__ __forceinline__ static void gather(u32 (&a)[8][4], const char *base, u32, Rows rows, int lane) {
#pragma unroll
        for (int x = 0; x < 2; x++) {
            const char *row = base + rows.at[x];
            const int turn = swizzle(rows.at[x] / (TM * 4));
#pragma unroll
            for (int part = 0; part < 4; part++) {
                const float4 v = *reinterpret_cast<const float4 *>(row + ((part * 8 + lane / 4) ^ turn) * 16);
                const int m = part / 2 * 4, y = 2 * x + part % 2;
                a[m][y] = tf32_operand(v.x), a[m + 1][y] = tf32_operand(v.y);
                a[m + 2][y] = tf32_operand(v.z), a[m + 3][y] = tf32_operand(v.w);
            }
        }
    }
};

template <typename Type> struct HalfUnit {
    typedef Type In;
    static constexpr int K = 16;
    float acc[4];

    __device__ __forceinline__ void zero() { acc[0] = acc[1] = acc[2] = acc[3] = 0.0f; }
    __device__ __forceinline__ void step(const u32 (&a)[4], uint2 b) { mma_half(Type{}, acc, a, b.x, b.y); }
    template <typename Out> __device__ __forceinline__ void store(int x, float alpha, float beta, Out *c) const {
        finish(acc[x], alpha, beta, c);
    }

    __device__ __forceinline__ static int swizzle(u32 row) { return row & 7; }
    __device__ __forceinline__ static int column(int m, int half, int g) { return m * 16 + half * 8 + g; }
    // Lane 8 x + r gives the address of row r of matrix x: k = 8 * (x / 2) + r, m = 8 * (x % 2).
    struct Rows { u32 at; };
    __device__ __forceinline__ static Rows rows(const u32 *d, int lane) { return {d[lane / 16 * 8 + lane % 8]}; }
    __device__ __forceinline__ static void gather(u32 (&a)[8][4], const char *, u32 base, Rows rows, int lane) {
        const u32 row = base + rows.at, turn = swizzle(rows.at / (TM * 2)), side = lane / 8 % 2;
#pragma unroll
        for (int m = 0; m < 8; m++) {
            const u32 from = row + ((2 * m + side) ^ turn) * 16;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(a[m][0]), "=r"(a[m][1]), "=r"(a[m][2]), "=r"(a[m][3])
                         : "r"(from)
                         : "memory");
        }
    }
};

template <int WARPS, typename Unit, typename Out> struct Block {
    typedef typename Unit::In In;
    static constexpr int TN = 32 * WARPS, THREADS = 32 * WARPS;
    static constexpr int ROW = TM * sizeof(In), CHUNKS = ROW / 16, EACH = 16 / sizeof(In);
    static constexpr int AT_ONCE = 32 / CHUNKS;      // rows of B that a warp copies at once
    static constexpr int STEP = WARPS * AT_ONCE;     // and a block

    const NmMma &t;
    char *shared;
    u32 shared_at;
    int warp, lane, i0, j0, block;
    // A stage: B (cap rows and the one of zeros), then W and d. All in bytes.
    int rows_bytes, w_bytes, stage_bytes;
    // What this lane takes of a row of B, its first row, and its part of W.
    int bytes, first;
    const char *from_b, *from_w;
    // Groups of the 4 instructions of a warp, counted from the block's first.
    int group[4];

    __device__ __forceinline__ Block(const NmMma &t, char *shared) : t(t), shared(shared) {
        shared_at = static_cast<u32>(__cvta_generic_to_shared(shared));
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        rows_bytes = (t.cap + 1) * ROW;
        w_bytes = t.ws * (TN * static_cast<int>(sizeof(In)) + t.groups * 4);
        stage_bytes = rows_bytes + w_bytes;
        raster<16>((t.n + TM - 1) / TM, (t.cols + TN - 1) / TN, i0, block);
        i0 *= TM;
        j0 = block * TN;

        const int left = lane % CHUNKS * EACH;
        bytes = max(0, min(EACH, t.n - i0 - left)) * static_cast<int>(sizeof(In));
        first = warp * AT_ONCE + lane / CHUNKS;
        from_b = reinterpret_cast<const char *>(static_cast<const In *>(t.b) + (bytes > 0 ? i0 + left : 0));
        from_w = t.w + static_cast<u64>(block) * t.slices * w_bytes + threadIdx.x * 16;
#pragma unroll
        for (int x = 0; x < 4; x++) group[x] = (j0 + warp * 32 + 8 * x) / t.len - j0 / t.len;
    }

    __device__ __forceinline__ void fill_zero() const {
        for (int s = 0; s < STAGES; s++) {
            u32 *row = reinterpret_cast<u32 *>(shared + s * stage_bytes + t.cap * ROW);
            for (int i = threadIdx.x; i < ROW / 4; i += THREADS) row[i] = 0;
        }
    }

    // The rows that this warp copies of a slice: lane p holds number p of them, -1 where there are fewer.
    __device__ __forceinline__ int listed(int s) const {
        if (s >= t.slices) return -1;
        const int r = lane / AT_ONCE * STEP + warp * AT_ONCE + lane % AT_ONCE;
        return r < t.cap ? t.rows[(static_cast<u64>(block) * t.slices + s) * t.cap + r] : -1;
    }

    __device__ __forceinline__ void copy_slice(int s, int stage, int list) const {
        // All lanes of a warp go one way: they exchange what they hold in there.
        if (__all_sync(~0u, bytes == 16)) {
            copy_listed<true>(list, shared_at + stage);
        } else {
            copy_listed<false>(list, shared_at + stage);
        }
        const char *from = from_w + static_cast<u64>(static_cast<u32>(s)) * static_cast<u32>(w_bytes);
        u32 to = shared_at + stage + rows_bytes + threadIdx.x * 16;
        int left = w_bytes - static_cast<int>(threadIdx.x) * 16;
#pragma unroll 1
        for (; left > 48 * THREADS; left -= 64 * THREADS, from += 64 * THREADS, to += 64 * THREADS) {
#pragma unroll
            for (int x = 0; x < 4; x++) copy16(to + x * THREADS * 16, from + x * THREADS * 16, 16);
        }
#pragma unroll 1
        for (; left > 0; left -= 16 * THREADS, from += 16 * THREADS, to += 16 * THREADS) copy16(to, from, 16);
    }

    // 4 * STEP is a multiple of the 8 rows after which the exchange of chunks repeats.
    template <bool WHOLE> __device__ __forceinline__ void copy_listed(int list, u32 to) const {
        const u64 pitch = t.ldb * sizeof(In);
#pragma unroll 1
        for (int x = 0; x * STEP < t.cap; x += 4, to += 4 * STEP * ROW) {
#pragma unroll
            for (int y = 0; y < 4; y++) {
                const int row = __shfl_sync(~0u, list, (x + y) * AT_ONCE + lane / CHUNKS), r = first + y * STEP;
                const u32 at = to + r * ROW + (lane % CHUNKS ^ Unit::swizzle(r)) * 16;
                copy16_if(row >= 0, at, from_b + static_cast<u32>(row) * pitch, WHOLE ? 16 : bytes);
            }
        }
    }

    __device__ __forceinline__ void multiply(int stage, Unit (&acc)[8][4]) const {
        const char *base = shared + stage;
        const u32 at = shared_at + stage;
        const u32 *d = reinterpret_cast<const u32 *>(base + rows_bytes + t.ws * TN * static_cast<int>(sizeof(In)));
        const uint2 *w = reinterpret_cast<const uint2 *>(base + rows_bytes) + warp * 4 * 32 + lane;
        if (group[0] == group[3]) {
            d += group[0] * t.ws;
            typename Unit::Rows rows = Unit::rows(d, lane);
#pragma unroll 1
            for (int u = 0; u < t.ws; u += Unit::K, w += TN * 4) {
                u32 a[8][4];
                Unit::gather(a, base, at, rows, lane);
                rows = Unit::rows(d + (u + Unit::K < t.ws ? u + Unit::K : 0), lane);
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    const uint2 now = w[x * 32];
#pragma unroll
                    for (int m = 0; m < 8; m++) acc[m][x].step(a[m], now);
                }
            }
        } else {
            // Vectors shorter than 32 columns: each instruction may have rows of its own.
#pragma unroll 1
            for (int u = 0; u < t.ws; u += Unit::K, w += TN * 4) {
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    u32 a[8][4];
                    Unit::gather(a, base, at, Unit::rows(d + group[x] * t.ws + u, lane), lane);
                    const uint2 now = w[x * 32];
#pragma unroll
                    for (int m = 0; m < 8; m++) acc[m][x].step(a[m], now);
                }
            }
        }
    }

    __device__ __forceinline__ void store(Unit (&acc)[8][4]) const {
        const int g = lane / 4, two = lane % 4 * 2;
#pragma unroll
        for (int x = 0; x < 4; x++) {
#pragma unroll
            for (int y = 0; y < 4; y++) {
                const int j = j0 + warp * 32 + 8 * x + two + y % 2;
                if (j >= t.cols) continue;
                Out *c = static_cast<Out *>(t.c) + static_cast<u64>(j) * t.ldc;
#pragma unroll
                for (int m = 0; m < 8; m++) {
                    const int i = i0 + Unit::column(m, y / 2, g);
                    if (i < t.n) acc[m][x].store(y, t.alpha, t.beta, c + i);
                }
            }
        }
    }

    __device__ __forceinline__ void run() {
        Unit acc[8][4];
#pragma unroll
        for (int m = 0; m < 8; m++)
#pragma unroll
            for (int x = 0; x < 4; x++) acc[m][x].zero();
        fill_zero();
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
            wait_all_but<(STAGES > 2 ? STAGES - 2 : 0)>();
            // Every warp has left slice s - 1, whose stage is filled next.
            __syncthreads();
            if (s + STAGES - 1 < t.slices) copy_slice(s + STAGES - 1, ahead, list);
            commit();
            list = listed(s + STAGES);
            multiply(stage, acc);
            ahead = stage;
            stage = stage + stage_bytes == end ? 0 : stage + stage_bytes;
        }
        store(acc);
    }
};

#define KERNEL(NAME, WARPS, PER_SM, UNIT, OUT)                                                    \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, PER_SM) NAME(const NmMma t) {        \
        extern __shared__ __align__(16) char shared[];                                            \
        Block<WARPS, UNIT, OUT>(t, shared).run();                                                 \
    }
#define KERNELS(NAME, UNIT, OUT)            \
    KERNEL(NAME, 4, 2, UNIT, OUT)           \
    KERNEL(NAME##_wide, 8, 1, UNIT, OUT)
KERNELS(nm_tf32_f32, Tf32Unit, float)
KERNELS(nm_f16_f32, HalfUnit<F16>, float)
KERNELS(nm_f16_f16, HalfUnit<F16>, F16)
KERNELS(nm_bf16_f32, HalfUnit<Bf16>, float)
KERNELS(nm_bf16_bf16, HalfUnit<Bf16>, Bf16)
