//! What comes before the judged call, as case lines name it. What is done is in [`sequence`](crate::sequence).

/// What comes before the judged call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum After {
    /// The same addresses and extents with other contents.
    Contents,
    /// The same addresses with smaller, larger and again smaller extents.
    Extents,
    /// Operands that are freed before this case's are allocated.
    Freed,
    /// 300 calls of two sets of operands in turn.
    Many,
    /// 70,000 calls of two sets of operands in turn.
    Myriad,
    /// Other contracts and factors on the same arrays.
    Other,
}

impl After {
    /// All kinds, in the order of tables.
    pub const ALL: [After; 6] =
        [After::Contents, After::Extents, After::Freed, After::Many, After::Myriad, After::Other];

    /// Machine name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            After::Contents => "contents",
            After::Extents => "extents",
            After::Freed => "freed",
            After::Many => "many",
            After::Myriad => "myriad",
            After::Other => "other",
        }
    }
}
