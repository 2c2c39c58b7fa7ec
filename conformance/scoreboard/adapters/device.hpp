// What the adapters in C++ of libraries for NVIDIA GPUs have in common: arrays on the device, and statuses turned into refusals.
#pragma once
#include "score.hpp"
#include <cuda_runtime_api.h>

namespace score {

inline void cuda(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Bytes on the device, freed with this. Filled with bits of one, which are NaN to a kernel that reads what nobody wrote.
class Device {
    void *at = nullptr;

  public:
    explicit Device(size_t bytes) { cuda(cudaMalloc(&at, std::max<size_t>(bytes, 16))), cuda(cudaMemset(at, 0xFF, std::max<size_t>(bytes, 16))); }
    Device(const void *from, size_t bytes) : Device(bytes) { if (bytes) cuda(cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice)); }
    template <class T> explicit Device(const std::vector<T> &from) : Device(from.data(), from.size() * sizeof(T)) {}
    Device(const Device &) = delete;
    ~Device() { cudaFree(at); }
    template <class T> T *as() const { return static_cast<T *>(at); }
    template <class T> std::vector<T> fetch(size_t count) const {
        std::vector<T> to(count);
        cuda(cudaDeviceSynchronize()), cuda(cudaMemcpy(to.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

} // namespace score
