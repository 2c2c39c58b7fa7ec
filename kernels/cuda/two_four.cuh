// What both kernels for 2:4 have: the argument, and what a thread holds of 16 rows and 8 columns of C, as m16n8 lays it out.

struct TwoFour {
    const uint4 *a;        // [row block of 128][stage][A_CHUNKS]
    const void *b;         // k x n, row-major, ldb; 16-byte aligned rows
    void *c;               // rows x n, row-major, ldc
    u64 ldb, ldc;
    int stages;            // along k; even for groups of warps
    int rows, k, n;
    float alpha, beta;     // alpha is not 0
};
SIZE_OF(TwoFour, 64); OFFSET_OF(TwoFour, a, 0); OFFSET_OF(TwoFour, b, 8); OFFSET_OF(TwoFour, c, 16);
OFFSET_OF(TwoFour, ldb, 24); OFFSET_OF(TwoFour, ldc, 32); OFFSET_OF(TwoFour, stages, 40); OFFSET_OF(TwoFour, rows, 44);
OFFSET_OF(TwoFour, k, 48); OFFSET_OF(TwoFour, n, 52); OFFSET_OF(TwoFour, alpha, 56); OFFSET_OF(TwoFour, beta, 60);

__device__ __forceinline__ void store_pair(float x, float y, float *c) { *reinterpret_cast<float2 *>(c) = make_float2(x, y); }
template <typename Half> __device__ __forceinline__ void store_pair(float x, float y, Half *c) {
    Half low, high;
    leave(x, low), leave(y, high);
    *reinterpret_cast<u32 *>(c) = low.bits | static_cast<u32>(high.bits) << 16;
}

// Sums in f32: [row g, row g + 8][columns 2 t, 2 t + 1].
struct FloatSums {
    float acc[4];

    __device__ __forceinline__ void zero() { acc[0] = acc[1] = acc[2] = acc[3] = 0.0f; }
    template <typename Out> __device__ __forceinline__ void store(int x, float alpha, float beta, Out *c) const {
        finish(acc[x], alpha, beta, c);
    }
    template <typename Out> __device__ __forceinline__ void store_two(int row, Out *c) const {
        store_pair(acc[2 * row], acc[2 * row + 1], c);
    }
};

// Sums in f16: two in a register.
struct HalfSums {
    u32 acc[2];

    __device__ __forceinline__ void zero() { acc[0] = acc[1] = 0; }
    __device__ __forceinline__ void store(int x, float alpha, float beta, F16 *c) const {
        finish_f16(static_cast<u16>(acc[x / 2] >> x % 2 * 16), alpha, beta, c);
    }
    __device__ __forceinline__ void store_two(int row, F16 *c) const { *reinterpret_cast<u32 *>(c) = acc[row]; }
};
