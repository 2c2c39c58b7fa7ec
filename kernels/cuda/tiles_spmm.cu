// SpMM on windows of 8 rows: 8 x 8 bitmap tiles on tensor cores, other entries on FP32 cores, in one launch.
// RSH-SpMM (RS-Tile: tiles and residual rows) and Libra (tiles and a rest in the same rows) are both of this form.
//
//   item   tiles [begin, end)  and, where there is a rest, 8 row slots {dest, rest begin, rest end}    one warp x 8 * CW columns
//   dest   a row of C (scaled there), a row of the workspace (high bit set), or none (all bits)
//
// Swap and transpose: a tile S (8 rows x 8 slots) is operand B of the instruction (n = row, k = slot), 16 columns of the
// dense operand are operand A (m = column, k = slot). With g = lane / 4 and t = lane % 4, the labels m and k are chosen so
// that a lane reads and writes 16 bytes at a time; k = 8 products are one fused sum on sm_90, so their order is free.
//
//   tf32  slot 2t is k = t, slot 2t + 1 is k = t + 4;   f16  slots 2t, 2t + 1 are k = 2t, 2t + 1
//   column 2j (of the lane's CW) is m = g of instruction j, column 2j + 1 is m = g + 8
//   result  c0 (row 2t, column 2j)  c1 (row 2t + 1, 2j)  c2 (row 2t, 2j + 1)  c3 (row 2t + 1, 2j + 1)
//
// Memory sees other lanes: with u = lane / 8 and q = lane % 8, a lane reads, adds and writes piece q of rows 2u and 2u + 1. Eight
// neighbouring lanes are what the first-level cache takes at once, so they must ask for one line, not for four. Operands and
// results change lanes by shuffles, 8t + g for (g, t) and back.
//
// Every lane of a warp reaches every instruction: volatile keeps it out of branches that only some of them take.
//
// The lane decodes bits 2 * lane and 2 * lane + 1 of the bitmap: row g, slots 2t and 2t + 1, by counting the bits below.
// Sources: RSH-SpMM, sections 3.2 and 3.3 (Algorithm 2); Libra, sections 4.2 to 4.4; PTX ISA 9.1, 9.7.14.5.

static const u32 PAD = 0xffffffffu;      // a column that faces nothing, or a slot without a destination
static const u32 WORKSPACE = 0x80000000u; // set in a destination that is a row of the workspace

struct RowSlot {
    u32 dest, begin, end;
};
SIZE_OF(RowSlot, 12);

// 64 bytes that name everything a warp needs to start: the gathers of the first tile wait for one load.
struct Item {
    u32 begin, end; // tiles
    u32 dest, rows; // the first of `rows` neighbouring rows, where there are no slots
    u32 low, high;  // of the first tile: its bitmap, the offset of its values, its columns
    u32 base;
    u32 slots; // number of its eight row slots, or PAD
    u32 col[8];
};
SIZE_OF(Item, 64);

// Columns, the bitmap (bit 8 * row + slot) in two halves, the offset of the first value.
struct Tile {
    u32 col[8];
    u32 low, high, base, none;
};
SIZE_OF(Tile, 48);

// The matrix, as the host prepared it.
struct Matrix {
    const Item* items;
    const RowSlot* row_slots; // 8 per item that has them
    const Tile* tiles;
    const void* values; // of tiles, in the order of the bits
    const u32* rest_col;
    const void* rest_values;
};
SIZE_OF(Matrix, 48); OFFSET_OF(Matrix, items, 0); OFFSET_OF(Matrix, row_slots, 8); OFFSET_OF(Matrix, tiles, 16);
OFFSET_OF(Matrix, values, 24); OFFSET_OF(Matrix, rest_col, 32); OFFSET_OF(Matrix, rest_values, 40);

__device__ __forceinline__ float rna(float x) { return __uint_as_float(tf32_rna(x)); }

