//! Libra's costs, and RS-Tile's partition over its threshold.

use super::tiles::bar;
use crate::inspect::cost::{Cost, Costs, ModeCost, Partition, Step};
use crate::inspect::survey::Survey;
use crate::inspect::text::{percent, share};
use crate::report::show::count;
use maud::{Markup, html};

/// Both tables.
pub(super) fn section(survey: &Survey) -> Markup {
    html! {
        section id="costs" {
            h2 { "Hybrid, or one unit alone" }
            p.quiet {
                "Libra's distribution, counted. Utilisation: entries over the slots that tensor cores multiply. "
                "Data access: elements of the dense operands fetched, for one column (SpMM) or one inner step (SDDMM), over those of CUDA cores alone."
            }
            @match &survey.costs {
                Costs::Refused(reason) => p { "refused: " (reason) },
                Costs::Counted(costs) => div.scroll.boxed {
                    table.board {
                        thead { tr {
                            th { "Operation" } th { "Units" } th { "Split" } th.number { "Tensor" } th.number { "CUDA" } th.number { "Blocks" }
                            th { "Utilisation" } th.number { } th { "Data access" } th.number { } th.number { "Elements" }
                        } }
                        tbody { @for cost in costs { @for mode in &cost.modes { (line(cost, mode)) } } }
                    }
                },
            }
        }
        section id="partition" {
            h2 { "RS-Tile's threshold" }
            p.quiet {
                "Rows of at most τ entries may go to CUDA cores: under the rule that the paper describes if they overlap little with their window, "
                "under the one that it prints if they add few columns."
            }
            div.scroll.boxed {
                table.board {
                    thead {
                        tr { th { } th.group colspan="4" { "As described" } th.group colspan="4" { "As printed" } }
                        tr { th.number { "τ" } @for _ in 0..2 { th.number { "Per tile" } th.number { "Per window" } th { "CUDA share" } th.number { } } }
                    }
                    tbody { @for step in &survey.partitions { (step_line(step)) } }
                }
            }
        }
    }
}

fn line(cost: &Cost, mode: &ModeCost) -> Markup {
    let all = (mode.tensor + mode.cuda).max(1) as f64;
    html! {
        tr {
            th scope="row" { (cost.op) }
            td { (mode.mode) @if mode.mode == "hybrid" { " " small { "η " (f64::from(cost.eta) / 128.0) } } }
            td { (bar(&[("tensor", mode.tensor as f64 / all), ("beside", mode.cuda as f64 / all)])) }
            td.number { (count(mode.tensor)) }
            td.number { (count(mode.cuda)) }
            td.number { (count(mode.blocks)) }
            td { (bar(&[("density", mode.utilisation.unwrap_or(0.0))])) }
            td.number { b { (percent(mode.utilisation)) } }
            td { (bar(&[("index", mode.access_to_cuda.unwrap_or(0.0).min(1.0))])) }
            td.number { b { (share(mode.access_to_cuda)) } }
            td.number { (count(mode.access)) }
        }
    }
}

fn step_line(step: &Step) -> Markup {
    html! {
        tr {
            td.number { (step.tau) }
            @for partition in [&step.as_described, &step.as_printed] { (partition_cells(partition)) }
        }
    }
}

fn partition_cells(partition: &Partition) -> Markup {
    html! {
        td.number { b { (format!("{:.2}", partition.per_tile)) } }
        td.number { (format!("{:.2}", partition.per_window)) }
        td { (bar(&[("tensor", 1.0 - partition.cuda_share), ("beside", partition.cuda_share)])) }
        td.number { (percent(Some(partition.cuda_share))) }
    }
}
