//! `.target sm_90a` taken apart: the number of an architecture, what it is bound to, and the version of PTX that brought it.

/// What the letter behind the number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// No letter: for this architecture and newer ones.
    None,
    /// `a`: for this one alone.
    Architecture,
    /// `f`: for its family.
    Family,
}

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TargetName {
    pub(crate) number: u16,
    pub(crate) bound: Bound,
}

/// Which version brought an architecture, as `ptxas` 13.0 has it.
const SINCE: &[(u16, (u8, u8))] = &[
    (30, (3, 0)),
    (35, (3, 1)),
    (50, (4, 0)),
    (52, (4, 1)),
    (53, (4, 2)),
    (60, (5, 0)),
    (61, (5, 0)),
    (62, (5, 0)),
    (70, (6, 0)),
    (72, (6, 1)),
    (75, (6, 3)),
    (80, (7, 0)),
    (86, (7, 1)),
    (87, (7, 4)),
    (88, (9, 0)),
    (89, (7, 8)),
    (90, (7, 8)),
    (100, (8, 6)),
    (101, (8, 6)),
    (103, (8, 8)),
    (110, (9, 0)),
    (120, (8, 7)),
    (121, (8, 8)),
];

impl TargetName {
    /// Nothing where it is no architecture.
    pub(crate) fn of(name: &str) -> Option<TargetName> {
        let digits = name.strip_prefix("sm_")?;
        let (digits, bound) = match (digits.strip_suffix('a'), digits.strip_suffix('f')) {
            (Some(digits), _) => (digits, Bound::Architecture),
            (None, Some(digits)) => (digits, Bound::Family),
            (None, None) => (digits, Bound::None),
        };
        Some(TargetName { number: digits.parse().ok()?, bound })
    }

    /// The version that brought it; nothing for one that is not known here.
    pub(crate) fn since(self) -> Option<(u8, u8)> {
        let (_, plain) = SINCE.iter().find(|(number, _)| *number == self.number)?;
        Some(match self.bound {
            Bound::None => *plain,
            Bound::Architecture => (*plain).max((8, 0)),
            Bound::Family => (*plain).max((8, 8)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_taken_apart() {
        let since = |name| TargetName::of(name).and_then(TargetName::since);
        assert_eq!(since("sm_80"), Some((7, 0)));
        assert_eq!((since("sm_90"), since("sm_90a")), (Some((7, 8)), Some((8, 0))));
        assert_eq!((since("sm_100a"), since("sm_100f")), (Some((8, 6)), Some((8, 8))));
        assert_eq!(TargetName::of("sm_100f"), Some(TargetName { number: 100, bound: Bound::Family }));
        assert!(TargetName::of("sm_131").is_some() && since("sm_131").is_none());
        for no in ["sm_", "sm_x", "80", "sm_80b", "sm_af", "compute_80"] {
            assert_eq!(TargetName::of(no), None, "{no}");
        }
    }
}
