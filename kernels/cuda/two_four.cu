// 2:4 (tf32: 1:2) times dense by mma.sp::ordered_metadata: C (rows x n) = A * B, B row-major.
//
//   one block: 128 rows x 128 columns     one warp: 64 rows x 64 columns     instruction: 16 rows x 8 columns x K
//
//   a stage of shared memory, three in a ring, filled by cp.async: two instructions along k
//     A         [step 2][row block of 16, 8 of them][lane][4]    as it lies in memory: the order of registers
//     metadata  [step 2][64 rows, 2 of them][lane][row block of 16, 4 of them]
//     B         2 K rows x 128 columns   f16: ldmatrix.trans; tf32: 4-byte loads, rows 8 banks apart
//
// K is 32 (tf32: 16), whatever the arrays were cut for; half of it are kept products. The metadata of lanes 4 g and 4 g + 1 are
// read, selector 0. A is filled up with zeros to whole blocks and stages, and rows of B past k are zeros: a step of zeros leaves
// a sum as it is. All that a step adds to an address is a constant.
// PTX ISA 9.0: mma.sp 9.7.14.6, ldmatrix 9.7.14.5.15.

constexpr int TM = 128, TN = 128, THREADS = 128, RING = 3, STEPS = 2;
// In 16 bytes: registers of A in one step, and with them the metadata of a stage.
constexpr int A_STEP = 8 * 32, E_STEP = 2 * 32, A_CHUNKS = STEPS * (A_STEP + E_STEP);

#define FLOAT_STEP(SHAPE, TYPE)                                                                               \
    __device__ __forceinline__ void step(uint4 a, const u32 (&b)[4], u32 e) {                                 \
        asm("mma.sp::ordered_metadata.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE                      \
            ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"                    \
            : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])                                          \
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e));    \
    }

// Operands rounded as tf32_operand does, one integer instruction each: every one gets its half unit, and `odd`, which starts as 0, is
// NaN once one of them was infinite or NaN. Where it is, `mended` makes of each what tf32_operand would have.
__device__ __forceinline__ u32 hopeful(float value, float &odd) {
    odd = __fmaf_rn(value, 0.0f, odd);
    return __float_as_uint(value) + 0x1000u;
}
__device__ __forceinline__ u32 mended(u32 bits) { return tf32_operand(__uint_as_float(bits - 0x1000u)); }

struct Tf32Operand {
    typedef Tf32 In;
    static constexpr int K = 16, ROW = (TN + 8) * 4;

    __device__ __forceinline__ static int place(int, int chunk) { return chunk; }
    // Where the lane reads the warp's first element of B; element x of 8 columns is row t + 4 x, column g.
    __device__ __forceinline__ static u32 first(int left, int lane) { return lane % 4 * ROW + (left + lane / 4) * 4; }
    __device__ __forceinline__ static void load(u32 (&b)[8][4], u32 from) {
        float odd[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int y = 0; y < 8; y++) {
#pragma unroll
            for (int x = 0; x < 4; x++) {
                b[y][x] = hopeful(__uint_as_float(load4(from + 4 * x * ROW + 8 * y * 4)), odd[x]);
            }
        }
        const float any = __fadd_rn(__fadd_rn(odd[0], odd[1]), __fadd_rn(odd[2], odd[3]));
        if (__any_sync(~0u, any != any)) {
#pragma unroll
            for (int y = 0; y < 8; y++)
#pragma unroll
                for (int x = 0; x < 4; x++) b[y][x] = mended(b[y][x]);
        }
    }
};

template <typename Type> struct HalfOperand {
    typedef Type In;
    static constexpr int K = 32, ROW = TN * 2;

    // Chunks of 16 bytes exchanged by row, so that the 8 rows of a matrix do not share banks.
    __device__ __forceinline__ static int place(int row, int chunk) { return chunk ^ (row & 7); }
    // Row `lane`; from column to column the exchange is one of bits, as stages start at multiples of 128 bytes.
    __device__ __forceinline__ static u32 first(int left, int lane) { return lane * ROW + place(lane, left / 8) * 16; }
    __device__ __forceinline__ static void load(u32 (&b)[8][4], u32 from) {
#pragma unroll
        for (int y = 0; y < 8; y++)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(b[y][0]), "=r"(b[y][1]), "=r"(b[y][2]), "=r"(b[y][3])
                         : "r"(from ^ y * 16)
                         : "memory");
    }
};

