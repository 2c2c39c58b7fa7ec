//! What the result of a task must be, worked out once for everybody who declares the same.
//!
//! ```text
//! inputs -> exact operands --+-- declaration 1 -+- C as it was first  -> sheet -> backends, repeats, seeded bugs
//!                            |                  \- C as it was second -> sheet
//!                            \-- declaration 2 that reads them in the same way -> ..
//! ```
//!
//! Large results are judged as they are read and nothing is kept of them.

use super::moved::Moved;
use super::moves::judge_spgemm;
use super::operands::{ExactOperands, Reading};
use super::output::{Output, Place};
use super::sheet::Sheet;
use super::tally::{Judged, is_screened, judge_problem};
use crate::arithmetic::Arithmetic;
use crate::format::FormatKind;
use crate::prelude::*;
use crate::profile::Profile;
use crate::refusal::Refusal;
use crate::scalar::{AnySlice, Values};
use crate::task::{Inputs, RawSparse};
use crate::verdict::Verdict;
use std::sync::{Arc, Mutex, PoisonError};

/// Elements of a result of which a sheet is kept.
const MOST: usize = 1 << 17;

/// What the result of one task must be, for each declaration that was asked for. It goes with one task and its operands.
#[derive(Debug)]
pub struct Sheets<'a> {
    inputs: Inputs<'a>,
    operands: Mutex<Vec<(Reading, Arc<Read<'a>>)>>,
    products: Mutex<Vec<Arc<Product<'a>>>>,
    moves: Mutex<Vec<Arc<Moved>>>,
}

/// Operands in exact numbers, or why there are none.
type Read<'a> = Result<Option<ExactOperands<'a>>, Refusal>;

/// The result of a product for one declaration.
#[derive(Debug)]
pub struct Product<'a> {
    arithmetic: Arithmetic,
    profile: Profile,
    format: FormatKind,
    scalars: (f64, f64),
    exact: Arc<Read<'a>>,
    sheets: Mutex<Vec<Arc<OfC>>>,
}

/// What C held, and the sheet; none where the result is too large for one.
#[derive(Debug)]
struct OfC {
    c: Option<Vec<f64>>,
    sheet: Option<Arc<Sheet>>,
}

impl<'a> Sheets<'a> {
    /// Nothing is worked out yet.
    #[must_use]
    pub fn new(inputs: Inputs<'a>) -> Sheets<'a> {
        Sheets { inputs, operands: Mutex::default(), products: Mutex::default(), moves: Mutex::default() }
    }

    /// The product as one declaration sees it.
    pub fn product(&self, arithmetic: &Arithmetic, profile: &Profile) -> Arc<Product<'a>> {
        let same = |p: &Arc<Product<'_>>| p.arithmetic == *arithmetic && p.profile == *profile;
        made_once(&self.products, same, || {
            let operands = self.operands(Reading::of(arithmetic, profile));
            Arc::new(Product::on(operands, &self.inputs, arithmetic, profile))
        })
    }

    fn operands(&self, reading: Reading) -> Arc<Read<'a>> {
        let read = || (reading, Arc::new(ExactOperands::read(&self.inputs, reading)));
        made_once(&self.operands, |(of, _)| *of == reading, read).1
    }

    /// The oracle's own result of a conversion or transpose; `None` of a product.
    pub fn moved(&self, profile: &Profile) -> Option<Arc<Moved>> {
        self.inputs.op.is_exact().then(|| {
            let make = || Arc::new(Moved::of(&self.inputs, profile));
            made_once(&self.moves, |m| m.profile == *profile, make)
        })
    }
}

/// Said of a wrong result that holds, bit for bit, what C held.
const AS_BEFORE: &str = "every element is what C held before the call, as where nothing is written: ";

impl<'a> Product<'a> {
    /// Decodes the operands as one declaration sees them.
    #[must_use]
    pub fn new(inputs: &Inputs<'a>, arithmetic: &Arithmetic, profile: &Profile) -> Product<'a> {
        let operands = Arc::new(ExactOperands::new(inputs, arithmetic, profile));
        Product::on(operands, inputs, arithmetic, profile)
    }

    fn on(
        exact: Arc<Read<'a>>,
        inputs: &Inputs<'_>,
        arithmetic: &Arithmetic,
        profile: &Profile,
    ) -> Product<'a> {
        Product {
            arithmetic: *arithmetic,
            profile: profile.clone(),
            format: inputs.a.kind(),
            scalars: if inputs.op.is_dense() { (inputs.alpha, inputs.beta) } else { (1.0, 0.0) },
            exact,
            sheets: Mutex::default(),
        }
    }

