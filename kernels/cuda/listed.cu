// op(A) times dense where op(A) comes as one list of terms per row: any shape, any order of the rows of B. What the tiled
// kernels of N:M and 2:4 do not take (a transposed operand, odd vector lengths) is run by these.
//
//   row i:  terms [ptr[i], ptr[i + 1])  ->  (index: row of B, value), pads of the format included, in the declared order
//
//   general cores:  a lane has one column of B, one fused step a term
//   matrix unit:    A of the instruction = 16 columns of B (m) x its products (k), gathered; B = the values in column 0
//
//     B[index[q]][j0 + g]   16 x K      value[q] 0 0 0 0 0 0 0      K x 8        column 0 of the 16 x 8 result = C[i][j0..j0 + 16]
//
// The instruction sees blocks of K consecutive terms of the row, the last one filled up with 0 * 0. PTX ISA 9.0, 9.7.14.5.

struct Listed {
    const u32 *ptr, *index;
    const void *value, *b;
    void *c;
    u64 ldb, ldc;
    u32 rows, n;
    float alpha, beta;
};
SIZE_OF(Listed, 72); OFFSET_OF(Listed, ptr, 0); OFFSET_OF(Listed, index, 8); OFFSET_OF(Listed, value, 16);
OFFSET_OF(Listed, b, 24); OFFSET_OF(Listed, c, 32); OFFSET_OF(Listed, ldb, 40); OFFSET_OF(Listed, ldc, 48);
OFFSET_OF(Listed, rows, 56); OFFSET_OF(Listed, n, 60); OFFSET_OF(Listed, alpha, 64); OFFSET_OF(Listed, beta, 68);

