//! Forms taken apart, and answers.

use sparse_ptx::registers::Class;

/// A type of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Signed,
    Unsigned,
    Bits,
    Float,
    Brain,
    Tf32,
    Pred,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) kind: Kind,
    pub(crate) bits: u32,
}

impl Type {
    fn parse(word: &str) -> Option<Type> {
        let word = word.strip_suffix("x2").unwrap_or(word);
        let kind = match word {
            "pred" => return Some(Type { kind: Kind::Pred, bits: 1 }),
            "bf16" => return Some(Type { kind: Kind::Brain, bits: 16 }),
            "tf32" => return Some(Type { kind: Kind::Tf32, bits: 32 }),
            _ => match word.as_bytes().first()? {
                b's' => Kind::Signed,
                b'u' => Kind::Unsigned,
                b'b' => Kind::Bits,
                b'f' => Kind::Float,
                _ => return None,
            },
        };
        matches!(&word[1..], "8" | "16" | "32" | "64")
            .then(|| Type { kind, bits: word[1..].parse().expect("digits") })
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned | Kind::Bits)
    }

    /// A register as a number.
    pub(crate) fn number(self, raw: u64) -> i128 {
        let low = u128::from(raw) & ((1 << self.bits) - 1);
        let negative = self.kind == Kind::Signed && low >> (self.bits - 1) & 1 == 1;
        low as i128 - if negative { 1 << self.bits } else { 0 }
    }

    /// A number as a register.
    pub(crate) fn wrap(self, x: i128) -> u64 {
        (x as u128 & ((1 << self.bits) - 1)) as u64
    }

    pub(crate) fn least(self) -> i128 {
        if self.kind == Kind::Signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    pub(crate) fn largest(self) -> i128 {
        if self.kind == Kind::Signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }
}

/// A form by its words.
pub(crate) struct Form<'a> {
    pub(crate) name: &'a str,
    pub(crate) words: Vec<&'a str>,
    pub(crate) types: Vec<Type>,
    /// Two elements a register.
    pub(crate) pairs: bool,
}

impl<'a> Form<'a> {
    pub(crate) fn parse(name: &'a str) -> Form<'a> {
        let words: Vec<&str> = name.split('.').collect();
        let types = words[1..].iter().filter_map(|word| Type::parse(word)).collect();
        Form { name, pairs: name.contains("x2"), words, types }
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// The type of the first source.
    pub(crate) fn source(&self) -> Type {
        match self.words[0] {
            // The type of what is chosen, then of what chooses.
            "slct" => self.types[0],
            _ => *self.types.last().expect("a form has a type"),
        }
    }

    /// How many bits of each source's register may be set.
    pub(crate) fn widths(&self, classes: &[Class]) -> Vec<u32> {
        let of = |(i, class): (usize, &Class)| match class {
            Class::Predicate => 1,
            Class::Wide => 64,
            Class::Narrow if self.pairs => 32,
            Class::Narrow => match (self.words[0], i) {
                ("shl" | "shr" | "shf", 1..) | ("bfe", 1..) | ("bfi", 2..) | ("slct", 2) => 32,
                ("mad", 2) if self.has("wide") => self.source().bits * 2,
                // Of 8 bits: what lies above is not looked at.
                _ => self.source().bits.clamp(16, 32),
            },
        };
        classes.iter().enumerate().map(of).collect()
    }
}

/// What must come out.
#[derive(Debug)]
pub(crate) enum Answer {
    Bits(u64),
    /// Any NaN of f64.
    Nan64,
    /// Within one unit in the last place of f32 (of f64 if true), or the same special value.
    Near(f64, bool),
}

impl Answer {
    pub(crate) fn admits(&self, found: u64) -> bool {
        match *self {
            Answer::Bits(bits) => bits == found,
            Answer::Nan64 => f64::from_bits(found).is_nan(),
            Answer::Near(x, true) => {
                let y = f64::from_bits(found);
                x == y || x.is_nan() && y.is_nan() || (y.next_down()..=y.next_up()).contains(&x)
            }
            Answer::Near(x, false) => {
                let y = f32::from_bits(found as u32);
                let (low, high) = (f64::from(y.next_down()), f64::from(y.next_up()));
                f64::from(y) == x || x.is_nan() && found == 0x7fff_ffff || (low..=high).contains(&x)
            }
        }
    }
}

/// The second result of `setp p|q`, from the first.
pub(crate) fn opposite(form: &Form<'_>, tuple: &[u64], found: u64) -> u64 {
    let c = tuple.get(2).copied().unwrap_or(0);
    // What the comparison was, the reference has checked; here it is undone from p.
    if form.has("and") {
        c & (found ^ 1)
    } else if form.has("or") {
        // With c true, both are; without, q is not p.
        c | (found ^ 1)
    } else {
        found ^ 1
    }
}
