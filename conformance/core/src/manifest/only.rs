//! Which requests of its contracts a rule takes. What is not restricted is taken; a restriction on a part that an operation
//! does not have means nothing for it.

use super::error::{ManifestError, ManifestPlace};
use crate::backend::Named;
use crate::case::{Fault, Params};
use serde::{Deserialize, Serialize};
use sparse_oracle::contract::{Contract, Returned};
use sparse_oracle::format::{FormatKind, Layout, PARAMETERS};
use sparse_oracle::task::SddmmMode;
use std::collections::BTreeMap;

/// Restrictions of a rule. Every field is a list of what is taken (or the one thing), and absent for all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Only {
    /// Factors of the product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Vec<f64>>,
    /// Factors of C (y, S).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<Vec<f64>>,
    /// `false`: A as it is stored; `true`: its transpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transpose_a: Option<bool>,
    /// The same for B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transpose_b: Option<bool>,
    /// Layout of B (X and Y of an SDDMM).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout_b: Option<LayoutName>,
    /// Layout of C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout_c: Option<LayoutName>,
    /// `true`: B and C (SpMM) are stored by rows both, or by columns both; `false`: one by rows and one by columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_layout: Option<bool>,
    /// `true`: as many rows as columns in a block (BCSR, Blocked-ELL); `false`: not as many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub square_blocks: Option<bool>,
    /// `false`: no leading dimension exceeds its minimum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padded: Option<bool>,
    /// Uses of the values of S (SDDMM).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<ModeName>>,
    /// `false`: no duplicates in COO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<bool>,
    /// Most columns of B and C (SpMM, SpGEMM), longest inner dimension (SDDMM).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_n: Option<usize>,
    /// Bad requests that it refuses. An empty list: it takes only good ones for granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<String>>,
    /// Values of format parameters by name (`block_rows`, ...); `null` stands for "not given".
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Vec<Option<u32>>>,
}

/// A layout in a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "rows or columns are adjacent")]
pub enum LayoutName {
    Row,
    Col,
}

/// A use of S's values in a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "named as `SddmmMode`")]
pub enum ModeName {
    Pattern,
    Scale,
    AddS,
}

impl From<Layout> for LayoutName {
    fn from(layout: Layout) -> LayoutName {
        match layout {
            Layout::RowMajor => LayoutName::Row,
            Layout::ColMajor => LayoutName::Col,
        }
    }
}

impl From<SddmmMode> for ModeName {
    fn from(mode: SddmmMode) -> ModeName {
        match mode {
            SddmmMode::Pattern => ModeName::Pattern,
            SddmmMode::Scale => ModeName::Scale,
            SddmmMode::AddS => ModeName::AddS,
        }
    }
}

impl From<ModeName> for SddmmMode {
    fn from(name: ModeName) -> SddmmMode {
        match name {
            ModeName::Pattern => SddmmMode::Pattern,
            ModeName::Scale => SddmmMode::Scale,
            ModeName::AddS => SddmmMode::AddS,
        }
    }
}

