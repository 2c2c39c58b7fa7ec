// N:M times dense on the matrix unit: C (cols of W x n) = W^T * B, W vector-wise N:M, B row-major, in tf32, f16 or bf16.
//
//   one block: 128 or 256 columns of W x 128 of B      one warp: 32 columns of W x 64 (tf32) or 128 columns of B
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
// 32 + 4 g + x of B. Chunks of 16 bytes are exchanged by the row's number, so that rows do not share banks; what number 0 is
// exchanged for comes with the row's place in d.
//
// W comes in the order of the registers that hold it: [u / k][column / 8][lane][2], by way of shared memory. Past the end of W
// all is 0, and d names the row of zeros behind the list. tf32 has twice the warps for its registers: it rounds what it gathers,
// and others multiply meanwhile. PTX ISA 9.0: mma 9.7.14.5, ldmatrix 9.7.14.5.15, cp.async 9.7.9.25.

struct NmMma {
    const void *b;       // k x n, row-major, ldb; 16-byte aligned rows
    const char *w;       // [block][slice]: registers, [ws / K][TN / 8][32][2], then d, groups x ws: byte of the row + exchange
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
    static constexpr int K = 8, SIDES = 2, PARTS = 8 / SIDES;
    float acc[4];

    __device__ __forceinline__ void zero() { acc[0] = acc[1] = acc[2] = acc[3] = 0.0f; }
    __device__ __forceinline__ void step(const u32 (&a)[4], uint2 b) { mma_tf32(acc, a, b.x, b.y); }
    template <typename Out> __device__ __forceinline__ void store(int x, float alpha, float beta, Out *c) const {
        finish(acc[x], alpha, beta, c);
    }
    // The chunk that number 0 of a row is exchanged for: `exchange` of the host (kernels/src/cuda/nm/mma.rs).
    __device__ __forceinline__ static int swizzle(u32 row) { return (row & 3) << 1 | (row >> 2 & 1); }
    // Column of B, of the warp's, of row `half` * 8 + g of the instruction for part m.
    __device__ __forceinline__ static int column(int m, int half, int g) { return half * 32 + 4 * g + m; }
    // Where the rows are that this lane loads of K rows of W, from the start of the slice.
    struct Rows { u32 at[2]; };
    __device__ __forceinline__ static Rows rows(u32 d, int lane) { return {{load4(d + lane % 4 * 4), load4(d + lane % 4 * 4 + 16)}}; }
    // Operand A of all parts; `from` is the warp's first column in the first row of the slice, a multiple of 128.
    __device__ __forceinline__ static void gather(u32 (&a)[PARTS][4], u32 from, Rows rows, int lane) {
#pragma unroll
        for (int x = 0; x < 2; x++) {
            const u32 at = from + (rows.at[x] ^ lane / 4 * 16);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const uint4 v = load16(at + half * 128);
                const int y = 2 * x + half;
                a[0][y] = tf32_operand(__uint_as_float(v.x)), a[1][y] = tf32_operand(__uint_as_float(v.y));
                a[2][y] = tf32_operand(__uint_as_float(v.z)), a[3][y] = tf32_operand(__uint_as_float(v.w));
            }
        }
    }
    // A row of C where all of it is there: of the parts, four columns lie together.
    static constexpr u64 TOGETHER = 16;
    __device__ __forceinline__ static void store_row(const Tf32Unit (&acc)[PARTS][4], int x, int y, int g, float *c) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int z = 2 * half + y;
            *reinterpret_cast<float4 *>(c + column(0, half, g)) =
                make_float4(acc[0][x].acc[z], acc[1][x].acc[z], acc[2][x].acc[z], acc[3][x].acc[z]);
        }
    }
};

