//! Instructions one after another along k: what a kernel's inner loop does to one output element.

use super::TensorCore;
use crate::model::ModelError;

/// `acc` after the instructions that take the terms in order, [`TensorCore::products`] at a time.
///
/// # Errors
/// [`ModelError::NotAMultiple`] where the last instruction would not be full, [`ModelError::Operands`] where `a` and `b` differ in length.
pub fn chain(core: &TensorCore, acc: u64, a: &[u64], b: &[u64]) -> Result<u64, ModelError> {
    let products = core.products();
    if a.len() != b.len() {
        return Err(ModelError::Operands {
            instruction: core.instruction(),
            expected: a.len().next_multiple_of(products),
            a: a.len(),
            b: b.len(),
        });
    }
    if !a.len().is_multiple_of(products) {
        return Err(ModelError::NotAMultiple { instruction: core.instruction(), products, terms: a.len() });
    }
    let mut blocks = a.chunks(products).zip(b.chunks(products));
    blocks.try_fold(acc, |acc, (a, b)| core.apply(acc, a, b))
}

/// As [`chain`], with the last instruction filled up with products 0 * 0.
///
/// # Errors
/// [`ModelError::Operands`] where `a` and `b` differ in length.
pub fn chain_padded(core: &TensorCore, acc: u64, a: &[u64], b: &[u64]) -> Result<u64, ModelError> {
    let full = a.len() - a.len() % core.products();
    if a.len() != b.len() || full == a.len() {
        return chain(core, acc, a, b);
    }
    let acc = chain(core, acc, &a[..full], &b[..full])?;
    let padded = |operands: &[u64]| {
        let mut block = operands[full..].to_vec();
        block.resize(core.products(), 0);
        block
    };
    core.apply(acc, &padded(a), &padded(b))
}
