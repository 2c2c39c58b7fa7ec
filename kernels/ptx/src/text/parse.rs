//! A module: the directives outside entries.

use super::ast::{CudaLine, Module, Space, Statement};
use super::error::{TextError, TextFault};
use super::stream::Stream;
use super::token::Token;

/// Bytes of a text.
const TEXT: usize = 1 << 28;
/// Statements of a module.
const STATEMENTS: u32 = 2_000_000;
/// Operands of all statements, initial values of all variables.
const VALUES: u32 = 16_000_000;

/// The newest major version of PTX that is known.
const NEWEST: u8 = 9;

/// Reads a text.
///
/// # Errors
/// The first thing that does not belong where it stands, or is not supported, with its line and column.
pub fn parse(text: &str) -> Result<Module<'_>, TextError> {
    let mut parser = Parser {
        stream: Stream::new(text),
        module: Module::default(),
        cuda: None,
        statements: STATEMENTS,
        values: VALUES,
    };
    if text.len() > TEXT {
        return Err(parser.limit("bytes of the text", TEXT as u64));
    }
    parser.head()?;
    while parser.stream.peek() != Token::End {
        parser.item()?;
    }
    Ok(parser.module)
}

/// What has been read, and what comes.
pub(super) struct Parser<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) module: Module<'a>,
    /// The last `.loc`.
    pub(super) cuda: Option<CudaLine>,
    statements: u32,
    values: u32,
}

impl<'a> Parser<'a> {
    /// `.version 9.0`, `.target sm_80`, `.address_size 64`.
    fn head(&mut self) -> Result<(), TextError> {
        if !self.stream.accept_directive(".version") {
            return Err(self.stream.unexpected("'.version', with which a text of PTX begins,"));
        }
        self.version()?;
        if !self.stream.accept_directive(".target") {
            return Err(self.stream.unexpected("'.target sm_NN' after the version"));
        }
        const TARGET: &str = "an architecture such as 'sm_80'";
        if !self.stream.slice().starts_with("sm_") {
            return Err(self.stream.unexpected(TARGET));
        }
        self.module.target = self.stream.take(Token::Name, TARGET)?;
        while self.stream.accept(Token::Comma) {
            self.stream.take(Token::Name, "another word for '.target'")?;
        }
        if self.stream.accept_directive(".address_size") {
            if self.stream.peek() == Token::Integer && self.stream.slice() == "32" {
                return Err(self.stream.not_supported("addresses are of 64 bits here; compile with '-m64'"));
            }
            if self.stream.slice() != "64" {
                return Err(self.stream.unexpected("'64'"));
            }
            self.stream.advance();
        }
        Ok(())
    }

    fn version(&mut self) -> Result<(), TextError> {
        const EXPECTED: &str = "a version such as '9.0'";
        let (major, minor) = match self.stream.peek() {
            Token::Decimal => self.stream.slice().split_once('.').unwrap_or_default(),
            _ => return Err(self.stream.unexpected(EXPECTED)),
        };
        let (Ok(major), Ok(minor)) = (major.parse(), minor.parse()) else {
            return Err(self.number(EXPECTED));
        };
        if major > NEWEST {
            return Err(self.stream.not_supported("this reads PTX up to 9.x; compile for an older version"));
        }
        self.module.version = (major, minor);
        self.stream.advance();
        Ok(())
    }

    /// One directive outside entries.
    fn item(&mut self) -> Result<(), TextError> {
        const EXPECTED: &str = "a directive such as '.visible', '.entry' or '.global'";
        if self.stream.peek() != Token::Directive {
            return Err(self.stream.unexpected(EXPECTED));
        }
        match self.stream.slice() {
            ".file" => self.file(),
            ".loc" => self.loc(),
            ".section" => self.section(),
            ".pragma" => self.pragma(),
            ".version" | ".target" | ".address_size" => {
                Err(self.stream.unexpected("a directive of the one module that a text holds"))
            }
            _ => self.declaration(EXPECTED),
        }
    }

    /// `.visible .entry ..`, `.extern .shared ..`.
    fn declaration(&mut self, expected: &'static str) -> Result<(), TextError> {
        let mut is_extern = false;
        loop {
            match self.stream.slice() {
                ".extern" => is_extern = true,
                ".visible" | ".weak" | ".common" => {}
                _ => break,
            }
            self.stream.advance();
        }
        match self.stream.slice() {
            ".entry" => self.entry(),
            ".func" | ".alias" => Err(self.stream.not_supported(CALLS)),
            _ => match self.space() {
                Some(Space::Param) | None => Err(self.stream.unexpected(expected)),
                Some(space) => {
                    let mut variables = std::mem::take(&mut self.module.variables);
                    let result = self.variables(space, is_extern, &mut variables);
                    self.module.variables = variables;
                    result
                }
            },
        }
    }

