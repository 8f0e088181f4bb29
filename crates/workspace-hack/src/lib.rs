//! Makes `cargo build --package sayso` and `cargo test --workspace` agree on the features of every shared dependency.
//!
//! Cargo switches on the union of the features that the selected packages ask for. The test kit asks for a few more than
//! the product, and each difference would compile that dependency, and everything above it, a second time. The product
//! depends on this crate, which asks for those features too. None of them adds code to the binary.
//!
//! `scripts/features.sh` checks that the two agree and prints the lines to add here.
