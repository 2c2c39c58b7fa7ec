// 2:4 times dense by wgmma.mma_async.sp, for sm_90a: C (rows x n) = A * B, B row-major, elements of 16 bits.
//
//   one block: 128 columns, and 128 rows for each of its GROUPS of four warps      one instruction: 64 rows x 128 columns x 32
//
//   a stage of shared memory, RING of them, filled by cp.async: two instructions along k
//     B         [64 columns, 2 of them][64 rows][8 chunks of 16 bytes], chunk c of row k at c ^ k % 8: the swizzle of 128 bytes
//     A         for each group [step 2][row block of 16, 8 of them][lane][4]    as it lies in memory: the order of registers
//     metadata  behind it      [step 2][row block of 16, 8 of them][lane]
//
// A goes through registers, which the matrix unit takes faster than from shared memory, and which wgmma owns until it is waited for:
// two sets of them, and an even number of stages, since the assembler gives up overlapping products where a branch stands between them. B is what the unit reads itself, on the way of fence.proxy.async. While stage s is multiplied, stage s + 1 waits at
// the barrier; the slot of s - 2, which every group has left, is filled with s + RING - 2. A block takes one tile of C after another: while
// one is stored, the first stages of the next one come.
//
// The sum of an element is that of two_four.cu: the oracle's table has one row for both instructions.
// PTX ISA 9.1: wgmma 9.7.15, sparse 9.7.15.6, descriptors 9.7.15.5.1.

constexpr int TM = 128, TN = 128, STEPS = 2, K = 32;
// In 16 bytes: registers of A in one step, and with their metadata those of a stage.
constexpr int A_STEP = 8 * 32, E_STEP = 2 * 32, A_CHUNKS = STEPS * (A_STEP + E_STEP);
// In bytes: a stage of B, of 64 columns of it, and of 8 rows of those.
constexpr int B_STAGE = STEPS * K * TN * 2, B_PART = B_STAGE / 2, B_ROWS = 8 * 128;

#define FLOAT_STEP                                                                                                                       \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"            \
    "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, " \
    "{%64,%65,%66,%67}, %68, %69, 0, 1, 1, 1, 1;"                                                                                        \
    : "+f"(d[0].acc[0]), "+f"(d[0].acc[1]), "+f"(d[0].acc[2]), "+f"(d[0].acc[3]),                                                        \
      "+f"(d[1].acc[0]), "+f"(d[1].acc[1]), "+f"(d[1].acc[2]), "+f"(d[1].acc[3]),                                                        \
      "+f"(d[2].acc[0]), "+f"(d[2].acc[1]), "+f"(d[2].acc[2]), "+f"(d[2].acc[3]),                                                        \
      "+f"(d[3].acc[0]), "+f"(d[3].acc[1]), "+f"(d[3].acc[2]), "+f"(d[3].acc[3]),                                                        \
      "+f"(d[4].acc[0]), "+f"(d[4].acc[1]), "+f"(d[4].acc[2]), "+f"(d[4].acc[3]),                                                        \
      "+f"(d[5].acc[0]), "+f"(d[5].acc[1]), "+f"(d[5].acc[2]), "+f"(d[5].acc[3]),                                                        \
      "+f"(d[6].acc[0]), "+f"(d[6].acc[1]), "+f"(d[6].acc[2]), "+f"(d[6].acc[3]),                                                        \
      "+f"(d[7].acc[0]), "+f"(d[7].acc[1]), "+f"(d[7].acc[2]), "+f"(d[7].acc[3]),                                                        \
      "+f"(d[8].acc[0]), "+f"(d[8].acc[1]), "+f"(d[8].acc[2]), "+f"(d[8].acc[3]),                                                        \
      "+f"(d[9].acc[0]), "+f"(d[9].acc[1]), "+f"(d[9].acc[2]), "+f"(d[9].acc[3]),                                                        \
      "+f"(d[10].acc[0]), "+f"(d[10].acc[1]), "+f"(d[10].acc[2]), "+f"(d[10].acc[3]),                                                    \
      "+f"(d[11].acc[0]), "+f"(d[11].acc[1]), "+f"(d[11].acc[2]), "+f"(d[11].acc[3]),                                                    \
      "+f"(d[12].acc[0]), "+f"(d[12].acc[1]), "+f"(d[12].acc[2]), "+f"(d[12].acc[3]),                                                    \
      "+f"(d[13].acc[0]), "+f"(d[13].acc[1]), "+f"(d[13].acc[2]), "+f"(d[13].acc[3]),                                                    \
      "+f"(d[14].acc[0]), "+f"(d[14].acc[1]), "+f"(d[14].acc[2]), "+f"(d[14].acc[3]),                                                    \
      "+f"(d[15].acc[0]), "+f"(d[15].acc[1]), "+f"(d[15].acc[2]), "+f"(d[15].acc[3])                                                     \
    : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b), "r"(e)
