// The fused multiply-adds of f32 that a device does in a second: 64 independent chains a thread, operands in registers.
//
//   acc[i][j] = a[i] * b[j] + acc[i][j],  i, j < 8,  4 * `rounds` times     2 * 256 * rounds * threads operations
//
// The roofline's flat part for nm_tile.cu, in the same run and at the same clock. Launch it with a multiple of 256 threads a
// block and several blocks a multiprocessor.

extern "C" __global__ void __launch_bounds__(256) ffma_peak(float *out, int rounds) {
    float a[8], b[8], acc[8][8];
    // Nothing that the compiler knows: or it would multiply once.
    const float seed = static_cast<float>(threadIdx.x + rounds);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        a[i] = 1.0f + seed * 1e-9f * (i + 1);
        b[i] = seed * 1e-8f + i;
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j] = static_cast<float>(i - j);
    }
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int again = 0; again < 4; again++) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
#pragma unroll
                for (int x = 0; x < 8; x++) {
                    const int j = i % 2 ? 7 - x : x;
                    acc[i][j] = __fmaf_rn(a[i], b[j], acc[i][j]);
                }
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum += acc[i][j];
    // Every thread's own place, so that no chain is dead.
    out[static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