// Half a unit added to what is finite: the instruction drops the low 13 bits of an operand, and with them what rna would.
__device__ __forceinline__ u32 half_up(u32 x) {
    return x + (fabsf(__uint_as_float(x)) < __uint_as_float(0x7f800000u) ? 0x1000u : 0);
}

// f32 storage: B is rounded to tf32 here, values were by the host. A lane of CW columns has float4 at 4g of every 32 columns.
struct OnTf32 {
    typedef float Stored;
    static const u32 PER_WORD = 1;
    static const u32 MINUS_ZERO = 0x80000000u;
    static __device__ __forceinline__ float number(float x) { return x; }
    static __device__ __forceinline__ u32 bits(float x) { return __float_as_uint(x); }
    static __device__ __forceinline__ float stored(u32 bits) { return __uint_as_float(bits); }
    template <int CW> static __device__ __forceinline__ u32 column(u32 g, u32 i) { return 32 * (i / 4) + 4 * g + i % 4; }
    // Column i of a gathered row, ready for an FMA.
    static __device__ __forceinline__ float at(const u32* words, u32 i) { return rna(__uint_as_float(words[i])); }
    static __device__ __forceinline__ void multiply(float* c, const u32* x, const u32* y, int j, float s0, float s1) {
        u32 a0 = half_up(x[2 * j]), a1 = half_up(x[2 * j + 1]), a2 = half_up(y[2 * j]), a3 = half_up(y[2 * j + 1]);
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(__float_as_uint(s0)), "r"(__float_as_uint(s1)));
    }
};

// f16 storage, two to a word. A lane has CW consecutive columns, at CW * g.
struct OnF16 {
    typedef u16 Stored;
    static const u32 PER_WORD = 2;
    static const u32 MINUS_ZERO = 0x80008000u;
    static __device__ __forceinline__ float number(u16 x) { return f16_to_f32(x); }
    static __device__ __forceinline__ u32 bits(u16 x) { return x; }
    static __device__ __forceinline__ u16 stored(u32 bits) { return (u16)bits; }
    template <int CW> static __device__ __forceinline__ u32 column(u32 g, u32 i) { return CW * g + i; }
    static __device__ __forceinline__ float at(const u32* words, u32 i) { return f16_to_f32((u16)(words[i / 2] >> (16 * (i % 2)))); }
    static __device__ __forceinline__ void multiply(float* c, const u32* x, const u32* y, int j, u16 s0, u16 s1) {
        u32 a0 = __byte_perm(x[j], y[j], 0x5410), a1 = __byte_perm(x[j], y[j], 0x7632);
        u32 b = (u32)s0 | (u32)s1 << 16;
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a0), "r"(a1), "r"(b));
    }
};

// The lane's columns of one row of B, as stored.
template <class E, int CW> struct Gathered {
    u32 word[CW / E::PER_WORD];
};

// B and C as the kernel sees them: row-major. VECTOR: rows start at multiples of 16 bytes, so that reading past n to the
// next multiple stays inside the row; what is read there is never stored.
struct Dense {
    const void* b;
    u64 ldb;
    float* c;
    u64 ldc;
    float* workspace;
    u64 ldw;
    u32 n;
    float alpha, beta;
};
SIZE_OF(Dense, 64); OFFSET_OF(Dense, b, 0); OFFSET_OF(Dense, ldb, 8); OFFSET_OF(Dense, c, 16);
OFFSET_OF(Dense, ldc, 24); OFFSET_OF(Dense, workspace, 32); OFFSET_OF(Dense, ldw, 40); OFFSET_OF(Dense, n, 48);
OFFSET_OF(Dense, alpha, 52); OFFSET_OF(Dense, beta, 56);

// The lane's columns of B: where they begin. Past n they are some others, which are never stored.
template <class E, int CW, bool VECTOR>
__device__ __forceinline__ const char* piece(const Dense& d, u32 n0, u32 q) {
    u32 c = n0 + E::template column<CW>(q, 0);
    return (const char*)d.b + sizeof(typename E::Stored) * (VECTOR && c >= d.n ? 0 : c);
}

