//! Payments through a scripted Mojaloop adapter: what it is told, and what its replies mean, through a whole gateway.

mod codes;
mod payees;
mod settings;
mod steps;
mod world;
