//! PTX as text.
//!
//! ```text
//! token   characters -> tokens (logos)        stream   tokens with places, one ahead
//! parse   module: directives                  entry    .entry: header and body
//! variable   .param .global .shared .reg ..   instruction   @p form operands;
//! ast     what stands there                   error    what does not belong there
//! ```
//!
//! # What is read
//!
//! PTX as compilers write it (`nvcc`, NVRTC, clang, Triton): `.version`, `.target`, `.address_size 64`, `.file`, `.loc`,
//! `.pragma`, `.section` (skipped), variables of `.global`, `.const`, `.shared` and `.local` memory with what they hold at first,
//! and `.entry` with parameters, limits of the launch, registers, labels, scopes in braces and instructions.
//!
//! Instructions are read by their shape only: any name, any operands. Whether an instruction exists is a question for
//! [`decode`](crate::decode). Functions (`.func`), calls, clusters, textures and constant expressions are refused by name.
//!
//! # Limits
//!
//! ```text
//! text 256 MiB     statements 2 million     operands 16 million     registers of an entry 1 million
//! scopes in scopes 64     elements of a vector 128     bytes of a variable 1 GiB     initial values 16 million
//! ```
//!
//! Reading takes time and memory in proportion to the text up to the first error, and no text makes it recurse.

mod ast;
mod entry;
mod error;
mod instruction;
mod parse;
mod stream;
mod token;
mod variable;

pub use ast::{
    Base, CudaLine, Entry, Guarded, Initializer, Instruction, Module, Operand, Place, RegisterList, Scope,
    Space, Statement, Type, Variable,
};
pub use error::{TextError, TextFault};
pub use parse::parse;
