#!/usr/bin/env python3
"""What the matrix unit of an H100 or H200 can at most, as a CUDA program on standard output: products whose operands never move.

    python3 matrix_unit.py > peak.cu
    nvcc -O3 -w -gencode arch=compute_90a,code=sm_90a -o peak peak.cu && ./peak

`mma` takes its operands from registers, 32 warps a multiprocessor; `wgmma` B from shared memory and A from there or from registers, two groups of four
warps a multiprocessor.
Operands are random and normal: zeros cost less power, and the clock stays higher. Sparse instructions are counted as the dense product that
they stand for.
"""

WGMMA = """
__global__ void __launch_bounds__(128) NAME(const unsigned *seed, float *out, int steps) {
  extern __shared__ __align__(1024) unsigned s[];
  for (int i = threadIdx.x; i < 12288; i += 128) s[i] = seed[i];
  asm volatile("fence.proxy.async.shared::cta;");
  __syncthreads();
  unsigned base = (unsigned)__cvta_generic_to_shared(s), meta = 0x44444444u;
  unsigned long long da = descriptor(base), db = descriptor(base + 16384);
  unsigned a[4];
  for (int i = 0; i < 4; i++) a[i] = seed[threadIdx.x * 4 + i];
  float d[SETS][COUNT];
  for (int u = 0; u < SETS; u++) for (int i = 0; i < COUNT; i++) d[u][i] = 0;
  for (int t = 0; t < steps; t++) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    #pragma unroll
    for (int u = 0; u < 4; u++)
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; INSTRUCTION {REGISTERS}, OPERANDS;}" : OUTPUTS : INPUTS, "l"(db), "r"(meta));
    asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float x = 0;
  for (int u = 0; u < SETS; u++) for (int i = 0; i < COUNT; i++) x += d[u][i];
  out[blockIdx.x * 128 + threadIdx.x] = x + da;
}
"""

MMA = """
__global__ void __launch_bounds__(256) NAME(const unsigned *seed, float *out, int steps) {
  unsigned a[4], b[4], meta = 0x44444444u;
  for (int i = 0; i < 4; i++) a[i] = seed[threadIdx.x * 8 + i], b[i] = seed[threadIdx.x * 8 + 4 + i];
  float d[16][4];
  for (int i = 0; i < 16; i++) for (int j = 0; j < 4; j++) d[i][j] = 0;
  for (int t = 0; t < steps; t++)
    #pragma unroll
    for (int u = 0; u < 16; u++)
      asm volatile("INSTRUCTION {%0,%1,%2,%3}, {%4,%5,%6,%7}, OPERANDS;"
                   : "+f"(d[u][0]), "+f"(d[u][1]), "+f"(d[u][2]), "+f"(d[u][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(meta));
  float x = 0;
  for (int i = 0; i < 16; i++) for (int j = 0; j < 4; j++) x += d[i][j];
  out[blockIdx.x * 256 + threadIdx.x] = x;
}
"""

MAIN = """
template <class Kernel> void measure(const char *name, Kernel kernel, int blocks, int threads, int bytes, double products, const unsigned *seed, float *out) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  std::vector<float> ms;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  for (int run = 0; run < 7; run++) {
    float time;
    cudaEventRecord(begin), kernel<<<blocks, threads, bytes>>>(seed, out, 20000), cudaEventRecord(end), cudaEventSynchronize(end);
    cudaEventElapsedTime(&time, begin, end), ms.push_back(time);
  }
  std::sort(ms.begin(), ms.end());
  const double flop = 2 * products * 20000 * blocks;
  printf("%-24s %7.1f TFLOP/s, best of 7 %7.1f (%s)\\n", name, flop / ms[3] / 1e9, flop / ms[0] / 1e9, cudaGetErrorString(cudaGetLastError()));
}
int main() {
  unsigned *seed;
  float *out;
  cudaMalloc(&seed, 1 << 20), cudaMalloc(&out, 1 << 24);
  std::vector<unsigned> h(1 << 18);
  for (int half = 1; half >= 0; half--) {
    for (auto &x : h) {
      const unsigned r = rand() ^ rand() << 15;
      x = half ? (r & 0x83ff83ffu) | 0x38003800u : (r & 0x83ffffffu) | 0x3c000000u;
    }
    cudaMemcpy(seed, h.data(), 1 << 20, cudaMemcpyHostToDevice);
    if (half) { HALF } else { TF32 }
  }
}
"""


def kernels():
    """Each kernel's text and its call, by the type of its operands."""
    for kind, depth in (("f16", 16), ("tf32", 8)):
        for sparse in (False, True):
            k, dot = depth * (1 + sparse), ".sp" if sparse else ""
            name = f"mma{dot}.m16n8k{k}.{kind}"
            how = "::ordered_metadata" if sparse else ""
            text = MMA.replace("INSTRUCTION", f"mma{dot}{how}.sync.aligned.m16n8k{k}.row.col.f32.{kind}.{kind}.f32")
            rest = "{%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0" if sparse else "{%8,%9}, {%0,%1,%2,%3}"
            yield kind, name, text.replace("OPERANDS", rest), f"132 * 4, 256, 0, 8.0 * 16 * {16 * 8 * k}"
            for n, registers in ((256, False), (256, True), (128, False), (128, True)):
                yield kind, *group(kind, dot, k, n, registers)


def group(kind, dot, k, n, registers):
    """The same of `wgmma` with n columns, A in registers or in shared memory."""
    count, sets = n // 2, 256 // n
    text = WGMMA.replace("INSTRUCTION", f"wgmma.mma_async{dot}.sync.aligned.m64n{n}k{k}.f32.{kind}.{kind}")
    text = text.replace("REGISTERS", ", ".join(f"%{i}" for i in range(count))).replace("SETS", str(sets)).replace("COUNT", str(count))
    text = text.replace("OUTPUTS", ", ".join(f'"+f"(d[u % {sets}][{i}])' for i in range(count)))
    a = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}" if registers else f"%{count}"
    b = count + (4 if registers else 1)
    text = text.replace("INPUTS", '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])' if registers else '"l"(da)')
    transposed = "" if kind == "tf32" else ", 0" if registers else ", 0, 0"
    rest = f"{a}, %{b}" + (f", %{b + 1}, 0" if dot else "") + ", p, 1, 1" + transposed
    name = f"wgmma{dot}.m64n{n}k{k}.{kind}" + (".a_registers" if registers else "")
    return name, text.replace("OPERANDS", rest), f"132 * 2, 128, 65536, 4.0 * {64 * n * k}"


calls = {"f16": "", "tf32": ""}
print("#include <algorithm>\n#include <cstdio>\n#include <cstdlib>\n#include <vector>")
print("__device__ unsigned long long descriptor(unsigned at) { return (unsigned long long)((at & 0x3FFFF) >> 4) | 8ull << 16 | 16ull << 32; }")
for kind, name, text, numbers in kernels():
    function = name.replace(".", "_")
    print(text.replace("NAME", function))
    calls[kind] += f'measure("{name}", {function}, {numbers}, seed, out); '
print(MAIN.replace("HALF", calls["f16"]).replace("TF32", calls["tf32"]))
