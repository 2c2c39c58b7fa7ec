//! What stands in a text of PTX. Names are slices of the text.

use std::fmt;

/// A place in the text, from 1, in bytes of its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A line of the CUDA source, from `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaLine {
    /// The number of a `.file` directive.
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Parameters of an entry.
    Param,
    /// Memory of the device.
    Global,
    /// Memory of a block.
    Shared,
    /// Memory of a thread.
    Local,
    /// Constants.
    Const,
    /// Any of them, by the address.
    Generic,
}

/// A type of registers, variables and instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of PTX")]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    F32,
    F64,
}

/// A text.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    /// `.version`.
    pub version: (u8, u8),
    /// `.target`, such as `sm_80`.
    pub target: &'a str,
    /// `.file` directives: number and name.
    pub files: Vec<(u32, &'a str)>,
    /// Variables outside entries.
    pub variables: Vec<Variable<'a>>,
    /// Entries.
    pub entries: Vec<Entry<'a>>,
}

/// A variable or parameter.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it lies.
    pub space: Space,
    /// `.extern`.
    pub is_extern: bool,
    /// Alignment in bytes; that of the type where none is written.
    pub align: u32,
    /// The type of an element.
    pub ty: Type,
    /// Elements: 1 for a scalar, `None` for `name[]`.
    pub len: Option<u64>,
    /// What it holds at first; elements beyond these are zero.
    pub initial: Vec<Initializer<'a>>,
    /// Where it stands.
    pub at: Place,
}

/// One element of what a variable holds at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initializer<'a> {
    /// An integer; the low bits count.
    Integer(i128),
    /// Bits of an f32.
    F32(u32),
    /// Bits of an f64.
    F64(u64),
    /// The address of a variable and an offset in bytes.
    Address(&'a str, i64),
}

/// `.visible .entry`.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters.
    pub params: Vec<Variable<'a>>,
    /// `.maxntid`, up to three numbers.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.reg` directives outside inner scopes.
    pub registers: Vec<RegisterList<'a>>,
    /// Variables inside (shared, local), outside inner scopes.
    pub variables: Vec<Variable<'a>>,
    /// What runs.
    pub body: Vec<Statement<'a>>,
    /// Where it stands.
    pub at: Place,
}

/// `.reg .b32 %r<22>;`, or one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterList<'a> {
    /// The type of each.
    pub ty: Type,
    /// The name before the number.
    pub prefix: &'a str,
    /// Registers prefix0 to prefix(count - 1); `None` for a register of just this name.
    pub count: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl Space {
    /// As PTX writes it, without its point.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Space::Param => "param",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "const",
            Space::Generic => "generic",
        }
    }
}

impl Type {
    /// Each type with its name, without its point; the usual ones first.
    pub const ALL: [(Type, &'static str); 18] = [
        (Type::B32, "b32"),
        (Type::U32, "u32"),
        (Type::S32, "s32"),
        (Type::F32, "f32"),
        (Type::B64, "b64"),
        (Type::U64, "u64"),
        (Type::S64, "s64"),
        (Type::F64, "f64"),
        (Type::B16, "b16"),
        (Type::U16, "u16"),
        (Type::S16, "s16"),
        (Type::B8, "b8"),
        (Type::U8, "u8"),
        (Type::S8, "s8"),
        (Type::F16, "f16"),
        (Type::F16x2, "f16x2"),
        (Type::B128, "b128"),
        (Type::Pred, "pred"),
    ];

    /// The type with this name, written without its point.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Its name, without its point.
    #[must_use]
    pub fn name(self) -> &'static str {
        Type::ALL.into_iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Bytes of a value; 0 for a predicate.
    #[must_use]
    pub const fn bytes(self) -> u8 {
        match self {
            Type::Pred => 0,
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
            Type::B128 => 16,
        }
    }
}

/// What stands in a body, in its order.
#[derive(Clone, Debug)]
pub enum Statement<'a> {
    /// `$L__BB0_3:`.
    Label(&'a str, Place),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `{`: a scope with names of its own begins.
    Open(Box<Scope<'a>>),
    /// `}`: the innermost scope ends.
    Close,
}

/// What is declared between the braces of a scope inside a body. Compilers make one for each piece of inline assembly.
#[derive(Clone, Debug, Default)]
pub struct Scope<'a> {
    /// `.reg` directives.
    pub registers: Vec<RegisterList<'a>>,
    /// Variables (shared, local).
    pub variables: Vec<Variable<'a>>,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarded<'a> {
    /// The predicate.
    pub predicate: &'a str,
    /// Runs where it is false.
    pub negated: bool,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// Whether it runs.
    pub guard: Option<Guarded<'a>>,
    /// Name and modifiers as they stand there: `mul.wide.u32`, `mma.sp::ordered_metadata.sync.aligned.m16n8k32...`.
    pub form: &'a str,
    /// Its operands.
    pub operands: Vec<Operand<'a>>,
    /// Where it stands.
    pub at: Place,
    /// The last `.loc` before it.
    pub cuda: Option<CudaLine>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register (`%r1`), special register (`%tid.x`), label, or variable: its declaration says which.
    Name(&'a str),
    /// `!%p1`.
    Not(&'a str),
    /// `_`: the result is not wanted.
    Sink,
    /// `%p1|%p2`; the second may be `_`.
    Pair(&'a str, &'a str),
    /// `{a, b, c, d}`.
    Vector(Vec<Operand<'a>>),
    /// An integer, also hexadecimal or negative.
    Integer(i128),
    /// `0f3F800000`: the bits.
    F32(u32),
    /// `0d3FF0000000000000`: the bits.
    F64(u64),
    /// `[base + offset]`.
    Address(Base<'a>, i64),
    /// `name + offset` outside brackets.
    Offset(&'a str, i64),
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<'a> {
    /// A register or a variable.
    Name(&'a str),
    /// Only a number.
    None,
}
