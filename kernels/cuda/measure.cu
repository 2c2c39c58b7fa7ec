// What the device can do at most, for rooflines: fused multiply-adds of f32, 16 independent chains in registers of each thread.

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
