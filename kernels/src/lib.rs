//! placeholder
pub mod registry {
    //! placeholder
    use sparse_oracle::{arithmetic::Arithmetic, contract::Contract, task::*, Refusal};
    /// x
    pub struct Kernel { /// x
 pub name: String, /// x
 pub engine: &'static str, /// x
 pub contract: Contract, /// x
 pub arithmetic: Arithmetic, /// x
 pub run: fn(Task<'_>) -> Result<Answer, Refusal> }
    /// x
    pub fn all_kernels() -> &'static [Kernel] { &[] }
}
