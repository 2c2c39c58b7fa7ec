//! Numbers: exact arithmetic, roundings, and the models of hardware units.
//! One binary: each file of tests is a module, listed here.

mod cpu_support;
mod exact_support;
mod files_shared;

mod exact_arithmetic;
mod exact_panel;
mod model_chain;
mod model_cpu;
mod model_cpu_examples;
mod model_cpu_recorded;
mod model_element;
mod model_recording;
mod model_silicon;
mod model_spmm;
mod model_tensor_core;
mod model_tensor_core_line;
mod model_trace;
mod scalar_rounding;