    /// The operands in exact numbers.
    ///
    /// # Errors
    /// Why there is nothing to judge against.
    pub fn exact(&self) -> Result<&ExactOperands<'a>, String> {
        match &*self.exact {
            Ok(Some(exact)) => Ok(exact),
            Ok(None) => Err("the case has no arithmetic to judge".to_owned()),
            Err(refusal) => Err(format!("the profile rejects the operands: {refusal}")),
        }
    }

    /// Judges a dense result, or one value for each stored position; `c` is what the output held, compact row-major, where it is read.
    #[must_use]
    pub fn judge_dense(
        &self,
        exact: &ExactOperands<'_>,
        (found, place, poison): (AnySlice<'_>, Place, Option<u64>),
        c: Option<&[f64]>,
    ) -> Judged {
        let before_place = exact.compact_place();
        let place = if exact.is_by_number() { Place::Visited } else { place };
        let before = c.map(|c| Values::from_f64(self.arithmetic.out, c));
        let before = before.as_ref().map(Values::as_slice);
        let output = Output { found, place, poison, before, before_place };
        let arithmetic = exact.as_laid_out(self.format, &self.arithmetic);
        let problem = exact.problem();
        // What is screened is judged in less time than a sheet of big numbers takes.
        let is_screened = is_screened(&problem, &arithmetic, &self.profile, self.scalars, &output);
        let sheet = if is_screened { None } else { self.sheet(exact, c, before_place) };
        let mut judged = match sheet {
            Some(sheet) => sheet.judge(found, place, poison),
            None => judge_problem(&problem, &arithmetic, &self.profile, self.scalars, &output),
        };
        if let Verdict::Wrong(mismatch) = &mut judged.verdict
            && !exact.is_by_number()
            && output.is_as_before(problem.shape().1)
        {
            mismatch.message.insert_str(0, AS_BEFORE);
        }
        judged
    }

    /// Judges the result of an SpGEMM.
    #[must_use]
    pub fn judge_spgemm(&self, exact: &ExactOperands<'_>, found: RawSparse) -> Judged {
        match self.sheet(exact, None, Place::Visited) {
            Some(sheet) => sheet.judge_spgemm(&self.profile, self.format, found),
            None => judge_spgemm(&exact.problem(), &self.arithmetic, &self.profile, self.format, found),
        }
    }

    fn sheet(&self, exact: &ExactOperands<'_>, c: Option<&[f64]>, place: Place) -> Option<Arc<Sheet>> {
        let make = || {
            let arithmetic = exact.as_laid_out(self.format, &self.arithmetic);
            let before = c.map(|c| Values::from_f64(arithmetic.out, c));
            let before = before.as_ref().map(|before| (before.as_slice(), place));
            let sheet =
                Sheet::new(&exact.problem(), (&arithmetic, &self.profile), self.scalars, before, MOST);
            // What can't be formed is refused, and said, by who judges without a sheet.
            let sheet = sheet.ok().flatten().map(Arc::new);
            Arc::new(OfC { c: c.map(<[f64]>::to_vec), sheet })
        };
        made_once(&self.sheets, |of| same_bits(of.c.as_deref(), c), make).sheet.clone()
    }
}

/// The one that is wanted, of those made so far or made now. Nothing is locked while it is made: that takes all threads, and one that waits
/// for the lock may be the one that has a part of the work. Two that ask at once may both make it; the first is kept.
fn made_once<T: Clone>(made: &Mutex<Vec<T>>, is_wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> T {
    let made = || made.lock().unwrap_or_else(PoisonError::into_inner);
    let find = |made: &[T]| made.iter().find(|of| is_wanted(of)).cloned();
    if let Some(found) = find(&made()) {
        return found;
    }
    let fresh = make();
    let mut made = made();
    find(&made).unwrap_or_else(|| {
        made.push(fresh.clone());
        fresh
    })
}

fn same_bits(a: Option<&[f64]>, b: Option<&[f64]>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
        (a, b) => a.is_none() && b.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: results that are held for others than they are only have the work done twice, or half of it.
    #[test]
    fn numbers_are_the_same_to_the_last_bit() {
        let (x, y, nan) = ([1.0, -0.0], [1.0, 0.0], [1.0, f64::NAN]);
        assert!(same_bits(None, None) && same_bits(Some(&x), Some(&x)) && same_bits(Some(&nan), Some(&nan)));
        assert!(!same_bits(Some(&x), Some(&y)) && !same_bits(Some(&x), Some(&x[..1])));
        assert!(
            !same_bits(Some(&x), None)
                && !same_bits(None, Some(&x))
                && !same_bits(Some(&[2.0]), Some(&[3.0]))
        );
    }

    /// Found by mutation: with the comparison of profiles turned round, what was made for one declaration was given to another.
    #[test]
    fn what_is_made_once_is_shared_by_equal_declarations_only() {
        use crate::contract::Op;
        use crate::format::{AnySparse, Csr, CsrParts, Sparse};
        use crate::profile::Choice;
        use crate::scalar::{AnySlice, Precision::F32};
        use crate::task::DenseRef;
        let values = vec![1.0f32, 2.0];
        let parts = CsrParts { rows: 1, cols: 2, row_ptr: vec![0, 2], col_idx: vec![0, 1], values };
        let a = AnySparse::from(Sparse::Csr(Csr::try_new(parts).expect("legal")));
        let b = DenseRef::column(AnySlice::F32(&[0.3, 0.7]));
        let inputs = Inputs { b: Some(b), ..Inputs::plain(Op::Spmv, &a) };
        let turn = Inputs::plain(Op::Transpose, &a);
        let (declared, plain) = (Arithmetic::any(F32, F32), Profile::default());
        let other = Profile::default().with(Choice::DuplicatesLastWins, "as a test has it");
        let (products, moves) = (Sheets::new(inputs), Sheets::new(turn));
        let product = |profile| products.product(&declared, profile);
        let moved = |profile| moves.moved(profile).expect("a transpose");
        assert!(products.moved(&plain).is_none(), "a product moves nothing");
        let (first, second) = (product(&plain), product(&other));
        assert!(first.profile == plain && second.profile == other);
        assert!(Arc::ptr_eq(&first, &product(&plain)) && Arc::ptr_eq(&second, &product(&other)));
        let (first, second) = (moved(&plain), moved(&other));
        assert!(first.profile == plain && second.profile == other);
        assert!(Arc::ptr_eq(&first, &moved(&plain)) && Arc::ptr_eq(&second, &moved(&other)));
    }
}
