//! Variables, parameters and registers.
//!
//! ```text
//! .global .align 4 .u32 name[3] = { 1, 2, 3 };        .param .u64 .ptr .global .align 8 name        .reg .b32 %r<22>;
//! ```

use super::ast::{Initializer, RegisterList, Space, Type, Variable};
use super::error::TextError;
use super::parse::Parser;
use super::token::Token;

/// Bytes of one variable.
const BYTES: u64 = 1 << 30;
/// Registers of an entry.
const REGISTERS: u32 = 1 << 20;

impl<'a> Parser<'a> {
    /// What stands behind `.global` up to the semicolon.
    pub(super) fn variables(
        &mut self,
        space: Space,
        is_extern: bool,
        into: &mut Vec<Variable<'a>>,
    ) -> Result<(), TextError> {
        let (align, ty, vector) = self.type_of_variable()?;
        loop {
            let mut variable = self.named(space, align, ty, vector)?;
            variable.is_extern = is_extern;
            if self.stream.peek() == Token::Equals {
                self.initial_values(&mut variable)?;
            }
            into.push(variable);
            self.spend_values(1)?;
            if !self.stream.accept(Token::Comma) {
                break;
            }
        }
        self.stream.take(Token::Semicolon, "';' after the variable").map(drop)
    }

