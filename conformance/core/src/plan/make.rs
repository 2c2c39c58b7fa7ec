//! Rows of levels made into cases.

use super::axis::{Axis, FAULT, axes};
use super::cover::Row;
use super::demand::{Budget, row_of};
use super::factors::Draft;
use super::mix::Mix;
use super::number::same_level;
use super::sources::{Choice, Pool};
use crate::backend::{Backend, Named, Support};
use crate::case::{Case, Fault, Filling, Params};
use crate::origin::Origin;
use crate::refusing::refusing;
use crate::right::Right;
use crate::sequence::After;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::bound::tolerance;
use sparse_oracle::contract::{Contract, Extent, Returned};
use sparse_oracle::format::{Entries, FormatKind, FormatParams, PARAMETERS, Parameter};
use sparse_oracle::op::prune;
use sparse_oracle::scalar::nearest_in;
use sparse_oracle::source::generator::Family;
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::SddmmMode;

/// What a case must have besides its levels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaseWish {
    /// Its matrix is of this generator.
    pub generator: Option<Family>,
    /// Its values are of this family.
    pub values: Option<ValueFamily>,
}

/// Makes rows into cases of one contract.
pub(super) struct Maker<'a> {
    pub contract: Contract,
    pub axes: Vec<Axis>,
    pub pool: &'a Pool,
    pub budget: Budget,
}

impl Maker<'_> {
    /// A case of these levels and with what is asked, with the levels that it really has.
    pub(super) fn make(
        &self,
        row: &[u8],
        asked: CaseWish,
        backend: Option<&dyn Backend>,
        turn: u64,
        mix: &mut Mix,
    ) -> Option<(Row, Case)> {
        let mut draft = drafted(self.contract, self.axes.iter().zip(row.iter().copied()), backend, turn, mix);
        draft.values = asked.values.unwrap_or(draft.values);
        let case = self.finish(draft, asked.generator, backend, mix)?;
        Some((row_of(&self.axes, &case)?, case))
    }

    /// Chooses the matrix, if the backend takes the request and there is one that fits it.
    fn finish(
        &self,
        mut draft: Draft,
        family: Option<Family>,
        backend: Option<&dyn Backend>,
        mix: &mut Mix,
    ) -> Option<Case> {
        settle(&mut draft.params, self.contract);
        if !means_something(&draft) {
            return None;
        }
        // NaN and Inf in A and B show whether a kernel reads them at alpha = 0. With alpha = -0 they also show a kernel that compares
        // the bits of alpha with those of +0.
        if draft.params.alpha == 0.0
            && matches!(draft.values, ValueFamily::Special | ValueFamily::PlacedSpecial)
        {
            draft.params.alpha = -0.0;
        }
        let most = match backend {
            None => u64::MAX,
            Some(backend) => most_terms(&draft, &answers(backend, &self.contract, &draft.params)?),
        };
        let terms = |choice: &Choice| terms(&draft.contract, &draft.params, choice);
        let fits = |choice: &Choice| self.fits(&draft, choice) && terms(choice) <= most;
        let place = (draft.group, draft.shape);
        let choice = match family {
            None => self.pool.choose(place, draft.turn, fits),
            Some(family) => self.pool.of_family(family, draft.shape, draft.turn, fits),
        }?;
        Some(Case {
            contract: self.contract,
            origin: Origin::Spec(choice.spec),
            filling: Filling::Drawn(draft.values, mix.below(1 << 20)),
            params: draft.params,
        })
    }

    /// True where the formats hold the matrix, a fault is one, and the case costs no more than the budget allows.
    fn fits(&self, draft: &Draft, choice: &Choice) -> bool {
        let (rows, cols, nnz) = (u128::from(choice.rows), u128::from(choice.cols), u128::from(choice.nnz));
        let (m, k) = if draft.params.transpose_a { (cols, rows) } else { (rows, cols) };
        let (n, most) = (draft.params.n as u128, self.budget.elements);
        let formats = [Some(self.contract.format), self.contract.to];
        let padded = formats.into_iter().flatten().any(FormatKind::pads_with_zeros);
        let longest = choice.longest_row.max(choice.longest_col);
        let is_held = holds(&self.contract, longest, choice.rows.max(choice.cols));
        if padded && draft.shape >= 8 || !is_held {
            return false;
        }
        if draft.params.fault.is_some_and(|fault| !applies(fault, draft, choice)) {
            return false;
        }
        // Calls before the judged one cost as much each.
        let (rare, most) = match draft.params.after {
            None => (false, most),
            Some(After::Many | After::Myriad) => (true, most / 16),
            Some(_) => (draft.shape >= 8, most / 4),
        };
        let is_square = draft.params.right == Right::Same || self.contract.op.signature().is_square();
        if rare && draft.shape > 4 || is_square && rows != cols {
            return false;
        }
        match self.contract.op.signature().returned {
            // A far-tall matrix (shape 8) may have one column of C, however long that is.
            Returned::Matrix if draft.shape == 8 => n <= 1 && k <= 64 * most,
            Returned::Matrix => m * n <= most && k * n <= 64 * most && nnz * n <= 64 * most,
            Returned::Vector => k <= 64 * most && (draft.shape == 8 || m <= most),
            Returned::Sampled => nnz * n <= 32 * most && nnz <= most && (m + k) * n <= 64 * most,
            Returned::Product => nnz <= 2 * most && m <= 4 * most && k <= 64 * most,
            Returned::Moved => nnz <= 16 * most,
        }
    }
}