extern "C" __global__ void __launch_bounds__(128) listed_fma(const Listed t) {
    const u64 warp = (static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32, wide = (t.n + 31ull) / 32;
    const u64 i = warp / wide, j = warp % wide * 32 + threadIdx.x % 32;
    if (i >= t.rows || j >= t.n) return;
    const float *b = static_cast<const float *>(t.b) + j, *value = static_cast<const float *>(t.value);
    float acc = 0.0f;
    for (u64 q = t.ptr[i]; q < t.ptr[i + 1]; q++) acc = __fmaf_rn(value[q], b[t.index[q] * t.ldb], acc);
    finish(acc, t.alpha, t.beta, static_cast<float *>(t.c) + i * t.ldc + j);
}

// One instruction m16n8 and the operands of a lane: K products, elements of type In.
struct Tf32Unit {
    typedef Tf32 In;
    static constexpr int K = 8;
    float acc[4] = {0, 0, 0, 0};

    __device__ __forceinline__ void step(const u32 (&a)[4], const u32 (&b)[2]) { mma_tf32(acc, a, b[0], b[1]); }
    template <typename Out> __device__ __forceinline__ void store(int half, float alpha, float beta, Out *c) const {
        finish(acc[2 * half], alpha, beta, c);
    }
};

template <typename Type> struct HalfUnit {
    typedef Type In;
    static constexpr int K = 16;
    float acc[4] = {0, 0, 0, 0};

    __device__ __forceinline__ void step(const u32 (&a)[4], const u32 (&b)[2]) { mma_half(Type{}, acc, a, b[0], b[1]); }
    template <typename Out> __device__ __forceinline__ void store(int half, float alpha, float beta, Out *c) const {
        finish(acc[2 * half], alpha, beta, c);
    }
};

// f16 accumulators: two in a register.
struct F16SumUnit {
    typedef F16 In;
    static constexpr int K = 16;
    u32 acc[2] = {0, 0};

    __device__ __forceinline__ void step(const u32 (&a)[4], const u32 (&b)[2]) {
        asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
            : "+r"(acc[0]), "+r"(acc[1])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    __device__ __forceinline__ void store(int half, float alpha, float beta, F16 *c) const {
        finish_f16(static_cast<u16>(acc[half]), alpha, beta, c);
    }
};

// A register of an operand: the elements at k (and k + 1 of 16-bit types), 0 past the end of the list.
__device__ __forceinline__ u32 pack(Tf32 low, Tf32) { return tf32_rna(__uint_as_float(low.bits)); }
__device__ __forceinline__ u32 pack(F16 low, F16 high) { return low.bits | static_cast<u32>(high.bits) << 16; }
__device__ __forceinline__ u32 pack(Bf16 low, Bf16 high) { return low.bits | static_cast<u32>(high.bits) << 16; }

template <typename Unit, typename Out> __device__ __forceinline__ void listed(const Listed &t) {
    typedef typename Unit::In In;
    constexpr int EACH = 16 / Unit::K == 1 ? 2 : 1;  // elements of a register
    const u64 warp = (static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32, wide = (t.n + 15ull) / 16;
    const u64 i = warp / wide, j0 = warp % wide * 16;
    if (i >= t.rows) return;
    const int g = threadIdx.x % 32 / 4, k = threadIdx.x % 4 * EACH;
    const In *b = static_cast<const In *>(t.b), *value = static_cast<const In *>(t.value);
    const u64 end = t.ptr[i + 1];
    Unit unit;
    for (u64 first = t.ptr[i]; first < end; first += Unit::K) {
        // Past the end of the list or of the row of B: 0.
        auto of_b = [&](u64 q, u64 j) { return q < end && j < t.n ? b[t.index[q] * t.ldb + j] : In{0}; };
        auto of_list = [&](u64 q) { return q < end && g == 0 ? value[q] : In{0}; };
        u32 left[4], right[2];
        for (int x = 0; x < 2; x++) {
            const u64 q = first + k + x * Unit::K / 2, next = q + EACH - 1;
            left[2 * x] = pack(of_b(q, j0 + g), of_b(next, j0 + g));
            left[2 * x + 1] = pack(of_b(q, j0 + g + 8), of_b(next, j0 + g + 8));
            right[x] = pack(of_list(q), of_list(next));
        }
        unit.step(left, right);
    }
    Out *c = static_cast<Out *>(t.c) + i * t.ldc;
    for (int half = 0; half < 2; half++) {
        const u64 j = j0 + g + 8 * half;
        if (threadIdx.x % 4 == 0 && j < t.n) unit.store(half, t.alpha, t.beta, c + j);
    }
}

#define KERNEL(NAME, UNIT, OUT) \
    extern "C" __global__ void __launch_bounds__(128) NAME(const Listed t) { listed<UNIT, OUT>(t); }
KERNEL(listed_tf32_f32, Tf32Unit, float)
KERNEL(listed_f16_f32, HalfUnit<F16>, float)
KERNEL(listed_f16_f16, HalfUnit<F16>, F16)
KERNEL(listed_f16_sum, F16SumUnit, F16)
KERNEL(listed_bf16_f32, HalfUnit<Bf16>, float)
KERNEL(listed_bf16_bf16, HalfUnit<Bf16>, Bf16)

// Rows of B copied to rows that start at multiples of 16 bytes, for kernels that load that much.
template <typename Word> __device__ __forceinline__ void align_rows(const Word *from, u64 ld, Word *to, u64 ld_to, u64 n, u64 all) {
    const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 at = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; at < all; at += step) {
        to[at / n * ld_to + at % n] = from[at / n * ld + at % n];
    }
}

extern "C" __global__ void __launch_bounds__(256)
    align_rows_2(const u16 *from, u64 ld, u16 *to, u64 ld_to, u64 n, u64 all) {
    align_rows(from, ld, to, ld_to, n, all);
}
extern "C" __global__ void __launch_bounds__(256)
    align_rows_4(const u32 *from, u64 ld, u32 *to, u64 ld_to, u64 n, u64 all) {
    align_rows(from, ld, to, ld_to, n, all);
}
