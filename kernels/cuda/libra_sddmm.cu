// Libra SDDMM: 8 x 16 blocks of S on tensor cores, single entries on FP32 cores, in one launch.
//
//   out[position] = alpha * (X row . Y row) at every stored position of S          X: m x k, Y: n x k, rows of both in one piece
//
// A block has 8 rows of S and 16 of its columns. Swapped: the 16 gathered rows of Y are operand A (m = column of the block),
// 8 rows of X are operand B (n = row). With g = lane / 4 and t = lane % 4 a lane reads 16 bytes, four words, of X row g and
// of Y rows g and g + 8 from every sixteen words along k. Instruction 0 takes words 0..8 and instruction 1 words 8..16, so
// that the chain ascends; lanes t and t ^ 2 exchange two words for that:
//
//   loaded     t = 0: 0 1 2 3     t = 1: 4 5 6 7     t = 2: 8 9 10 11    t = 3: 12 13 14 15
//   exchanged  0 1 | 8 9          4 5 | 12 13        2 3 | 10 11         6 7 | 14 15            instruction 0 | 1
//
// A word is one f32 (m16n8k8, tf32) or two f16 (m16n8k16). Which of the words 0..8 goes to which k of an instruction is
// free on sm_90, where the instruction is one fused sum. Results c0, c1: rows 2t, 2t + 1 at column g; c2, c3: at g + 8.
//
// The bit of (row r, column c) is 16 r + c: all four of a lane are in word t of the bitmap's four, and the number of set
// bits below one is the offset of its value (write-back by popcount). For some k the lane keeps its words of X for a
// whole segment, and those of Y for the next block are loaded while this one is multiplied.
//
// Single entries: a warp takes 32 of them, brings sixteen elements of all their rows into shared memory at a time, the next
// sixteen being on their way, and each lane runs the FMA chain of its entry.
// Source: Libra (seeds of the paper: sections 4.2 to 4.4); PTX ISA 9.1, 9.7.14.5.

static const u32 PAD = 0xffffffffu;

// Consecutive blocks of one window, and what there is to know of the first: where lanes keep X, a warp waits for one load from
// memory before it asks for rows of X and Y and for the positions of its results, not for one after another.
struct Segment {
    u32 row, begin, end, value_ptr;
    u32 bitmap[4];
    u32 col[16];
};
SIZE_OF(Segment, 96);

// S, as the host prepared it.
struct Pattern {
    const Segment* segments;
    const u32* bitmap;    // four words per block
    const u32* value_ptr; // per block
    const u32* block_col; // 16 per block
    const float* values;
    const u32* position;
    const u32* rest_row;
    const u32* rest_col;
    const float* rest_values;
    const u32* rest_position;
    u32 rows, segment_count, rest_count;
};
SIZE_OF(Pattern, 96); OFFSET_OF(Pattern, segments, 0); OFFSET_OF(Pattern, bitmap, 8);
OFFSET_OF(Pattern, value_ptr, 16); OFFSET_OF(Pattern, block_col, 24); OFFSET_OF(Pattern, values, 32);
OFFSET_OF(Pattern, position, 40); OFFSET_OF(Pattern, rest_row, 48); OFFSET_OF(Pattern, rest_col, 56);
OFFSET_OF(Pattern, rest_values, 64); OFFSET_OF(Pattern, rest_position, 72); OFFSET_OF(Pattern, rows, 80);
OFFSET_OF(Pattern, segment_count, 84); OFFSET_OF(Pattern, rest_count, 88);

struct Operands {
    const void* x;
    u64 ldx;
    const void* y;
    u64 ldy;
    float* out;
    u32 k, mode; // 0: the pattern only, 1: times S, 2: plus beta * S
    float alpha, beta;
};
SIZE_OF(Operands, 56); OFFSET_OF(Operands, x, 0); OFFSET_OF(Operands, ldx, 8); OFFSET_OF(Operands, y, 16);
OFFSET_OF(Operands, ldy, 24); OFFSET_OF(Operands, out, 32); OFFSET_OF(Operands, k, 40); OFFSET_OF(Operands, mode, 44);
OFFSET_OF(Operands, alpha, 48); OFFSET_OF(Operands, beta, 52);