impl Only {
    /// True when everything is taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Only::default()
    }

    /// What the rule does not take of a request, in words; `None` when it takes it.
    #[must_use]
    pub fn refuses(&self, contract: &Contract, p: &Params) -> Option<String> {
        let op = contract.op;
        let dense = op.is_dense();
        let number = |list: &Option<Vec<f64>>, value: f64| {
            let list = list.as_ref().filter(|list| dense && !list.contains(&value))?;
            let listed: Vec<String> = list.iter().map(ToString::to_string).collect();
            Some(listed.join(" or "))
        };
        let signature = op.signature();
        let (laid, matrix) = (signature.has_layout(), signature.returned == Returned::Matrix);
        let flips = op.transposes_a();
        let flag = |of: bool, wanted: Option<bool>, has: bool, words: [&str; 2]| {
            let wanted = wanted.filter(|&wanted| of && wanted != has)?;
            Some(words[usize::from(wanted)].to_owned())
        };
        let major = |of: bool, wanted: Option<LayoutName>, has: Layout, what: &str| {
            let wanted = wanted.filter(|&wanted| of && wanted != LayoutName::from(has))?;
            let index = if wanted == LayoutName::Row { "rows" } else { "columns" };
            Some(format!("{what} stored by {index}"))
        };
        let named = |what: &str, rest: Option<String>| rest.map(|rest| format!("{what} = {rest}"));
        let (a, b) = (["A as it is stored", "A transposed"], ["B as it is stored", "B transposed"]);
        let pads = ["tight leading dimensions", "padded leading dimensions"];
        let layouts = ["B and C in different layouts", "B and C in the same layout"];
        let blocks = ["blocks that are not square", "square blocks"];
        let sides = ["block_rows", "block_cols"];
        let has_side = |side| PARAMETERS.iter().any(|p| p.name == side && contract.reads(p));
        let twice = ["COO without duplicates", "COO with duplicates"];
        named("alpha", number(&self.alpha, p.alpha))
            .or_else(|| named("beta", number(&self.beta, p.beta)))
            .or_else(|| flag(flips, self.transpose_a, p.transpose_a, a))
            .or_else(|| flag(signature.transposes_b, self.transpose_b, p.transpose_b, b))
            .or_else(|| major(laid, self.layout_b, p.layout_b, "dense operands"))
            .or_else(|| major(signature.dense.len() == 2, self.layout_b, p.y_layout(), "dense operands"))
            .or_else(|| major(matrix, self.layout_c, p.layout_c, "results"))
            .or_else(|| flag(matrix, self.same_layout, p.layout_b == p.layout_c, layouts))
            .or_else(|| {
                let square = p.blocks.block_rows == p.blocks.block_cols;
                flag(sides.into_iter().all(has_side), self.square_blocks, square, blocks)
            })
            .or_else(|| flag(laid, self.padded, p.pad_b + p.pad_c + p.pad_y.unwrap_or(0) > 0, pads))
            .or_else(|| flag(contract.format == FormatKind::Coo, self.duplicates, p.duplicates, twice))
            .or_else(|| self.refuses_rest(contract, p))
    }

    fn refuses_rest(&self, contract: &Contract, p: &Params) -> Option<String> {
        let mode = ModeName::from(p.mode);
        let has_mode = contract.op.signature().has_mode;
        if has_mode && self.modes.as_ref().is_some_and(|modes| !modes.contains(&mode)) {
            return Some(format!("another mode of {}", contract.op.name().to_uppercase()));
        }
        if let Some(max) = self.max_n.filter(|&max| p.n > max && !contract.op.is_exact()) {
            return Some(format!("n up to {max}"));
        }
        let fault = p.fault.map(Fault::name);
        if let (Some(fault), Some(listed)) = (fault, &self.faults)
            && !listed.iter().any(|name| name == fault)
        {
            return Some(format!("requests without fault {fault}, which it does not promise to refuse"));
        }
        PARAMETERS.iter().find_map(|parameter| {
            let listed = self.params.get(parameter.name).filter(|_| contract.reads(parameter))?;
            let value = (parameter.get)(&p.blocks);
            (!listed.contains(&value)).then(|| format!("other values of {}", parameter.name))
        })
    }

    /// Factors to check a declaration with: those listed, or some that nothing special is true of.
    pub(super) fn factors(&self) -> impl Iterator<Item = (f64, f64)> {
        let sample = |list: &Option<Vec<f64>>| list.clone().unwrap_or_else(|| vec![1.0, 2.0, 0.0]);
        let betas = sample(&self.beta);
        sample(&self.alpha)
            .into_iter()
            .flat_map(move |alpha| betas.clone().into_iter().map(move |beta| (alpha, beta)))
    }

    /// The values it names.
    pub(super) fn named(&self) -> Named<'_> {
        let params = self.params.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
        Named {
            alpha: self.alpha.as_deref().unwrap_or_default(),
            beta: self.beta.as_deref().unwrap_or_default(),
            params: params.collect(),
        }
    }

    /// Checks the names and lists.
    pub(super) fn check(&self, place: ManifestPlace) -> Result<(), ManifestError> {
        let empty = [
            ("alpha", self.alpha.as_ref().is_some_and(Vec::is_empty)),
            ("beta", self.beta.as_ref().is_some_and(Vec::is_empty)),
            ("modes", self.modes.as_ref().is_some_and(Vec::is_empty)),
            ("params", self.params.values().any(Vec::is_empty)),
        ];
        if let Some((field, _)) = empty.into_iter().find(|row| row.1) {
            return Err(ManifestError::EmptyList { place, field });
        }
        let mut faults = self.faults.iter().flatten();
        if let Some(name) = faults.find(|name| !Fault::ALL.iter().any(|row| row.1 == name.as_str())) {
            let name = name.clone();
            return Err(ManifestError::Fault { place, name });
        }
        let mut params = self.params.keys();
        match params.find(|name| !PARAMETERS.iter().any(|p| p.name == name.as_str())) {
            Some(name) => Err(ManifestError::Parameter { place, name: name.clone() }),
            None => Ok(()),
        }
    }
}
