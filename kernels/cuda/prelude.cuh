// What every source starts with: names of types, exact conversions of element types, and the epilogue. NVRTC has no header
// for any of it. PTX ISA 9.0: cvt, sections 9.7.9.21 and 9.7.9.22.
//
// A result must not depend on the compiler's choice between separate and fused steps: products and sums that are rounded
// apart are written with __fmul_rn, __fadd_rn, __dmul_rn, __dadd_rn; fused ones with __fmaf_rn, __fma_rn.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Of a struct that the host fills, in bytes. The host asserts the same of its own struct, and a test there compares the two
// (kernels/src/cuda/layout.rs). NVRTC has no offsetof for templates; this is what its front end makes of one.
#define SIZE_OF(type, bytes) static_assert(sizeof(type) == bytes, "the host has another size")
#define OFFSET_OF(type, field, bytes) \
  static_assert(__INTADDR__(&((type*)0)->field) == bytes, "the host has this field elsewhere")

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

// The same for an operand of the matrix unit, which cuts the 13 bits behind: 3 instructions, not 6. Infinity stays, a carry out
// of the largest exponent makes it, and a NaN, whose bits might all be cut, is replaced.
__device__ __forceinline__ u32 tf32_operand(float value) {
  return value != value ? 0x7fffffffu : __float_as_uint(value) + 0x1000u;
}

// Half a unit added to what is finite, so that what the matrix unit cuts is what rna would: as above, but that a NaN stays as it is.
// Written so that it is two instructions in place.
__device__ __forceinline__ u32 half_up(u32 bits) {
  asm("{.reg .pred p;\n .reg .f32 a;\n abs.f32 a, %1;\n setp.lt.f32 p, a, 0f7F800000;\n @p add.s32 %0, %0, 0x1000;\n}"
      : "+r"(bits)
      : "f"(__uint_as_float(bits)));
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

__device__ __forceinline__ u32 shared_at(const void* at) { return static_cast<u32>(__cvta_generic_to_shared(at)); }

// From shared memory.
__device__ __forceinline__ u32 load4(u32 from) {
  u32 x;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}

__device__ __forceinline__ uint2 load8(u32 from) {
  uint2 x;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(x.x), "=r"(x.y) : "r"(from) : "memory");
  return x;
}

__device__ __forceinline__ uint4 load16(u32 from) {
  uint4 x;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(from) : "memory");
  return x;
}

// 4, 8 or 16 bytes from global to shared memory.
template <int BYTES>
__device__ __forceinline__ void copy(u32 to, const void* from) {
  if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES) : "memory");
}

// 16 bytes from global to shared memory, of which `bytes` are read and the others zero; in groups that are waited for in order.
__device__ __forceinline__ void copy16(u32 to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(bytes));
}

// The same of a row that a list names, WHOLE if all 16 are read; nothing where the list has ended, number -1.
template <bool WHOLE>
__device__ __forceinline__ void copy16_listed(int row, u32 to, const void* from, int bytes) {
  if (WHOLE) {
    asm volatile("{.reg .pred p;\n setp.ge.s32 p, %2, 0;\n @p cp.async.cg.shared.global [%0], [%1], 16;\n}" ::"r"(to),
                 "l"(from), "r"(row));
  } else {
    asm volatile("{.reg .pred p;\n setp.ge.s32 p, %3, 0;\n @p cp.async.cg.shared.global [%0], [%1], 16, %2;\n}" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(row));
  }
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n"); }

template <int PENDING>
__device__ __forceinline__ void wait_all_but() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory");
}

// A block's row and column of blocks: rows in groups of GROUP, so that those at work share rows and columns in the L2 cache.
template <int GROUP>
__device__ __forceinline__ void raster(u32 tile, int high, int wide, int& row, int& column) {
  const int full = GROUP * wide, above = tile / full * GROUP, height = min(GROUP, high - above);
  row = above + tile % full % height;
  column = tile % full / height;
}

template <int GROUP>
__device__ __forceinline__ void raster(int high, int wide, int& row, int& column) {
  raster<GROUP>(blockIdx.x, high, wide, row, column);
}

// One m16n8 instruction with sums in f32.
__device__ __forceinline__ void mma_tf32(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void mma_half(F16, float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void mma_half(Bf16, float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The epilogue in f16: each step in f32 and then rounded, which for f16 operands is one rounding (kernels/src/portable/unit.rs).
__device__ __forceinline__ float half_of(float x) { return f16_to_f32(f32_to_f16(x)); }
__device__ __forceinline__ void finish_f16(u16 acc, float alpha, float beta, F16* c) {
  const float before = beta == 0.0f ? 0.0f : beta == 1.0f ? enter(*c) : half_of(__fmul_rn(beta, enter(*c)));
  float result = before;
  if (alpha != 0.0f) {
    const float sum = f16_to_f32(acc), scaled = alpha == 1.0f ? sum : half_of(__fmul_rn(alpha, sum));
    result = beta == 0.0f ? scaled : __fadd_rn(scaled, before);
  }
  leave(result, *c);
}
