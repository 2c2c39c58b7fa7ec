//! Typed refusals: why a set of arrays is not a valid encoding, a request is not legal or was not carried out.
//!
//! Every variant names the field and the place (row, column, offset) and both sides of the mismatch, so that
//! the message alone is enough to find the broken element. Offsets and indices are 0-based, in elements.

/// The most elements that an encoder allocates for one array whose length the entries do not bound: offsets, and
/// the slots of the padded formats. 2^28, i.e. 2 GiB of f64. Past it `from_entries` refuses, so that a matrix of
/// 2^31 rows and three entries cannot take the machine down.
pub const SLOT_LIMIT: u64 = 1 << 28;

/// The most elements that one block of BCSR or Blocked-ELL may have (256 x 256, or any other shape of that area).
pub const BLOCK_AREA_LIMIT: u64 = 1 << 16;

/// Why the oracle or a kernel refuses an input, by who is at fault. Messages are lowercase fragments, those of the kind.
///
/// Whoever must know whose fault a refusal is matches on these four kinds: the enum is exhaustive, so that the compiler asks
/// about a fifth.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The arrays are at fault.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// The request is at fault.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Nobody is at fault: the request is legal, but too large for the suite.
    #[error(transparent)]
    Limit(#[from] Limit),
    /// What should have carried out a legal request is at fault.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Arrays or entries that contradict each other or the rules of their format: whoever filled them must change them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// An array has the wrong number of elements.
    #[error("{field} has {found} elements, expected {expected}")]
    Length {
        /// Name of the array.
        field: &'static str,
        /// Elements that the other fields imply.
        expected: usize,
        /// Elements present.
        found: usize,
    },
    /// An offset array (row pointer, column pointer, block pointer) does not start at 0.
    #[error("{field}[0] is {found}, expected 0")]
    FirstOffset {
        /// Name of the array.
        field: &'static str,
        /// The value found there.
        found: u64,
    },
    /// An offset array decreases.
    #[error("{field}[{at}] is {found}, less than {field}[{}] = {previous}", at - 1)]
    Decreasing {
        /// Name of the array.
        field: &'static str,
        /// Offset of the smaller value.
        at: usize,
        /// Value before it.
        previous: u64,
        /// Value found.
        found: u64,
    },
    /// The last offset does not equal the number of stored elements.
    #[error("{field} ends at {found}, but {expected} elements are stored")]
    LastOffset {
        /// Name of the array.
        field: &'static str,
        /// Number of stored elements.
        expected: u64,
        /// Last offset.
        found: u64,
    },
    /// An index is not below its limit.
    #[error("{field}[{at}] (major index {row}) is {found}, must be below {limit}")]
    IndexOutOfRange {
        /// Name of the array.
        field: &'static str,
        /// Offset in the array.
        at: usize,
        /// Row (major index) that the element belongs to.
        row: usize,
        /// Index found.
        found: u64,
        /// First illegal index.
        limit: u64,
    },
    /// Indices of one row (column, block row) are not strictly ascending.
    #[error(
        "{field}[{at}] (major index {row}) is {found}, not above its predecessor {previous}; sort the row"
    )]
    Unsorted {
        /// Name of the array.
        field: &'static str,
        /// Offset in the array.
        at: usize,
        /// Row (major index) that the element belongs to.
        row: usize,
        /// Index before it.
        previous: u64,
        /// Index found.
        found: u64,
    },
    /// One position is stored twice.
    #[error(
        "position ({row}, {column}) is stored again at offset {at} of {field}; sum or drop duplicates first"
    )]
    Duplicate {
        /// Name of the array.
        field: &'static str,
        /// Offset of the second occurrence.
        at: usize,
        /// Row of the position.
        row: usize,
        /// Column of the position.
        column: usize,
    },
    /// A slot that must hold padding does not.
    #[error("{field}[{at}] (row {row}) lies in the padding but is not a pad")]
    DirtyPad {
        /// Name of the array.
        field: &'static str,
        /// Offset in the array.
        at: usize,
        /// Row that the slot belongs to.
        row: usize,
    },
    /// An element of an array is not what the other fields imply.
    #[error("{field}[{at}] is {found}, expected {expected}")]
    Unequal {
        /// Name of the array.
        field: &'static str,
        /// Offset in the array.
        at: usize,
        /// Value that the other fields imply.
        expected: u64,
        /// Value found.
        found: u64,
    },
    /// A window, block, column or bitmap is there and holds nothing, where only what holds an entry is stored.
    #[error("{field}[{at}] stands for nothing, but only what holds an entry is stored")]
    Empty {
        /// Name of the array.
        field: &'static str,
        /// Offset in the array.
        at: usize,
    },
    /// A bit of a bitmap stands for a position that does not exist: outside the matrix, or over a pad column.
    #[error("{field}[{at}] has bit {bit} set, which lies in the padding")]
    StrayBit {
        /// Name of the array.
        field: &'static str,
        /// Offset of the word in the array.
        at: usize,
        /// The bit.
        bit: u32,
    },
    /// A row belongs to two parts of a matrix.
    #[error("{field}[{at}] is row {found}, which the window at row {window} holds already")]
    Overlap {
        /// Name of the array.
        field: &'static str,
        /// Offset in the array.
        at: usize,
        /// First row of the window.
        window: u64,
        /// Row found.
        found: u64,
    },
}

