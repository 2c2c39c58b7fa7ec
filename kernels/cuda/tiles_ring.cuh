// The ring of the SpMM on windows of 8 rows: a warp multiplies one tile of a chain while the next two are on their way into
// its shared memory, values of A and rows of B alike, by cp.async. Compiled in front of tiles_spmm.cu.
//
//   bitmap, columns, offsets   of all tiles of the chain, at its start    -> tile[MOST]
//   values of a tile           16 bytes a lane, from a multiple of 16     -> stage[k % STAGES].values
//   rows of B that it names    16 bytes a lane, 32 to 128 columns of each -> stage[k % STAGES].b
//
// Swap and transpose: a tile S (8 rows x 8 slots) is operand B of the instruction (n = row, k = slot), 16 columns of the
// dense operand are operand A (m = column, k = slot). With g = lane / 4 and t = lane % 4, the labels m and k are chosen so
// that what a lane reads from shared memory is what it multiplies: there are no shuffles. The k = 8 products are one fused
// sum on sm_90, so their order is free.
//
//   tf32  slot 2t is k = t, slot 2t + 1 is k = t + 4;   f16  slots 2t, 2t + 1 are k = 2t, 2t + 1
//   column place(g, j, h) is m = g + 8h of instruction j
//   result  c0 (row 2t, column place(g, j, 0))  c1 (row 2t + 1)  c2 (row 2t, column place(g, j, 1))  c3 (row 2t + 1)
//
// f16 has two slots to a word, which lie in two rows: ldmatrix turns 8 slots x 8 columns of them.
//
// The lane decodes bits 2 * lane and 2 * lane + 1 of the bitmap: row g, slots 2t and 2t + 1, by counting the bits below.
//
// Banks: 16 bytes of slot s that are number c of its row lie at number (s * CHUNKS + c) ^ swizzle(s). What shared memory serves
// together is in different banks: for tf32 slots 0, 2, 4 and 6 (or 1, 3, 5 and 7) and neighbouring columns, for f16 one
// number of all eight slots. kernels/src/cuda/tiles/lanes.rs follows both maps.
//
// Every lane of a warp reaches every instruction: volatile keeps it out of branches that only some of them take.
// Sources: RSH-SpMM, sections 3.2 and 3.3 (Algorithm 2); Libra, section 4.4; PTX ISA 9.1, 9.7.14.5 and 9.7.9.25.3.

static const u32 PAD = 0xffffffffu;      // a column that faces nothing, or a slot without a destination
// Tiles under way and the one that is multiplied; most tiles of a chain.
static const u32 STAGES = 3, MOST = 16;

// The matrix: the plan of the work, and the arrays of the format.
struct Item;
struct RowSlot;
struct Matrix {
    const Item* items;
    const RowSlot* row_slots; // 8 per item that has them
    const u32* cols;     // 8 a tile, PAD where a slot has none
    const uint2* bitmap; // bit 8 * row + slot, in two halves
    const u32* first;    // value of a tile
    const void* values;  // of tiles, in the order of the bits; readable to the next multiple of 16 bytes
    const u32* rest_col;
    const void* rest_values;
};
SIZE_OF(Matrix, 64); OFFSET_OF(Matrix, items, 0); OFFSET_OF(Matrix, row_slots, 8); OFFSET_OF(Matrix, cols, 16);
OFFSET_OF(Matrix, bitmap, 24); OFFSET_OF(Matrix, first, 32); OFFSET_OF(Matrix, values, 40);
OFFSET_OF(Matrix, rest_col, 48); OFFSET_OF(Matrix, rest_values, 56);

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

