//! Mutants as text put into a file: each is chosen at run time, so that one build holds all of them.
//!
//! The original text stays once, in its place: a mutant is a prefix and a suffix around it. What a prefix holds of the original has no
//! mutants inside, because only one is chosen at a time.

use crate::parts::Mutant;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// What became of a mutant before any test ran.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// It can be put into the file.
    Edit(Edit),
    /// It is evaluated by the compiler, so nothing can choose at run time.
    Constant,
    /// Alone it would not compile either.
    Unviable,
    /// Nothing here knows how.
    Unknown,
}

/// Text around a range of a file, empty for what is put between two characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    range: Range<usize>,
    prefix: String,
    suffix: String,
}

/// A file with its mutants in, and where the text of each of them lies.
pub struct Mutated {
    /// The whole file.
    pub text: String,
    /// Number of the mutant, where its prefix lies, and the end of its suffix.
    pub places: Vec<(u32, Range<usize>, usize)>,
}

struct Finder<'a> {
    source: &'a str,
    wanted: HashMap<(usize, &'a str), Vec<(u32, &'a Mutant)>>,
    constants: usize,
    found: HashMap<u32, Made>,
}

/// What becomes of each of these numbered mutants of one file.
pub fn make(source: &str, mutants: &[(u32, &Mutant)]) -> Result<HashMap<u32, Made>> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut wanted: HashMap<_, Vec<_>> = HashMap::new();
    for (number, mutant) in mutants {
        let place = mutant.span.start;
        let line = *starts.get(place.line - 1).with_context(|| format!("{}: no such line", mutant.name))?;
        let column = source[line..].char_indices().nth(place.column - 1).map_or(0, |(at, _)| at);
        wanted.entry((line + column, mutant.genre.as_str())).or_default().push((*number, *mutant));
    }
    let mut finder = Finder { source, wanted, constants: 0, found: HashMap::new() };
    finder.visit_file(&syn::parse_file(source)?);
    for (number, _) in mutants {
        finder.found.entry(*number).or_insert(Made::Unknown);
    }
    Ok(finder.found)
}

/// The file with these edits in. At one place suffixes come before prefixes, and inner text lies inside outer text.
pub fn apply(source: &str, edits: &[(u32, Edit)]) -> Mutated {
    let mut inserts = Vec::new();
    for (number, Edit { range, prefix, suffix }) in edits {
        let outermost = if range.is_empty() { usize::MAX } else { range.end };
        inserts.push((range.start, 1, usize::MAX - outermost, i64::from(*number), prefix, *number));
        if !range.is_empty() {
            inserts.push((range.end, 0, usize::MAX - range.start, -i64::from(*number), suffix, *number));
        }
    }
    inserts.sort();
    let (mut text, mut at, mut places) = (String::new(), 0, HashMap::new());
    for (position, is_prefix, _, _, words, number) in inserts {
        text.push_str(&source[at..position]);
        at = position;
        let start = text.len();
        text.push_str(words);
        if is_prefix == 1 {
            places.insert(number, (start..text.len(), text.len()));
        } else if let Some(place) = places.get_mut(&number) {
            place.1 = text.len();
        }
    }
    text.push_str(&source[at..]);
    Mutated {
        text,
        places: places.into_iter().map(|(number, (prefix, end))| (number, prefix, end)).collect(),
    }
}

fn is_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(b) => is_let(&b.left) || is_let(&b.right),
        _ => false,
    }
}

impl<'a> Finder<'a> {
    fn text(&self, node: &impl Spanned) -> &'a str {
        &self.source[node.span().byte_range()]
    }

    /// Notes the mutants that start at this place, each with the edit that is given for it.
    fn note(&mut self, at: usize, genre: &'static str, edit: impl Fn(u32, &str) -> Option<Edit>) {
        for (number, mutant) in self.wanted.get(&(at, genre)).into_iter().flatten() {
            let made = match edit(*number, &mutant.replacement) {
                _ if self.constants > 0 => Made::Constant,
                Some(edit) => Made::Edit(edit),
                None => Made::Unviable,
            };
            self.found.insert(*number, made);
        }
    }

    /// A function that returns `impl Trait` has one type, so no other value: its mutants stay unknown.
    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let Some(first) = block.stmts.first() else { return };
        if self.text(&signature.output).contains("impl ") {
            return;
        }
        let at = first.span().byte_range().start;
        self.note(at, "FnValue", |number, value| {
            let prefix = format!("if crate::mutant({number}) {{ return {value}; }} ");
            Some(Edit { range: at..at, prefix, suffix: String::new() })
        });
    }

    /// Visits what may be evaluated by the compiler.
    fn inside(&mut self, constant: bool, visit: impl FnOnce(&mut Self)) {
        self.constants += usize::from(constant);
        visit(self);
        self.constants -= usize::from(constant);
    }
}

