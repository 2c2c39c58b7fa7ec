// 2:4 (tf32: 1:2) times dense by mma.sp::ordered_metadata: C (rows x n) = A * B, B row-major.
//
//   one block: 128 rows x 128 columns     one warp: 64 rows x 64 columns     instruction: 16 rows x 8 columns x K
//
//     A, in the order of registers, from global memory     B: K rows x 128 columns, stages ahead by cp.async
//     [tile][lane][4], [tile][lane] metadata               f16: ldmatrix.trans; tf32: 4-byte loads, rows 8 banks apart
//
// K is 32 (tf32: 16), whatever the arrays were cut for; half of it are kept products. The metadata of lanes 4 g and 4 g + 1 are
// read, selector 0. Rows past the end of A are zeros and their results not stored, rows of B past k are zeros.
// PTX ISA 9.0: mma.sp 9.7.14.6, ldmatrix 9.7.14.5.15.

struct TwoFour {
    const uint4 *a;        // [row block of 16][step][lane]
    const u32 *metadata;   // [row block of 16][step][lane]
    const void *b;         // k x n, row-major, ldb; 16-byte aligned rows
    void *c;               // rows x n, row-major, ldc
    u64 ldb, ldc;
    int blocks, steps;     // row blocks, instructions along k
    int rows, k, n;
    float alpha, beta;     // alpha is not 0
};
SIZE_OF(TwoFour, 80); OFFSET_OF(TwoFour, a, 0); OFFSET_OF(TwoFour, metadata, 8); OFFSET_OF(TwoFour, b, 16);
OFFSET_OF(TwoFour, c, 24); OFFSET_OF(TwoFour, ldb, 32); OFFSET_OF(TwoFour, ldc, 40); OFFSET_OF(TwoFour, blocks, 48);
OFFSET_OF(TwoFour, steps, 52); OFFSET_OF(TwoFour, rows, 56); OFFSET_OF(TwoFour, k, 60); OFFSET_OF(TwoFour, n, 64);
OFFSET_OF(TwoFour, alpha, 68); OFFSET_OF(TwoFour, beta, 72);

constexpr int TM = 128, TN = 128, THREADS = 128, STAGES = 3;

#define FLOAT_SUMS                                                                                            \
    float acc[4];                                                                                             \
    __device__ __forceinline__ void zero() { acc[0] = acc[1] = acc[2] = acc[3] = 0.0f; }                      \
    template <typename Out> __device__ __forceinline__ void store(int x, float alpha, float beta, Out *c)     \
        const {                                                                                               \
        finish(acc[x], alpha, beta, c);                                                                       \
    }
#define FLOAT_STEP(SHAPE, TYPE)                                                                               \
    __device__ __forceinline__ void step(uint4 a, const u32 (&b)[4], u32 e) {                                 \
        asm("mma.sp::ordered_metadata.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE                      \
            ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"                    \
            : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])                                          \
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e));    \
    }

struct Tf32Operand {
    typedef Tf32 In;
    static constexpr int K = 16, ROW = (TN + 8) * 4;

    __device__ __forceinline__ static int place(int, int chunk) { return chunk; }
    // Element x: row t + 4 x, column g of the 8 from `column` on.
    __device__ __forceinline__ static void load(u32 (&b)[4], const char *base, u32, int column, int lane) {
#pragma unroll
        for (int x = 0; x < 4; x++) {
            const char *row = base + (lane % 4 + 4 * x) * ROW;
            b[x] = tf32_operand(reinterpret_cast<const float *>(row)[column + lane / 4]);
        }
    }
};

template <typename Type> struct HalfOperand {
    typedef Type In;
    static constexpr int K = 32, ROW = TN * 2;

    // Chunks of 16 bytes exchanged by row, so that the 8 rows of a matrix do not share banks.
    __device__ __forceinline__ static int place(int row, int chunk) { return chunk ^ (row & 7); }
    __device__ __forceinline__ static void load(u32 (&b)[4], const char *, u32 base, int column, int lane) {
        const u32 from = base + lane * ROW + place(lane, column / 8) * 16;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                     : "r"(from)
                     : "memory");
    }
};

struct Tf32Unit : Tf32Operand {
    FLOAT_SUMS
    FLOAT_STEP("m16n8k16", "tf32")
};
struct F16Unit : HalfOperand<F16> {
    FLOAT_SUMS
    FLOAT_STEP("m16n8k32", "f16")
};
struct Bf16Unit : HalfOperand<Bf16> {
    FLOAT_SUMS
    FLOAT_STEP("m16n8k32", "bf16")
};

// f16 accumulators: two in a register.
struct F16SumUnit : HalfOperand<F16> {
    u32 acc[2];

    __device__ __forceinline__ void zero() { acc[0] = acc[1] = 0; }
    __device__ __forceinline__ void step(uint4 a, const u32 (&b)[4], u32 e) {
        asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
            "{%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%0,%1}, %10, 0x0;"
            : "+r"(acc[0]), "+r"(acc[1])
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e));
    }
    __device__ __forceinline__ void store(int x, float alpha, float beta, F16 *c) const {
        finish_f16(static_cast<u16>(acc[x / 2] >> x % 2 * 16), alpha, beta, c);
    }
};