/// The most terms that an element may have before the declared arithmetic bounds its error no longer: no result of a longer sum
/// could be called wrong.
fn most_terms(draft: &Draft, arithmetic: &Arithmetic) -> u64 {
    let is_bounded =
        |terms| tolerance(arithmetic, terms, draft.params.alpha, draft.params.beta, 1.0).is_some();
    // Longer than any row of a plan.
    let enough = 1 << 20;
    let sums = !draft.contract.op.is_exact();
    if !sums || arithmetic.is_deterministic() || is_bounded(enough) {
        return u64::MAX;
    }
    let (mut bounded, mut beyond) = (0, enough);
    while beyond - bounded > 1 {
        let middle = u64::midpoint(bounded, beyond);
        if is_bounded(middle) {
            bounded = middle;
        } else {
            beyond = middle;
        }
    }
    bounded
}

/// The most terms that an element of the result has.
pub(super) fn terms(contract: &Contract, params: &Params, choice: &Choice) -> u64 {
    match contract.op.signature().inner {
        Extent::N => params.n as u64,
        Extent::M | Extent::K | Extent::One if params.transpose_a => choice.longest_col,
        Extent::M | Extent::K | Extent::One => choice.longest_row,
    }
}

/// The arithmetic with which a backend says that it answers; `None` where it does not, or with a refusal.
fn answers(backend: &dyn Backend, contract: &Contract, params: &Params) -> Option<Arithmetic> {
    match backend.support(contract, params) {
        Support::Supported { arithmetic, profile } => {
            refusing(contract, params, &profile).is_none().then_some(arithmetic)
        }
        Support::Excluded { .. } => None,
    }
}

/// True where a backend says that it answers, and not with a refusal.
pub(super) fn takes(backend: &dyn Backend, case: &Case) -> bool {
    answers(backend, &case.contract, &case.params).is_some()
}

/// Factors and parameters that a manifest names stand for their level.
fn name_values(draft: &mut Draft, backend: &dyn Backend, mix: &mut Mix) {
    let rules = backend.named(&draft.contract);
    let acc = draft.contract.types.acc;
    let of_level = |named: Vec<f64>, drawn: f64, mix: &mut Mix| {
        let fits = |v: &f64| same_level(*v, drawn) && nearest_in(*v, acc) == *v;
        let same: Vec<f64> = named.into_iter().filter(fits).collect();
        if same.is_empty() { drawn } else { mix.pick(&same) }
    };
    let alphas = rules.iter().flat_map(|rule| rule.alpha).copied().collect();
    let betas = rules.iter().flat_map(|rule| rule.beta).copied().collect();
    draft.params.alpha = of_level(alphas, draft.params.alpha, mix);
    draft.params.beta = of_level(betas, draft.params.beta, mix);
    name_parameters(draft, &rules, mix);
}