struct OnTf32 {
    typedef float Stored;
    static const u32 PER_WORD = 1;
    static __device__ __forceinline__ u32 bits(float x) { return __float_as_uint(x); }
    static __device__ __forceinline__ u32 operand(u32 word) { return half_up(word); }
    static __device__ __forceinline__ float part(const u32* words, u32 i) { return enter(Tf32{words[i]}); }
    static __device__ __forceinline__ void multiply(float* c, const u32* a, const u32* b) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

struct OnF16 {
    typedef u16 Stored;
    static const u32 PER_WORD = 2;
    static __device__ __forceinline__ u32 bits(u16 x) { return x; }
    static __device__ __forceinline__ u32 operand(u32 word) { return word; }
    static __device__ __forceinline__ float part(const u32* words, u32 i) { return f16_to_f32((u16)(words[i / 2] >> (16 * (i % 2)))); }
    static __device__ __forceinline__ void multiply(float* c, const u32* a, const u32* b) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

struct Words {
    u32 word[4];
};

// Four words of a row from element `at` on, zero past k. VECTOR: rows start at multiples of 16 bytes and `at` is one of
// four words, so that the words are inside the row's leading dimension if the first is. FULL: all of them are before k. Nothing
// may look at a word here then: a load would be waited for before the next one is sent.
template <class E, bool VECTOR, bool FULL>
__device__ __forceinline__ Words four_words(const typename E::Stored* row, u32 at, u32 k) {
    Words w = {{0, 0, 0, 0}};
    if (row == 0 || (!FULL && at >= k)) return w;
    if (VECTOR) {
        uint4 v = __ldg((const uint4*)(row + at));
        w.word[0] = v.x, w.word[1] = v.y, w.word[2] = v.z, w.word[3] = v.w;
#pragma unroll
        for (u32 i = 0; i < 4 && !FULL; ++i) {
            u32 left = at + i * E::PER_WORD < k ? k - at - i * E::PER_WORD : 0;
            if (left == 0) w.word[i] = 0;
            else if (left < E::PER_WORD) w.word[i] &= 0xffffu;
        }
    } else {
#pragma unroll
        for (u32 i = 0; i < 4 * E::PER_WORD; ++i)
            if (at + i < k) w.word[i / E::PER_WORD] |= E::bits(__ldg(row + at + i)) << (i % E::PER_WORD * 16);
    }
    return w;
}

// Words for instruction 0 in [0], [1] and for instruction 1 in [2], [3].
__device__ __forceinline__ Words exchanged(const Words& w, u32 t) {
    bool low = t < 2;
    u32 a = __shfl_xor_sync(0xffffffffu, low ? w.word[2] : w.word[0], 2);
    u32 b = __shfl_xor_sync(0xffffffffu, low ? w.word[3] : w.word[1], 2);
    Words e = {{low ? w.word[0] : a, low ? w.word[1] : b, low ? a : w.word[2], low ? b : w.word[3]}};
    return e;
}

// alpha * sum, and what the mode adds: each step rounded, factors of 1 multiply nothing.
__device__ __forceinline__ float finished(const Operands& o, float sum, const float* s) {
    float y = o.alpha == 1.0f ? sum : __fmul_rn(o.alpha, sum);
    if (o.mode == 1) return __fmul_rn(y, __ldg(s));
    if (o.mode == 2 && o.beta != 0.0f) return __fadd_rn(y, o.beta == 1.0f ? __ldg(s) : __fmul_rn(o.beta, __ldg(s)));
    return y;
}

// Where the results of a lane in one block go: PAD where nothing is stored.
struct Places {
    u32 at[4], to[4];
};

// `words`: the bitmap of the block, `first`: the number of its first value.
__device__ __forceinline__ Places places(const Pattern& s, const uint4& words, u32 first, u32 g, u32 t) {
    u32 word = t == 0 ? words.x : t == 1 ? words.y : t == 2 ? words.z : words.w;
    u32 base = first + (t > 0 ? __popc(words.x) : 0) + (t > 1 ? __popc(words.y) : 0) + (t > 2 ? __popc(words.z) : 0);
    Places p;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        u32 bit = 16 * (i & 1) + g + 8 * (i >> 1);
        p.at[i] = base + __popc(word & ((1u << bit) - 1));
        p.to[i] = word >> bit & 1 ? __ldg(s.position + p.at[i]) : PAD;
    }
    return p;
}

__device__ __forceinline__ uint4 four(const u32* at) { return __ldg((const uint4*)(const void*)at); }

__device__ __forceinline__ void write(const Pattern& s, const Operands& o, const Places& p, const float* c) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i)
        if (p.to[i] != PAD) o.out[p.to[i]] = finished(o, c[i], s.values + p.at[i]);
}