template <typename Unit, typename Out> struct Block {
    typedef typename Unit::In In;
    static constexpr int EACH = 16 / sizeof(In), CHUNKS = TN / EACH, STAGE = Unit::K * Unit::ROW;

    const TwoFour &t;
    char *shared;
    u32 shared_at;
    int lane, row_block, i0, j0;

    __device__ __forceinline__ Block(const TwoFour &t, char *shared) : t(t), shared(shared) {
        shared_at = static_cast<u32>(__cvta_generic_to_shared(shared));
        lane = threadIdx.x % 32;
        raster<8>((t.rows + TM - 1) / TM, (t.n + TN - 1) / TN, i0, j0);
        i0 = i0 * TM + threadIdx.x / 64 * 64;
        j0 *= TN;
        row_block = i0 / 16;
    }

    __device__ __forceinline__ void copy(int step, int stage) const {
        const In *b = static_cast<const In *>(t.b);
        const u32 base = shared_at + stage * STAGE;
        for (int x = threadIdx.x; x < Unit::K * CHUNKS; x += THREADS) {
            const int r = x / CHUNKS, chunk = x % CHUNKS, row = step * Unit::K + r, column = j0 + chunk * EACH;
            const int there = row < t.k ? max(0, min(EACH, t.n - column)) : 0, bytes = there * static_cast<int>(sizeof(In));
            copy16(base + r * Unit::ROW + Unit::place(r, chunk) * 16, bytes > 0 ? b + static_cast<u64>(row) * t.ldb + column : b, bytes);
        }
    }

    __device__ __forceinline__ void load_a(uint4 (&a)[4], u32 (&e)[4], int step) const {
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const bool there = row_block + m < t.blocks && step < t.steps;
            const size_t tile = static_cast<size_t>(row_block + m) * t.steps + step;
            a[m] = there ? t.a[tile * 32 + lane] : make_uint4(0, 0, 0, 0);
            // (0, 1) of every chunk; of tf32 the first one.
            e[m] = there ? t.metadata[tile * 32 + lane] : 0x44444444u;
        }
    }

    __device__ __forceinline__ void store(Unit (&acc)[4][8]) const {
        const int g = lane / 4, two = lane % 4 * 2, left = j0 + threadIdx.x / 32 % 2 * 64;
#pragma unroll
        for (int m = 0; m < 4; m++) {
#pragma unroll
            for (int y = 0; y < 4; y++) {
                const int i = i0 + m * 16 + g + y / 2 * 8;
                if (i >= t.rows) continue;
                Out *c = static_cast<Out *>(t.c) + static_cast<u64>(i) * t.ldc;
#pragma unroll
                for (int x = 0; x < 8; x++) {
                    const int j = left + 8 * x + two + y % 2;
                    if (j < t.n) acc[m][x].store(y, t.alpha, t.beta, c + j);
                }
            }
        }
    }

    __device__ __forceinline__ void run() {
        Unit acc[4][8];
#pragma unroll
        for (int m = 0; m < 4; m++)
#pragma unroll
            for (int x = 0; x < 8; x++) acc[m][x].zero();
        const int left = threadIdx.x / 32 % 2 * 64;
        for (int s = 0; s < STAGES - 1; s++) {
            if (s < t.steps) copy(s, s);
            commit();
        }
        uint4 now[4], next[4];
        u32 e[4], e_next[4];
        load_a(next, e_next, 0);
        int stage = 0, ahead = STAGES - 1;
#pragma unroll 1
        for (int s = 0; s < t.steps; s++) {
            wait_all_but<STAGES - 2>();
            // Every warp has left step s - 1, whose stage is filled next.
            __syncthreads();
            if (s + STAGES - 1 < t.steps) copy(s + STAGES - 1, ahead);
            commit();
#pragma unroll
            for (int m = 0; m < 4; m++) now[m] = next[m], e[m] = e_next[m];
            load_a(next, e_next, s + 1);
            const int at = stage * STAGE;
#pragma unroll
            for (int x = 0; x < 8; x++) {
                u32 b[4];
                Unit::load(b, shared + at, shared_at + at, left + 8 * x, lane);
#pragma unroll
                for (int m = 0; m < 4; m++) acc[m][x].step(now[m], b, e[m]);
            }
            stage = stage + 1 == STAGES ? 0 : stage + 1;
            ahead = ahead + 1 == STAGES ? 0 : ahead + 1;
        }
        store(acc);
    }
};

#define KERNEL(NAME, UNIT, OUT)                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const TwoFour t) {     \
        extern __shared__ __align__(16) char shared[];                                \
        Block<UNIT, OUT>(t, shared).run();                                            \
    }
KERNEL(two_four_tf32_f32, Tf32Unit, float)
KERNEL(two_four_f16_f32, F16Unit, float)
KERNEL(two_four_f16_f16, F16Unit, F16)
KERNEL(two_four_f16_sum, F16SumUnit, F16)
KERNEL(two_four_bf16_f32, Bf16Unit, float)
KERNEL(two_four_bf16_bf16, Bf16Unit, Bf16)