    /// `.global` and the like, if they come next.
    pub(super) fn space(&mut self) -> Option<Space> {
        let space = match self.stream.slice() {
            ".global" => Space::Global,
            ".const" => Space::Const,
            ".shared" | ".shared::cta" => Space::Shared,
            ".local" => Space::Local,
            ".param" => Space::Param,
            _ => return None,
        };
        self.stream.advance();
        Some(space)
    }

    /// `.file 1 "name" [, time, size]`.
    pub(super) fn file(&mut self) -> Result<(), TextError> {
        self.stream.advance();
        let number = self.small("the number of the file")?;
        let name = self.stream.take(Token::Text, "the file's name in quotes")?;
        self.module.files.push((number, name.trim_matches('"')));
        self.spend_values(1)?;
        for _ in 0..2 {
            if self.stream.accept(Token::Comma) {
                self.stream.take(Token::Integer, "the time or size of the file")?;
            }
        }
        Ok(())
    }

    /// `.loc 1 23 5 [, function_name label [+ 4], inlined_at 1 18 3]`.
    pub(super) fn loc(&mut self) -> Result<(), TextError> {
        self.stream.advance();
        let file = self.small("the number of the file")?;
        let line = self.small("the line of the source")?;
        self.small("the column of the source")?;
        self.cuda = Some(CudaLine { file, line });
        while self.stream.accept(Token::Comma) {
            match self.stream.take(Token::Name, "'function_name' or 'inlined_at'")? {
                "inlined_at" => {
                    for expected in ["a file's number", "a line", "a column"] {
                        self.small(expected)?;
                    }
                }
                _ => {
                    self.stream.take(Token::Name, "a label")?;
                    if self.stream.accept(Token::Plus) {
                        self.stream.take(Token::Integer, "an offset")?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `.pragma "nounroll";`.
    pub(super) fn pragma(&mut self) -> Result<(), TextError> {
        self.stream.advance();
        self.stream.take(Token::Text, "a text in quotes")?;
        while self.stream.accept(Token::Comma) {
            self.stream.take(Token::Text, "a text in quotes")?;
        }
        self.stream.take(Token::Semicolon, "';' after '.pragma'").map(drop)
    }

    /// `.section .debug_info { .. }`: debug information, which is skipped.
    fn section(&mut self) -> Result<(), TextError> {
        self.stream.advance();
        self.stream.take(Token::Directive, "the name of the section")?;
        self.stream.take(Token::OpenBrace, "'{'")?;
        let mut depth = 1_u32;
        while depth > 0 {
            match self.stream.peek() {
                Token::OpenBrace => depth = depth.saturating_add(1),
                Token::CloseBrace => depth -= 1,
                Token::End => return Err(self.stream.unexpected("'}' at the end of the section")),
                _ => {}
            }
            self.stream.advance();
        }
        Ok(())
    }

    /// A number of 32 bits without sign.
    pub(super) fn small(&mut self, expected: &'static str) -> Result<u32, TextError> {
        if self.stream.peek() != Token::Integer {
            return Err(self.stream.unexpected(expected));
        }
        let value = self.integer(false)?;
        match u32::try_from(value) {
            Ok(value) => {
                self.stream.advance();
                Ok(value)
            }
            Err(_) => Err(self.number("it must fit in 32 bits")),
        }
    }

    /// The number that comes next is no good.
    pub(super) fn number(&mut self, expected: &'static str) -> TextError {
        let found = self.stream.slice().chars().take(40).collect();
        self.stream.error(TextFault::Number { found, expected })
    }

    /// There is too much of something.
    pub(super) fn limit(&mut self, what: &'static str, limit: u64) -> TextError {
        self.stream.error(TextFault::Limit { what, limit })
    }

    pub(super) fn spend_statement(
        &mut self,
        into: &mut Vec<Statement<'a>>,
        statement: Statement<'a>,
    ) -> Result<(), TextError> {
        into.push(statement);
        match self.statements.checked_sub(1) {
            Some(left) => self.statements = left,
            None => return Err(self.limit("labels, scopes and instructions", u64::from(STATEMENTS))),
        }
        Ok(())
    }

    pub(super) fn spend_values(&mut self, count: usize) -> Result<(), TextError> {
        match u32::try_from(count).ok().and_then(|count| self.values.checked_sub(count)) {
            Some(left) => self.values = left,
            None => {
                return Err(
                    self.limit("operands, parameters, variables and initial values", u64::from(VALUES))
                );
            }
        }
        Ok(())
    }
}

/// Why functions are refused.
pub(super) const CALLS: &str =
    "this machine runs entries without calls; let the compiler inline everything ('__forceinline__')";
