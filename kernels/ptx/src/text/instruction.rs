//! An instruction's operands, and numbers.

use super::ast::{Base, Guarded, Instruction, Operand, Place};
use super::error::TextError;
use super::parse::Parser;
use super::token::Token;

/// Elements of a vector.
const ELEMENTS: usize = 128;
/// What an operand may be.
const OPERAND: &str = "an operand: a register, a number, '{..}' or '[..]'";

impl<'a> Parser<'a> {
    /// What stands behind the name of an instruction up to the semicolon.
    pub(super) fn instruction(
        &mut self,
        guard: Option<Guarded<'a>>,
        form: &'a str,
        at: Place,
    ) -> Result<Instruction<'a>, TextError> {
        let mut operands = Vec::new();
        if self.stream.peek() != Token::Semicolon {
            loop {
                let operand = self.operand()?;
                operands.push(operand);
                self.spend_values(1)?;
                if !self.stream.accept(Token::Comma) {
                    break;
                }
            }
        }
        self.stream.take(Token::Semicolon, "',' or ';' in the instruction")?;
        Ok(Instruction { guard, form, operands, at, cuda: self.cuda })
    }

    fn operand(&mut self) -> Result<Operand<'a>, TextError> {
        match self.stream.peek() {
            Token::OpenBracket => self.address(),
            Token::OpenBrace => self.vector(),
            Token::Exclamation => {
                self.stream.advance();
                Ok(Operand::Not(self.stream.take(Token::Name, "a predicate after '!'")?))
            }
            Token::Name => self.name(),
            _ => self.numeric(OPERAND),
        }
    }

    /// `%r1`, `%p1|%p2`, `shared + 16`, `_`.
    fn name(&mut self) -> Result<Operand<'a>, TextError> {
        let name = self.stream.take(Token::Name, OPERAND)?;
        match self.stream.peek() {
            Token::Bar => {
                self.stream.advance();
                Ok(Operand::Pair(name, self.stream.take(Token::Name, "a second result after '|'")?))
            }
            Token::Plus | Token::Minus => Ok(Operand::Offset(name, self.offset()?)),
            _ if name == "_" => Ok(Operand::Sink),
            _ => Ok(Operand::Name(name)),
        }
    }

    /// `{a, b}`.
    fn vector(&mut self) -> Result<Operand<'a>, TextError> {
        self.stream.advance();
        let mut elements = Vec::new();
        loop {
            let element = match self.stream.peek() {
                Token::Name if self.stream.slice() == "_" => {
                    self.stream.advance();
                    Operand::Sink
                }
                Token::Name => Operand::Name(self.stream.take(Token::Name, OPERAND)?),
                _ => self.numeric("a register or number in '{..}'")?,
            };
            if elements.len() >= ELEMENTS {
                return Err(self.limit("elements of a vector", ELEMENTS as u64));
            }
            elements.push(element);
            self.spend_values(1)?;
            if !self.stream.accept(Token::Comma) {
                break;
            }
        }
        self.stream.take(Token::CloseBrace, "',' or '}' in the vector")?;
        Ok(Operand::Vector(elements))
    }

    /// `[%rd1+16]`, `[name]`, `[64]`.
    fn address(&mut self) -> Result<Operand<'a>, TextError> {
        self.stream.advance();
        let (base, offset) = if self.stream.peek() == Token::Name {
            (Base::Name(self.stream.take(Token::Name, OPERAND)?), self.offset()?)
        } else {
            let negative = self.stream.accept(Token::Minus);
            if self.stream.peek() != Token::Integer {
                return Err(self.stream.unexpected("a register, a variable or a number in '[..]'"));
            }
            (Base::None, self.int64(negative)?)
        };
        self.stream.take(Token::CloseBracket, "']' after the address")?;
        Ok(Operand::Address(base, offset))
    }

    /// `+16`, `-16`, `+-16` or nothing.
    pub(super) fn offset(&mut self) -> Result<i64, TextError> {
        let plus = self.stream.accept(Token::Plus);
        let minus = self.stream.accept(Token::Minus);
        if !plus && !minus {
            return Ok(0);
        }
        if self.stream.peek() != Token::Integer {
            return Err(self.stream.unexpected("an offset in bytes"));
        }
        self.int64(minus)
    }

    fn int64(&mut self, negative: bool) -> Result<i64, TextError> {
        let value = self.integer(negative)?;
        // An unsigned number of 64 bits is an address or offset too: the sum wraps.
        let value =
            if negative { i64::try_from(value).ok() } else { u64::try_from(value).ok().map(|v| v as i64) };
        match value {
            Some(value) => {
                self.stream.advance();
                Ok(value)
            }
            None => Err(self.number("it must fit in 64 bits")),
        }
    }

    /// A number of any kind; `expected` says what would be right where none comes.
    pub(super) fn numeric(&mut self, expected: &'static str) -> Result<Operand<'a>, TextError> {
        let negative = self.stream.accept(Token::Minus);
        let (slice, sign) = (self.stream.slice(), negative);
        let operand = match self.stream.peek() {
            Token::Integer => Operand::Integer(self.integer(negative)?),
            Token::F32 | Token::F64 if sign => {
                return Err(self.stream.unexpected("a number with its sign in its highest bit"));
            }
            Token::F32 => {
                let bits =
                    slice.get(2..).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0);
                Operand::F32(bits)
            }
            Token::F64 => {
                let bits =
                    slice.get(2..).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
                Operand::F64(bits)
            }
            Token::Decimal => {
                let Ok(value) = slice.parse::<f64>() else { return Err(self.number("a decimal number")) };
                Operand::F64(value.to_bits() ^ (u64::from(sign) << 63))
            }
            _ => return Err(self.stream.unexpected(expected)),
        };
        self.stream.advance();
        Ok(operand)
    }

    /// The value of the integer that comes next, which stays there. It fits in 64 bits, signed or not.
    pub(super) fn integer(&mut self, negative: bool) -> Result<i128, TextError> {
        let digits = self.stream.slice().trim_end_matches('U');
        let radix = |prefixes: [&str; 2], radix| {
            let rest = prefixes.iter().find_map(|prefix| digits.strip_prefix(prefix));
            rest.map(|rest| u64::from_str_radix(rest, radix))
        };
        let value = radix(["0x", "0X"], 16)
            .or_else(|| radix(["0b", "0B"], 2))
            .or_else(|| radix(["0", "0"], 8).filter(|_| digits.len() > 1))
            .unwrap_or_else(|| digits.parse());
        let limit = if negative { 1 << 63 } else { u64::MAX };
        match value {
            Ok(value) if value <= limit => Ok(if negative { -i128::from(value) } else { i128::from(value) }),
            _ => Err(self.number("it must fit in 64 bits")),
        }
    }
}