// f32 storage: rounded to tf32 for the tensor cores, B here and values by the host; FP32 cores take both as stored. A lane of CW columns has float4 at 4g of every 32 columns.
struct OnTf32 {
    typedef float Stored;
    static const u32 PER_WORD = 1;
    static const u32 MINUS_ZERO = 0x80000000u;
    static __device__ __forceinline__ float number(float x) { return x; }
    static __device__ __forceinline__ u32 bits(float x) { return __float_as_uint(x); }
    static __device__ __forceinline__ float stored(u32 bits) { return __uint_as_float(bits); }
    template <int CW> static __device__ __forceinline__ u32 column(u32 g, u32 i) { return 32 * (i / 4) + 4 * g + i % 4; }
    // Column i of a gathered row, ready for an FMA.
    static __device__ __forceinline__ float at(const u32* words, u32 i) { return __uint_as_float(words[i]); }
    static __device__ __forceinline__ float shared(u32 at) {
        float x;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(at));
        return x;
    }
    static const bool PAIRS = true; // place(g, j, 1) is the column after place(g, j, 0)
    static __device__ __forceinline__ u32 place(u32 g, u32 j, u32 h) { return 16 * j + 2 * g + h; }
    template <int CW> static __device__ __forceinline__ u32 swizzle(u32 slot) { return slot & 6; }
    // Slot and byte that the lane names first: column place(g, 0, 0) of slot 2t; slot 2t + 1 is a row further.
    static __device__ __forceinline__ u32 first_slot(u32 lane) { return 2 * (lane % 4); }
    static __device__ __forceinline__ u32 first_byte(u32 lane) { return 8 * (lane / 4); }
    template <int CW> static __device__ __forceinline__ void multiply(float (*acc)[4], u32 from, float s0, float s1) {
#pragma unroll
        for (int j = 0; j < CW / 2; ++j) {
            u32 x0, x1, y0, y1, at = (from ^ (j & 1) * 64) + j / 2 * 128;
            asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(x0), "=r"(x1) : "r"(at));
            asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(y0), "=r"(y1) : "r"(at + 32 * CW));
            float* c = acc[j];
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                : "r"(half_up(x0)), "r"(half_up(x1)), "r"(half_up(y0)), "r"(half_up(y1)), "r"(__float_as_uint(s0)),
                  "r"(__float_as_uint(s1)));
        }
    }
};

// f16 storage, two to a word. Of a rest, a lane has CW consecutive columns, at CW * g.
struct OnF16 {
    typedef u16 Stored;
    static const u32 PER_WORD = 2;
    static const u32 MINUS_ZERO = 0x80008000u;
    static __device__ __forceinline__ float number(u16 x) { return f16_to_f32(x); }
    static __device__ __forceinline__ u32 bits(u16 x) { return x; }
    static __device__ __forceinline__ u16 stored(u32 bits) { return (u16)bits; }
    template <int CW> static __device__ __forceinline__ u32 column(u32 g, u32 i) { return CW * g + i; }
    static __device__ __forceinline__ float at(const u32* words, u32 i) { return f16_to_f32((u16)(words[i / 2] >> (16 * (i % 2)))); }
    static __device__ __forceinline__ u16 shared(u32 at) {
        u16 x;
        asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(at));
        return x;
    }
    static const bool PAIRS = false;
    static __device__ __forceinline__ u32 place(u32 g, u32 j, u32 h) { return 16 * j + 8 * h + g; }
    // Where a row has 64 bytes, two slots share 128.
    template <int CW> static __device__ __forceinline__ u32 swizzle(u32 slot) { return CW == 4 ? slot / 2 : slot; }
    // Of the four matrices that are loaded at once, the lane names row lane % 8 of matrix lane / 8.
    static __device__ __forceinline__ u32 first_slot(u32 lane) { return lane % 8; }
    static __device__ __forceinline__ u32 first_byte(u32 lane) { return 16 * (lane / 8); }
    template <int CW> static __device__ __forceinline__ void multiply(float (*acc)[4], u32 from, u16 s0, u16 s1) {
        u32 b = (u32)s0 | (u32)s1 << 16;
#pragma unroll
        for (int i = 0; i < CW / 4; ++i) {
            u32 a[4], at = (from ^ (i & 1) * 64) + i / 2 * 128;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at));
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float* c = acc[2 * i + h];
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                    : "r"(a[2 * h]), "r"(a[2 * h + 1]), "r"(b));
            }
        }
    }
};

// A tile as the ring names it, copied from the arrays of the format.
struct __align__(16) Named {
    u32 col[8];
    uint2 bits;
    u32 first, none;
};

