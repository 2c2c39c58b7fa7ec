//! Backends in other processes and languages.
//! One binary: each file of tests is a module, listed here.

mod cli;
mod faults;

mod plugin_hostile;
mod remote_hostile;
mod remote_killed;
mod remote_mixed;
mod remote_protocol;
mod remote_python;
mod sandbox;
mod sandbox_faults;
mod sandbox_layers;