#define HALF_STEP                                                                     \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                         \
    "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "              \
    "{%32,%33,%34,%35}, %36, %37, 0, 1, 1, 1, 1;"                                     \
    : "+r"(d[0].acc[0]), "+r"(d[0].acc[1]), "+r"(d[1].acc[0]), "+r"(d[1].acc[1]),     \
      "+r"(d[2].acc[0]), "+r"(d[2].acc[1]), "+r"(d[3].acc[0]), "+r"(d[3].acc[1]),     \
      "+r"(d[4].acc[0]), "+r"(d[4].acc[1]), "+r"(d[5].acc[0]), "+r"(d[5].acc[1]),     \
      "+r"(d[6].acc[0]), "+r"(d[6].acc[1]), "+r"(d[7].acc[0]), "+r"(d[7].acc[1]),     \
      "+r"(d[8].acc[0]), "+r"(d[8].acc[1]), "+r"(d[9].acc[0]), "+r"(d[9].acc[1]),     \
      "+r"(d[10].acc[0]), "+r"(d[10].acc[1]), "+r"(d[11].acc[0]), "+r"(d[11].acc[1]), \
      "+r"(d[12].acc[0]), "+r"(d[12].acc[1]), "+r"(d[13].acc[0]), "+r"(d[13].acc[1]), \
      "+r"(d[14].acc[0]), "+r"(d[14].acc[1]), "+r"(d[15].acc[0]), "+r"(d[15].acc[1])  \
    : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b), "r"(e)

struct F16Group {
    typedef F16 In;
    typedef FloatSums Sums;
    __device__ __forceinline__ static void step(FloatSums (&d)[16], uint4 a, u64 b, u32 e) {
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16 " FLOAT_STEP);
    }
};
struct Bf16Group {
    typedef Bf16 In;
    typedef FloatSums Sums;
    __device__ __forceinline__ static void step(FloatSums (&d)[16], uint4 a, u64 b, u32 e) {
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.bf16.bf16 " FLOAT_STEP);
    }
};
struct F16SumGroup {
    typedef F16 In;
    typedef HalfSums Sums;
    __device__ __forceinline__ static void step(HalfSums (&d)[16], uint4 a, u64 b, u32 e) {
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n128k32.f16.f16.f16 " HALF_STEP);
    }
};

// Registers of A and metadata of a stage, of both blocks of 64 rows.
struct Fragments {
    uint4 a[STEPS][2];
    u32 e[STEPS][2];
};

