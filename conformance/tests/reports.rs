//! Reports, expectations and what is checked in of them.
//! One binary: each file of tests is a module, listed here.

#![recursion_limit = "256"]

mod report_sample;

mod documented;
mod documents;
mod report_expectations;
mod report_history;
mod report_outcome;
mod report_page;
mod report_schema;
mod report_sizes;
mod report_stored;
mod report_terminal;
mod report_writers;
mod reviewed;
