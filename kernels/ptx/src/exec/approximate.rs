//! Approximate instructions: PTX allows an error, and these give what is nearest to the exact value.
//!
//! Silicon gives other bits within PTX's bounds: what passes through here is not bit for bit (`Evidence::Approximate`).

use super::lane::lanes;
use super::round::{flush, quiet};

/// A function of f64 as one of f32.
#[inline(always)]
fn near(x: f64) -> f32 {
    quiet(x as f32)
}

lanes! { ROWS;
    "rcp.approx.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { quiet(1.0 / a) }
    "rcp.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { quiet(flush(1.0 / flush(a))) }
    "sqrt.approx.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { quiet(a.sqrt()) }
    "sqrt.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { quiet(flush(a).sqrt()) }
    "rsqrt.approx.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(1.0 / f64::from(a).sqrt()) }
    "rsqrt.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(1.0 / f64::from(flush(a)).sqrt()) }
    "ex2.approx.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(f64::from(a).exp2()) }
    "ex2.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { flush(near(f64::from(flush(a)).exp2())) }
    "lg2.approx.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(f64::from(a).log2()) }
    "lg2.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(f64::from(flush(a)).log2()) }
    "sin.approx.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(f64::from(a).sin()) }
    "sin.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { flush(near(f64::from(flush(a)).sin())) }
    "cos.approx.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(f64::from(a).cos()) }
    "cos.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32) -> f32 { near(f64::from(flush(a)).cos()) }
    "tanh.approx.f32" (7, 0) 75 Approximate: (a: f32) -> f32 { near(f64::from(a).tanh()) }
    "div.approx.f32" (1, 0) 10 Approximate: (a: f32, b: f32) -> f32 { quiet(a / b) }
    "div.approx.ftz.f32" (1, 0) 10 Approximate: (a: f32, b: f32) -> f32 { quiet(flush(flush(a) / flush(b))) }
    "div.full.f32" (1, 0) 10 Approximate: (a: f32, b: f32) -> f32 { quiet(a / b) }
    "div.full.ftz.f32" (1, 0) 10 Approximate: (a: f32, b: f32) -> f32 { quiet(flush(flush(a) / flush(b))) }
    "rcp.approx.ftz.f64" (2, 1) 20 Approximate: (a: f64) -> f64 { 1.0 / a }
    "rsqrt.approx.f64" (1, 0) 13 Approximate: (a: f64) -> f64 { 1.0 / a.sqrt() }
}
