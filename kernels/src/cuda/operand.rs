//! B and C of a product on the device: row-major, with the leading dimension that the caller gave where that is legal.
//!
//! ```text
//! row-major B, C:   uploaded whole, pads too: the kernel sees the caller's ldb and ldc, and C comes back whole, so
//!                   that a pad which it wrote is seen
//! other layouts:    packed row-major on the host, ld = columns; only elements of C come back
//! ```

use super::buffer::{DeviceElement, GpuBuffer};
use super::gpu::Gpu;
use super::meter;
use crate::portable::dense::Strided;
use crate::portable::element::{Operand, Output, Stored};
use crate::portable::request::{Product, same};
use crate::portable::unit::Unit;
use sparse_types::format::Sparse;
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};

/// An element type whose bits go to the device as they are.
pub(crate) trait Word: Stored {
    /// The bits.
    type Bits: DeviceElement + Default;

    /// Out of the element.
    fn bits(self) -> Self::Bits;
    /// Back.
    fn element(bits: Self::Bits) -> Self;
}

macro_rules! words {
    ($($element:ident: $bits:ty;)*) => {$(
        impl Word for $element {
            type Bits = $bits;

            fn bits(self) -> $bits {
                self.0
            }

            fn element(bits: $bits) -> $element {
                $element(bits)
            }
        }
    )*};
    (@same $($element:ty),*) => {$(
        impl Word for $element {
            type Bits = $element;

            fn bits(self) -> $element {
                self
            }

            fn element(bits: $element) -> $element {
                bits
            }
        }
    )*};
}
words! { Tf32: u32; F16: u16; Bf16: u16; E4m3: u8; E5m2: u8; }
words!(@same f64, f32);

/// A dense row-major matrix on the device; element (i, j) at `i * ld + j`.
#[derive(Debug)]
pub(crate) struct DeviceDense<T: Word> {
    /// Its elements, at least `(rows - 1) * ld + cols`.
    pub(crate) data: GpuBuffer<T::Bits>,
    /// Rows.
    pub(crate) rows: usize,
    /// Columns.
    pub(crate) cols: usize,
    /// Elements from one row to the next, at least `cols`.
    pub(crate) ld: usize,
    /// Only [`DeviceDense::new`] makes one.
    _checked: (),
}

/// Refuses a product of an operator of these rows and columns with B into C whose extents do not fit.
pub(crate) fn fits<I: Word, O: Word>(
    (rows, columns): (usize, usize),
    b: &DeviceDense<I>,
    c: &DeviceDense<O>,
) -> Result<(), Refusal> {
    same(("columns of op(A)", columns), ("rows of B", b.rows))?;
    same(("rows of op(A)", rows), ("rows of C", c.rows))?;
    same(("columns of B", b.cols), ("columns of C", c.cols))
}

/// Refuses a buffer of `length` elements in which a row-major matrix does not lie.
fn extent((rows, cols): (usize, usize), ld: usize, length: usize) -> Result<(), Refusal> {
    if rows > 1 && ld < cols {
        return Err(Refusal::Request(RequestError::LeadingDimension {
            field: "the leading dimension on the device",
            found: ld,
            minimum: cols,
        }));
    }
    let expected = match rows {
        0 => 0,
        _ => (rows - 1).saturating_mul(ld).saturating_add(cols),
    };
    if length < expected {
        return Err(Refusal::Request(RequestError::Length {
            field: "a dense matrix on the device",
            expected,
            found: length,
        }));
    }
    Ok(())
}

/// The bits of a slice of elements.
pub(crate) fn bits_of<T: Word>(elements: &[T]) -> Vec<T::Bits> {
    elements.iter().map(|&element| element.bits()).collect()
}

impl<T: Word> DeviceDense<T> {
    /// A buffer as a matrix.
    ///
    /// # Errors
    /// [`RequestError::LeadingDimension`] where rows would overlap, [`RequestError::Length`] where the last row would end behind the buffer.
    pub(crate) fn new(
        data: GpuBuffer<T::Bits>,
        (rows, cols): (usize, usize),
        ld: usize,
    ) -> Result<DeviceDense<T>, Refusal> {
        extent((rows, cols), ld, data.len())?;
        Ok(DeviceDense { data, rows, cols, ld, _checked: () })
    }

    /// Uploads an operand.
    pub(crate) fn upload(gpu: &Gpu, matrix: &Strided<&[T]>) -> Result<DeviceDense<T>, Refusal> {
        let (bits, ld) = match matrix.by_rows() {
            Some((data, ld)) => (bits_of(data), ld),
            None => (packed(matrix.rows, matrix.cols, |i, j| matrix.at(i, j)), matrix.cols),
        };
        DeviceDense::new(gpu.upload(&bits)?, (matrix.rows, matrix.cols), ld)
    }

    /// Uploads an operand packed, with rows that start at a multiple of 16 bytes: libraries fail without.
    pub(crate) fn upload_aligned(gpu: &Gpu, matrix: &Strided<&[T]>) -> Result<DeviceDense<T>, Refusal> {
        let ld = matrix.cols.next_multiple_of(16 / size_of::<T::Bits>());
        let mut bits = vec![T::Bits::default(); matrix.rows * ld];
        for (i, row) in bits.chunks_exact_mut(ld.max(1)).enumerate() {
            for (j, to) in row[..matrix.cols].iter_mut().enumerate() {
                *to = matrix.at(i, j).bits();
            }
        }
        DeviceDense::new(gpu.upload(&bits)?, (matrix.rows, matrix.cols), ld)
    }

