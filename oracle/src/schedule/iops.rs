//! IOPS (seeds/003): adaptive partition, psum buffers and address mapping.
