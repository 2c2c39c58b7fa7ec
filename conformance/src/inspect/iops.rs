//! What the IOPS accelerator makes of a product: partition, traffic, cycles, buffers; beside it inner and outer product on
//! the same array.
//!
//! ```text
//! A, B  -> SSMM (model) -> counters -+
//!       -> inner, outer (counts) ----+-> one table        A, dense B of n columns -> SDMM -> another
//! ```

use super::text::percent;
use crate::report::show::count;
use sparse_kernels::iops::{
    Counters, Dataflows, IopsPlan, Machine, Mode, Partition, Problem, sdmm, sdmm_dataflows, sdmm_problem,
    ssmm, ssmm_dataflows, ssmm_problem,
};
use sparse_oracle::format::{Csr, SLOT_LIMIT};
use sparse_oracle::{Limit, Refusal};
use std::fmt::Write as _;

/// One product on the machine, and on the same array by the two other dataflows.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// `SSMM` or `SDMM`, and of what.
    pub title: String,
    /// The product as the partition sees it.
    pub problem: Problem,
    /// The machine.
    pub machine: Machine,
    /// How it is cut.
    pub partition: Partition,
    /// What the model counted.
    pub counters: Counters,
    /// The others, or why the dense tiles of the inner product do not fit.
    pub others: Result<Dataflows, Refusal>,
}

impl View {
    /// Both sparse.
    ///
    /// # Errors
    /// What the model refuses.
    pub fn ssmm(title: String, a: &Csr<f64>, b: &Csr<f64>, machine: Machine) -> Result<View, Refusal> {
        let run = ssmm(a, b, &machine, IopsPlan::Adaptive)?;
        Ok(View {
            title,
            problem: ssmm_problem(a, b),
            machine,
            partition: run.partition,
            counters: run.counters,
            others: ssmm_dataflows(a, b, run.counters.outputs, &machine),
        })
    }

    /// With a dense second operand of `n` columns, all 1.
    ///
    /// # Errors
    /// What the model refuses.
    pub fn sdmm(title: String, a: &Csr<f64>, n: usize, machine: Machine) -> Result<View, Refusal> {
        // B before it is allocated; the model looks at C.
        let found = a.cols as u128 * n as u128;
        if found > u128::from(SLOT_LIMIT) {
            return Err(Limit { field: "columns of A * --columns", found, limit: SLOT_LIMIT }.into());
        }
        let ones = vec![1.0; a.cols * n];
        let run = sdmm(a, (&ones, n), &machine, IopsPlan::Adaptive)?;
        Ok(View {
            title,
            problem: sdmm_problem(a, n),
            machine,
            partition: run.partition,
            counters: run.counters,
            others: sdmm_dataflows(a, n, &machine),
        })
    }

    /// Share of DRAM traffic that is saved against another dataflow; negative if it is more.
    #[must_use]
    pub fn saved(&self, other: &Counters) -> Option<f64> {
        let (own, other) = (self.counters.dram.total(), other.dram.total());
        (other > 0).then(|| 1.0 - own as f64 / other as f64)
    }

