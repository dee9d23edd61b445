//! Every rail over operators that keep their own books. Together in one program, because the longest of them mostly waits.

mod adapter;
mod frozen;
mod gsma;
mod gsma_cases;
mod mojaloop;
mod prism;
