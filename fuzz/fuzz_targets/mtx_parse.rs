//! Any bytes are a Matrix Market file or a typed refusal; what is read survives being written and read again.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use sparse_oracle::source::matrix_market::{read_matrix_market, write_matrix_market};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok((_, matrix)) = read_matrix_market(bytes) else {
        return Corpus::Keep;
    };
    let mut written = Vec::new();
    write_matrix_market(&matrix, &mut written).expect("a Vec takes every write");
    let (_, again) = read_matrix_market(written.as_slice()).expect("what was written can be read");
    let bits = |m: &sparse_oracle::format::Coo<f64>| m.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(
        (&matrix.row_idx, &matrix.col_idx),
        (&again.row_idx, &again.col_idx)
    );
    assert_eq!(bits(&matrix), bits(&again));
    Corpus::Keep
});