// The lane's columns of a row of B, or `fill` in every word where there is no row. VECTOR: the host sees to it that a row has
// less than 2^32 bytes, so that one multiplication of 32 bits finds it.
template <class E, int CW, bool VECTOR, bool CHECKED>
__device__ __forceinline__ Gathered<E, CW> gather(const char* at, const Dense& d, u32 col, u32 n0, u32 q, u32 fill) {
    typedef typename E::Stored Stored;
    const int WORDS = CW / E::PER_WORD, STEP = WORDS < 4 ? WORDS : 4;
    Gathered<E, CW> row;
    if (CHECKED || !VECTOR) {
#pragma unroll
        for (int i = 0; i < WORDS; ++i) row.word[i] = fill;
    }
    if (CHECKED && col == PAD) return row;
    if (VECTOR) {
        at += (u64)col * (u32)(d.ldb * sizeof(Stored));
#pragma unroll
        for (int i = 0; i < WORDS; i += STEP) {
            u32 off = sizeof(Stored) * E::template column<CW>(0, i * E::PER_WORD);
            if (i > 0 && n0 + E::template column<CW>(q, i * E::PER_WORD) >= d.n) off = 0;
            if (STEP == 4) {
                uint4 v = __ldg((const uint4*)(at + off));
                row.word[i] = v.x, row.word[i + 1] = v.y, row.word[(i + 2) % WORDS] = v.z, row.word[(i + 3) % WORDS] = v.w;
            } else {
                uint2 v = __ldg((const uint2*)(at + off));
                row.word[i] = v.x, row.word[i + 1] = v.y;
            }
        }
    } else {
        const Stored* from = (const Stored*)d.b + (u64)col * d.ldb;
#pragma unroll
        for (int i = 0; i < CW; ++i) {
            u32 c = n0 + E::template column<CW>(q, i), shift = 16 * (i % E::PER_WORD);
            u32 number = c < d.n ? E::bits(__ldg(from + c)) : 0;
            u32& word = row.word[i / E::PER_WORD];
            word = E::PER_WORD == 1 ? number : (word & ~(0xffffu << shift)) | number << shift;
        }
    }
    return row;
}

// What a lane needs of a tile: the columns of slots 2u and 2u + 1, and what the values are found by. Loaded one tile before
// the gather that waits for it.
struct Meta {
    u32 col0, col1, low, high, base;
};

__device__ __forceinline__ Meta load_meta(const Matrix& m, u32 tile, u32 u) {
    const Tile* at = m.tiles + tile;
    uint2 cols = __ldg((const uint2*)at->col + u);
    uint4 rest = __ldg((const uint4*)&at->low);
    return {cols.x, cols.y, rest.x, rest.y, rest.z};
}

template <class E> struct Pair {
    typename E::Stored first, second;
};

template <class E> __device__ __forceinline__ Pair<E> decode(const Matrix& m, const Meta& meta, u32 lane) {
    u32 shift = 2 * lane & 31, below = (1u << shift) - 1;
    bool upper = lane >= 16;
    u32 here = (upper ? meta.high : meta.low) >> shift & 3;
    u32 before = __popc(meta.low & (upper ? 0xffffffffu : below)) + __popc(meta.high & (upper ? below : 0));
    const typename E::Stored* at = (const typename E::Stored*)m.values + ((u64)meta.base + before);
    Pair<E> s = {0, 0};
    if (here & 1) s.first = __ldg(at);
    if (here & 2) s.second = __ldg(at + (here & 1));
    return s;
}

// The operands of one tile as the lane loads them.
template <class E, int CW> struct Operands {
    Gathered<E, CW> x, y;
    Pair<E> s;
};