/// A request that is not legal: operands that are missing, of another type or do not fit together, a parameter that the format is not
/// defined for, a matrix that the format asked for cannot hold. Whoever asks must ask for something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// An operand that the operation has was not given.
    #[error("{field} is missing")]
    Missing {
        /// Name of the operand.
        field: &'static str,
    },
    /// The element type or format is not the one the operation takes.
    #[error("{field} is {found}, expected {expected}")]
    Kind {
        /// Which operand.
        field: &'static str,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Two operands do not fit together.
    #[error("{left_name} is {left}, but {right_name} is {right}")]
    Shape {
        /// What the left side is ("columns of A").
        left_name: &'static str,
        /// Its value.
        left: usize,
        /// What the right side is ("rows of B").
        right_name: &'static str,
        /// Its value.
        right: usize,
    },
    /// A leading dimension is smaller than the row (column) it must hold.
    #[error("{field} is {found}, must be at least {minimum}")]
    LeadingDimension {
        /// Which leading dimension ("ldc").
        field: &'static str,
        /// Value found, in elements.
        found: usize,
        /// Smallest legal value, in elements.
        minimum: usize,
    },
    /// A dense operand, or the buffer for the result, has the wrong number of elements.
    #[error("{field} has {found} elements, expected {expected}")]
    Length {
        /// Name of the operand or buffer.
        field: &'static str,
        /// Elements that its shape implies.
        expected: usize,
        /// Elements present.
        found: usize,
    },
    /// A parameter that must be positive is zero.
    #[error("{field} is 0, must be at least 1")]
    Zero {
        /// Name of the parameter.
        field: &'static str,
    },
    /// A parameter or dimension is larger than its type or the format allows.
    #[error("{field} is {found}, the limit is {limit}")]
    TooLarge {
        /// Name of the dimension or parameter.
        field: &'static str,
        /// Value found.
        found: u128,
        /// Largest legal value.
        limit: u64,
    },
    /// A parameter has a value that the format is not defined for.
    #[error("{field} is {found}, must be {expected}")]
    Parameter {
        /// Name of the parameter.
        field: &'static str,
        /// What is legal, in words.
        expected: &'static str,
        /// Value found.
        found: u64,
    },
    /// A scalar that must be finite by contract is not.
    #[error("{field} is {value}, must be finite")]
    NotFinite {
        /// "alpha" or "beta".
        field: &'static str,
        /// Its value, printed.
        value: String,
    },
    /// A window, group or column holds more than the format has room for.
    #[error("{what} at row {row}, column {column} holds {found}, the format has room for {limit}; {remedy}")]
    TooFull {
        /// What is too full ("a window of 4 columns").
        what: &'static str,
        /// First row of it.
        row: usize,
        /// First column of it.
        column: usize,
        /// What it holds.
        found: u64,
        /// What the format has room for.
        limit: u64,
        /// What helps ("prune the matrix first").
        remedy: &'static str,
    },
}

/// A legal request that the suite does not take on: an array of more than [`SLOT_LIMIT`] elements, a block of more than
/// [`BLOCK_AREA_LIMIT`]. Nobody can be judged on it; every other refusal of operands is a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {found}, the limit is {limit}")]
pub struct Limit {
    /// Name of the array or of what is too large.
    pub field: &'static str,
    /// Value found.
    pub found: u128,
    /// What the suite takes on at most.
    pub limit: u64,
}

/// A legal request that could not be carried out here, because of the machine, a device or another library.
///
/// It stands here and not in the kernels because it is one of the ways in which a task ends without an answer, which judge and judged
/// share; it names no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The machine lacks what a kernel runs on. About the machine, not the request.
    #[error("this machine has no {feature}")]
    Unavailable {
        /// What it lacks ("avx512f").
        feature: &'static str,
    },
    /// A device has what a kernel needs and failed all the same: too little memory, a driver that is too old. About the
    /// machine, not the request.
    #[error("the {device} device failed: {reason}")]
    Device {
        /// Its kind ("CUDA").
        device: &'static str,
        /// What it could not do, in its own words.
        reason: String,
    },
    /// Another library would not take a matrix that is valid here.
    #[error("{library} refuses the matrix: {reason}")]
    Foreign {
        /// Its name.
        library: &'static str,
        /// What it said.
        reason: String,
    },
}

/// Checks that a dimension or count fits the index type of every format here, u32.
///
/// # Errors
/// [`RequestError::TooLarge`] when `value` exceeds 2^32 - 1.
pub fn check_u32(field: &'static str, value: u128) -> Result<u32, RequestError> {
    u32::try_from(value).map_err(|_| RequestError::TooLarge {
        field,
        found: value,
        limit: u64::from(u32::MAX),
    })
}
