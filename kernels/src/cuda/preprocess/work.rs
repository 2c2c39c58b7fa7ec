//! One conversion on the device: its buffers and the order of its passes.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::Uploaded;
use super::passes::{Each, Pass, WORD, scan_counts, scan_words, tiles};
use super::rule::Rule;
use crate::cuda::buffer::{DeviceElement, GpuBuffer};
use crate::cuda::gpu::Gpu;
use crate::cuda::operand::Word;
use sparse_types::refusal::{EncodingError, Refusal, RequestError};

/// Rows of a window.
const WINDOW: usize = 8;

/// A conversion: `count`, `allocate` and `fill`, in this order; `count` and `fill` may be repeated.
#[derive(Debug)]
pub(super) struct LibraConversion<'a, T: Word> {
    gpu: &'a Gpu,
    csr: &'a Uploaded<T>,
    rule: Rule,
    words: usize,
    windows: usize,
    first_row: GpuBuffer<u32>,
    vector: GpuBuffer<u16>,
    slot: GpuBuffer<u32>,
    leaders: GpuBuffer<u64>,
    rest: GpuBuffer<u64>,
    origin: GpuBuffer<u32>,
    cut: GpuBuffer<u64>,
    window_values: GpuBuffer<u32>,
    totals: GpuBuffer<u32>,
    sums: GpuBuffer<u32>,
    window_block_ptr: GpuBuffer<u32>,
    row_ptr: GpuBuffer<u32>,
    filled: Option<Filled<T>>,
}

/// The arrays whose lengths are known once all is counted.
#[derive(Debug)]
struct Filled<T: Word> {
    blocks: usize,
    tensor: usize,
    block_col: GpuBuffer<u32>,
    column_mask: GpuBuffer<u8>,
    bitmap: GpuBuffer<u64>,
    block_value_ptr: GpuBuffer<u32>,
    values: GpuBuffer<T::Bits>,
    col_idx: GpuBuffer<u32>,
    rest_values: GpuBuffer<T::Bits>,
    /// Of both parts, for SDDMM.
    positions: Option<(GpuBuffer<u32>, GpuBuffer<u32>)>,
}

/// The arrays of both formats, on the host.
#[derive(Debug)]
pub(super) struct HostArrays<T> {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) kb: usize,
    pub(super) window_block_ptr: Vec<u32>,
    pub(super) bitmap: Vec<u64>,
    pub(super) block_value_ptr: Vec<u32>,
    pub(super) block_col: Vec<u32>,
    pub(super) values: Vec<T>,
    pub(super) position: Vec<u32>,
    pub(super) row_ptr: Vec<u32>,
    pub(super) col_idx: Vec<u32>,
    pub(super) rest_values: Vec<T>,
    pub(super) rest_position: Vec<u32>,
}

