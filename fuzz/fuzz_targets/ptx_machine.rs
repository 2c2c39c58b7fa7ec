//! PTX that is run: what the checks pass leaves the same memory in every order, and without checks.

#![no_main]

sparse_fuzz::target!(ptx_machine);