    /// A parameter of an entry, behind `.param`.
    pub(super) fn param(&mut self) -> Result<Variable<'a>, TextError> {
        let (align, ty, vector) = self.type_of_variable()?;
        if self.stream.accept_directive(".ptr") {
            // What a pointer points to, and how it is aligned, is a promise to the compiler.
            let _ = self.space();
            if self.stream.accept_directive(".align") {
                self.alignment()?;
            }
        }
        self.named(Space::Param, align, ty, vector)
    }

    /// `.align 8 .v2 .b32`: the alignment that is written, the type, how many make a vector.
    fn type_of_variable(&mut self) -> Result<(Option<u32>, Type, u32), TextError> {
        let (mut align, mut vector) = (None, 1);
        loop {
            if self.stream.peek() != Token::Directive {
                return Err(self.stream.unexpected("a type such as '.b32'"));
            }
            match self.stream.slice() {
                ".align" => {
                    self.stream.advance();
                    align = Some(self.alignment()?);
                    continue;
                }
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".attribute" | ".texref" | ".samplerref" | ".surfref" => {
                    return Err(self
                        .stream
                        .not_supported("managed memory and textures are not part of this machine"));
                }
                _ => return Ok((align, self.type_name()?, vector)),
            }
            self.stream.advance();
        }
    }

    fn type_name(&mut self) -> Result<Type, TextError> {
        const EXPECTED: &str = "a type such as '.b32'";
        let name = if self.stream.peek() == Token::Directive { self.stream.slice() } else { "" };
        match name.strip_prefix('.').and_then(Type::from_name) {
            Some(ty) => {
                self.stream.advance();
                Ok(ty)
            }
            None => Err(self.stream.unexpected(EXPECTED)),
        }
    }

    fn alignment(&mut self) -> Result<u32, TextError> {
        if self.stream.peek() != Token::Integer {
            return Err(self.stream.unexpected("an alignment in bytes"));
        }
        match u32::try_from(self.integer(false)?) {
            Ok(align) if align.is_power_of_two() && align <= 4096 => {
                self.stream.advance();
                Ok(align)
            }
            _ => Err(self.number("an alignment is a power of two, 4096 at most")),
        }
    }

    /// `name[4][3]`.
    fn named(
        &mut self,
        space: Space,
        align: Option<u32>,
        ty: Type,
        vector: u32,
    ) -> Result<Variable<'a>, TextError> {
        let size = u64::from(ty.bytes());
        if ty == Type::Pred {
            return Err(self
                .stream
                .unexpected("a variable of another type than '.pred', which only registers have,"));
        }
        let at = self.stream.place();
        let name = self.stream.take(Token::Name, "the name of a variable")?;
        let mut len = Some(u64::from(vector));
        while self.stream.peek() == Token::OpenBracket {
            self.stream.advance();
            if len.is_some() && self.stream.accept(Token::CloseBracket) {
                len = None;
                continue;
            }
            if self.stream.peek() != Token::Integer {
                return Err(self.stream.unexpected("a number of elements"));
            }
            let count = u64::try_from(self.integer(false)?).unwrap_or(u64::MAX);
            // `name[][4]` has no length of its own either.
            len = len.map(|len| len.saturating_mul(count));
            if len.is_some_and(|len| len.saturating_mul(size) > BYTES) {
                return Err(self.limit("bytes of a variable", BYTES));
            }
            self.stream.advance();
            self.stream.take(Token::CloseBracket, "']' after the number of elements")?;
        }
        let natural = u32::from(ty.bytes()) * vector;
        Ok(Variable {
            name,
            space,
            is_extern: false,
            align: align.unwrap_or(natural),
            ty,
            len,
            initial: Vec::new(),
            at,
        })
    }

    /// What stands behind `=`.
    fn initial_values(&mut self, variable: &mut Variable<'a>) -> Result<(), TextError> {
        if !matches!(variable.space, Space::Global | Space::Const) {
            return Err(self
                .stream
                .unexpected("';' (only '.global' and '.const' variables have initial values)"));
        }
        self.stream.advance();
        if self.stream.accept(Token::OpenBrace) {
            loop {
                let value = self.initial_value()?;
                variable.initial.push(value);
                self.spend_values(1)?;
                if !self.stream.accept(Token::Comma) {
                    break;
                }
            }
            self.stream.take(Token::CloseBrace, "',' or '}' in the initial values")?;
        } else {
            variable.initial.push(self.initial_value()?);
        }
        let count = variable.initial.len() as u64;
        if *variable.len.get_or_insert(count) < count {
            return Err(
                self.limit("initial values of this variable, by its length", variable.len.unwrap_or(0))
            );
        }
        Ok(())
    }

    fn initial_value(&mut self) -> Result<Initializer<'a>, TextError> {
        if self.stream.peek() == Token::Name {
            return self.initial_address();
        }
        if self.stream.peek() == Token::OpenBrace {
            return Err(self
                .stream
                .not_supported("initial values of arrays of arrays; write them in one pair of braces"));
        }
        let operand = self.numeric("an initial value: a number or the name of a variable")?;
        Ok(match operand {
            super::Operand::F32(bits) => Initializer::F32(bits),
            super::Operand::F64(bits) => Initializer::F64(bits),
            super::Operand::Integer(value) => Initializer::Integer(value),
            _ => return Err(self.stream.unexpected("a number")),
        })
    }

    /// `name + 4`, `generic(name) + 4`.
    fn initial_address(&mut self) -> Result<Initializer<'a>, TextError> {
        let mut name = self.stream.take(Token::Name, "a name")?;
        if self.stream.accept(Token::OpenParenthesis) {
            name = self.stream.take(Token::Name, "the name of a variable")?;
            self.stream.take(Token::CloseParenthesis, "')'")?;
        }
        Ok(Initializer::Address(name, self.offset()?))
    }

    /// `.reg .b32 %r<22>, %x;`, behind `.reg`; `room` counts the registers that an entry may still declare.
    pub(super) fn registers(
        &mut self,
        into: &mut Vec<RegisterList<'a>>,
        room: &mut u32,
    ) -> Result<(), TextError> {
        if matches!(self.stream.slice(), ".v2" | ".v4") {
            return Err(self.stream.not_supported("declare the registers of a vector one by one"));
        }
        let ty = self.type_name()?;
        if ty == Type::B128 {
            return Err(self.stream.not_supported("there are no registers of 128 bits here"));
        }
        loop {
            let prefix = self.stream.take(Token::Name, "the name of a register")?;
            let mut count = None;
            if self.stream.accept(Token::Less) {
                count = Some(self.small("how many registers there are")?);
                self.stream.take(Token::Greater, "'>' after the number of registers")?;
            }
            match room.checked_sub(count.unwrap_or(1)) {
                Some(left) => *room = left,
                None => return Err(self.limit("registers of an entry", u64::from(REGISTERS))),
            }
            into.push(RegisterList { ty, prefix, count });
            self.spend_values(1)?;
            if !self.stream.accept(Token::Comma) {
                break;
            }
        }
        self.stream.take(Token::Semicolon, "';' after the registers").map(drop)
    }

    /// How many registers an entry may declare.
    pub(super) const fn register_room() -> u32 {
        REGISTERS
    }
}
