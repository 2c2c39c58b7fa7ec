//! One test for each contract of a backend.

/// Makes a `#[test]` of each name, which judges the backend on the contracts that its pattern matches.
///
/// ```
/// # use sparse_check::{Backend, Failure, Params, Support, contract::Contract, task::{Answer, Task}};
/// # #[derive(Default)]
/// # struct Mine;
/// # impl Backend for Mine {
/// #     fn name(&self) -> &str { "mine" }
/// #     fn version(&self) -> String { String::new() }
/// #     fn description(&self) -> &str { "" }
/// #     fn support(&self, _: &Contract, _: &Params) -> Support { Support::Excluded { reason: "".into() } }
/// #     fn run(&self, _: &Contract, _: Task<'_>) -> Result<Answer, Failure> { Err("".into()) }
/// # }
/// sparse_check::tests! {
///     Mine::default();
///     spmv_f32: "spmv.csr.f32_f32_f32_f32";
///     spmm_f64: "spmm.csr.f64_f64_f64_f64";
/// }
/// ```
#[macro_export]
macro_rules! tests {
    ($backend:expr; $($name:ident: $contracts:literal;)+) => {
        $(#[test]
        fn $name() {
            $crate::backend($backend, $contracts).assert();
        })+
    };
}