template <typename Type> struct HalfUnit {
    typedef Type In;
    static constexpr int K = 16, SIDES = 1, PARTS = 8 / SIDES;
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
    __device__ __forceinline__ static Rows rows(u32 d, int lane) { return {load4(d + (lane / 16 * 8 + lane % 8) * 4)}; }
    __device__ __forceinline__ static void gather(u32 (&a)[PARTS][4], u32 from, Rows rows, int lane) {
        const u32 at = from + (rows.at ^ lane / 8 % 2 * 16);
#pragma unroll
        for (int m = 0; m < PARTS; m++) {
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(a[m][0]), "=r"(a[m][1]), "=r"(a[m][2]), "=r"(a[m][3])
                         : "r"((at ^ m % 4 * 32) + m / 4 * 128)
                         : "memory");
        }
    }
    static constexpr u64 TOGETHER = 1;
    template <typename Out>
    __device__ __forceinline__ static void store_row(const HalfUnit (&acc)[PARTS][4], int x, int y, int g, Out *c) {
#pragma unroll
        for (int m = 0; m < PARTS; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) leave(acc[m][x].acc[2 * half + y], c[column(m, half, g)]);
    }
};

template <int GROUPS, typename Unit, typename Out> struct Block {
    typedef typename Unit::In In;
    static constexpr int TN = 32 * GROUPS, WARPS = GROUPS * Unit::SIDES, THREADS = 32 * WARPS, PARTS = Unit::PARTS;
    static constexpr int ROW = TM * sizeof(In), CHUNKS = ROW / 16, EACH = 16 / sizeof(In);
    static constexpr int AT_ONCE = 32 / CHUNKS;      // rows of B that a warp copies at once
    static constexpr int STEP = WARPS * AT_ONCE;     // and a block

    const NmMma &t;
    u32 shared, stage_bytes;
    int warp, lane, i0, j0;
    // The warp's first column of the block's in B, and in W.
    int side, mine;
    // What the thread copies next: its part of W and d, and the number of a row that its warp copies.
    const char *w;
    const int *list;
    int r;

    __device__ __forceinline__ Block(const NmMma &t, const char *at) : t(t), shared(shared_at(at)) {
        lane = threadIdx.x % 32;
        warp = threadIdx.x / 32;
        side = warp % Unit::SIDES * 16 * PARTS;
        mine = warp / Unit::SIDES * 32;
        stage_bytes = ((t.cap + 1) * ROW + w_bytes() + 127) / 128 * 128;
        int block;
        raster<16>((t.n + TM - 1) / TM, (t.cols + TN - 1) / TN, i0, block);
        i0 *= TM;
        j0 = block * TN;
        w = t.w + static_cast<u64>(block) * t.slices * w_bytes() + threadIdx.x * 16;
        r = lane / AT_ONCE * STEP + warp * AT_ONCE + lane % AT_ONCE;
        list = t.rows + static_cast<u64>(block) * t.slices * t.cap + r;
    }

    // A stage: B (cap rows and the one of zeros), then W and d. All in bytes.
    __device__ __forceinline__ u32 only_w_bytes() const { return t.ws * TN * static_cast<u32>(sizeof(In)); }
    __device__ __forceinline__ u32 w_bytes() const { return only_w_bytes() + t.ws * t.groups * 4; }
    // The group of instruction x of the warp, counted from the block's first.
    __device__ __forceinline__ int group(int x) const { return (j0 + mine + 8 * x) / t.len - j0 / t.len; }

    __device__ __forceinline__ void fill_zero() const {
        for (int s = 0; s < STAGES; s++) {
            const u32 row = shared + s * stage_bytes + t.cap * ROW;
            for (int i = threadIdx.x; i < ROW / 4; i += THREADS) asm volatile("st.shared.u32 [%0], 0;" ::"r"(row + i * 4) : "memory");
        }
    }

    // The rows that this warp copies of the next slice: lane p holds number p of them, -1 where there are fewer.
    __device__ __forceinline__ int listed() {
        const int row = r < t.cap ? *list : -1;
        list += t.cap;
        return row;
    }

    // Of d a thread copies what is left behind the whole turns of the block.
    __device__ __forceinline__ void copy_slice(u32 stage, int rows) {
        if (i0 + TM <= t.n) copy_rows<true>(stage, rows);
        else copy_rows<false>(stage, rows);
        constexpr int TURN = 16 * THREADS;
        u32 to = stage + (t.cap + 1) * ROW + threadIdx.x * 16;
        const char *from = w;
        int left = static_cast<int>(w_bytes()) - static_cast<int>(threadIdx.x) * 16;
        w += w_bytes();
#pragma unroll 1
        for (; left > 3 * TURN; left -= 4 * TURN, from += 4 * TURN, to += 4 * TURN) {
#pragma unroll
            for (int x = 0; x < 4; x++) copy<16>(to + x * TURN, from + x * TURN);
        }
#pragma unroll 1
        for (; left > 0; left -= TURN, from += TURN, to += TURN) copy<16>(to, from);
    }

    // STEP is a multiple of the 8 rows after which the exchange of chunks repeats. Four rows at once, so that their addresses wait
    // for one another's shuffles together; behind the last row of the list all are -1.
    template <bool WHOLE> __device__ __forceinline__ void copy_rows(u32 to, int rows) const {
        const u64 pitch = t.ldb * sizeof(In);
        const int first = warp * AT_ONCE + lane / CHUNKS, left = lane % CHUNKS * EACH;
        const int bytes = WHOLE ? 16 : max(0, min(EACH, t.n - i0 - left)) * static_cast<int>(sizeof(In));
        const char *b = reinterpret_cast<const char *>(static_cast<const In *>(t.b) + (bytes > 0 ? i0 + left : 0));
        to += first * ROW + (lane % CHUNKS ^ Unit::swizzle(first)) * 16;
#pragma unroll 1
        for (int x = 0; x * STEP < t.cap; x += 4, to += 4 * STEP * ROW) {
#pragma unroll
            for (int y = 0; y < 4; y++) {
                const int row = __shfl_sync(~0u, rows, (x + y) * AT_ONCE + lane / CHUNKS);
                const char *from = b + static_cast<u32>(row) * pitch;
                copy16_listed<WHOLE>(row, to + y * STEP * ROW, from, bytes);
            }
        }
    }

    // `only` is the group of all instructions, -1 where there are several.
    __device__ __forceinline__ void multiply(u32 stage, int only, Unit (&acc)[PARTS][4]) const {
        const u32 from = stage + side * static_cast<u32>(sizeof(In));
        u32 w = stage + (t.cap + 1) * ROW;
        u32 d_at = w + only_w_bytes();
        w += (mine * 4 + lane) * 8;
        if (only >= 0) {
            d_at += only * t.ws * 4;
            typename Unit::Rows rows = Unit::rows(d_at, lane);
#pragma unroll 1
            for (int u = 0; u < t.ws; u += Unit::K, w += TN * 32) {
                u32 a[PARTS][4];
                Unit::gather(a, from, rows, lane);
                rows = Unit::rows(d_at + (u + Unit::K < t.ws ? u + Unit::K : 0) * 4, lane);
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    const uint2 now = load8(w + x * 256);
#pragma unroll
                    for (int m = 0; m < PARTS; m++) acc[m][x].step(a[m], now);
                }
            }
        } else {
            // Vectors shorter than 32 columns: each instruction may have rows of its own.
            const u32 d_of[4] = {d_at + group(0) * t.ws * 4, d_at + group(1) * t.ws * 4, d_at + group(2) * t.ws * 4,
                                 d_at + group(3) * t.ws * 4};
#pragma unroll 1
            for (int u = 0; u < t.ws; u += Unit::K, w += TN * 32) {
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    u32 a[PARTS][4];
                    Unit::gather(a, from, Unit::rows(d_of[x] + u * 4, lane), lane);
                    const uint2 now = load8(w + x * 256);
#pragma unroll
                    for (int m = 0; m < PARTS; m++) acc[m][x].step(a[m], now);
                }
            }
        }
    }

    // C = W^T * B where all that the warp has is there. The general case is apart from it, and a loop over rows of a copy in local
    // memory: unrolled whole it was most of the kernel, more than the cache of instructions holds.
    __device__ __forceinline__ bool whole() const {
        return t.alpha == 1.0f && t.beta == 0.0f && i0 + TM <= t.n && j0 + mine + 32 <= t.cols &&
               (reinterpret_cast<u64>(t.c) | t.ldc * sizeof(Out)) % Unit::TOGETHER == 0;
    }

    __device__ __forceinline__ void store(const Unit (&acc)[PARTS][4]) const {
        const int g = lane / 4, first = j0 + mine + lane % 4 * 2;
        if (whole()) {
#pragma unroll
            for (int x = 0; x < 4; x++) {
#pragma unroll
                for (int y = 0; y < 2; y++) {
                    const u64 row = static_cast<u64>(first + 8 * x + y) * t.ldc;
                    Unit::store_row(acc, x, y, g, static_cast<Out *>(t.c) + row + i0 + side);
                }
            }
            return;
        }
        Unit kept[PARTS][4];
#pragma unroll
        for (int m = 0; m < PARTS; m++)
#pragma unroll
            for (int x = 0; x < 4; x++) kept[m][x] = acc[m][x];
#pragma unroll 1
        for (int e = 0; e < 16; e++) {
            const int x = e / 4, y = e % 4, j = first + 8 * x + y % 2;
            if (j >= t.cols) continue;
            Out *c = static_cast<Out *>(t.c) + static_cast<u64>(j) * t.ldc;
#pragma unroll
            for (int m = 0; m < PARTS; m++) {
                const int i = i0 + side + Unit::column(m, y / 2, g);
                if (i < t.n) kept[m][x].store(y, t.alpha, t.beta, c + i);
            }
        }
    }

    __device__ __forceinline__ void run() {
        Unit acc[PARTS][4];
#pragma unroll
        for (int m = 0; m < PARTS; m++)
#pragma unroll
            for (int x = 0; x < 4; x++) acc[m][x].zero();
        fill_zero();
        const int only = group(0) == group(3) ? group(0) : -1;
        if (t.slices > 0) copy_slice(shared, listed());
        commit();
        int rows = t.slices > 1 ? listed() : -1;
        u32 now = shared, next = shared + stage_bytes;
#pragma unroll 1
        for (int s = 0; s < t.slices; s++) {
            wait_all_but<0>();
            // Every warp has left slice s - 1, whose stage is filled next.
            __syncthreads();
            if (s + 1 < t.slices) copy_slice(next, rows);
            commit();
            if (s + 2 < t.slices) rows = listed();
            multiply(now, only, acc);
            const u32 other = now;
            now = next, next = other;
        }
        store(acc);
    }
};

#define KERNEL(NAME, GROUPS, PER_SM, UNIT, OUT)                                                                \
    extern "C" __global__ void __launch_bounds__(32 * GROUPS * UNIT::SIDES, PER_SM) NAME(const NmMma t) {      \
        extern __shared__ __align__(128) char shared[];                                                        \
        Block<GROUPS, UNIT, OUT>(t, shared).run();                                                             \
    }
#define KERNELS(NAME, UNIT, OUT)            \
    KERNEL(NAME, 4, 2, UNIT, OUT)           \
    KERNEL(NAME##_wide, 8, 1, UNIT, OUT)
KERNELS(nm_tf32_f32, Tf32Unit, float)
KERNELS(nm_f16_f32, HalfUnit<F16>, float)
KERNELS(nm_f16_f16, HalfUnit<F16>, F16)
KERNELS(nm_bf16_f32, HalfUnit<Bf16>, float)
KERNELS(nm_bf16_bf16, HalfUnit<Bf16>, Bf16)