/// One text or the other, as an expression.
fn choice(range: Range<usize>, number: u32, instead: &str) -> Edit {
    Edit {
        range,
        prefix: format!("(if crate::mutant({number}) {{ {instead} }} else {{ "),
        suffix: " })".to_owned(),
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.inside(node.sig.constness.is_some(), |this| {
            this.body(&node.sig, &node.block);
            visit::visit_item_fn(this, node);
        });
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.inside(node.sig.constness.is_some(), |this| {
            this.body(&node.sig, &node.block);
            visit::visit_impl_item_fn(this, node);
        });
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.body(&node.sig, block);
        }
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.inside(true, |this| visit::visit_item_const(this, node));
    }

    fn visit_item_static(&mut self, node: &'ast syn::ItemStatic) {
        self.inside(true, |this| visit::visit_item_static(this, node));
    }

    fn visit_impl_item_const(&mut self, node: &'ast syn::ImplItemConst) {
        self.inside(true, |this| visit::visit_impl_item_const(this, node));
    }

    fn visit_trait_item_const(&mut self, node: &'ast syn::TraitItemConst) {
        self.inside(true, |this| visit::visit_trait_item_const(this, node));
    }

    fn visit_expr_const(&mut self, node: &'ast syn::ExprConst) {
        self.inside(true, |this| visit::visit_expr_const(this, node));
    }

    fn visit_type_array(&mut self, node: &'ast syn::TypeArray) {
        self.inside(true, |this| visit::visit_type_array(this, node));
    }

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
        self.inside(true, |this| this.visit_expr(&node.len));
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        let (range, left, right) = (node.span().byte_range(), self.text(&node.left), self.text(&node.right));
        self.note(node.op.span().byte_range().start, "BinaryOperator", |number, op| {
            let assigns = op.ends_with('=') && !matches!(op, "==" | "!=" | "<=" | ">=");
            let instead =
                if assigns { format!("{left} {op} {right}") } else { format!("({left}) {op} ({right})") };
            (!is_let(&node.left) && !is_let(&node.right)).then(|| choice(range.clone(), number, &instead))
        });
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        let (range, operand) = (node.span().byte_range(), self.text(&node.expr));
        self.note(range.start, "UnaryOperator", |number, _| Some(choice(range.clone(), number, operand)));
        visit::visit_expr_unary(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        let guard = node.guard.as_ref().map(|(_, guard)| guard.span().byte_range());
        let end = node.pat.span().byte_range().end;
        self.note(node.span().byte_range().start, "MatchArm", |number, _| {
            Some(match guard.clone() {
                Some(range) => {
                    Edit { range, prefix: format!("!crate::mutant({number}) && ("), suffix: ")".to_owned() }
                }
                None => Edit {
                    range: end..end,
                    prefix: format!(" if !crate::mutant({number})"),
                    suffix: String::new(),
                },
            })
        });
        if let Some(range) = guard {
            self.note(range.start, "MatchArmGuard", |number, value| {
                let prefix = match value {
                    "true" => format!("crate::mutant({number}) || ("),
                    _ => format!("!crate::mutant({number}) && ("),
                };
                Some(Edit { range: range.clone(), prefix, suffix: ")".to_owned() })
            });
        }
        visit::visit_arm(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        if let Some(base) = &node.rest {
            let base = self.text(base);
            for field in &node.fields {
                let member = self.text(&field.member);
                let name = if field.colon_token.is_some() { String::new() } else { format!("{member}: ") };
                let range = field.expr.span().byte_range();
                self.note(field.span().byte_range().start, "StructField", |number, _| {
                    let edit = choice(range.clone(), number, &format!("({base}).{member}"));
                    Some(Edit { prefix: format!("{name}{}", edit.prefix), ..edit })
                });
            }
        }
        visit::visit_expr_struct(self, node);
    }
}
