//! Any text as PTX: entries that can run, or a typed error with its place in the text.

#![no_main]

sparse_fuzz::target!(ptx_text);
