//! What the result of a case must be, worked out once for everybody who declares the same.
//!
//! ```text
//! case, operands --+-- declaration 1 -> exact operands -+- C as it was first  -> sheet -> backends, repeats, seeded bugs
//!                  |                                    \- C as it was second -> sheet
//!                  \-- declaration 2 -> ..
//! ```
//!
//! Large results are judged as they are read and nothing is kept of them.

use crate::case::Case;
use crate::execute::poison;
use crate::expected::{Exact, moved};
use crate::operands::Operands;
use crate::response::DenseResult;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::format::AnySparse;
use sparse_oracle::judge::{Judged, Output, Place, Sheet, judge, judge_spgemm};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::Values;
use sparse_oracle::task::RawSparse;
use std::sync::{Arc, Mutex, PoisonError};

/// Elements of a result of which a sheet is kept.
const MOST: usize = 1 << 17;

/// What the result of one case must be, for each declaration that was asked for. It goes with one case and its operands.
#[derive(Debug, Default)]
pub(crate) struct Sheets {
    products: Mutex<Vec<Arc<Product>>>,
    moves: Mutex<Vec<Arc<Moved>>>,
}

/// The result of a product for one declaration.
#[derive(Debug)]
pub(crate) struct Product {
    arithmetic: Arithmetic,
    profile: Profile,
    exact: Result<Option<Exact>, Refusal>,
    sheets: Mutex<Vec<OfC>>,
}

/// What C held, and the sheet; none where the result is too large for one.
#[derive(Debug)]
struct OfC {
    c: Option<Vec<f64>>,
    sheet: Option<Arc<Sheet>>,
}

/// The oracle's own result of a conversion or transpose, for one profile.
#[derive(Debug)]
pub(crate) struct Moved {
    profile: Profile,
    pub(crate) result: Result<AnySparse, Refusal>,
}

impl Sheets {
    /// The product as one declaration sees it.
    pub(crate) fn product(
        &self,
        case: &Case,
        operands: &Operands,
        arithmetic: &Arithmetic,
        profile: &Profile,
    ) -> Arc<Product> {
        let mut made = self.products.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |p: &&Arc<Product>| p.arithmetic == *arithmetic && p.profile == *profile;
        if let Some(product) = made.iter().find(same) {
            return Arc::clone(product);
        }
        let product = Arc::new(Product {
            exact: Exact::new(case, operands, arithmetic, profile),
            arithmetic: *arithmetic,
            profile: profile.clone(),
            sheets: Mutex::default(),
        });
        made.push(Arc::clone(&product));
        product
    }

    /// The oracle's own result of a conversion or transpose.
    pub(crate) fn moved(&self, case: &Case, operands: &Operands, profile: &Profile) -> Arc<Moved> {
        let mut made = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moved) = made.iter().find(|m| m.profile == *profile) {
            return Arc::clone(moved);
        }
        let fresh = Arc::new(Moved { profile: profile.clone(), result: moved(case, operands, profile) });
        made.push(Arc::clone(&fresh));
        fresh
    }
}

impl Product {
    /// The operands in exact numbers.
    ///
    /// # Errors
    /// Why there is nothing to judge against.
    pub(crate) fn exact(&self) -> Result<&Exact, String> {
        match &self.exact {
            Ok(Some(exact)) => Ok(exact),
            Ok(None) => Err("the case has no arithmetic to judge".to_owned()),
            Err(refusal) => Err(format!("the profile rejects the operands: {refusal}")),
        }
    }

    /// Judges a dense result; `c` is what the output held, where it is read.
    pub(crate) fn judge_dense(
        &self,
        case: &Case,
        exact: &Exact,
        result: &DenseResult,
        c: Option<&[f64]>,
    ) -> Judged {
        let out = case.contract.types.out;
        let by_number = case.contract.op.is_sampled();
        let place = if by_number { Place::Visited } else { result.place };
        let before_place = if by_number { Place::Visited } else { exact.compact_place() };
        if let Some(sheet) = self.sheet(case, exact, c, before_place) {
            return sheet.judge(result.found(), place, Some(poison(out)));
        }
        let before = c.map(|c| Values::from_f64(out, c));
        let output = Output {
            found: result.found(),
            place,
            poison: Some(poison(out)),
            before: before.as_ref().map(Values::as_slice),
            before_place,
        };
        let arithmetic = exact.as_laid_out(case.contract.format, &self.arithmetic);
        let scalars = (case.params.alpha, case.params.beta);
        judge(&exact.problem(), &arithmetic, &self.profile, scalars, &output)
    }

    /// Judges the result of an SpGEMM.
    pub(crate) fn judge_spgemm(&self, case: &Case, exact: &Exact, found: RawSparse) -> Judged {
        let format = case.contract.format;
        match self.sheet(case, exact, None, Place::Visited) {
            Some(sheet) => sheet.judge_spgemm(&self.profile, format, found),
            None => judge_spgemm(&exact.problem(), &self.arithmetic, &self.profile, format, found),
        }
    }

    fn sheet(&self, case: &Case, exact: &Exact, c: Option<&[f64]>, place: Place) -> Option<Arc<Sheet>> {
        let mut made = self.sheets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of) = made.iter().find(|of| same_bits(of.c.as_deref(), c)) {
            return of.sheet.clone();
        }
        // SpGEMM knows neither scalars nor blocks of a unit.
        let (arithmetic, scalars) = if case.contract.op.is_dense() {
            (exact.as_laid_out(case.contract.format, &self.arithmetic), (case.params.alpha, case.params.beta))
        } else {
            (self.arithmetic, (1.0, 0.0))
        };
        let before = c.map(|c| Values::from_f64(case.contract.types.out, c));
        let before = before.as_ref().map(|before| (before.as_slice(), place));
        let problem = exact.problem();
        let sheet = Sheet::new(&problem, (&arithmetic, &self.profile), scalars, before, MOST);
        // What can't be formed is refused, and said, by who judges without a sheet.
        let sheet = sheet.ok().flatten().map(Arc::new);
        made.push(OfC { c: c.map(<[f64]>::to_vec), sheet: sheet.clone() });
        sheet
    }
}

fn same_bits(a: Option<&[f64]>, b: Option<&[f64]>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
        (a, b) => a.is_none() && b.is_none(),
    }
}
