//! The host's side of `sc_result`: where a library puts a sparse result, and its reason for a refusal.
//!
//! The state of the running call is the thread's own, not behind the pointer that the library holds: a call back after
//! the end, from another thread or with a pointer that is none finds nothing, gets NULL, and harms nobody.

use crate::abi::{NewArray, REFUSED, Refuse, ScResult, SetExtent};
use crate::element::{Plain, code, name as type_name, size as type_size};
use crate::error::RunError;
use crate::guarded::Guarded;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{FieldMut, FieldRef, Fields, FormatKind, Parts, PartsElement};
use sparse_oracle::scalar::{Element, Precision};
use sparse_oracle::task::Answer;
use sparse_oracle::with_scalar;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};

/// Most bytes that all arrays of one result may have together: those of the largest operands (1 GiB of f64).
const LIMIT: u64 = 1 << 30;
/// Longest name that is read; longest reason for a refusal that is kept.
const NAME: usize = 64;
const REASON: usize = 4096;

/// What the library did in the running call.
pub(crate) struct Call {
    /// Format, shape and element type of a sparse result.
    sparse: Option<Expected>,
    arrays: Vec<(&'static str, Guarded)>,
    extents: Vec<(&'static str, u64)>,
    bytes: u64,
    refusal: Option<String>,
    /// The first call back that was wrong.
    breach: Option<RunError>,
}

/// The sparse result that is asked for.
struct Expected {
    kind: FormatKind,
    precision: Precision,
    /// Names and types of the format's arrays, and names of its extents.
    arrays: Vec<(&'static str, i32)>,
    extents: Vec<&'static str>,
}

impl Expected {
    fn new(kind: FormatKind, precision: Precision) -> Expected {
        let (mut arrays, mut extents) = (Vec::new(), Vec::new());
        for (name, field) in Parts::<u8>::empty(kind).fields() {
            match field {
                FieldRef::Extent(_) | FieldRef::Flag(_) => extents.push(name),
                FieldRef::U8(_) => arrays.push((name, u8::CODE)),
                FieldRef::U16(_) => arrays.push((name, u16::CODE)),
                FieldRef::U32(_) => arrays.push((name, u32::CODE)),
                FieldRef::U64(_) => arrays.push((name, u64::CODE)),
                FieldRef::Values(_) => arrays.push((name, code(precision))),
            }
        }
        Expected { kind, precision, arrays, extents }
    }
}

impl Call {
    /// A call with a dense result.
    pub(crate) fn dense() -> Call {
        Call { sparse: None, arrays: Vec::new(), extents: Vec::new(), bytes: 0, refusal: None, breach: None }
    }

    /// A call with a sparse result of this shape, which the library may change.
    pub(crate) fn sparse(contract: &Contract, (rows, cols): (usize, usize)) -> Call {
        let kind = contract.to.unwrap_or(contract.format);
        Call {
            sparse: Some(Expected::new(kind, contract.types.out)),
            extents: vec![("rows", rows as u64), ("cols", cols as u64)],
            ..Call::dense()
        }
    }

    /// Runs `inside` with this as the thread's running call.
    pub(crate) fn during<R>(self, inside: impl FnOnce() -> R) -> (R, Option<Call>) {
        RUNNING.with(|running| *running.borrow_mut() = Some(self));
        let result = inside();
        (result, RUNNING.with(|running| running.borrow_mut().take()))
    }

    /// What the calls back came to, once the status said that the library is done.
    pub(crate) fn settle(mut self, status: i32) -> Result<Call, RunError> {
        for (array, memory) in &self.arrays {
            if let Some(at) = memory.broken() {
                return Err(RunError::OutOfBounds { operand: "the result", array, at, len: memory.len() });
            }
        }
        if let Some(breach) = self.breach.take() {
            return Err(breach);
        }
        match status {
            crate::abi::OK => Ok(self),
            REFUSED => Err(RunError::Refused(
                self.refusal.take().unwrap_or_else(|| "refused without a reason".to_owned()),
            )),
            found => Err(RunError::Status { found }),
        }
    }

    /// The arrays, as the answer of a backend: unchecked, since judging them is the oracle's task.
    ///
    /// # Errors
    /// A block with a side past u32.
    pub(crate) fn answer(self) -> Result<Answer, RunError> {
        match self.sparse {
            None => Ok(Answer::Written),
            Some(ref expected) => {
                let kind = expected.kind;
                with_scalar!(expected.precision, T => self.typed::<T>(kind))
            }
        }
    }

    fn typed<T: Plain + Element + PartsElement>(&self, kind: FormatKind) -> Result<Answer, RunError> {
        let mut parts = Parts::<T>::empty(kind);
        for (name, field) in parts.fields_mut() {
            let extent = || self.extents.iter().find(|e| e.0 == name).map_or(0, |e| e.1);
            match field {
                FieldMut::Extent(value) => *value = usize::try_from(extent()).unwrap_or(usize::MAX),
                FieldMut::Flag(value) => *value = extent() != 0,
                FieldMut::U8(v) => *v = self.array(name),
                FieldMut::U16(v) => *v = self.array(name),
                FieldMut::U32(v) => *v = self.array(name),
                FieldMut::U64(v) => *v = self.array(name),
                FieldMut::Values(v) => *v = self.array(name),
            }
        }
        Answer::from_parts(parts).map_err(|refusal| RunError::Extent { refusal })
    }

    /// An array that was never asked for is empty: if it may not be, the oracle says so.
    fn array<T: Plain>(&self, name: &str) -> Vec<T> {
        let found = self.arrays.iter().find(|array| array.0 == name);
        found.map_or_else(Vec::new, |array| array.1.to_vec())
    }

    /// What a call back came to; the first one that was wrong counts.
    pub(crate) fn remember<R>(&mut self, result: Result<R, RunError>) -> Option<R> {
        result.map_err(|error| _ = self.breach.get_or_insert(error)).ok()
    }

    /// A reason for a refusal, as bytes of the library; NULL and nothing are none.
    pub(crate) fn refuse(&mut self, message: Option<Vec<u8>>) {
        let text = message.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.refusal = text.filter(|text| !text.is_empty());
    }

    /// Room for an array of the result, by the name that the library passed.
    pub(crate) fn new_array(&mut self, name: &str, dtype: i32, count: u64) -> Result<*mut c_void, RunError> {
        const CALL: &str = "sc_new_array";
        let Some(expected) = &self.sparse else {
            return Err(RunError::Dense { call: CALL });
        };
        let format = expected.kind.name();
        let Some(&(name, wanted)) = expected.arrays.iter().find(|array| array.0 == name) else {
            let known: Vec<&str> = expected.arrays.iter().map(|array| array.0).collect();
            return Err(unknown(CALL, format, ("array", name), &known));
        };
        if dtype != wanted {
            let (expected, found) = (type_name(wanted), type_name(dtype));
            return Err(RunError::Type { format, name, expected, found });
        }
        if self.arrays.iter().any(|array| array.0 == name) {
            return Err(RunError::Twice { name });
        }
        let bytes = count.checked_mul(type_size(wanted) as u64);
        let total = bytes.and_then(|bytes| bytes.checked_add(self.bytes)).filter(|total| *total <= LIMIT);
        let memory = total.and_then(|_| Guarded::fresh(wanted, usize::try_from(count).ok()?));
        let (Some(total), Some(memory)) = (total, memory) else {
            return Err(RunError::TooLarge { name, count, limit: LIMIT });
        };
        self.bytes = total;
        let data = memory.data().cast();
        self.arrays.push((name, memory.named("the result", name)));
        Ok(data)
    }

    /// The memory of the array that was asked for last.
    pub(crate) fn last_array(&mut self) -> Option<&mut Guarded> {
        self.arrays.last_mut().map(|array| &mut array.1)
    }

    /// An extent of the result, by the name that the library passed.
    pub(crate) fn set_extent(&mut self, name: &str, value: u64) -> Result<(), RunError> {
        const CALL: &str = "sc_set_extent";
        let Some(expected) = &self.sparse else {
            return Err(RunError::Dense { call: CALL });
        };
        let Some(&name) = expected.extents.iter().find(|extent| **extent == name) else {
            return Err(unknown(CALL, expected.kind.name(), ("extent", name), &expected.extents));
        };
        match self.extents.iter_mut().find(|extent| extent.0 == name) {
            Some(extent) => extent.1 = value,
            None => self.extents.push((name, value)),
        }
        Ok(())
    }
}

fn unknown(
    call: &'static str,
    format: &'static str,
    (what, name): (&'static str, &str),
    known: &[&str],
) -> RunError {
    RunError::Unknown { call, format, what, name: name.to_owned(), known: known.join(", ") }
}

thread_local! {
    static RUNNING: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// Does something to the running call of this thread. What goes wrong is remembered, and told at once on standard error, for
/// the library that does not look and crashes.
fn running<R>(call: &'static str, then: impl FnOnce(&mut Call) -> Result<R, RunError>) -> Option<R> {
    RUNNING.with(|running| {
        let mut running = running.try_borrow_mut().ok()?;
        let Some(state) = running.as_mut() else {
            eprintln!("{call}: no sc_run is under way on this thread");
            return None;
        };
        let result = then(state);
        if let Err(error) = &result {
            eprintln!("{error}");
        }
        state.remember(result)
    })
}

/// The bytes of a C string, at most `limit` of them; `None` for NULL.
///
/// # Safety
/// `start` is NULL or points to bytes that end with a NUL, or to at least `limit + 1` bytes.
pub(crate) unsafe fn c_bytes(start: *const c_char, limit: usize) -> Option<Vec<u8>> {
    if start.is_null() {
        return None;
    }
    // Story: `c_char` has a sign on x86 and none on Arm, where a conversion of it did not compile.
    let start = start.cast::<u8>();
    let mut bytes = Vec::new();
    while bytes.len() <= limit {
        // SAFETY: all bytes before this one exist and are not NUL, and the caller promises bytes up to a NUL or to
        // `limit`, so this one exists too.
        let byte = unsafe { start.add(bytes.len()).read() };
        if byte == 0 {
            break;
        }
        bytes.push(byte);
    }
    Some(bytes)
}

/// A name that the library passed.
pub(crate) fn parse_name(call: &'static str, bytes: Option<Vec<u8>>) -> Result<String, RunError> {
    let wrong = |reason| RunError::Name { call, reason };
    let bytes = bytes.ok_or_else(|| wrong("NULL"))?;
    if bytes.len() > NAME {
        return Err(wrong("longer than any name of a format's parts"));
    }
    String::from_utf8(bytes).map_err(|_| wrong("not UTF-8"))
}

/// # Safety
/// As the header says: `name` is NULL or a C string.
unsafe extern "C" fn new_array(_: *mut ScResult, name: *const c_char, dtype: i32, count: u64) -> *mut c_void {
    const CALL: &str = "sc_new_array";
    // SAFETY: the library's word, by the header.
    let name = unsafe { c_bytes(name, NAME) };
    let array = running(CALL, |call| call.new_array(&parse_name(CALL, name)?, dtype, count));
    array.unwrap_or(std::ptr::null_mut())
}

/// # Safety
/// As the header says: `name` is NULL or a C string.
unsafe extern "C" fn set_extent(_: *mut ScResult, name: *const c_char, value: u64) -> i32 {
    const CALL: &str = "sc_set_extent";
    // SAFETY: the library's word, by the header.
    let name = unsafe { c_bytes(name, NAME) };
    let set = running(CALL, |call| call.set_extent(&parse_name(CALL, name)?, value));
    if set.is_some() { crate::abi::OK } else { REFUSED }
}

/// # Safety
/// As the header says: `message` is NULL or a C string.
unsafe extern "C" fn refuse(_: *mut ScResult, message: *const c_char) {
    // SAFETY: the library's word, by the header.
    let message = unsafe { c_bytes(message, REASON) };
    running("refuse", |call| {
        call.refuse(message);
        Ok(())
    });
}

/// The calls back, as `sc_result` holds them.
pub(crate) const CALLS: (NewArray, SetExtent, Refuse) = (new_array, set_extent, refuse);
