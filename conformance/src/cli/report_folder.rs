//! The folder of a report: made before the work, and gone again where nothing was written to it.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// A folder that is there as long as this is, and stays if anything is in it by then.
#[derive(Debug)]
pub(super) struct ReportFolder {
    /// What was missing of it and of the folders around it, innermost first.
    made: Vec<PathBuf>,
}

impl ReportFolder {
    /// Makes the folder, if need be.
    pub(super) fn new(folder: &Path) -> Result<ReportFolder> {
        if folder.is_file() {
            anyhow::bail!("the report folder {} is a file; give a folder", folder.display());
        }
        let missing = folder.ancestors().take_while(|part| !part.as_os_str().is_empty() && !part.exists());
        let made = ReportFolder { made: missing.map(Path::to_owned).collect() };
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the report folder {} can't be made", folder.display()))?;
        Ok(made)
    }
}

impl Drop for ReportFolder {
    fn drop(&mut self) {
        // Only an empty folder can be removed so.
        let removed = |folder: &PathBuf| std::fs::remove_dir(folder).is_ok();
        let _ = self.made.iter().all(removed);
    }
}
