// What the device can do at most, for rooflines, and what empties its L2 before a kernel is timed.

// Fused multiply-adds of f32, 16 independent chains in registers of each thread.
extern "C" __global__ void __launch_bounds__(256) ffma(float* out, u32 steps, float factor) {
  float chains[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) chains[i] = threadIdx.x + i;
  for (u32 step = 0; step < steps; ++step) {
#pragma unroll
    for (int again = 0; again < 8; ++again)
#pragma unroll
      for (int i = 0; i < 16; ++i) chains[i] = __fmaf_rn(chains[i], factor, factor);
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += chains[i];
  if (sum == 1.0f) out[0] = sum;  // never; the compiler does not know
}

// Reads a buffer of zeros that is larger than L2: what was there before is gone, and nothing waits to be written back, as it would
// if the buffer was written.
extern "C" __global__ void __launch_bounds__(256) read_all(const uint4* from, u64 count, u32* out) {
  u32 seen = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
    const uint4 v = from[i];
    seen |= v.x | v.y | v.z | v.w;
  }
  if (seen != 0) out[0] = seen;  // never
}
