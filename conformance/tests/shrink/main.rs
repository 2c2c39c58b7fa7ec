//! Failing cases become minimal ones and reproducers; passing ones are run again and their bits compared.

mod bugs;
mod determinism;
mod minimal;
mod programs;
mod reproducers;
mod values;
