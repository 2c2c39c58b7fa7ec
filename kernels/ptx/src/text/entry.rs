//! `.entry`: its header and its body.

use super::ast::{Entry, Guarded, Scope, Statement};
use super::error::TextError;
use super::parse::{CALLS, Parser};
use super::token::Token;

/// Scopes in scopes.
const DEPTH: usize = 64;

impl<'a> Parser<'a> {
    /// From `.entry` to the brace that ends its body.
    pub(super) fn entry(&mut self) -> Result<(), TextError> {
        self.stream.advance();
        let at = self.stream.place();
        let name = self.stream.take(Token::Name, "the name of the entry")?;
        let params = self.params()?;
        let (registers, variables) = (Vec::new(), Vec::new());
        let mut entry = Entry {
            name,
            params,
            max_threads: None,
            required_block: None,
            registers,
            variables,
            body: Vec::new(),
            at,
        };
        while self.stream.peek() == Token::Directive {
            self.limits(&mut entry)?;
        }
        if self.stream.peek() == Token::Semicolon {
            return Err(self.stream.not_supported("an entry that is only announced; link the texts before"));
        }
        self.stream.take(Token::OpenBrace, "'{', with which the body begins,")?;
        self.cuda = None;
        self.body(&mut entry)?;
        self.module.entries.push(entry);
        Ok(())
    }

    fn params(&mut self) -> Result<Vec<super::Variable<'a>>, TextError> {
        let mut params = Vec::new();
        if !self.stream.accept(Token::OpenParenthesis) || self.stream.accept(Token::CloseParenthesis) {
            return Ok(params);
        }
        loop {
            if !self.stream.accept_directive(".param") {
                return Err(self.stream.unexpected("'.param'"));
            }
            params.push(self.param()?);
            self.spend_values(1)?;
            if !self.stream.accept(Token::Comma) {
                break;
            }
        }
        self.stream.take(Token::CloseParenthesis, "',' or ')' after the parameter")?;
        Ok(params)
    }

    /// Directives between the parameters and the body.
    fn limits(&mut self, entry: &mut Entry<'a>) -> Result<(), TextError> {
        match self.stream.slice() {
            ".maxntid" if entry.required_block.is_none() => {
                self.stream.advance();
                entry.max_threads = Some(self.up_to_three()?);
            }
            ".reqntid" if entry.max_threads.is_none() => {
                self.stream.advance();
                entry.required_block = Some(self.up_to_three()?);
            }
            ".maxntid" | ".reqntid" => {
                return Err(self.stream.unexpected("only one of '.maxntid' and '.reqntid'"));
            }
            // How a compiler shares registers out; nothing that runs here.
            ".minnctapersm" | ".maxnctapersm" | ".maxnreg" => {
                self.stream.advance();
                self.small("a number")?;
            }
            ".noreturn" => self.stream.advance(),
            ".pragma" => self.pragma()?,
            ".reqnctapercluster" | ".explicitcluster" | ".maxclusterrank" | ".blocksareclusters" => {
                return Err(self.stream.not_supported("there are no clusters of blocks here"));
            }
            _ => return Err(self.stream.unexpected("'{', or a limit such as '.maxntid',")),
        }
        Ok(())
    }

    fn up_to_three(&mut self) -> Result<[u32; 3], TextError> {
        let mut numbers = [1; 3];
        for (i, number) in numbers.iter_mut().enumerate() {
            if i > 0 && !self.stream.accept(Token::Comma) {
                break;
            }
            *number = self.small("a number of threads")?;
        }
        Ok(numbers)
    }

    /// Statements up to the brace that ends the body. Scopes are a statement each way, so nothing recurses.
    fn body(&mut self, entry: &mut Entry<'a>) -> Result<(), TextError> {
        let mut outer = Scope::default();
        // Where the scopes that are open begin in the body.
        let mut open: Vec<usize> = Vec::new();
        let mut room = Self::register_room();
        loop {
            match self.stream.peek() {
                Token::Name | Token::At => self.statement(&mut entry.body)?,
                Token::Directive => {
                    let scope = match open.last().and_then(|at| entry.body.get_mut(*at)) {
                        Some(Statement::Open(scope)) => scope,
                        _ => &mut outer,
                    };
                    self.declared(scope, &mut room)?;
                }
                Token::OpenBrace => {
                    if open.len() >= DEPTH {
                        return Err(self.limit("scopes in scopes", DEPTH as u64));
                    }
                    open.push(entry.body.len());
                    self.stream.advance();
                    self.spend_statement(&mut entry.body, Statement::Open(Box::default()))?;
                }
                Token::CloseBrace => {
                    self.stream.advance();
                    if open.pop().is_none() {
                        break;
                    }
                    self.spend_statement(&mut entry.body, Statement::Close)?;
                }
                Token::Semicolon => self.stream.advance(),
                _ => return Err(self.stream.unexpected("an instruction, a label, a directive or '}'")),
            }
        }
        (entry.registers, entry.variables) = (outer.registers, outer.variables);
        Ok(())
    }

    /// A directive in a body.
    fn declared(&mut self, scope: &mut Scope<'a>, room: &mut u32) -> Result<(), TextError> {
        match self.stream.slice() {
            ".reg" => {
                self.stream.advance();
                return self.registers(&mut scope.registers, room);
            }
            ".loc" => return self.loc(),
            ".file" => return self.file(),
            ".pragma" => return self.pragma(),
            ".param" | ".callprototype" | ".calltargets" | ".branchtargets" => {
                return Err(self.stream.not_supported(CALLS));
            }
            _ => {}
        }
        let is_extern = self.stream.accept_directive(".extern");
        match self.space() {
            Some(space) => self.variables(space, is_extern, &mut scope.variables),
            None => Err(self.stream.unexpected("a directive such as '.reg', '.shared', '.local' or '.loc'")),
        }
    }

    /// A label or an instruction.
    fn statement(&mut self, body: &mut Vec<Statement<'a>>) -> Result<(), TextError> {
        let at = self.stream.place();
        let mut guard = None;
        if self.stream.accept(Token::At) {
            let negated = self.stream.accept(Token::Exclamation);
            guard =
                Some(Guarded { predicate: self.stream.take(Token::Name, "a predicate after '@'")?, negated });
        }
        if self.stream.peek() == Token::Name && matches!(self.stream.slice(), "call" | "call.uni") {
            return Err(self.stream.not_supported(CALLS));
        }
        let form = self.stream.take(Token::Name, "the name of an instruction")?;
        let statement = if guard.is_none() && self.stream.accept(Token::Colon) {
            Statement::Label(form, at)
        } else {
            Statement::Instruction(self.instruction(guard, form, at)?)
        };
        self.spend_statement(body, statement)
    }
}