    /// Uploads the output as it is before the kernel.
    pub(crate) fn upload_output(gpu: &Gpu, matrix: &Strided<&mut [T]>) -> Result<DeviceDense<T>, Refusal> {
        DeviceDense::upload(gpu, &seen(matrix))
    }

    /// Brings the elements of the output back.
    pub(crate) fn download_elements(&self, gpu: &Gpu, matrix: &mut Strided<&mut [T]>) -> Result<(), Refusal> {
        let mut bits = vec![T::Bits::default(); self.rows * self.ld];
        gpu.download(&self.data, &mut bits)?;
        for (i, row) in bits.chunks_exact(self.ld.max(1)).enumerate() {
            for (j, &from) in row[..self.cols].iter().enumerate() {
                matrix.data[i * matrix.row_step + j * matrix.col_step] = T::element(from);
            }
        }
        Ok(())
    }

    /// Brings the output back, pads too where the layout is the device's.
    pub(crate) fn download(&self, gpu: &Gpu, matrix: Strided<&mut [T]>) -> Result<(), Refusal> {
        match matrix.into_rows() {
            Ok((data, _)) => {
                let mut bits = vec![T::Bits::default(); data.len()];
                gpu.download(&self.data, &mut bits)?;
                for (to, from) in data.iter_mut().zip(bits) {
                    *to = T::element(from);
                }
            }
            Err(mut matrix) => self.download_elements(gpu, &mut matrix)?,
        }
        Ok(())
    }
}

/// An output, to be read.
fn seen<'m, T>(matrix: &'m Strided<&mut [T]>) -> Strided<&'m [T]> {
    Strided {
        rows: matrix.rows,
        cols: matrix.cols,
        row_step: matrix.row_step,
        col_step: matrix.col_step,
        data: &*matrix.data,
    }
}

fn packed<T: Word>(rows: usize, cols: usize, at: impl Fn(usize, usize) -> T) -> Vec<T::Bits> {
    let mut bits = Vec::with_capacity(rows * cols);
    for i in 0..rows {
        bits.extend((0..cols).map(|j| at(i, j).bits()));
    }
    bits
}

/// Runs a checked product: A is prepared, B and C go up, `launch` queues the work, C comes back.
///
/// `prepare` gets A as stored and whether to transpose it; `launch` gets what it made, B and C on the device, alpha and
/// beta, and may be called again where times are asked for (see [`meter`]). With an empty C there is nothing to launch.
pub(crate) fn product<I, A, O, P>(
    gpu: Option<&Gpu>,
    request: Product<'_, I, A, O>,
    prepare: impl FnOnce(&Gpu, &Sparse<I>, bool) -> Result<P, Refusal>,
    launch: impl Fn(&Gpu, &P, (&DeviceDense<I>, &mut DeviceDense<O>), (A, A)) -> Result<(), Refusal>,
) -> Result<Answer, Refusal>
where
    I: Operand<A> + Word,
    A: Unit,
    O: Output<A> + Word,
{
    let gpu = Gpu::or_first(gpu)?;
    if request.c.rows == 0 || request.c.cols == 0 {
        return Ok(Answer::Written);
    }
    let (made, seconds) = meter::prepared(gpu, || prepare(gpu, request.a, request.transpose_a))?;
    let b = DeviceDense::upload(gpu, &request.b)?;
    let mut c = DeviceDense::upload_output(gpu, &request.c)?;
    let factors = request.scaling.factors();
    meter::queue(gpu, seconds, || launch(gpu, &made, (&b, &mut c), factors))?;
    c.download(gpu, request.c)?;
    Ok(Answer::Written)
}

/// As [`product`], for libraries that want rows aligned: B and C are packed for them.
pub(crate) fn library_product<I, A, O, P>(
    mut request: Product<'_, I, A, O>,
    prepare: impl FnOnce(&Gpu, &Sparse<I>, bool) -> Result<P, Refusal>,
    launch: impl Fn(&Gpu, &P, (&DeviceDense<I>, &mut DeviceDense<O>), (A, A)) -> Result<(), Refusal>,
) -> Result<Answer, Refusal>
where
    I: Operand<A> + Word,
    A: Unit,
    O: Output<A> + Word,
{
    let gpu = Gpu::get()?;
    if request.c.rows == 0 || request.c.cols == 0 {
        return Ok(Answer::Written);
    }
    let (made, seconds) = meter::prepared(gpu, || prepare(gpu, request.a, request.transpose_a))?;
    let b = DeviceDense::upload_aligned(gpu, &request.b)?;
    let mut c = DeviceDense::upload_aligned(gpu, &seen(&request.c))?;
    let factors = request.scaling.factors();
    meter::queue(gpu, seconds, || launch(gpu, &made, (&b, &mut c), factors))?;
    c.download_elements(gpu, &mut request.c)?;
    Ok(Answer::Written)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tiled kernels once took any struct of a buffer and extents: only some of these describe a matrix in it.
    #[test]
    fn a_buffer_must_hold_the_last_row() {
        assert_eq!(extent((3, 5), 8, 21), Ok(()));
        assert_eq!(extent((0, 5), 0, 0), Ok(()));
        assert_eq!(extent((1, 5), 0, 5), Ok(()));
        let short = Refusal::Request(RequestError::Length {
            field: "a dense matrix on the device",
            expected: 21,
            found: 20,
        });
        assert_eq!(extent((3, 5), 8, 20), Err(short));
        assert!(matches!(
            extent((2, 5), 4, 100),
            Err(Refusal::Request(RequestError::LeadingDimension { found: 4, minimum: 5, .. }))
        ));
        assert!(extent((usize::MAX, 2), usize::MAX, 100).is_err());
    }
}