// LAST: of a window's tiles only the last has slots without a column.
template <class E, int CW, bool VECTOR, bool LAST>
__device__ __forceinline__ Operands<E, CW> fetch(const Matrix& m, const Dense& d, const char* b, const Meta& meta, u32 n0, u32 lane) {
    u32 q = lane % 8;
    return {gather<E, CW, VECTOR, LAST>(b, d, meta.col0, n0, q, 0), gather<E, CW, VECTOR, LAST>(b, d, meta.col1, n0, q, 0),
            decode<E>(m, meta, lane)};
}

// To the lanes of the instruction, and through it.
template <class E, int CW> __device__ __forceinline__ void multiply(float (*acc)[4], const Operands<E, CW>& now, u32 lane) {
    u32 from = 8 * (lane % 4) + lane / 4;
    Gathered<E, CW> x, y;
#pragma unroll
    for (int i = 0; i < (int)(CW / E::PER_WORD); ++i) {
        x.word[i] = __shfl_sync(0xffffffffu, now.x.word[i], from);
        y.word[i] = __shfl_sync(0xffffffffu, now.y.word[i], from);
    }
#pragma unroll
    for (int j = 0; j < CW / 2; ++j) E::multiply(acc[j], x.word, y.word, j, now.s.first, now.s.second);
}

// One chain of instructions over the tiles [begin, end), which are at least one. The next tile is named while this one is
// gathered; what hides the gathers is other warps, so registers are worth more than tiles in flight (two and three of them,
// measured on an H200, made the kernel slower).
template <class E, int CW, bool VECTOR>
__device__ __forceinline__ void tiles(float (*acc)[4], const Matrix& m, const Dense& d, const Meta& first, u32 begin, u32 end,
                                      u32 n0, u32 lane) {
    const char* b = piece<E, CW, VECTOR>(d, n0, lane % 8);
    u32 u = lane / 8;
    Meta next = first;
    Operands<E, CW> now = fetch<E, CW, VECTOR, true>(m, d, b, next, n0, lane);
    if (end - begin > 1) next = load_meta(m, begin + 1, u);
    for (;; ++begin) {
        u32 left = end - begin;
        multiply<E, CW>(acc, now, lane);
        if (left > 2) now = fetch<E, CW, VECTOR, false>(m, d, b, next, n0, lane);
        else if (left == 2) now = fetch<E, CW, VECTOR, true>(m, d, b, next, n0, lane);
        if (left > 2) next = load_meta(m, begin + 2, u);
        if (left == 1) return;
    }
}

