//! Parameters towards their defaults, and n towards 1.

use super::matrix::transposed;
use super::search::{Candidate, Search};
use crate::case::Params;
use crate::encodings::Encoding;
use crate::right::Right;
use sparse_oracle::format::{FormatParams, Layout, PARAMETERS, Parameter};
use sparse_oracle::task::SddmmMode;

/// One parameter back to its default.
type Step = fn(&mut Params);

/// What goes to a default on its own. A fault stays: it is what the case asks for.
const STEPS: [Step; 16] = [
    |p| p.transpose_a = false,
    |p| p.transpose_b = false,
    |p| p.layout_b = Layout::RowMajor,
    |p| p.layout_c = Layout::RowMajor,
    |p| p.pad_b = 0,
    |p| p.pad_c = 0,
    |p| (p.layout_y, p.pad_y) = (None, None),
    |p| p.mode = SddmmMode::Pattern,
    |p| p.alpha = 1.0,
    |p| (p.beta, p.kept_c) = (0.0, None),
    |p| p.duplicates = false,
    |p| p.unpruned = false,
    |p| p.align = 0,
    |p| (p.after, p.kept_calls) = (None, None),
    |p| p.encoding = Encoding::Canonical,
    |p| p.right = Right::Thin,
];

/// All passes over the parameters: everything at once, then one after the other.
pub(super) fn smaller(search: &mut Search<'_>) {
    search.attempt_with(|c| STEPS.iter().for_each(|step| step(&mut c.case.params)));
    for step in STEPS {
        search.attempt_with(|c| step(&mut c.case.params));
    }
    let p = search.best.case.params;
    if p.transpose_a {
        let turned = transposed(&search.best).map(|mut c| {
            c.case.params.transpose_a = false;
            c
        });
        search.attempt(turned);
    }
    if p.beta != 0.0 && p.beta != 1.0 {
        search.attempt_with(|c| c.case.params.beta = 1.0);
    }
    lower_pads(search);
    lower_n(search);
    blocks(search);
}

fn lower_pads(search: &mut Search<'_>) {
    search.lower(1, |c| c.case.params.pad_b, |c, v| c.case.params.pad_b = v);
    search.lower(1, |c| c.case.params.pad_c, |c, v| c.case.params.pad_c = v);
}

/// n = 1 at the least: of zero columns nothing can be seen. Operations without an n get the default, which no line prints.
fn lower_n(search: &mut Search<'_>) {
    if search.best.case.contract.op.signature().has_n() {
        search.lower(1, |c| c.case.params.n, |c, v| c.case.params.n = v);
    } else {
        search.attempt_with(|c| c.case.params.n = Params::default().n);
    }
}

/// Parameters of the formats: the default, else as small as it goes.
fn blocks(search: &mut Search<'_>) {
    search.attempt_with(|c| c.case.params.blocks = FormatParams::default());
    let default = FormatParams::default();
    for parameter in &PARAMETERS {
        let given = |c: &Candidate| (parameter.get)(&c.case.params.blocks);
        if given(&search.best) == (parameter.get)(&default) {
            continue;
        }
        let back = with_default(parameter, &search.best.case.params.blocks);
        if search.attempt_with(|c| c.case.params.blocks = back) {
            continue;
        }
        let set = |c: &mut Candidate, value: usize| (parameter.set)(&mut c.case.params.blocks, value as u32);
        search.lower(1, |c| given(c).unwrap_or(0) as usize, set);
    }
}

/// All parameters but this one, which may have no value by default and so can't be set to it.
fn with_default(parameter: &Parameter, params: &FormatParams) -> FormatParams {
    let mut back = FormatParams::default();
    for other in PARAMETERS.iter().filter(|p| p.name != parameter.name) {
        if let Some(value) = (other.get)(params) {
            (other.set)(&mut back, value);
        }
    }
    back
}