impl<'a, T: Word> LibraConversion<'a, T> {
    /// What passes leave for one another.
    pub(super) fn new(
        gpu: &'a Gpu,
        csr: &'a Uploaded<T>,
        rule: Rule,
    ) -> Result<LibraConversion<'a, T>, Refusal> {
        let (words, windows) = (csr.entries.div_ceil(WORD), csr.rows.div_ceil(WINDOW));
        let planes = rule.planes();
        // Blocks are at most as many as entries; every window has at most one that is not full.
        let longest = (planes * tiles(words)).max(tiles(windows + csr.entries));
        Ok(LibraConversion {
            gpu,
            csr,
            rule,
            words,
            windows,
            first_row: gpu.zeros(words + 1)?,
            vector: gpu.zeros(csr.entries)?,
            slot: gpu.zeros(csr.entries)?,
            leaders: gpu.zeros(planes * (words + 1))?,
            rest: gpu.zeros(words + 1)?,
            origin: gpu.zeros(planes * windows)?,
            cut: gpu.zeros(windows)?,
            window_values: gpu.zeros(windows + 1)?,
            totals: gpu.zeros(2)?,
            sums: gpu.zeros(longest)?,
            window_block_ptr: gpu.zeros(windows + 1)?,
            row_ptr: gpu.zeros(csr.rows + 1)?,
            filled: None,
        })
    }

    fn pass(&self) -> Pass {
        let mut pass = Pass {
            row_ptr: self.csr.row_ptr.address(),
            col_idx: self.csr.col_idx.address(),
            values: self.csr.values.address(),
            first_row: self.first_row.address(),
            vector: self.vector.address(),
            slot: self.slot.address(),
            leaders: self.leaders.address(),
            rest: self.rest.address(),
            origin: self.origin.address(),
            cut: self.cut.address(),
            window_values: self.window_values.address(),
            totals: self.totals.address(),
            window_block_ptr: self.window_block_ptr.address(),
            row_ptr_rest: self.row_ptr.address(),
            rows: self.csr.rows as u32,
            entries: self.csr.entries as u32,
            words: self.words as u32,
            windows: self.windows as u32,
            least: self.rule.least(),
            shift: self.rule.kb().trailing_zeros(),
            ..Pass::default()
        };
        if let Some(filled) = &self.filled {
            pass.block_col = filled.block_col.address();
            pass.column_mask = filled.column_mask.address();
            pass.bitmap = filled.bitmap.address();
            pass.block_value_ptr = filled.block_value_ptr.address();
            pass.tensor_values = filled.values.address();
            pass.rest_col = filled.col_idx.address();
            pass.rest_values = filled.rest_values.address();
            if let Some((position, rest_position)) = &filled.positions {
                pass.position = position.address();
                pass.rest_position = rest_position.address();
            }
            pass.blocks = filled.blocks as u32;
        }
        pass
    }

    /// Queues what finds the vectors, and how many blocks and entries each part has.
    pub(super) fn count(&mut self) -> Result<(), Refusal> {
        let (pass, gpu, sums) = (self.pass(), self.gpu, self.sums.address());
        // SAFETY: `new` made every array of these passes of the length that `Pass` says, and they live in `self`; CSR comes
        // from a checked matrix. The passes come in the order of their dependences. `sums` is long enough for 8 planes of
        // words and for windows.
        unsafe {
            if self.words > 0 {
                pass.queue(gpu, "find_rows", Each::Word)?;
            }
            match self.rule {
                Rule::Spmm { fill, .. } => {
                    if fill {
                        pass.queue(gpu, "classify_densities", Each::Entry)?;
                        scan_words(gpu, (pass.leaders, self.rule.planes()), self.words, sums)?;
                        pass.queue(gpu, "fill_windows", Each::Window)?;
                        pass.queue(gpu, "fill_choose", Each::Entry)?;
                        pass.queue(gpu, "flag_marked", Each::Entry)?;
                    } else {
                        pass.queue(gpu, "classify_dense", Each::Entry)?;
                    }
                    scan_words(gpu, (pass.leaders, 1), self.words, sums)?;
                    scan_words(gpu, (pass.rest, 1), self.words, sums)?;
                    pass.queue(gpu, "spmm_windows", Each::Window)?;
                    scan_counts(gpu, pass.window_block_ptr, self.windows, sums)?;
                    pass.queue(gpu, "spmm_totals", Each::All)
                }
                Rule::Sddmm { .. } => {
                    pass.queue(gpu, "classify_densities", Each::Entry)?;
                    scan_words(gpu, (pass.leaders, self.rule.planes()), self.words, sums)?;
                    pass.queue(gpu, "sddmm_windows", Each::Window)?;
                    scan_counts(gpu, pass.window_block_ptr, self.windows, sums)?;
                    scan_counts(gpu, pass.window_values, self.windows, sums)?;
                    pass.queue(gpu, "sddmm_totals", Each::All)
                }
            }
        }
    }

    /// Waits for the counts, and makes the arrays of the format.
    ///
    /// # Errors
    /// More slots than 32 bits number, too little memory, a pass that failed.
    pub(super) fn allocate(&mut self) -> Result<(), Refusal> {
        let mut totals = [0u32; 2];
        self.gpu.download(&self.totals, &mut totals)?;
        let (blocks, rest) = (totals[0] as usize, totals[1] as usize);
        let (slots, tensor) = (blocks * self.rule.kb(), self.csr.entries - rest);
        if slots >= u32::MAX as usize {
            return Err(Refusal::Request(RequestError::TooLarge {
                field: "block_col",
                found: slots as u128,
                limit: u64::from(u32::MAX - 1),
            }));
        }
        let gpu = self.gpu;
        let positions = match self.rule {
            Rule::Spmm { .. } => None,
            Rule::Sddmm { .. } => Some((gpu.zeros(tensor)?, gpu.zeros(rest)?)),
        };
        self.filled = Some(Filled {
            blocks,
            tensor,
            block_col: gpu.zeros(slots)?,
            column_mask: gpu.zeros(slots)?,
            bitmap: gpu.zeros(blocks * self.rule.words())?,
            block_value_ptr: gpu.zeros(blocks + 1)?,
            values: gpu.zeros(tensor)?,
            col_idx: gpu.zeros(rest)?,
            rest_values: gpu.zeros(rest)?,
            positions,
        });
        Ok(())
    }

    /// Queues what writes the arrays; nothing where they are not allocated.
    pub(super) fn fill(&mut self) -> Result<(), Refusal> {
        if self.filled.is_none() {
            return Ok(());
        }
        let (pass, gpu, sums) = (self.pass(), self.gpu, self.sums.address());
        let bitmap = match self.rule.kb() {
            4 => "bitmap_4",
            8 => "bitmap_8",
            _ => "bitmap_16",
        };
        let moved = match size_of::<T::Bits>() {
            1 => "move_1",
            2 => "move_2",
            4 => "move_4",
            _ => "move_8",
        };
        // SAFETY: as in `count`, whose results these passes read; `allocate` made the arrays of the format of the lengths that
        // it counted for this CSR matrix, and `sums` is long enough for blocks, of which there are fewer than windows and
        // entries together. `moved` is the kernel for elements of this size.
        unsafe {
            match self.rule {
                Rule::Spmm { .. } => pass.queue(gpu, "place_dense", Each::Entry)?,
                Rule::Sddmm { .. } => {
                    pass.queue(gpu, "place_densities", Each::Entry)?;
                    pass.queue(gpu, "flag_marked", Each::Entry)?;
                    scan_words(gpu, (pass.rest, 1), self.words, sums)?;
                }
            }
            pass.queue(gpu, "rest_rows", Each::Row)?;
            pass.queue(gpu, "pad_slots", Each::Window)?;
            pass.queue(gpu, bitmap, Each::Block)?;
            scan_counts(gpu, pass.block_value_ptr, pass.blocks as usize, sums)?;
            pass.queue(gpu, moved, Each::Entry)
        }
    }

    /// Brings the arrays to the host.
    pub(super) fn download(&self) -> Result<HostArrays<T>, Refusal> {
        let Some(filled) = &self.filled else {
            return Err(EncodingError::Empty { field: "arrays of the format", at: 0 }.into());
        };
        let (tensor, rest) = (filled.tensor, self.csr.entries - filled.tensor);
        let (position, rest_position) = match &filled.positions {
            Some((of_tensor, of_rest)) => (self.fetch(of_tensor, tensor)?, self.fetch(of_rest, rest)?),
            None => (Vec::new(), Vec::new()),
        };
        Ok(HostArrays {
            rows: self.csr.rows,
            cols: self.csr.cols,
            kb: self.rule.kb(),
            window_block_ptr: self.fetch(&self.window_block_ptr, self.windows + 1)?,
            bitmap: self.fetch(&filled.bitmap, filled.blocks * self.rule.words())?,
            block_value_ptr: self.fetch(&filled.block_value_ptr, filled.blocks + 1)?,
            block_col: self.fetch(&filled.block_col, filled.blocks * self.rule.kb())?,
            values: self.elements(&filled.values, tensor)?,
            position,
            row_ptr: self.fetch(&self.row_ptr, self.csr.rows + 1)?,
            col_idx: self.fetch(&filled.col_idx, rest)?,
            rest_values: self.elements(&filled.rest_values, rest)?,
            rest_position,
        })
    }

    fn fetch<X: DeviceElement + Default>(
        &self,
        buffer: &GpuBuffer<X>,
        len: usize,
    ) -> Result<Vec<X>, Refusal> {
        let mut elements = vec![X::default(); len];
        self.gpu.download(buffer, &mut elements)?;
        Ok(elements)
    }

    fn elements(&self, buffer: &GpuBuffer<T::Bits>, len: usize) -> Result<Vec<T>, Refusal> {
        Ok(self.fetch(buffer, len)?.into_iter().map(T::element).collect())
    }
}
