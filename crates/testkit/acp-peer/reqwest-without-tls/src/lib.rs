//! Everything of reqwest 0.12 under the version number 0.13, with a `rustls` feature that does nothing.

pub use reqwest_0_12::*;