/// Of one rule, since parameters go together: M = 12 only with the N that its rule has. A value that is no sample has the level of
/// the default.
fn name_parameters(draft: &mut Draft, rules: &[Named<'_>], mix: &mut Mix) {
    if rules.iter().all(|rule| rule.params.is_empty()) {
        return;
    }
    // A rule that names no parameters takes the default.
    let rule = mix.pick(&rules.iter().collect::<Vec<_>>());
    for parameter in PARAMETERS.iter().filter(|parameter| draft.contract.reads(parameter)) {
        let default = (parameter.get)(&FormatParams::default());
        let Some((_, listed)) = rule.params.iter().find(|(name, _)| *name == parameter.name) else {
            continue;
        };
        let is_sample = |value: &Option<u32>| parameter.samples.iter().any(|sample| Some(*sample) == *value);
        let named: Vec<Option<u32>> = listed.iter().copied().filter(|value| !is_sample(value)).collect();
        if (parameter.get)(&draft.params.blocks) == default && !named.is_empty() {
            let value = mix.pick(&named);
            value.into_iter().for_each(|value| (parameter.set)(&mut draft.params.blocks, value));
        }
    }
    fit_pattern(draft, rule, mix);
}

/// N = 6 alone is illegal beside the M of 4 that is drawn by default: what a rule does not name becomes legal beside what it names.
fn fit_pattern(draft: &mut Draft, rule: &Named<'_>, mix: &mut Mix) {
    let contract = draft.contract;
    let is_legal = |blocks: &FormatParams| {
        let nothing = Entries::<f32> { rows: 0, cols: 0, list: Vec::new() };
        let mut formats = [Some(contract.format), contract.to].into_iter().flatten();
        formats.all(|f| !matches!(f, FormatKind::Nm | FormatKind::Vnm) || prune(&nothing, f, blocks).is_ok())
    };
    if is_legal(&draft.params.blocks) {
        return;
    }
    let is_named = |parameter: &Parameter| rule.params.iter().any(|(name, _)| *name == parameter.name);
    let mut legal = Vec::new();
    for parameter in PARAMETERS.iter().filter(|p| contract.reads(p) && !is_named(p)) {
        let default = (parameter.get)(&FormatParams::default());
        for value in parameter.samples.iter().copied().chain(default) {
            let mut blocks = draft.params.blocks;
            (parameter.set)(&mut blocks, value);
            legal.extend(is_legal(&blocks).then_some(blocks));
        }
    }
    if !legal.is_empty() {
        draft.params.blocks = mix.pick(&legal);
    }
}

/// Writes a request one way only: what does not differ is not said, what an operation does not have stays at its default.
fn settle(p: &mut Params, contract: Contract) {
    p.layout_y = p.layout_y.filter(|&y| y != p.layout_b);
    p.pad_y = p.pad_y.filter(|&y| y != p.pad_b);
    let default = Params::default();
    if !contract.op.is_dense() {
        p.alpha = default.alpha;
    }
    if !contract.op.signature().has_beta() {
        p.beta = default.beta;
    }
}

/// False for a request that no operation is defined for.
fn means_something(draft: &Draft) -> bool {
    let p = &draft.params;
    // The calls of a sequence are legal; A * A has one extent and no further row.
    if p.fault.is_some() && (p.after.is_some() || p.right == Right::Same) {
        return false;
    }
    if draft.contract.op.signature().has_mode {
        // S multiplies with alpha = 1 only, and only an added S has a factor.
        let scales = p.mode != SddmmMode::Scale || p.alpha == 1.0;
        let adds = p.mode == SddmmMode::AddS || p.beta == 0.0;
        return scales && adds && p.fault.is_none_or(|fault| fault.concerns(draft.contract.op));
    }
    p.fault.is_none_or(|fault| fault.concerns(draft.contract.op))
}

/// False for a matrix that one of the formats has no room for: its longest row or column, and its extents.
pub(super) fn holds(contract: &Contract, longest: u64, extent: u64) -> bool {
    !is_narrow(contract) || longest < 256 && extent <= 1 << 16
}

/// True where a format has lengths of 8 bits and extents of 16.
pub(super) fn is_narrow(contract: &Contract) -> bool {
    let narrow = |f: FormatKind| matches!(f, FormatKind::RpCsc | FormatKind::CpCsr);
    narrow(contract.format) || contract.to.is_some_and(narrow)
}

/// Whether the fault makes this request illegal. An empty output can't be made shorter, nor its ldc too small.
fn applies(fault: Fault, draft: &Draft, choice: &Choice) -> bool {
    let (p, op) = (&draft.params, draft.contract.op);
    let (rows, cols) = if p.transpose_a { (choice.cols, choice.rows) } else { (choice.rows, choice.cols) };
    match fault {
        Fault::AlphaNan | Fault::BetaInfinite | Fault::InnerShape => true,
        Fault::ShortOutput if op.is_sampled() => choice.nnz > 0,
        Fault::ShortOutput => rows > 0 && p.n > 0,
        Fault::SmallLdc => fault.concerns(op) && rows > 0 && p.n > 0 && cols > 0,
    }
}

/// The levels of some factors, as a request; the matrix is not chosen yet.
fn drafted<'a>(
    contract: Contract,
    levels: impl Iterator<Item = (&'a Axis, u8)>,
    backend: Option<&dyn Backend>,
    turn: u64,
    mix: &mut Mix,
) -> Draft {
    let mut draft =
        Draft { contract, params: Params::default(), group: 0, shape: 2, values: ValueFamily::NearOne, turn };
    for (axis, level) in levels {
        axis.set(&mut draft, level, mix);
    }
    if let Some(backend) = backend {
        name_values(&mut draft, backend, mix);
    }
    draft
}

/// A case with drawn parameters on a given matrix, which a backend takes (any, where none is asked); the matrix is not looked at.
pub(crate) fn on_matrix(
    contract: Contract,
    origin: &Origin,
    backend: Option<&dyn Backend>,
    mix: &mut Mix,
) -> Option<Case> {
    let axes: Vec<Axis> = axes(&contract);
    // A kernel that takes only alpha = 1, beta = 0 and neither transposes, other layouts nor pads accepts about one request in
    // several hundred.
    (0..4000).find_map(|turn| {
        let mut levels = Vec::new();
        for axis in axes.iter().filter(|axis| axis.name() != FAULT) {
            // The matrix is given, so its size can't make up for a costly level.
            let light: Vec<u8> = (0..axis.levels()).filter(|&level| !axis.is_heavy(level)).collect();
            levels.push((axis, if mix.one_in(3) { 0 } else { mix.pick(&light) }));
        }
        let mut draft = drafted(contract, levels.into_iter(), backend, turn, mix);
        settle(&mut draft.params, contract);
        let case = Case {
            contract,
            origin: origin.clone(),
            filling: Filling::Drawn(draft.values, mix.below(1 << 20)),
            params: draft.params,
        };
        // Only a square matrix has a product with itself.
        let possible = means_something(&draft) && draft.params.right != Right::Same;
        (possible && backend.is_none_or(|b| takes(b, &case))).then_some(case)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::arithmetic::Reduction;
    use sparse_oracle::scalar::Precision;

    /// f16 sums in an unknown order have no bound past some number of terms. Plans once drew longer rows, which were not run, so that
    /// the contract had too few cases.
    #[test]
    fn no_more_terms_are_drawn_than_the_declaration_promises_something_about() {
        let contract = Contract::from_name("spmm.csr.f16_f16_f16_f16").expect("a contract");
        let draft = drafted(contract, std::iter::empty(), None, 0, &mut Mix::new(&[1]));
        let any = |acc| Arithmetic::any(acc, acc);
        let promised = |terms| tolerance(&any(Precision::F16), terms, 1.0, 1.0, 1.0).is_some();
        let most = most_terms(&draft, &any(Precision::F16));
        assert_eq!((draft.params.alpha, draft.params.beta), (1.0, 0.0));
        assert!((1_500..2_048).contains(&most) && promised(1_500) && !promised(2_048), "{most}");
        assert!(most_terms(&draft, &any(Precision::Bf16)) < 256);
        // Sums in f32 have a bound for every row of a plan, and a declared order is judged by its bits, without a bound.
        let chain = Arithmetic::chain(Reduction::FmaChain, Precision::F16, Precision::F16);
        for unbounded in [any(Precision::F32), chain] {
            assert_eq!(most_terms(&draft, &unbounded), u64::MAX);
        }
    }
}