struct Tf32Unit : Tf32Operand, FloatSums {
    FLOAT_STEP("m16n8k16", "tf32")
};
struct F16Unit : HalfOperand<F16>, FloatSums {
    FLOAT_STEP("m16n8k32", "f16")
};
struct Bf16Unit : HalfOperand<Bf16>, FloatSums {
    FLOAT_STEP("m16n8k32", "bf16")
};

struct F16SumUnit : HalfOperand<F16>, HalfSums {
    __device__ __forceinline__ void step(uint4 a, const u32 (&b)[4], u32 e) {
        asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
            "{%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%0,%1}, %10, 0x0;"
            : "+r"(acc[0]), "+r"(acc[1])
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e));
    }
};

template <typename Unit, typename Out> struct Block {
    typedef typename Unit::In In;
    static constexpr int EACH = 16 / sizeof(In), CHUNKS = TN / EACH, AT_ONCE = THREADS / CHUNKS;
    static constexpr int B_STEP = Unit::K * Unit::ROW, STAGE = A_CHUNKS * 16 + STEPS * B_STEP;

    const TwoFour &t;
    u32 ring;
    int lane, warp, i0, j0;
    // What this thread copies: 16 bytes of A, rows of B from `row` on, `bytes` of each, and where to.
    const uint4 *from_a;
    const char *from_b;
    int row, bytes;
    u32 to_b;

    __device__ __forceinline__ Block(const TwoFour &t, const char *shared) : t(t), ring(shared_at(shared)) {
        lane = threadIdx.x % 32;
        warp = threadIdx.x / 32;
        raster<8>((t.rows + TM - 1) / TM, (t.n + TN - 1) / TN, i0, j0);
        from_a = t.a + static_cast<size_t>(i0) * t.stages * A_CHUNKS + threadIdx.x;
        i0 *= TM;
        j0 *= TN;
        row = threadIdx.x / CHUNKS;
        const int chunk = threadIdx.x % CHUNKS, column = j0 + chunk * EACH;
        bytes = max(0, min(EACH, t.n - column)) * static_cast<int>(sizeof(In));
        from_b = reinterpret_cast<const char *>(static_cast<const In *>(t.b) + row * t.ldb + (bytes > 0 ? column : 0));
        to_b = A_CHUNKS * 16 + row * Unit::ROW + Unit::place(row, chunk) * 16;
    }

    // The next stage. AT_ONCE rows further the exchange of chunks is the same (8 rows of f16) or there is none.
    __device__ __forceinline__ void copy_stage(u32 to) {
        const u64 pitch = AT_ONCE * t.ldb * sizeof(In);
#pragma unroll
        for (int x = 0; x < A_CHUNKS / THREADS; x++) copy<16>(to + (threadIdx.x + x * THREADS) * 16, from_a + x * THREADS);
        from_a += A_CHUNKS;
#pragma unroll
        for (int x = 0; x < STEPS * Unit::K / AT_ONCE; x++) {
            // Past the end of B nothing is read: the address is that of its first row.
            const bool there = row < t.k;
            copy16(to + to_b + x * AT_ONCE * Unit::ROW, there ? from_b : static_cast<const char *>(t.b), there ? bytes : 0);
            from_b += pitch;
            row += AT_ONCE;
        }
    }

    __device__ __forceinline__ void multiply(u32 stage, Unit (&acc)[4][8]) const {
        const u32 high = warp / 2, left = warp % 2 * 64;
        const u32 from_a = stage + (high * 4 * 32 + lane) * 16, from_e = stage + (STEPS * A_STEP + high * 32 + lane) * 16;
        const u32 from_b = stage + A_CHUNKS * 16 + Unit::first(left, lane);
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            uint4 a[4];
            const uint4 e = load16(from_e + step * E_STEP * 16);
#pragma unroll
            for (int m = 0; m < 4; m++) a[m] = load16(from_a + (step * A_STEP + m * 32) * 16);
            u32 b[8][4];
            Unit::load(b, from_b + step * B_STEP);
#pragma unroll
            for (int x = 0; x < 8; x++) {
                acc[0][x].step(a[0], b[x], e.x), acc[1][x].step(a[1], b[x], e.y);
                acc[2][x].step(a[2], b[x], e.z), acc[3][x].step(a[3], b[x], e.w);
            }
        }
    }

    // C = A * B where the warp's 64 x 64 are there and pairs lie at multiples of their size. The general case is apart from it, and a
    // loop over rows of a copy in local memory: unrolled whole it was most of the kernel, more than the cache of instructions holds.
    __device__ __forceinline__ bool whole() const {
        const u64 pair = 2 * sizeof(Out);
        return t.alpha == 1.0f && t.beta == 0.0f && i0 + warp / 2 * 64 + 64 <= t.rows && j0 + warp % 2 * 64 + 64 <= t.n &&
               (reinterpret_cast<u64>(t.c) | t.ldc * sizeof(Out)) % pair == 0;
    }

    __device__ __forceinline__ void store(Unit (&acc)[4][8]) const {
        const int g = lane / 4, two = lane % 4 * 2, top = i0 + warp / 2 * 64, left = j0 + warp % 2 * 64;
        if (whole()) {
#pragma unroll
            for (int m = 0; m < 4; m++) {
#pragma unroll
                for (int y = 0; y < 2; y++) {
                    Out *c = static_cast<Out *>(t.c) + static_cast<u64>(top + m * 16 + g + y * 8) * t.ldc + left + two;
#pragma unroll
                    for (int x = 0; x < 8; x++) acc[m][x].store_two(y, c + 8 * x);
                }
            }
            return;
        }
        Unit kept[4][8];
#pragma unroll
        for (int m = 0; m < 4; m++)
#pragma unroll
            for (int x = 0; x < 8; x++) kept[m][x] = acc[m][x];
#pragma unroll 1
        for (int e = 0; e < 16; e++) {
            const int m = e / 4, y = e % 4, i = top + m * 16 + g + y / 2 * 8, j = left + two + y % 2;
            if (i >= t.rows) continue;
            Out *c = static_cast<Out *>(t.c) + static_cast<u64>(i) * t.ldc + j;
#pragma unroll
            for (int x = 0; x < 8; x++)
                if (j + 8 * x < t.n) kept[m][x].store(y, t.alpha, t.beta, c + 8 * x);
        }
    }

    __device__ __forceinline__ void run() {
        Unit acc[4][8];
#pragma unroll
        for (int m = 0; m < 4; m++)
#pragma unroll
            for (int x = 0; x < 8; x++) acc[m][x].zero();
        const u32 end = ring + RING * STAGE;
        u32 now = ring, ahead = ring;
        for (int s = 0; s < RING - 1; s++, ahead += STAGE) {
            if (s < t.stages) copy_stage(ahead);
            commit();
        }
#pragma unroll 1
        for (int s = 0; s < t.stages; s++) {
            wait_all_but<RING - 2>();
            // Every warp has left stage s - 1, which is filled next.
            __syncthreads();
            if (s + RING - 1 < t.stages) copy_stage(ahead);
            commit();
            multiply(now, acc);
            now = now + STAGE == end ? ring : now + STAGE;
            ahead = ahead + STAGE == end ? ring : ahead + STAGE;
        }
        store(acc);
    }
};

#define KERNEL(NAME, UNIT, OUT)                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const TwoFour t) {     \
        extern __shared__ __align__(128) char shared[];                                \
        Block<UNIT, OUT>(t, shared).run();                                            \
    }
KERNEL(two_four_tf32_f32, Tf32Unit, float)
KERNEL(two_four_f16_f32, F16Unit, float)
KERNEL(two_four_f16_f16, F16Unit, F16)
KERNEL(two_four_f16_sum, F16SumUnit, F16)
KERNEL(two_four_bf16_f32, Bf16Unit, float)
KERNEL(two_four_bf16_bf16, Bf16Unit, Bf16)
