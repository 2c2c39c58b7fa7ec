//! Any text as a case line: a typed error, or a case that prints and parses to itself.

#![no_main]

sparse_fuzz::target!(case_line);