// The rests of rows 2u and 2u + 1: FMA chains of `chunk` entries (a multiple of AHEAD) from +0, whose sums are added in ascending
// order. The eight lanes of a group load AHEAD entries of both rows, and all of them read each. What there is no entry for is
// 0 * -0: adding -0 changes nothing. PIECES: else a rest is one chain.
template <class E, int CW, bool VECTOR, bool PIECES>
__device__ __forceinline__ void rest(float (*total)[CW], const Matrix& m, const Dense& d, const RowSlot* slot, u32 chunk,
                                     u32 n0, u32 lane) {
    typedef typename E::Stored Stored;
    const u32 AHEAD = 2;
    const Stored* values = (const Stored*)m.rest_values;
    const char* b = piece<E, CW, VECTOR>(d, n0, lane % 8);
    u32 u = lane / 8, q = lane % 8;
    bool second = q / AHEAD & 1;
    u32 len[2] = {slot[0].end - slot[0].begin, slot[1].end - slot[1].begin};
    u32 from = (second ? slot[1].begin : slot[0].begin) + q % AHEAD, to = second ? slot[1].end : slot[0].end;
    u32 longest = __reduce_max_sync(0xffffffffu, len[0] > len[1] ? len[0] : len[1]);
    float sum[2][CW];
#pragma unroll
    for (int i = 0; i < CW; ++i) sum[0][i] = sum[1][i] = total[0][i] = total[1][i] = 0;
    u32 col = PAD, next_col = PAD;
    Stored value = 0, next_value = 0;
    if (from < to) next_col = __ldg(m.rest_col + from), next_value = __ldg(values + from);
    u32 start = 0; // of the chains that run
    for (u32 e = 0; e < longest; e += AHEAD) {
        col = next_col, value = next_value, next_col = PAD, next_value = 0;
        if (to > from && to - from > AHEAD) from += AHEAD, next_col = __ldg(m.rest_col + from), next_value = __ldg(values + from);
        else from = to;
        if (PIECES && e - start == chunk) {
#pragma unroll
            for (u32 r = 0; r < 2; ++r)
#pragma unroll
                for (int i = 0; i < CW; ++i) {
                    if (len[r] > start) total[r][i] = start == 0 ? sum[r][i] : __fadd_rn(total[r][i], sum[r][i]);
                    sum[r][i] = 0;
                }
            start = e;
        }
        Gathered<E, CW> rows[2][AHEAD];
        float a[2][AHEAD];
#pragma unroll
        for (u32 i = 0; i < AHEAD; ++i)
#pragma unroll
            for (u32 r = 0; r < 2; ++r) {
                u32 c = __shfl_sync(0xffffffffu, col, 8 * u + AHEAD * r + i);
                rows[r][i] = gather<E, CW, VECTOR, true>(b, d, c, n0, q, E::MINUS_ZERO);
                a[r][i] = E::number(E::stored(__shfl_sync(0xffffffffu, E::bits(value), 8 * u + AHEAD * r + i)));
            }
#pragma unroll
        for (u32 i = 0; i < AHEAD; ++i)
#pragma unroll
            for (u32 r = 0; r < 2; ++r)
#pragma unroll
                for (int w = 0; w < CW; ++w) sum[r][w] = __fmaf_rn(a[r][i], E::at(rows[r][i].word, w), sum[r][w]);
    }
#pragma unroll
    for (u32 r = 0; r < 2; ++r)
#pragma unroll
        for (int i = 0; i < CW; ++i)
            if (!PIECES || len[r] > start) total[r][i] = !PIECES || start == 0 ? sum[r][i] : __fadd_rn(total[r][i], sum[r][i]);
}

// CW columns of one row: to the workspace as they are, to C scaled.
template <class E, int CW, bool VECTOR>
__device__ __forceinline__ void store(const float* sum, const Dense& d, u32 dest, u32 n0, u32 q) {
    bool partial = dest & WORKSPACE;
    float* row = partial ? d.workspace + (u64)(dest & ~WORKSPACE) * d.ldw : d.c + (u64)dest * d.ldc;
#pragma unroll
    for (int i = 0; i < CW; i += 4) {
        u32 c = n0 + E::template column<CW>(q, i);
        if (VECTOR && c < d.n && d.n - c >= 4) {
            float4 v = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
            if (!partial && !(d.alpha == 1.0f && d.beta == 0.0f)) {
                float4 out = d.beta != 0.0f ? *(const float4*)(row + c) : v;
                finish(v.x, d.alpha, d.beta, &out.x), finish(v.y, d.alpha, d.beta, &out.y);
                finish(v.z, d.alpha, d.beta, &out.z), finish(v.w, d.alpha, d.beta, &out.w);
                v = out;
            }
            *(float4*)(row + c) = v;
        } else {
#pragma unroll
            for (u32 j = 0; j < 4; ++j) {
                if (c + j >= d.n) continue;
                if (partial) row[c + j] = sum[i + j];
                else finish(sum[i + j], d.alpha, d.beta, row + c + j);
            }
        }
    }
}

// A load that the compiler does not take for one before it.
__device__ __forceinline__ uint4 load_again(const uint4* at) {
    uint4 v;
    asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at));
    return v;
}