// Both instructions of one step: y and z are rows g and g + 8 of operand A, x is row g of B, all exchanged.
template <class E> __device__ __forceinline__ void step(float* c, const Words& x, const Words& y, const Words& z) {
#pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        u32 a[4] = {E::operand(y.word[2 * j]), E::operand(z.word[2 * j]), E::operand(y.word[2 * j + 1]),
                    E::operand(z.word[2 * j + 1])};
        E::multiply(c, a, x.word + 2 * j);
    }
}

// X, ready for the instruction.
template <class E> __device__ __forceinline__ Words prepared(const Words& x, u32 t) {
    Words w = exchanged(x, t);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) w.word[i] = E::operand(w.word[i]);
    return w;
}

// The row of Y that a column of a block names.
template <class E> __device__ __forceinline__ const typename E::Stored* row_of_y(const Operands& o, const u32* column) {
    u32 col = __ldg(column);
    return col == PAD ? 0 : (const typename E::Stored*)o.y + (u64)col * o.ldy;
}

// k of any length. DEPTH steps are on their way at a time.
template <class E, bool VECTOR, int DEPTH>
__device__ __forceinline__ void blocks(const Pattern& s, const Operands& o, u32 segment, u32 lane) {
    typedef typename E::Stored Stored;
    u32 g = lane / 4, t = lane % 4;
    const uint4 at = four(&s.segments[segment].row);
    const u32 STEP = 16 * E::PER_WORD, mine = 4 * E::PER_WORD * t, full = o.k / STEP * STEP;
    const Stored* x = at.x + g < s.rows ? (const Stored*)o.x + (u64)(at.x + g) * o.ldx : 0;
    for (u32 block = at.y; block < at.z; ++block) {
        const u32* columns = s.block_col + 16 * (u64)block;
        const Stored *y = row_of_y<E>(o, columns + g), *z = row_of_y<E>(o, columns + 8 + g);
        const uint4 bits = four(s.bitmap + 4 * (u64)block);
        const u32 first = __ldg(s.value_ptr + block);
        float c[4] = {0, 0, 0, 0};
        Words xs[DEPTH], ys[DEPTH], zs[DEPTH];
        auto load = [&](int i, u32 k0) {
            xs[i] = four_words<E, VECTOR, true>(x, k0 + mine, o.k);
            ys[i] = four_words<E, VECTOR, true>(y, k0 + mine, o.k);
            zs[i] = four_words<E, VECTOR, true>(z, k0 + mine, o.k);
        };
#pragma unroll
        for (int i = 0; i < DEPTH; ++i)
            if (i * STEP < full) load(i, i * STEP);
        Places p = places(s, bits, first, g, t);
        for (u32 k0 = 0; k0 < full;) {
#pragma unroll
            for (int i = 0; i < DEPTH; ++i) {
                if (k0 >= full) break;
                step<E>(c, prepared<E>(xs[i], t), exchanged(ys[i], t), exchanged(zs[i], t));
                if (full - k0 > DEPTH * STEP) load(i, k0 + DEPTH * STEP);
                k0 += STEP;
            }
        }
        if (full < o.k) {
            Words a = four_words<E, VECTOR, false>(x, full + mine, o.k), b = four_words<E, VECTOR, false>(y, full + mine, o.k),
                  e = four_words<E, VECTOR, false>(z, full + mine, o.k);
            step<E>(c, prepared<E>(a, t), exchanged(b, t), exchanged(e, t));
        }
        write(s, o, p, c);
    }
}

