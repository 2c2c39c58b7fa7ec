// What every source starts with: names of types, exact conversions of element types, and the epilogue. NVRTC has no header
// for any of it. PTX ISA 9.0: cvt, sections 9.7.9.21 and 9.7.9.22.
//
// A result must not depend on the compiler's choice between separate and fused steps: products and sums that are rounded
// apart are written with __fmul_rn, __fadd_rn, __dmul_rn, __dadd_rn; fused ones with __fmaf_rn, __fma_rn.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Bits of an element type apart from those of others of the same width.
struct F16 { u16 bits; };
struct Bf16 { u16 bits; };
struct Tf32 { u32 bits; };  // stored as f32, rounded when loaded
struct E4m3 { u8 bits; };
struct E5m2 { u8 bits; };

__device__ __forceinline__ float f16_to_f32(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__device__ __forceinline__ u16 f32_to_f16(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ __forceinline__ float bf16_to_f32(u16 bits) { return __uint_as_float(static_cast<u32>(bits) << 16); }

__device__ __forceinline__ u16 f32_to_bf16(float value) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

// f32 to tf32, nearest, ties away.
__device__ __forceinline__ u32 tf32_rna(float value) {
  u32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

// Every value of an 8-bit float is one of f16: e5m2 is its upper byte; e4m3 is shifted into its fields, off by 2^8.
__device__ __forceinline__ float e5m2_to_f32(u8 bits) { return f16_to_f32(static_cast<u16>(bits << 8)); }

__device__ __forceinline__ float e4m3_to_f32(u8 bits) {
  const u16 magnitude = bits & 0x7f;
  const u16 shifted = magnitude == 0x7f ? 0x7e00 : static_cast<u16>(magnitude << 7);
  return f16_to_f32(static_cast<u16>(shifted | (bits & 0x80) << 8)) * 256.0f;  // a power of two: exact
}

// The value in the accumulator's type, with the input rounding where there is one.
__device__ __forceinline__ double enter(double value) { return value; }
__device__ __forceinline__ float enter(float value) { return value; }
__device__ __forceinline__ float enter(Tf32 value) { return __uint_as_float(tf32_rna(__uint_as_float(value.bits))); }
__device__ __forceinline__ float enter(F16 value) { return f16_to_f32(value.bits); }
__device__ __forceinline__ float enter(Bf16 value) { return bf16_to_f32(value.bits); }
__device__ __forceinline__ float enter(E4m3 value) { return e4m3_to_f32(value.bits); }
__device__ __forceinline__ float enter(E5m2 value) { return e5m2_to_f32(value.bits); }

__device__ __forceinline__ void leave(double acc, double& out) { out = acc; }
__device__ __forceinline__ void leave(float acc, float& out) { out = acc; }
__device__ __forceinline__ void leave(float acc, F16& out) { out.bits = f32_to_f16(acc); }
__device__ __forceinline__ void leave(float acc, Bf16& out) { out.bits = f32_to_bf16(acc); }

__device__ __forceinline__ float fused(float a, float b, float acc) { return __fmaf_rn(a, b, acc); }
__device__ __forceinline__ double fused(double a, double b, double acc) { return __fma_rn(a, b, acc); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }

// C = round(alpha * acc) + round(beta * C). Factors of 1 multiply nothing, C is read only where beta is not 0, and with
// alpha = 0 there is no sum: the caller then reads neither A nor B.
template <typename Acc, typename Out>
__device__ __forceinline__ void finish(Acc acc, Acc alpha, Acc beta, Out* c) {
  Acc result = acc;
  if (alpha == Acc(0)) {
    result = Acc(0);
    if (beta != Acc(0)) result = beta == Acc(1) ? enter(*c) : times(beta, enter(*c));
  } else {
    if (alpha != Acc(1)) result = times(alpha, acc);
    if (beta != Acc(0)) result = plus(result, beta == Acc(1) ? enter(*c) : times(beta, enter(*c)));
  }
  leave(result, *c);
}