template <typename Group, typename Out, int GROUPS> struct Block {
    typedef typename Group::In In;
    typedef typename Group::Sums Sums;
    static constexpr int RING = GROUPS == 2 ? 5 : 4, THREADS = GROUPS * 128, STAGE = B_STAGE + GROUPS * A_CHUNKS * 16;
    // Rows of B that all threads copy at once.
    static constexpr int AT_ONCE = THREADS / 16;

    const TwoFour &t;
    u32 ring;
    int lane, warp, group, i0, j0;
    const uint4 *from_a;
    const char *from_b;
    int row, bytes;
    u32 to_b;

    __device__ __forceinline__ Block(const TwoFour &t, const char *shared) : t(t), ring(shared_at(shared)) {
        lane = threadIdx.x % 32;
        warp = threadIdx.x / 32 % 4;
        group = threadIdx.x / 128;
    }

    __device__ __forceinline__ int blocks() const { return (t.rows + TM - 1) / TM; }
    __device__ __forceinline__ int high() const { return (blocks() + GROUPS - 1) / GROUPS; }
    __device__ __forceinline__ int wide() const { return (t.n + TN - 1) / TN; }

    // Goes to a tile of C.
    __device__ __forceinline__ void start(int tile) {
        raster<8>(tile, high(), wide(), i0, j0);
        i0 = i0 * GROUPS + group;
        // The second group of the last block may have no rows: it multiplies those of the first, and stores nothing.
        from_a = t.a + static_cast<u64>(min(i0, blocks() - 1)) * t.stages * A_CHUNKS + threadIdx.x % 128;
        i0 *= TM;
        j0 *= TN;
        row = threadIdx.x / 16;
        const int part = threadIdx.x / 8 % 2, chunk = threadIdx.x % 8, column = j0 + part * 64 + chunk * 8;
        bytes = max(0, min(8, t.n - column)) * 2;
        from_b = reinterpret_cast<const char *>(static_cast<const In *>(t.b) + row * t.ldb + (bytes > 0 ? column : 0));
        to_b = part * B_PART + row * 128 + (chunk ^ (row & 7)) * 16;
    }

    __device__ __forceinline__ void copy_stage(u32 to) {
        const u64 pitch = AT_ONCE * t.ldb * 2;
#pragma unroll
        for (int x = 0; x < STEPS * K / AT_ONCE; x++) {
            // Past the end of B nothing is read: the address is that of its first row.
            const bool there = row < t.k;
            copy16(to + to_b + x * AT_ONCE * 128, there ? from_b : static_cast<const char *>(t.b), there ? bytes : 0);
            from_b += pitch;
            row += AT_ONCE;
        }
        const u32 to_a = to + B_STAGE + (group * A_CHUNKS + threadIdx.x % 128) * 16;
#pragma unroll
        for (int x = 0; x < A_CHUNKS / 128; x++) copy<16>(to_a + x * 128 * 16, from_a + x * 128);
        from_a += A_CHUNKS;
    }

    __device__ __forceinline__ void load(Fragments &f, u32 stage) const {
        const u32 from_a = stage + B_STAGE + group * A_CHUNKS * 16, from_e = from_a + STEPS * A_STEP * 16;
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                f.a[step][h] = load16(from_a + (step * A_STEP + (h * 4 + warp) * 32 + lane) * 16);
                f.e[step][h] = load4(from_e + step * E_STEP * 16 + ((h * 4 + warp) * 32 + lane) * 4);
            }
        }
    }

    // Stage s, which lies at `now`; the slot `ahead` is filled. All but this stage's products are done at the end.
    __device__ __forceinline__ void multiply(Fragments &f, Sums (&acc)[2][16], int s, u32 &now, u32 &ahead) {
        wait_all_but<RING - 3>();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        load(f, now);
        // Columns 64 further are B_PART further, rows of k 8 further B_ROWS.
        const u64 b = (now & 0x3ffff) >> 4 | static_cast<u64>(B_PART >> 4) << 16 | static_cast<u64>(B_ROWS >> 4) << 32 | 1ull << 62;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
#pragma unroll
            for (int h = 0; h < 2; h++) Group::step(acc[h], f.a[step][h], b + (step * K * 128 >> 4), f.e[step][h]);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (s + RING - 2 < t.stages) copy_stage(ahead);
        commit();
        const u32 end = ring + RING * STAGE;
        now = now + STAGE == end ? ring : now + STAGE;
        ahead = ahead + STAGE == end ? ring : ahead + STAGE;
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }

    // As in two_four.cu: C = A * B where the group's 128 x 128 are there and pairs lie at multiples of their size, else a loop over rows of
    // a copy in local memory.
    __device__ __forceinline__ bool whole(int i0, int j0) const {
        const u64 pair = 2 * sizeof(Out);
        return t.alpha == 1.0f && t.beta == 0.0f && i0 + TM <= t.rows && j0 + TN <= t.n &&
               (reinterpret_cast<u64>(t.c) | t.ldc * sizeof(Out)) % pair == 0;
    }

    __device__ __forceinline__ void store(Sums (&acc)[2][16], int i0, int j0) const {
        const int two = lane % 4 * 2, top = i0 + warp * 16 + lane / 4;
        if (whole(i0, j0)) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
#pragma unroll
                for (int y = 0; y < 2; y++) {
                    Out *c = static_cast<Out *>(t.c) + static_cast<u64>(top + h * 64 + y * 8) * t.ldc + j0 + two;
#pragma unroll
                    for (int x = 0; x < 16; x++) acc[h][x].store_two(y, c + 8 * x);
                }
            }
            return;
        }
        Sums kept[2][16];
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int x = 0; x < 16; x++) kept[h][x] = acc[h][x];
#pragma unroll 1
        for (int e = 0; e < 8; e++) {
            const int h = e / 4, y = e % 4, i = top + h * 64 + y / 2 * 8, j = j0 + two + y % 2;
            if (i >= t.rows) continue;
            Out *c = static_cast<Out *>(t.c) + static_cast<u64>(i) * t.ldc + j;
#pragma unroll
            for (int x = 0; x < 16; x++)
                if (j + 8 * x < t.n) kept[h][x].store(y, t.alpha, t.beta, c + 8 * x);
        }
    }

    // The first stages of a tile, into the slots from `to` on.
    __device__ __forceinline__ u32 fill(u32 to) {
        const u32 end = ring + RING * STAGE;
        for (int s = 0; s < RING - 2; s++) {
            if (s < t.stages) copy_stage(to);
            commit();
            to = to + STAGE == end ? ring : to + STAGE;
        }
        return to;
    }

    __device__ __forceinline__ void run() {
        const int tiles = high() * wide();
        start(blockIdx.x);
        u32 now = ring, ahead = fill(ring);
#pragma unroll 1
        for (int tile = blockIdx.x; tile < tiles;) {
            Sums acc[2][16];
#pragma unroll
            for (int h = 0; h < 2; h++)
#pragma unroll
                for (int x = 0; x < 16; x++) acc[h][x].zero();
            Fragments even, odd;
#pragma unroll 1
            for (int s = 0; s < t.stages; s += 2) {
                multiply(even, acc, s, now, ahead);
                multiply(odd, acc, s + 1, now, ahead);
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            // While this tile is stored, the next one comes: to RING - 2 slots, not to those of the last two stages, which other warps may
            // still read.
            const int top = i0, left = j0;
            tile += gridDim.x;
            if (tile < tiles) {
                start(tile);
                ahead = fill(now);
            }
            store(acc, top, left);
        }
    }
};

#define KERNEL(NAME, GROUP, OUT, GROUPS)                                                   \
    extern "C" __global__ void __launch_bounds__(GROUPS * 128, 3 - GROUPS) NAME(const TwoFour t) { \
        extern __shared__ __align__(1024) char shared[];                                   \
        Block<GROUP, OUT, GROUPS>(t, shared).run();                                        \
    }
#define KERNELS(TYPES, GROUP, OUT)                 \
    KERNEL(two_four_group1_##TYPES, GROUP, OUT, 1) \
    KERNEL(two_four_group2_##TYPES, GROUP, OUT, 2)
KERNELS(f16_f32, F16Group, float)
KERNELS(f16_f16, F16Group, F16)
KERNELS(f16_sum, F16SumGroup, F16)
KERNELS(bf16_f32, Bf16Group, float)
KERNELS(bf16_bf16, Bf16Group, Bf16)
