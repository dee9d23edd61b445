//! Reversals: a settlement is cancelled before it is sent, or reversed after it is completed.

mod answered;
mod reverse;

pub use reverse::{Reverse, Reversed};
