//! What the words of the report mean, for someone who sees one for the first time.

use super::overview::class;
use crate::report::verdict::{Defect, VerdictKind};
use maud::{Markup, html};

const TIERS: [(&str, &str); 3] = [
    (
        "T0 exact",
        "The operands are chosen so that no order of summation can round. There is one right answer, and only that \
         passes.",
    ),
    (
        "T1 bound",
        "The exact result of each element is known without rounding. The error must not exceed a bound computed for \
         that element from its own operands and from the arithmetic that the backend declared. No tolerance is guessed.",
    ),
    (
        "T2 model",
        "Where a backend declares the very order of its operations, the oracle repeats them and compares every bit. The \
         verdict still says how far those bits are from the exact result: \"within\", where they had to round.",
    ),
];

/// Verdicts, tiers, defects and how to use a replay line.
pub(super) fn section() -> Markup {
    html! {
        section id="legend" {
            h2 { "What the words mean" }
            div.cards.wide {
                article.card {
                    h3 { "Verdicts" }
                    dl.words { @for kind in VerdictKind::ALL {
                        dt { span class={ "dot " (class(kind)) } {} (kind.label()) @if kind.is_finding() { " " span.tier { "finding" } } }
                        dd { (kind.explanation()) }
                    } }
                }
                article.card {
                    h3 { "Tiers" }
                    p.quiet { "A case uses every tier that applies and must pass each." }
                    dl.words { @for (name, meaning) in TIERS { dt { (name) } dd { (meaning) } } }
                    h3 { "What can be wrong" }
                    dl.words { @for defect in Defect::ALL { dt { (defect) } dd { (defect.explanation()) "." } } }
                }
                article.card {
                    h3 { "Reading a case line" }
                    p { code { "spmm.csr.f16_f16_f32_f32/rmat:scale=8,seed=7/values=near-one,5/n=33/beta=1" } }
                    p {
                        "The contract (operation, format, element types of both operands, accumulator and output), the source of \
                         the matrix, the family of values with its seed, and every parameter that is not the default. The line is all that is needed to run the case \
                         again: " code { "conformance replay '<case>' --backend <name>" } ", and "
                        code { "conformance explain '<case>'" } " says what it asks for."
                    }
                    h3 { "Share of the bound" }
                    p {
                        "Error divided by the largest error allowed, at the worst element of a case. 0 % is exact, 100 % is the \
                         edge, anything beyond is wrong."
                    }
                    h3 { "Seeded bugs" }
                    p {
                        "Mistakes made on purpose, in kernels of the suite's own. The cases of a run are tried on them: what they don't \
                         notice there, they would not have noticed in yours."
                    }
                }
            }
        }
    }
}
