// N:M times dense on the matrix unit: C (cols of W x n) = W^T * B, W vector-wise N:M, B row-major, in tf32, f16 or bf16.
//
//   one block: 128 columns of W x 128 columns of B     one warp: 32 columns of W x 128 columns of B
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
// W comes in the order of the registers that hold it: [u / k][column / 8][lane][2]. Past the end of W all is 0, and d names the
// row of zeros behind the list. PTX ISA 9.0: mma 9.7.14.5, ldmatrix 9.7.14.5.15, cp.async 9.7.9.25.

struct NmMma {
    const void *b;       // k x n, row-major, ldb; 16-byte aligned rows
    const uint2 *w;      // [slices * ws / K][wide][32]
    const u32 *d;        // [block][slice][group][ws]: byte offset of the row in the slice of shared memory
    const int *rows;     // [block][slice][cap] rows of B
    const int *counts;   // [block][slice] how many
    void *c;             // element (column of W j, column of B i) at j * ldc + i
    u64 ldb, ldc;
    int wide;            // columns of W / 8, padded to whole blocks
    int n, cols;         // columns of B, columns of W
    int cap;             // rows of B in shared memory
    int ws, slices;      // rows of W per slice, slices
    int len, groups;     // L, groups of one block
    float alpha, beta;   // alpha is not 0
};

constexpr int TM = 128, TN = 128, THREADS = 128, STAGES = 2;

__device__ __forceinline__ void copy16(u32 to, const void *from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(bytes));
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n"); }

template <int PENDING> __device__ __forceinline__ void wait_all_but() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory");
}

struct Tf32Unit {
    typedef Tf32 In;
    static constexpr int K = 8;
    float acc[4];

    __device__ __forceinline__ void zero() { acc[0] = acc[1] = acc[2] = acc[3] = 0.0f; }
    __device__ __forceinline__ void step(const u32 (&a)[4], uint2 b) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
    }
    template <typename Out> __device__ __forceinline__ void store(int x, float alpha, float beta, Out *c) const {
        finish(acc[x], alpha, beta, c);
    }
    __device__ __forceinline__ static int swizzle(u32 row) { return (row & 3) << 1 | (row >> 2 & 1); }
    // Column of B of row `half` * 8 + g of the instruction for part `m` of the tile.
    __device__ __forceinline__ static int column(int m, int half, int g) {
        return m / 4 * 64 + half * 32 + 4 * g + m % 4;
    }
    // Operand A of the 8 parts of the tile, for rows u.. of the slice; d is the group's list.
    __device__ __forceinline__ static void gather(u32 (&a)[8][4], const char *base, u32, const u32 *d, int u, int lane) {
        const int g = lane / 4, t = lane % 4;
#pragma unroll
        for (int x = 0; x < 2; x++) {
            const u32 at = d[u + t + 4 * x];
            const char *row = base + at;
            const int turn = swizzle(at / (TM * 4));
#pragma unroll
            for (int part = 0; part < 4; part++) {
                const float4 v = *reinterpret_cast<const float4 *>(row + ((part * 8 + g) ^ turn) * 16);
                const int m = part / 2 * 4, y = 2 * x + part % 2;
                a[m][y] = tf32_rna(v.x), a[m + 1][y] = tf32_rna(v.y);
                a[m + 2][y] = tf32_rna(v.z), a[m + 3][y] = tf32_rna(v.w);
            }
        }
    }
};

template <typename Type> struct HalfOperand {
    typedef Type In;
    static constexpr int K = 16;

    __device__ __forceinline__ static int swizzle(u32 row) { return row & 7; }
    __device__ __forceinline__ static int column(int m, int half, int g) { return m * 16 + half * 8 + g; }
    __device__ __forceinline__ static void gather(u32 (&a)[8][4], const char *, u32 base, const u32 *d, int u, int lane) {
        // Lane 8 x + r gives the address of row r of matrix x: k = 8 * (x / 2) + r, m = 8 * (x % 2).
        const u32 at = d[u + lane / 16 * 8 + lane % 8];
        const u32 row = base + at, turn = swizzle(at / (TM * 2)), side = lane / 8 % 2;
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

#define HALF_UNIT(NAME, IN, TYPE)                                                                                  \
    struct NAME : HalfOperand<IN> {                                                                                \
        float acc[4];                                                                                              \
        __device__ __forceinline__ void zero() { acc[0] = acc[1] = acc[2] = acc[3] = 0.0f; }                       \
        __device__ __forceinline__ void step(const u32 (&a)[4], uint2 b) {                                         \
            asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                                             \
                ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                       \
                : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])                                           \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));                                 \
        }                                                                                                          \
        template <typename Out> __device__ __forceinline__ void store(int x, float alpha, float beta, Out *c)      \
            const {                                                                                                \
            finish(acc[x], alpha, beta, c);                                                                        \
        }                                                                                                          \
    }
