//! Files in formats of others: each is read by a parser that knows what its viewer requires, and what it says adds up to what
//! the report says, to the nanosecond. The runs are random ones, of which three threads have run what was ready.

mod graphs;
mod hostile;
mod profiles;
mod sample;
mod tables;
mod traces;
