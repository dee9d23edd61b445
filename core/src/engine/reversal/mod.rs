//! Reversals: a settlement is cancelled before it is sent, and reversed after it is completed.

mod answered;
mod reverse;

pub use reverse::{Reverse, Reversed};
