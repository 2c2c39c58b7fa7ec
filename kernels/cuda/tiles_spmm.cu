// SpMM on windows of 8 rows: 8 x 8 bitmap tiles on tensor cores (tiles_ring.cuh), other entries on FP32 cores, in one launch.
// RSH-SpMM (RS-Tile: tiles and residual rows) and Libra (tiles and a rest in the same rows) are both of this form.
//
//   item   a chain of tiles [begin, end)  and  neighbouring rows, or 8 row slots {dest, rest begin, rest end}
//          one warp x 8 * CW columns; the four warps of a block take four items that follow one another
//   team   2 to 4 items of one block whose chains follow one another in a window: their sums are added in shared memory, ascending
//   dest   a row of C (scaled there), a row of the workspace (high bit set), or none (all bits)
//
// Rests see other lanes than tiles: with u = lane / 8 and q = lane % 8, a lane reads, adds and writes piece q of rows 2u and
// 2u + 1. Eight neighbouring lanes are what the first-level cache takes at once, so they must ask for one line, not for four.
// Sources: RSH-SpMM, sections 3.2 and 3.3; Libra, sections 4.2 to 4.4.

static const u32 WORKSPACE = 0x80000000u; // set in a destination that is a row of the workspace

struct RowSlot {
    u32 dest, begin, end;
};
SIZE_OF(RowSlot, 12);

// What a warp does. TEAM: warps of this block, one after another, have parts of one window, whose sums they add in that order.
struct Item {
    u32 begin, end; // tiles, at most MOST
    u32 dest;       // the first of `rows` neighbouring rows, or where there are slots their number
    u32 how;        // rows (4 bits), warps of the team (3 bits), the place in it (2 bits), SLOTTED, TEAM
};
SIZE_OF(Item, 16);
static const u32 SLOTTED = 1u << 16, TEAM = 1u << 17;

// The lane's columns of one row of B, as stored.
template <class E, int CW> struct Gathered {
    u32 word[CW / E::PER_WORD];
};

// The lane's columns of B: where they begin. Past n they are some others, which are never stored.
template <class E, int CW, bool VECTOR>
__device__ __forceinline__ const char* piece(const Dense& d, u32 n0, u32 q) {
    u32 c = n0 + E::template column<CW>(q, 0);
    return (const char*)d.b + sizeof(typename E::Stored) * (VECTOR && c >= d.n ? 0 : c);
}

// The lane's columns of a row of B, or -0 where there is no row. VECTOR: the host sees to it that a row has less than 2^32
// bytes, so that one multiplication of 32 bits finds it.
template <class E, int CW, bool VECTOR>
__device__ __forceinline__ Gathered<E, CW> gather(const char* at, const Dense& d, u32 col, u32 n0, u32 q) {
    typedef typename E::Stored Stored;
    const int WORDS = CW / E::PER_WORD, STEP = WORDS < 4 ? WORDS : 4;
    Gathered<E, CW> row;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) row.word[i] = E::MINUS_ZERO;
    if (col == PAD) return row;
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
                rows[r][i] = gather<E, CW, VECTOR>(b, d, c, n0, q);
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

// Four columns of one row: to the workspace as they are, to C scaled.
template <bool VECTOR> __device__ __forceinline__ void store(float4 v, const Dense& d, u32 dest, u32 c) {
    bool partial = dest & WORKSPACE;
    float* row = partial ? d.workspace + (u64)(dest & ~WORKSPACE) * d.ldw : d.c + (u64)dest * d.ldc;
    if (VECTOR && c < d.n && d.n - c >= 4) {
        if (!partial && !(d.alpha == 1.0f && d.beta == 0.0f)) {
            float4 out = d.beta != 0.0f ? *(const float4*)(row + c) : v;
            finish(v.x, d.alpha, d.beta, &out.x), finish(v.y, d.alpha, d.beta, &out.y);
            finish(v.z, d.alpha, d.beta, &out.z), finish(v.w, d.alpha, d.beta, &out.w);
            v = out;
        }
        *(float4*)(row + c) = v;
    } else {
        const float sum[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            if (c + j >= d.n) continue;
            if (partial) row[c + j] = sum[j];
            else finish(sum[j], d.alpha, d.beta, row + c + j);
        }
    }
}

// Neighbouring rows: the sums of the team's warps in ascending order, each by one of its lanes.
template <class E, int CW, bool VECTOR>
__device__ __forceinline__ void finish_rows(Ring<E, CW>* team, const Dense& d, u32 dest, u32 rows, u32 warps, u32 place, u32 n0, u32 lane) {
    for (u32 e = 32 * place + lane; e < 16 * CW; e += 32 * warps) {
        u32 row = e / (2 * CW), chunk = e % (2 * CW), at = Ring<E, CW>::sum_at(row, chunk);
        float4 sum = team[0].sums()[at];
        for (u32 w = 1; w < warps; ++w) {
            float4 v = team[w].sums()[at];
            sum.x = __fadd_rn(sum.x, v.x), sum.y = __fadd_rn(sum.y, v.y);
            sum.z = __fadd_rn(sum.z, v.z), sum.w = __fadd_rn(sum.w, v.w);
        }
        if (row < rows) store<VECTOR>(sum, d, dest + row, n0 + 4 * chunk);
    }
}

