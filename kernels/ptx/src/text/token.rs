//! Characters to tokens. White space and comments go.
//!
//! A name takes its modifiers with it: `ld.global.nc.v2.u32`, `%tid.x` and `mma.sp::ordered_metadata.sync` are a token each, and
//! so is a directive: `.align`, `.b32`.

use logos::Logos;

/// A token; the text says which name or number.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(super) enum Token {
    /// An instruction with modifiers, a register, a label, a variable, `_`.
    #[regex(r"(%[a-zA-Z0-9_$]+|[$_a-zA-Z][a-zA-Z0-9_$]*)((\.|::)[a-zA-Z0-9_$]+)*")]
    Name,
    /// `.reg`.
    #[regex(r"\.[a-zA-Z_][a-zA-Z0-9_]*(::[a-zA-Z0-9_]+)*")]
    Directive,
    /// `12`, `0x1F`, `0b101`, `017`, also with `U` at the end.
    #[regex(r"[0-9]+U?|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?")]
    Integer,
    /// `0f3F800000`.
    #[regex(r"0[fF][0-9a-fA-F]{8}")]
    F32,
    /// `0d3FF0000000000000`.
    #[regex(r"0[dD][0-9a-fA-F]{16}")]
    F64,
    /// `9.0`, `.5`, `1e-3`.
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")]
    Decimal,
    /// `"name.cu"`.
    #[regex(r#""[^"\n]*""#)]
    Text,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("(")]
    OpenParenthesis,
    #[token(")")]
    CloseParenthesis,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("@")]
    At,
    #[token("!")]
    Exclamation,
    #[token("|")]
    Bar,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("=")]
    Equals,
    /// No token of PTX begins here.
    Junk,
    /// The text is over.
    End,
}