HALF_UNIT(F16Unit, F16, "f16");
HALF_UNIT(Bf16Unit, Bf16, "bf16");

template <typename Unit, typename Out> struct Block {
    typedef typename Unit::In In;
    static constexpr int ROW = TM * sizeof(In), CHUNKS = ROW / 16, EACH = 16 / sizeof(In);

    const NmMma &t;
    char *shared;
    u32 shared_at;
    int warp, lane, i0, j0, block, rows_bytes, stage_bytes;

    __device__ __forceinline__ Block(const NmMma &t, char *shared) : t(t), shared(shared) {
        shared_at = static_cast<u32>(__cvta_generic_to_shared(shared));
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        rows_bytes = (t.cap + 1) * ROW;
        stage_bytes = rows_bytes + t.groups * t.ws * 4;
        const int high = (t.n + TM - 1) / TM, wide = (t.cols + TN - 1) / TN;
        const int full = 16 * wide, first = blockIdx.x / full * 16, height = min(16, high - first);
        i0 = (first + blockIdx.x % full % height) * TM;
        block = blockIdx.x % full / height;
        j0 = block * TN;
    }

    __device__ __forceinline__ void fill_zero() const {
        for (int s = 0; s < STAGES; s++) {
            u32 *row = reinterpret_cast<u32 *>(shared + s * stage_bytes + t.cap * ROW);
            for (int i = threadIdx.x; i < ROW / 4; i += THREADS) row[i] = 0;
        }
    }

    __device__ __forceinline__ void copy_slice(int s, int stage) const {
        const u32 base = shared_at + stage * stage_bytes;
        const size_t at = static_cast<size_t>(block) * t.slices + s;
        const int count = t.counts[at];
        const In *b = static_cast<const In *>(t.b);
        for (int x = threadIdx.x; x < count * CHUNKS; x += THREADS) {
            const int r = x / CHUNKS, chunk = x % CHUNKS, column = i0 + chunk * EACH;
            const int bytes = max(0, min(16, (t.n - column) * static_cast<int>(sizeof(In))));
            const In *from = bytes > 0 ? b + t.rows[at * t.cap + r] * t.ldb + column : b;
            copy16(base + r * ROW + (chunk ^ Unit::swizzle(r)) * 16, from, bytes);
        }
        const u32 *d = t.d + at * t.groups * t.ws;
        for (int x = threadIdx.x; x < t.groups * t.ws / 4; x += THREADS) {
            copy16(base + rows_bytes + x * 16, d + x * 4, 16);
        }
    }

    __device__ __forceinline__ void multiply(int s, int stage, Unit (&acc)[8][4]) const {
        const char *base = shared + stage * stage_bytes;
        const u32 *d = reinterpret_cast<const u32 *>(base + rows_bytes);
        const int column = j0 + warp * 32, first = j0 / t.len;
        const uint2 *w = t.w + (static_cast<size_t>(s) * (t.ws / Unit::K) * t.wide + column / 8) * 32 + lane;
        uint2 next[4];
#pragma unroll
        for (int x = 0; x < 4; x++) next[x] = w[x * 32];
#pragma unroll 1
        for (int u = 0; u < t.ws; u += Unit::K) {
            uint2 now[4];
#pragma unroll
            for (int x = 0; x < 4; x++) now[x] = next[x];
            w += u + Unit::K < t.ws ? t.wide * 32 : 0;
#pragma unroll
            for (int x = 0; x < 4; x++) next[x] = w[x * 32];
            u32 a[8][4];
            int held = -1;
#pragma unroll
            for (int x = 0; x < 4; x++) {
                const int group = (column + 8 * x) / t.len - first;
                if (group != held) {
                    Unit::gather(a, base, shared_at + stage * stage_bytes, d + group * t.ws, u, lane);
                    held = group;
                }
#pragma unroll
                for (int m = 0; m < 8; m++) acc[m][x].step(a[m], now[x]);
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
                Out *c = static_cast<Out *>(t.c) + j * t.ldc;
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
        if (t.slices > 0) copy_slice(0, 0);
        commit();
#pragma unroll 1
        for (int s = 0; s < t.slices; s++) {
            wait_all_but<0>();
            // Every warp has left slice s - 1, whose stage is filled next.
            __syncthreads();
            if (s + 1 < t.slices) copy_slice(s + 1, (s + 1) % STAGES);
            commit();
            multiply(s, s % STAGES, acc);
        }
        store(acc);
    }
};

#define KERNEL(NAME, UNIT, OUT)                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const NmMma t) {       \
        extern __shared__ __align__(16) char shared[];                                \
        Block<UNIT, OUT>(t, shared).run();                                            \
    }
KERNEL(nm_tf32_f32, Tf32Unit, float)
KERNEL(nm_f16_f32, F16Unit, float)
KERNEL(nm_f16_f16, F16Unit, F16)
KERNEL(nm_bf16_f32, Bf16Unit, float)
KERNEL(nm_bf16_bf16, Bf16Unit, Bf16)