// k of KSTEPS steps, in rows that start at multiples of 16 bytes. DEPTH steps are on their way at a time, across blocks. Positions of
// results are asked for as early as can be, while there are registers to keep them in: eight steps of X leave none.
template <class E, int KSTEPS, int DEPTH>
__device__ __forceinline__ void held_blocks(const Pattern& s, const Operands& o, u32 segment, u32 lane) {
    typedef typename E::Stored Stored;
    const bool EARLY = KSTEPS < 8;
    u32 g = lane / 4, t = lane % 4;
    const Segment* seg = s.segments + segment;
    const uint4 at = four(&seg->row);
    uint4 bits = four(seg->bitmap);
    u32 first = at.w;
    const u32 STEP = 16 * E::PER_WORD, mine = 4 * E::PER_WORD * t;
    const Stored *y_row = row_of_y<E>(o, seg->col + g), *z_row = row_of_y<E>(o, seg->col + 8 + g);
    const Stored* row = at.x + g < s.rows ? (const Stored*)o.x + (u64)(at.x + g) * o.ldx : 0;
    Words x[KSTEPS], y[DEPTH], z[DEPTH];
#pragma unroll
    for (int i = 0; i < KSTEPS; ++i) x[i] = four_words<E, true, true>(row, mine + i * STEP, o.k);
#pragma unroll
    for (int i = 0; i < DEPTH; ++i) {
        y[i] = four_words<E, true, true>(y_row, mine + i * STEP, o.k);
        z[i] = four_words<E, true, true>(z_row, mine + i * STEP, o.k);
    }
    Places p;
    if (EARLY) p = places(s, bits, first, g, t);
#pragma unroll
    for (int i = 0; i < KSTEPS; ++i) x[i] = prepared<E>(x[i], t);
    for (u32 next = at.y + 1;; ++next) { // the block after that which is multiplied
        const Stored *next_y = 0, *next_z = 0;
        bool more = next < at.z;
        if (!EARLY) p = places(s, bits, first, g, t);
        if (more) {
            const u32* columns = s.block_col + 16 * (u64)next;
            next_y = row_of_y<E>(o, columns + g), next_z = row_of_y<E>(o, columns + 8 + g);
            if (EARLY) bits = four(s.bitmap + 4 * (u64)next), first = __ldg(s.value_ptr + next);
        }
        float c[4] = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < KSTEPS; ++i) {
            const int d = i % DEPTH, after = i + DEPTH;
            step<E>(c, x[i], exchanged(y[d], t), exchanged(z[d], t));
            if (after == KSTEPS) y_row = next_y, z_row = next_z;
            if (after < KSTEPS || more) {
                y[d] = four_words<E, true, true>(y_row, mine + after % KSTEPS * STEP, o.k);
                z[d] = four_words<E, true, true>(z_row, mine + after % KSTEPS * STEP, o.k);
            }
        }
        write(s, o, p, c);
        if (!more) return;
        if (EARLY) p = places(s, bits, first, g, t);
        else bits = four(s.bitmap + 4 * (u64)next), first = __ldg(s.value_ptr + next);
    }
}

static const u32 SLICE = 16; // elements along k of one pass through shared memory
static const u32 PITCH = 20; // floats from one row to the next there: eight rows of four are in different banks

// Four elements of a row as stored, zero past k.
template <class E, bool VECTOR>
__device__ __forceinline__ Words four_stored(const typename E::Stored* row, u32 at, u32 k) {
    Words w = {{0, 0, 0, 0}};
    if (row == 0 || at >= k) return w;
    if (VECTOR && E::PER_WORD == 1) {
        uint4 v = __ldg((const uint4*)(const void*)(row + at));
        w.word[0] = v.x, w.word[1] = v.y, w.word[2] = v.z, w.word[3] = v.w;
    } else if (VECTOR) {
        uint2 v = __ldg((const uint2*)(const void*)(row + at));
        w.word[0] = v.x, w.word[1] = v.y;
    } else {
#pragma unroll
        for (u32 i = 0; i < 4; ++i)
            if (at + i < k) w.word[i / E::PER_WORD] |= E::bits(__ldg(row + at + i)) << (i % E::PER_WORD * 16);
    }
    return w;
}

template <class E> __device__ __forceinline__ float4 numbers(const Words& w) {
    return make_float4(E::part(w.word, 0), E::part(w.word, 1), E::part(w.word, 2), E::part(w.word, 3));
}

template <class E, bool VECTOR>
__device__ __forceinline__ void entries(const Pattern& s, const Operands& o, u32 first, u32 lane, float (*tile)[32][PITCH]) {
    typedef typename E::Stored Stored;
    u32 at = first + lane;
    bool mine = at < s.rest_count;
    u32 row = mine ? __ldg(s.rest_row + at) : PAD, col = mine ? __ldg(s.rest_col + at) : PAD;
    u32 to = mine ? __ldg(s.rest_position + at) : PAD;
    // Four lanes bring 16 elements of one row; a warp eight rows of X and of Y at a time.
    u32 r[4], c[4], q = 4 * (lane % 4);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        u32 from = 8 * i + lane / 4;
        r[i] = __shfl_sync(0xffffffffu, row, from), c[i] = __shfl_sync(0xffffffffu, col, from);
    }
    Words x[4], y[4];
    auto load = [&](u32 i, u32 k) {
        x[i] = four_stored<E, VECTOR>(r[i] == PAD ? 0 : (const Stored*)o.x + (u64)r[i] * o.ldx, k, o.k);
        y[i] = four_stored<E, VECTOR>(c[i] == PAD ? 0 : (const Stored*)o.y + (u64)c[i] * o.ldy, k, o.k);
    };
