//! Parameters of the formats that have any, made from one table ([`PARAMETERS`]) that case lines, plans and docs iterate.

use super::FormatKind;

/// Which short rows RS-Tile sends to the CUDA part (clause 7.4 of SEMANTICS.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ImpactRule {
    /// Rows that add few columns to their window, as Algorithm 1 is printed.
    AsPrinted,
    /// Rows that overlap little with their window, as the text describes it.
    #[default]
    AsDescribed,
}

/// One parameter: how it is written in a case line, which formats read it, and access to it. Flags count as 0 and 1.
#[derive(Debug)]
pub struct Parameter {
    /// Name in case lines.
    pub name: &'static str,
    /// The formats that read it.
    pub formats: &'static [FormatKind],
    /// Values that plans and fuzzers choose from, beside the default; all legal for every matrix whose rows are not
    /// fewer (`boundary`).
    pub samples: &'static [u32],
    /// What its value counts.
    pub unit: &'static str,
    /// What it says, in a sentence.
    pub doc: &'static str,
    derived: &'static str,
    /// Reads it; `None` when it is not given.
    pub get: fn(&FormatParams) -> Option<u32>,
    /// Sets it.
    pub set: fn(&mut FormatParams, u32),
}

/// What a field of [`FormatParams`] is as a number.
trait Number: Copy {
    /// `None` when it is not given.
    fn number(self) -> Option<u32>;
    fn of(number: u32) -> Self;
}

impl Number for u32 {
    fn number(self) -> Option<u32> {
        Some(self)
    }

    fn of(number: u32) -> u32 {
        number
    }
}

impl Number for Option<u32> {
    fn number(self) -> Option<u32> {
        self
    }

    fn of(number: u32) -> Option<u32> {
        Some(number)
    }
}

impl Number for bool {
    fn number(self) -> Option<u32> {
        Some(u32::from(self))
    }

    fn of(number: u32) -> bool {
        number != 0
    }
}

impl Number for ImpactRule {
    fn number(self) -> Option<u32> {
        Some(u32::from(self == ImpactRule::AsPrinted))
    }

    fn of(number: u32) -> ImpactRule {
        if number == 0 { ImpactRule::AsDescribed } else { ImpactRule::AsPrinted }
    }
}

macro_rules! table {
    ($(#[doc = $doc:literal] $field:ident: $Type:ty = $default:expr, $name:literal, $unit:literal, $derived:literal,
        [$($Format:ident)+], [$($sample:literal),+];)*) => {
        /// Parameters of all formats; each format reads its own and ignores the rest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct FormatParams {
            $(#[doc = concat!($doc, " Read by", $(" [`", stringify!($Format), "`](super::", stringify!($Format), ")",)+ ".")]
            pub $field: $Type,)*
        }

        impl FormatParams {
            /// The parameters that the papers use, or small ones where those depend on the machine.
            pub const DEFAULT: FormatParams = FormatParams { $($field: $default),* };
        }

        /// Every parameter.
        pub const PARAMETERS: [Parameter; [$($name),*].len()] = [$(Parameter {
            name: $name,
            formats: &[$(FormatKind::$Format),+],
            samples: &[$($sample),+],
            unit: $unit,
            doc: $doc,
            derived: $derived,
            get: |params| params.$field.number(),
            set: |params, value| params.$field = Number::of(value),
        }),*];
    };
}
parameters!(table);

impl Default for FormatParams {
    fn default() -> Self {
        FormatParams::DEFAULT
    }
}

impl Parameter {
    /// Sets it; false where the format parameters cannot hold the value: a flag is 0 or 1.
    #[must_use]
    pub fn assign(&self, params: &mut FormatParams, value: u32) -> bool {
        (self.set)(params, value);
        (self.get)(params) == Some(value)
    }

    /// What holds where it is not given: a number, or how an encoder finds one.
    #[must_use]
    pub fn not_given(&self) -> String {
        (self.get)(&FormatParams::DEFAULT).map_or_else(|| self.derived.to_owned(), |value| value.to_string())
    }
}

impl FormatParams {
    /// Parameters of a block format.
    #[must_use]
    pub const fn blocks(block_rows: u32, block_cols: u32) -> FormatParams {
        FormatParams { block_rows, block_cols, ..FormatParams::DEFAULT }
    }

    /// The same parameters with those that nobody `reads` set to their default.
    #[must_use]
    pub fn only(&self, reads: impl Fn(&Parameter) -> bool) -> FormatParams {
        let mut kept = FormatParams::default();
        for parameter in PARAMETERS.iter().filter(|parameter| reads(parameter)) {
            if let Some(value) = (parameter.get)(self) {
                (parameter.set)(&mut kept, value);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parameter without a default says how an encoder finds one, and plans draw values that are another request.
    #[test]
    fn every_parameter_says_what_holds_where_it_is_not_given() {
        for parameter in &PARAMETERS {
            let default = (parameter.get)(&FormatParams::DEFAULT);
            assert_eq!(default.is_none(), !parameter.derived.is_empty(), "{}", parameter.name);
            for &sample in parameter.samples {
                let mut params = FormatParams::DEFAULT;
                assert!(parameter.assign(&mut params, sample), "{}={sample}", parameter.name);
                assert_ne!(params, FormatParams::DEFAULT, "{}={sample}", parameter.name);
            }
        }
    }
}
