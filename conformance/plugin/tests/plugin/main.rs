//! The boundary to C: the header's version 1, and what a shared library may do wrong.
//!
//! Plug-ins are compiled from the sources here; where the machine has no C compiler, each test says that it was skipped.

mod abi;
mod boundary;
mod c;
mod operands;