#pragma unroll
    for (u32 i = 0; i < 4; ++i) load(i, q);
    float sum = 0;
    for (u32 k0 = 0; k0 < o.k; k0 += SLICE) {
        u32 left = o.k - k0 < SLICE ? o.k - k0 : SLICE, next = o.k - k0 > SLICE ? k0 + SLICE + q : o.k;
        __syncwarp();
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            *(float4*)&tile[0][8 * i + lane / 4][q] = numbers<E>(x[i]);
            *(float4*)&tile[1][8 * i + lane / 4][q] = numbers<E>(y[i]);
            load(i, next);
        }
        __syncwarp();
        if (left == SLICE) {
#pragma unroll
            for (u32 e = 0; e < SLICE; e += 4) {
                float4 a = *(const float4*)&tile[0][lane][e], b = *(const float4*)&tile[1][lane][e];
                sum = __fmaf_rn(a.x, b.x, sum), sum = __fmaf_rn(a.y, b.y, sum);
                sum = __fmaf_rn(a.z, b.z, sum), sum = __fmaf_rn(a.w, b.w, sum);
            }
        } else {
            for (u32 e = 0; e < left; ++e) sum = __fmaf_rn(tile[0][lane][e], tile[1][lane][e], sum);
        }
    }
    if (mine) o.out[to] = finished(o, sum, s.rest_values + at);
}

// The first `segment_blocks` thread blocks take segments, the others single entries. KSTEPS: there are no single entries, and k is
// so many steps of DEPTH in flight; 0: any pattern and any k.
template <class E, bool VECTOR, int KSTEPS, int DEPTH>
__device__ __forceinline__ void sddmm(const Pattern& s, const Operands& o, u32 segment_blocks) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, segment = 4 * blockIdx.x + warp;
    if constexpr (KSTEPS > 0) {
        if (segment < s.segment_count) held_blocks<E, KSTEPS, DEPTH>(s, o, segment, lane);
    } else {
        __shared__ __align__(16) float tile[4][2][32][PITCH];
        if (blockIdx.x < segment_blocks) {
            if (segment < s.segment_count) blocks<E, VECTOR, DEPTH>(s, o, segment, lane);
            return;
        }
        u64 first = 32 * (4 * (u64)(blockIdx.x - segment_blocks) + warp);
        if (first < s.rest_count) entries<E, VECTOR>(s, o, (u32)first, lane, tile[warp]);
    }
}

#define KERNEL(NAME, E, VECTOR, KSTEPS, DEPTH, PER_SM)                                                                        \
    extern "C" __global__ void __launch_bounds__(128, PER_SM) NAME(Pattern s, Operands o, u32 segment_blocks) {         \
        sddmm<E, VECTOR, KSTEPS, DEPTH>(s, o, segment_blocks);                                                              \
    }

KERNEL(libra_sddmm_tf32_1, OnTf32, true, 1, 1, 8)
KERNEL(libra_sddmm_tf32_2, OnTf32, true, 2, 2, 8)
KERNEL(libra_sddmm_tf32_4, OnTf32, true, 4, 2, 6)
KERNEL(libra_sddmm_tf32_8, OnTf32, true, 8, 2, 5)
KERNEL(libra_sddmm_tf32, OnTf32, true, 0, 2, 6)
KERNEL(libra_sddmm_tf32_any, OnTf32, false, 0, 1, 6)
KERNEL(libra_sddmm_f16_1, OnF16, true, 1, 1, 8)
KERNEL(libra_sddmm_f16_2, OnF16, true, 2, 2, 8)
KERNEL(libra_sddmm_f16_4, OnF16, true, 4, 2, 7)
KERNEL(libra_sddmm_f16_8, OnF16, true, 8, 2, 5)
KERNEL(libra_sddmm_f16, OnF16, true, 0, 1, 8)
KERNEL(libra_sddmm_f16_any, OnF16, false, 0, 1, 7)

// alpha = 0: neither X nor Y is read.
extern "C" __global__ void __launch_bounds__(128) sddmm_without_product(const float* values, const u32* position, u32 count,
                                                                       u32 mode, float beta, float* out) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    bool adds = mode == 2 && beta != 0.0f;
    out[position[at]] = !adds ? 0.0f : beta == 1.0f ? values[at] : __fmul_rn(beta, values[at]);
}