// BOTH: a row takes its sum from tiles and rest (Libra), tiles + rest; else from one of them (RS-Tile).
template <class E, int CW, bool VECTOR, bool BOTH>
__device__ __forceinline__ void item(const Matrix& m, const Dense& d, u32 items, u32 warps_per_item, u32 chunk) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, u = lane / 8, q = lane % 8;
    u32 index = blockIdx.x * (blockDim.x / 32 / warps_per_item) + warp / warps_per_item;
    u32 n0 = (blockIdx.y * warps_per_item + warp % warps_per_item) * 8 * CW;
    if (index >= items || n0 >= d.n) return; // whole warps only
    const uint4* words = (const uint4*)(m.items + index);
    float acc[CW / 2][4], sum[2][CW];
#pragma unroll
    for (int j = 0; j < CW / 2; ++j) acc[j][0] = acc[j][1] = acc[j][2] = acc[j][3] = 0;
    bool has_tiles;
    {
        uint4 work = __ldg(words), tile = __ldg(words + 1);
        uint2 cols = __ldg((const uint2*)(words + 2) + u);
        Meta first = {cols.x, cols.y, tile.x, tile.y, tile.z};
        has_tiles = work.x < work.y;
        if (has_tiles) tiles<E, CW, VECTOR>(acc, m, d, first, work.x, work.y, n0, lane);
    }
    // Read again, rather than kept in registers meanwhile.
    uint4 work = load_again(words);
    u32 slots = load_again(words + 1).w;
    bool has_slots = slots != PAD;
    RowSlot slot[2] = {{PAD, 0, 0}, {PAD, 0, 0}};
    if (has_slots) {
        const RowSlot* own = m.row_slots + 8 * (u64)slots + 2 * u;
        slot[0] = own[0], slot[1] = own[1];
    } else {
        if (2 * u < work.w) slot[0].dest = work.z + 2 * u;
        if (2 * u + 1 < work.w) slot[1].dest = work.z + 2 * u + 1;
    }
    // Only Libra has both in one item.
    if (has_slots && (BOTH || !has_tiles)) rest<E, CW, VECTOR, BOTH>(sum, m, d, slot, chunk, n0, lane);
    if (BOTH || !has_slots) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            bool add = BOTH && !(slot[r].dest & WORKSPACE);
#pragma unroll
            for (int i = 0; i < CW; ++i) {
                float of_tiles = __shfl_sync(0xffffffffu, acc[i / 2][2 * (i % 2) + r], 4 * q + u);
                float of_rest = has_slots ? sum[r][i] : 0.0f;
                sum[r][i] = add ? __fadd_rn(of_tiles, of_rest) : has_tiles || !has_slots ? of_tiles : of_rest;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
        if (slot[r].dest != PAD) store<E, CW, VECTOR>(sum[r], d, slot[r].dest, n0, q);
}

#define KERNEL(NAME, E, CW, VECTOR, BOTH, PER_SM)                                                                       \
    extern "C" __global__ void __launch_bounds__(128, PER_SM)                                                          \
        NAME(Matrix m, Dense d, u32 items, u32 warps_per_item, u32 chunk) {                                            \
        item<E, CW, VECTOR, BOTH>(m, d, items, warps_per_item, chunk);                                                 \
    }

// Blocks that an SM shall have room for, as measured on an H200. 7 cost rsh_tf32_64 two registers on sm_90 (more
// on sm_80 and sm_89: docs/cuda-kernels.md), and 6 cost it an eighth of its speed.
KERNEL(rsh_tf32_32, OnTf32, 4, true, false, 10)
KERNEL(rsh_tf32_64, OnTf32, 8, true, false, 7)
KERNEL(rsh_tf32_any, OnTf32, 4, false, false, 8)
KERNEL(rsh_f16_32, OnF16, 4, true, false, 10)
KERNEL(rsh_f16_64, OnF16, 8, true, false, 9)
KERNEL(rsh_f16_any, OnF16, 4, false, false, 8)
KERNEL(libra_tf32_32, OnTf32, 4, true, true, 9)
KERNEL(libra_tf32_64, OnTf32, 8, true, true, 5)
KERNEL(libra_tf32_any, OnTf32, 4, false, true, 6)
KERNEL(libra_f16_32, OnF16, 4, true, true, 9)
KERNEL(libra_f16_64, OnF16, 8, true, true, 5)
KERNEL(libra_f16_any, OnF16, 4, false, true, 6)