// BOTH: a row takes its sum from tiles and rest (Libra), tiles + rest; else from one of them (RS-Tile).
template <class E, int CW, bool VECTOR, bool BOTH>
__device__ __forceinline__ void item(const Matrix& m, const Dense& d, u32 items, u32 chunk) {
    __shared__ Ring<E, CW> rings[4];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 groups = (items + 3) / 4, index = 4 * (blockIdx.x % groups) + warp;
    u32 n0 = blockIdx.x / groups * 8 * CW;
    if (index >= items) return;
    uint4 work = __ldg((const uint4*)(m.items + index));
    Ring<E, CW>& ring = rings[warp];
    float acc[CW / 2][4];
#pragma unroll
    for (int j = 0; j < CW / 2; ++j) acc[j][0] = acc[j][1] = acc[j][2] = acc[j][3] = 0;
    if (work.x < work.y) Tiles<E, CW, VECTOR>(ring, m, d, n0, lane).run(acc, m, work.x, work.y);
    if (!(work.w & SLOTTED)) {
        deposit<E, CW>(ring, acc, lane);
        if (work.w & TEAM) __syncthreads();
        else __syncwarp();
        u32 warps = work.w >> 4 & 7, place = work.w >> 7 & 3;
        finish_rows<E, CW, VECTOR>(rings + warp - place, d, work.z, work.w & 15, warps, place, n0, lane);
        return;
    }
    u32 u = lane / 8, q = lane % 8;
    if (BOTH) deposit<E, CW>(ring, acc, lane), __syncwarp();
    const RowSlot* own = m.row_slots + 8 * (u64)work.z + 2 * u;
    RowSlot slot[2] = {own[0], own[1]};
    const int PART = CW < 8 ? CW : 8; // more columns at a time would take more registers than there are
#pragma unroll 1
    for (u32 part = 0; part < 8 * CW && n0 + part < d.n; part += 8 * PART) {
        float sum[2][PART];
        rest<E, PART, VECTOR, BOTH>(sum, m, d, slot, chunk, n0 + part, lane);
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int i = 0; i < PART; i += 4) {
                u32 c = part + E::template column<PART>(q, i);
                float4 v = make_float4(sum[r][i], sum[r][i + 1], sum[r][i + 2], sum[r][i + 3]);
                if (BOTH && !(slot[r].dest & WORKSPACE)) {
                    float4 w = ring.sums()[ring.sum_at(2 * u + r, c / 4)]; // +0 without tiles, which makes a rest of -0 one of +0
                    v = make_float4(__fadd_rn(w.x, v.x), __fadd_rn(w.y, v.y), __fadd_rn(w.z, v.z), __fadd_rn(w.w, v.w));
                }
                if (slot[r].dest != PAD) store<VECTOR>(v, d, slot[r].dest, n0 + c);
            }
    }
}

#define KERNEL(NAME, E, CW, VECTOR, BOTH, PER_SM)                                                                       \
    extern "C" __global__ void __launch_bounds__(128, PER_SM)                                                          \
        NAME(Matrix m, Dense d, u32 items, u32 chunk) {                                                                \
        item<E, CW, VECTOR, BOTH>(m, d, items, chunk);                                                                 \
    }

// Blocks that an SM shall have room for: as many as registers (docs/cuda-kernels.md) and shared memory allow without spills.
KERNEL(rsh_tf32_32, OnTf32, 4, true, false, 10)
KERNEL(rsh_tf32_64, OnTf32, 8, true, false, 7)
KERNEL(rsh_tf32_any, OnTf32, 4, false, false, 8)
KERNEL(rsh_f16_32, OnF16, 4, true, false, 10)
KERNEL(rsh_f16_64, OnF16, 8, true, false, 9)
KERNEL(rsh_f16_128, OnF16, 16, true, false, 7)
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
            if (from + q < count) copy<4>(shared_at(&slots[(from + q) % SLOTS][threadIdx.x]), at + (from + q) * step);
        commit();
    }

    // Many, up to SLOTS of them under way. Each thread has slots of its own: there is no barrier, and those past n have returned.
    __device__ __forceinline__ float many(float (*slots)[128]) const {
        float sum = -0.0f;
#pragma unroll
        for (u32 from = 0; from < SLOTS; from += GROUP) ask(slots, from);
        for (u32 from = 0; from < count; from += GROUP) {
            wait_all_but<SLOTS / GROUP - 1>();
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