// A warp's shared memory.
template <class E, int CW> struct __align__(128) Ring {
    typedef typename E::Stored Stored;
    static const u32 ROW = 8 * CW * sizeof(Stored), CHUNKS = ROW / 16;
    static const u32 VALUES = 64 * sizeof(Stored) / 16 + 1; // in 16 bytes
    struct __align__(128) Stage {
        uint4 b[8 * CHUNKS];
        uint4 values[VALUES];
    };
    Stage stage[STAGES];
    Named tile[MOST];

    // Where 16 bytes of a slot's row are: what lanes read together lies in different banks.
    static __device__ __forceinline__ u32 at(u32 slot, u32 chunk) { return (slot * CHUNKS + chunk) ^ E::template swizzle<CW>(slot); }
    static __device__ __forceinline__ u32 sum_at(u32 row, u32 chunk) { return (row * 2 * CW + chunk) ^ (row & 6); }
    __device__ __forceinline__ float4* sums() { return (float4*)stage; }
};

// Kept in a register: the compiler would compute it anew for each tile.
__device__ __forceinline__ void keep(u32& x) { asm volatile("" : "+r"(x)); }
template <class T> __device__ __forceinline__ void keep(const T*& x) { asm volatile("" : "+l"(x)); }

// A warp's way through a chain; what depends on the lane alone is computed once.
template <class E, int CW, bool VECTOR> struct Tiles {
    typedef typename E::Stored Stored;
    typedef Ring<E, CW> R;
    static const u32 STRIDE = sizeof(typename R::Stage), EACH = 16 / sizeof(Stored);
    static const u32 SLOTS = R::CHUNKS / 4; // of a lane: 4, 2 or 1
    R& ring;
    const Dense& d;
    const char* b;       // the lane's chunk of row 0
    const uint4* values; // the lane's of tile 0
    u32 row_bytes, to, value_to, from, values_from, shift, low, high, n0, lane;

    __device__ __forceinline__ Tiles(R& ring, const Matrix& m, const Dense& d, u32 n0, u32 lane) : ring(ring), d(d), n0(n0), lane(lane) {
        u32 chunk = lane % R::CHUNKS, c = n0 + chunk * EACH, byte = E::first_byte(lane);
        b = (const char*)d.b + sizeof(Stored) * (u64)(c < d.n ? c : 0);
        values = (const uint4*)m.values + lane;
        row_bytes = (u32)(d.ldb * sizeof(Stored));
        to = shared_at(&ring.stage[0].b[R::at(SLOTS * (lane / R::CHUNKS), chunk)]);
        value_to = shared_at(&ring.stage[0].values[lane]);
        from = shared_at(&ring.stage[0].b[R::at(E::first_slot(lane), byte / 16)]) + byte % 16;
        values_from = shared_at(&ring.stage[0].values[0]);
        shift = 2 * lane & 31;
        u32 below = (1u << shift) - 1;
        low = lane < 16 ? below : 0xffffffffu, high = lane < 16 ? 0 : below;
        keep(b), keep(values), keep(to), keep(from), keep(low), keep(high), keep(shift);
    }

    // Columns, bitmaps and offsets of the item's tiles.
    __device__ __forceinline__ void describe(const Matrix& m, u32 begin, u32 count) const {
#pragma unroll
        for (u32 i = 0; i < 2 * MOST; i += 32)
            if (i + lane < 2 * count)
                copy<16>(shared_at(&ring.tile[(i + lane) / 2].col[4 * (lane % 2)]), m.cols + 8 * (u64)begin + 4 * (i + lane));
        if (lane < count) {
            copy<8>(shared_at(&ring.tile[lane].bits), m.bitmap + begin + lane);
            copy<4>(shared_at(&ring.tile[lane].first), m.first + begin + lane);
        }
        commit();
        wait_all_but<0>();
        __syncwarp();
    }

    // Rows of B that a tile names. LAST: of a window's tiles only the last has slots without a column.
    template <bool LAST> __device__ __forceinline__ void rows(const Named* tile, u32 offset) const {
        const u32* cols = tile->col + SLOTS * (lane / R::CHUNKS);
        u32 col[SLOTS];
        if (SLOTS == 4) {
            uint4 v = *(const uint4*)cols;
            col[0] = v.x, col[1 % SLOTS] = v.y, col[2 % SLOTS] = v.z, col[3 % SLOTS] = v.w;
        } else if (SLOTS == 2) {
            uint2 v = *(const uint2*)cols;
            col[0] = v.x, col[1 % SLOTS] = v.y;
        } else col[0] = cols[0];
#pragma unroll
        for (u32 i = 0; i < SLOTS; ++i) {
            u32 at = ((to + offset) ^ E::template swizzle<CW>(i) * 16) + i * R::ROW;
            if (LAST && col[i] == PAD) asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(0) : "memory");
            else copy<16>(at, b + (u64)col[i] * row_bytes);
        }
    }

    __device__ __forceinline__ void fill(const Named* tile, bool last, u32 offset) const {
        if (VECTOR) {
            if (last) rows<true>(tile, offset);
            else rows<false>(tile, offset);
        } else {
#pragma unroll 4
            for (u32 i = 0; i < 2 * CW; ++i) {
                u32 e = 32 * i + lane, slot = e / (8 * CW), c = e % (8 * CW), col = tile->col[slot];
                Stored x = 0;
                if (col != PAD && n0 + c < d.n) x = __ldg((const Stored*)d.b + (u64)col * d.ldb + n0 + c);
                u32 byte = c * sizeof(Stored);
                *(Stored*)((char*)&ring.stage[0].b[R::at(slot, byte / 16)] + offset + byte % 16) = x;
            }
        }
        uint4 named = *(const uint4*)&tile->bits;
        u32 first = named.z, chunk = first / EACH, end = first + __popc(named.x) + __popc(named.y);
        if (EACH * (chunk + lane) < end) copy<16>(value_to + offset, values + chunk);
    }

    __device__ __forceinline__ void multiply(float (*acc)[4], const Named* tile, u32 offset) const {
        uint4 named = *(const uint4*)&tile->bits;
        u32 here = (lane < 16 ? named.x : named.y) >> shift;
        u32 at = values_from + offset + sizeof(Stored) * (named.z % EACH + __popc(named.x & low) + __popc(named.y & high));
        Stored s0 = 0, s1 = 0;
        if (here & 1) s0 = E::shared(at);
        if (here & 2) s1 = E::shared(at + (here & 1) * sizeof(Stored));
        E::template multiply<CW>(acc, from + offset, s0, s1);
    }

    // One chain of instructions over the tiles [begin, end), at most MOST.
    __device__ __forceinline__ void run(float (*acc)[4], const Matrix& m, u32 begin, u32 end) const {
        u32 count = end - begin;
        describe(m, begin, count);
#pragma unroll
        for (u32 k = 0; k < STAGES - 1; ++k) {
            if (k < count) fill(ring.tile + k, k + 1 == count, k * STRIDE);
            commit();
        }
        u32 now = 0, free = (STAGES - 1) * STRIDE;
        const Named* tile = ring.tile;
#pragma unroll 1
        for (u32 left = count; left > 0; --left, ++tile) {
            wait_all_but<STAGES - 2>();
            __syncwarp();
            if (left >= STAGES) fill(tile + STAGES - 1, left == STAGES, free);
            commit();
            multiply(acc, tile, now);
            free = now, now = now == (STAGES - 1) * STRIDE ? 0 : now + STRIDE;
        }
    }
};

// The sums of the lane's fragments as rows.
template <class E, int CW> __device__ __forceinline__ void deposit(Ring<E, CW>& ring, const float (*acc)[4], u32 lane) {
    u32 g = lane / 4, t = lane % 4;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int j = 0; j < CW / 2; ++j) {
            u32 row = 2 * t + r, c = E::place(g, j, 0), next = E::place(g, j, 1);
            float* at = (float*)(ring.sums() + ring.sum_at(row, c / 4)) + c % 4;
            if (E::PAIRS) *(float2*)at = make_float2(acc[j][r], acc[j][2 + r]);
            else *at = acc[j][r], ((float*)(ring.sums() + ring.sum_at(row, next / 4)))[next % 4] = acc[j][2 + r];
        }
}

