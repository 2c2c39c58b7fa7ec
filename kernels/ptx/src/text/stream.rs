//! Tokens with places, one of them ahead.
//!
//! Lines are counted only where a place is asked for, once over the text in all: places are asked in the order of the text.

use super::ast::Place;
use super::error::{TextError, TextFault};
use super::token::Token;
use logos::{Lexer, Logos};

/// How much of what was found is quoted.
const QUOTED: usize = 40;

/// The tokens of a text.
pub(super) struct Stream<'a> {
    text: &'a str,
    lexer: Lexer<'a, Token>,
    next: Token,
    /// Lines are counted up to this byte.
    counted: usize,
    line: u32,
    /// The byte where that line begins.
    begin: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn new(text: &'a str) -> Stream<'a> {
        let lexer = Token::lexer(text);
        let mut stream = Stream { text, lexer, next: Token::End, counted: 0, line: 1, begin: 0 };
        stream.advance();
        stream
    }

    /// What comes next.
    pub(super) fn peek(&self) -> Token {
        self.next
    }

    /// Its characters.
    pub(super) fn slice(&self) -> &'a str {
        self.lexer.slice()
    }

    /// Goes on behind it.
    pub(super) fn advance(&mut self) {
        self.next = match self.lexer.next() {
            Some(Ok(token)) => token,
            Some(Err(())) => Token::Junk,
            None => Token::End,
        };
    }

    /// Goes on behind it if it is this.
    pub(super) fn accept(&mut self, token: Token) -> bool {
        let found = self.next == token;
        if found {
            self.advance();
        }
        found
    }

    /// Takes this token, or says what belongs here.
    pub(super) fn take(&mut self, token: Token, expected: &'static str) -> Result<&'a str, TextError> {
        if self.next != token {
            return Err(self.unexpected(expected));
        }
        let slice = self.slice();
        self.advance();
        Ok(slice)
    }

    /// Takes this directive if it comes next.
    pub(super) fn accept_directive(&mut self, name: &str) -> bool {
        let found = self.next == Token::Directive && self.slice() == name;
        if found {
            self.advance();
        }
        found
    }

    /// Where the next token begins.
    pub(super) fn place(&mut self) -> Place {
        let start = self.lexer.span().start.min(self.text.len());
        let between = self.text.as_bytes().get(self.counted..start).unwrap_or_default();
        let lines = between.iter().filter(|byte| **byte == b'\n').count();
        if lines > 0 {
            let last = between.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            self.begin = self.counted + last + 1;
            self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        }
        self.counted = self.counted.max(start);
        let column = u32::try_from(start.saturating_sub(self.begin)).unwrap_or(u32::MAX).saturating_add(1);
        Place { line: self.line, column }
    }

    /// An error at the next token.
    pub(super) fn error(&mut self, fault: TextFault) -> TextError {
        TextError { at: self.place(), fault }
    }

    /// Something else belongs here.
    pub(super) fn unexpected(&mut self, expected: &'static str) -> TextError {
        let found = self.found();
        self.error(TextFault::Unexpected { found, expected })
    }

    /// The next token is PTX, but nothing that this machine runs.
    pub(super) fn not_supported(&mut self, help: &'static str) -> TextError {
        let what = shorten(self.slice());
        self.error(TextFault::NotSupported { what, help })
    }

    fn found(&self) -> String {
        let rest = || self.text.get(self.lexer.span().start..).unwrap_or_default();
        match self.next {
            Token::End => "the end of the text".into(),
            Token::Junk if rest().starts_with('"') => "a string that does not end in its line".into(),
            Token::Junk if rest().starts_with("/*") => "a comment that does not end".into(),
            Token::Junk => {
                format!("'{}'", rest().chars().take(1).flat_map(char::escape_default).collect::<String>())
            }
            _ => format!("'{}'", shorten(self.slice())),
        }
    }
}

/// The beginning of something that is quoted.
fn shorten(text: &str) -> String {
    let mut quoted: String = text.chars().take(QUOTED).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED).is_some() {
        quoted.push_str("..");
    }
    quoted
}