// A row of C whose sums are in the workspace: `tiles` rows of it from `tile`, 8 apart, then `rests` from `rest`.
struct CutRow {
    u32 row, tile, tiles, rest, rests;
};
SIZE_OF(CutRow, 20);

// Slots of shared memory for sums under way, and how many are asked for together.
static const u32 SLOTS = 32, GROUP = 8;

// `count` sums of an element, `step` floats apart.
struct Partials {
    const float* at;
    u64 step;
    u32 count;

    // Up to SLOTS: sixteen at a time in registers.
    __device__ __forceinline__ float few() const {
        const u32 AHEAD = 16;
        float sum = -0.0f; // adding it changes nothing
        for (u32 i = 0; i < count; i += AHEAD) {
            float part[AHEAD];
#pragma unroll
            for (u32 q = 0; q < AHEAD; ++q) part[q] = count - i > q ? at[(i + q) * step] : -0.0f;
#pragma unroll
            for (u32 q = 0; q < AHEAD; ++q) sum = __fadd_rn(sum, part[q]);
        }
        return sum;
    }

    __device__ __forceinline__ void ask(float (*slots)[128], u32 from) const {
#pragma unroll
        for (u32 q = 0; q < GROUP; ++q)
            if (from + q < count) {
                u32 slot = (u32)__cvta_generic_to_shared(&slots[(from + q) % SLOTS][threadIdx.x]);
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(slot), "l"(at + (from + q) * step) : "memory");
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    // Many, up to SLOTS of them under way. Each thread has slots of its own: there is no barrier, and those past n have returned.
    __device__ __forceinline__ float many(float (*slots)[128]) const {
        float sum = -0.0f;
#pragma unroll
        for (u32 from = 0; from < SLOTS; from += GROUP) ask(slots, from);
        for (u32 from = 0; from < count; from += GROUP) {
            asm volatile("cp.async.wait_group %0;" ::"n"(SLOTS / GROUP - 1) : "memory");
#pragma unroll
            for (u32 q = 0; q < GROUP; ++q)
                if (from + q < count) sum = __fadd_rn(sum, slots[(from + q) % SLOTS][threadIdx.x]);
            ask(slots, from + SLOTS);
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        return sum;
    }

    __device__ __forceinline__ float sum(float (*slots)[128]) const {
        return count == 0 ? 0.0f : count <= SLOTS ? few() : many(slots);
    }
};

// The second pass: partial sums in ascending order, one thread a column. It makes the result independent of who came first.
extern "C" __global__ void __launch_bounds__(128) tiles_finish(const CutRow* rows, Dense d, u32 both) {
    __shared__ float slots[SLOTS][128];
    CutRow r = rows[blockIdx.x];
    u32 column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= d.n) return;
    float tile = Partials{d.workspace + r.tile * d.ldw + column, 8 * d.ldw, r.tiles}.sum(slots);
    float other = Partials{d.workspace + r.rest * d.ldw + column, d.ldw, r.rests}.sum(slots);
    float sum = both ? plus(tile, other) : r.tiles ? tile : other;
    finish(sum, d.alpha, d.beta, d.c + (u64)r.row * d.ldc + column);
}

// alpha = 0: C = beta * C, and nothing else is read.
extern "C" __global__ void __launch_bounds__(128) scale_c(float* c, u64 ldc, u32 n, float beta) {
    u32 column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= n) return;
    finish(0.0f, 0.0f, beta, c + (u64)blockIdx.x * ldc + column);
}
