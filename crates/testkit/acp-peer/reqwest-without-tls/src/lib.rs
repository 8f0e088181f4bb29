//! Re-exports all of reqwest 0.12 with the version number 0.13 and a `rustls` feature without effect.

pub use reqwest_0_12::*;
