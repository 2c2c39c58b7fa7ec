//! A call of a library that is not there: what a library does with its `sc_result`, as data. For tests and fuzzing of all that
//! decides on what came back, without code that could do anything else.

use crate::error::RunError;
use crate::host::{Call, parse_name};
use sparse_oracle::contract::Contract;
use sparse_oracle::task::Answer;

/// One thing that a library does during a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// `sc_new_array`, and bytes written to what it gave.
    NewArray {
        /// The name as bytes before their NUL; `None` for NULL.
        name: Option<Vec<u8>>,
        /// The header's number of the type.
        dtype: i32,
        /// Elements.
        count: u64,
        /// Where the first byte is written, from the first element's.
        at: i64,
        /// What is written.
        content: Vec<u8>,
    },
    /// `sc_set_extent`.
    SetExtent {
        /// The name as bytes before their NUL; `None` for NULL.
        name: Option<Vec<u8>>,
        /// The value.
        value: u64,
    },
    /// `refuse`, with the message's bytes before their NUL; `None` for NULL.
    Refuse(Option<Vec<u8>>),
}

/// What the host makes of a call with a sparse result of this shape, or with a dense one, in which the library did this and
/// returned this status.
///
/// # Errors
/// As [`Plugin::run`](crate::Plugin::run).
pub fn answer(
    contract: &Contract,
    shape: Option<(usize, usize)>,
    acts: &[Act],
    status: i32,
) -> Result<Answer, RunError> {
    let mut call = shape.map_or_else(Call::dense, |shape| Call::sparse(contract, shape));
    acts.iter().for_each(|act| act.done_to(&mut call));
    call.settle(status)?.answer()
}

impl Act {
    fn done_to(&self, call: &mut Call) {
        match self {
            Act::NewArray { name, dtype, count, at, content } => {
                let name = parse_name("sc_new_array", name.clone());
                let room = name.and_then(|name| call.new_array(&name, *dtype, *count));
                if call.remember(room).is_some()
                    && let Some(memory) = call.last_array()
                {
                    memory.write(*at, content);
                }
            }
            Act::SetExtent { name, value } => {
                let name = parse_name("sc_set_extent", name.clone());
                let set = name.and_then(|name| call.set_extent(&name, *value));
                call.remember(set);
            }
            Act::Refuse(message) => call.refuse(message.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::scalar::Values;

    fn array(name: &str, dtype: i32, at: i64, elements: &[u32]) -> Act {
        let content = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        Act::NewArray { name: Some(name.into()), dtype, count: elements.len() as u64, at, content }
    }

    /// A CSR of one row with two entries, the first byte of its columns written at `at`.
    fn csr(at: i64, status: i32) -> Result<Answer, RunError> {
        let contract = Contract::from_name("spgemm.csr.f32_f32_f32_f32").expect("a contract");
        let values = [1f32, 2.0].map(f32::to_bits);
        let acts = [
            array("row_ptr", 18, 0, &[0, 2]),
            array("col_idx", 18, at, &[1, 4]),
            array("values", 2, 0, &values),
        ];
        answer(&contract, Some((1, 5)), &acts, status)
    }

    #[test]
    fn what_a_library_wrote_comes_back() {
        let Ok(Answer::Sparse(found)) = csr(0, 0) else { panic!("an answer") };
        assert_eq!((found.rows, found.cols, found.offsets, found.indices), (1, 5, vec![0, 2], vec![1, 4]));
        assert_eq!(found.values, Values::F32(vec![1.0, 2.0]));
    }

    #[test]
    fn a_byte_outside_an_array_and_another_status_are_no_answer() {
        assert!(matches!(csr(4, 0), Err(RunError::OutOfBounds { array: "col_idx", at: 8, len: 8, .. })));
        assert!(matches!(csr(0, 2), Err(RunError::Status { found: 2 })));
        assert!(matches!(csr(0, 1), Err(RunError::Refused(_))));
    }
}
