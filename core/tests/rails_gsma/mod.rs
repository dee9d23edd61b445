//! The rail of the GSMA Mobile Money API, through a whole gateway, with scripted operators.

mod callbacks;
mod codes;
mod inquiries;
mod payments;
mod reversals;
mod settings;
mod support;
