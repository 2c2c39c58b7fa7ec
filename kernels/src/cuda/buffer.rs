//! A typed buffer in the memory of a GPU, given back when it is dropped.

use super::gpu::Gpu;
use std::marker::PhantomData;

/// An element type whose bytes go to the device as they are.
pub(crate) trait DeviceElement: bytemuck::Pod + std::fmt::Debug + Send + Sync {}

impl<T: bytemuck::Pod + std::fmt::Debug + Send + Sync> DeviceElement for T {}

/// `len` elements, one after another, at an address that is a multiple of 256.
#[derive(Debug)]
pub(crate) struct GpuBuffer<T> {
    gpu: Gpu,
    address: u64,
    len: usize,
    elements: PhantomData<T>,
}

impl<T> GpuBuffer<T> {
    /// What was allocated there.
    pub(super) const fn new(gpu: Gpu, address: u64, len: usize) -> GpuBuffer<T> {
        GpuBuffer { gpu, address, len, elements: PhantomData }
    }

    /// Elements.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Where it is on the device.
    pub(crate) const fn address(&self) -> u64 {
        self.address
    }

    /// Where its element `at` is; at most the place behind the last one.
    pub(crate) fn address_of(&self, at: usize) -> u64 {
        self.address + (at.min(self.len) * size_of::<T>()) as u64
    }
}

impl<T> Drop for GpuBuffer<T> {
    fn drop(&mut self) {
        self.gpu.free(self.address);
    }
}
