//! The commands that run cases of a report again, quoted for a POSIX shell.

use super::model::{CaseRecord, Report};
use crate::case::Case;
use crate::origin::Origin;
use std::path::Path;

/// What stands for the case line in a selection that is a whole command.
pub const CASE: &str = "{case}";

/// The command that runs a case line again on the backends that these options select; or a command of its own, in which [`CASE`] stands for
/// the line.
#[must_use]
pub fn replay_command(case: &str, selection: &str) -> String {
    let case = shell_words::quote(case);
    match selection.contains(CASE) {
        true => selection.replace(CASE, &case),
        false => format!("conformance replay {case} {selection}"),
    }
}

impl Report {
    /// The command that runs a case of this report again.
    #[must_use]
    pub fn replay(&self, record: &CaseRecord) -> String {
        replay_command(&record.case, &self.selection(record))
    }

    /// The command that runs the minimal case of a record again where `folder` leads to the folder of this report. None where there is
    /// no minimal case.
    #[must_use]
    pub fn replay_shrunk(&self, record: &CaseRecord, folder: &Path) -> Option<String> {
        let case = record.reproducer.as_ref()?.case.as_ref()?;
        Some(replay_command(&line_from(case, folder), &self.selection(record)))
    }

    /// The options that select the backend of a record. A record that is no finding leaves them to its backend.
    fn selection(&self, record: &CaseRecord) -> String {
        let known = |name: &str| self.backends.iter().find(|b| b.name == name);
        let selection = record.selection.clone().or_else(|| known(&record.backend)?.selection.clone());
        selection.unwrap_or_else(|| format!("--backend {}", record.backend))
    }
}

/// A case line that names a file of a folder, as it is where `folder` leads there.
fn line_from(line: &str, folder: &Path) -> String {
    let moved = line.parse::<Case>().ok().and_then(|case| match &case.origin {
        Origin::File(file) => Some(Case { origin: Origin::File(folder.join(file)), ..case }.to_string()),
        _ => None,
    });
    moved.unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by a new user: reports of Python's `check` named a socket that was gone.
    #[test]
    fn a_selection_that_is_a_command_has_the_line_in_its_place() {
        let line = "spmv.csr.f32_f32_f32_f32/file:[my matrix.mtx]/values=ones,0";
        assert_eq!(
            replay_command(line, "--plugin k.so"),
            format!("conformance replay '{line}' --plugin k.so")
        );
        let own = format!("SPARSE_CASE={CASE} python my_spmv.py");
        assert_eq!(replay_command(line, &own), format!("SPARSE_CASE='{line}' python my_spmv.py"));
    }
}