    /// For a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let p = &self.partition;
        let m = &self.machine;
        let mut text = format!(
            "IOPS {} on {} x {} elements, {} MHz\n  partition                {}, Mt {} Kt {} Nt {}, Tm {} Tk {} Tn {}\n",
            self.title,
            m.groups_a,
            m.groups_b,
            m.clock_mhz,
            p.reuse.name(),
            p.mt,
            p.kt,
            p.nt,
            p.tm,
            p.tk,
            p.tn
        );
        let expected = u64::try_from(p.traffic(&self.problem)).unwrap_or(u64::MAX);
        let c = &self.counters;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  expected to read         {} bytes", count(expected));
        let h = &c.high;
        let mut marks = vec![
            ("half of buffer A", h.tile_a, m.buffer_a / 2),
            ("all of buffer A", h.buffer_a, m.buffer_a),
            ("half of buffer B", h.tile_b, m.buffer_b / 2),
            ("all of buffer B", h.buffer_b, m.buffer_b),
            ("psums of an element", h.psum, m.psum),
        ];
        // Dense psums are not mapped.
        if self.problem.mode == Mode::Ssmm {
            marks.push(("psums of a row of it", h.row, m.psum));
        }
        for (name, part, whole) in marks {
            let _ = writeln!(text, "  {name:24} {} at most", of(part, whole));
        }
        let o = &c.overflows;
        let _ = writeln!(
            text,
            "  overflows                buffer A {}, B {}, lengths of A {}, of B {}, psums {}",
            count(o.buffer_a),
            count(o.buffer_b),
            count(o.col_len),
            count(o.row_len),
            count(o.psum)
        );
        text + &self.table()
    }

    fn table(&self) -> String {
        let mut columns = vec![("IOPS", &self.counters)];
        if let Ok(others) = &self.others {
            columns.extend([("inner product", &others.inner), ("outer product", &others.outer)]);
        }
        let mut text = format!("  {:24}", "");
        for (name, _) in &columns {
            let _ = write!(text, " {name:>17}");
        }
        text.push('\n');
        for (name, cell) in ROWS {
            let _ = write!(text, "  {name:24}");
            for (_, counters) in &columns {
                let _ = write!(text, " {:>17}", cell(counters, &self.machine));
            }
            text.push('\n');
        }
        match &self.others {
            Ok(others) => {
                let (inner, outer) = (self.saved(&others.inner), self.saved(&others.outer));
                let saved =
                    format!("{} against inner, {} against outer product", percent(inner), percent(outer));
                let _ = writeln!(text, "  DRAM traffic saved       {saved}");
            }
            Err(refusal) => {
                let _ = writeln!(text, "  other dataflows          refused: {refusal}");
            }
        }
        text
    }
}

type Cell = fn(&Counters, &Machine) -> String;

/// Rows of the table.
const ROWS: [(&str, Cell); 16] = [
    ("products", |c, _| count(c.products)),
    ("multiplications", |c, _| count(c.multiplies)),
    ("entries of C", |c, _| count(c.outputs)),
    ("cycles: encode, read", |c, _| count(c.cycles.encode)),
    ("cycles: multiply", |c, _| count(c.cycles.multiply)),
    ("cycles: map, write", |c, _| count(c.cycles.map)),
    ("cycles: stalled", |c, _| count(c.cycles.stall)),
    ("cycles, pipelined", |c, _| count(c.cycles.total)),
    ("milliseconds", |c, m| format!("{:.3}", m.seconds(c.cycles.total) * 1e3)),
    ("elements used, array", |c, _| percent(c.utilisation())),
    ("elements used, overall", |c, _| percent(c.overall_utilisation())),
    ("DRAM bytes: A", |c, _| count(c.dram.a_read)),
    ("DRAM bytes: B", |c, _| count(c.dram.b_read)),
    ("DRAM bytes: psums", |c, _| count(c.dram.psum_read + c.dram.psum_written)),
    ("DRAM bytes: C", |c, _| count(c.dram.c_written)),
    ("DRAM bytes", |c, _| count(c.dram.total())),
];

/// 273 of 512 (53.3 %).
fn of(part: u64, whole: u64) -> String {
    let share = (whole > 0).then(|| part as f64 / whole as f64);
    format!("{} of {} ({})", count(part), count(whole), percent(share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::format::{Entries, Entry};
    use sparse_oracle::prelude::*;

    #[test]
    fn a_view_prints_every_row_and_what_is_saved() {
        let list = (0..40).map(|i| Entry { row: i, col: i, value: 1.0 });
        let diagonal = Csr::from_entries(&Entries { rows: 40, cols: 40, list: list.collect() });
        let diagonal = diagonal.expect("small");
        let machine = Machine::default();
        let view = View::ssmm("A x A".to_owned(), &diagonal, &diagonal, machine).expect("legal");
        let text = view.to_text();
        for (name, _) in ROWS {
            assert!(text.contains(name), "{name} is not in\n{text}");
        }
        // A diagonal: as many products as entries, nothing read twice.
        assert_eq!(view.counters.products, 40);
        assert_eq!(u128::from(view.counters.dram.read()), view.partition.traffic(&view.problem));
        assert!(text.contains("DRAM traffic saved"), "{text}");
        let dense = View::sdmm("dense".to_owned(), &diagonal, 3, machine).expect("legal");
        assert_eq!(dense.counters.outputs, 120);
        let (sparse, dense) = (text, dense.to_text());
        assert!(dense.contains("RAF"));
        assert!(sparse.contains("of a row of it") && !dense.contains("of a row of it"), "{dense}");
    }
}
