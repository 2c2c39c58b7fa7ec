//! The table of kernels: names and declarations of all of them.
//!
//! Not a unit test: the binary of those would hold every kernel, compiled a second time, which costs minutes.

use sparse_kernels::{Engine, KernelName, all_kernels};
use sparse_oracle::contract::all_contracts;
use sparse_oracle::prelude::*;
use std::collections::BTreeSet;

#[test]
fn every_contract_has_a_portable_kernel_and_the_plain_one_comes_first() {
    for contract in all_contracts() {
        let first = all_kernels().iter().find(|k| k.contract == *contract && k.engine == "portable");
        let plain = KernelName::plain(*contract, Engine::Portable).to_string();
        assert_eq!(first.map(|k| &k.name), Some(&plain));
    }
}

#[test]
fn every_name_is_unique_and_parses_to_its_contract() {
    let names: BTreeSet<&str> = all_kernels().iter().map(|k| k.name.as_str()).collect();
    assert_eq!(names.len(), all_kernels().len());
    for kernel in all_kernels() {
        let parsed: KernelName = kernel.name.parse().expect("a registered name parses");
        assert_eq!(parsed.contract, kernel.contract, "{}", kernel.name);
        assert_eq!(parsed.engine.name(), kernel.engine, "{}", kernel.name);
    }
}

#[test]
fn no_kernel_declares_less_than_its_contract_admits() {
    for kernel in all_kernels() {
        let reason = kernel.contract.refuses(&kernel.arithmetic);
        assert_eq!(reason, None, "{}", kernel.name);
        assert_eq!(kernel.arithmetic.part().acc, kernel.contract.types.acc, "{}", kernel.name);
    }
}
