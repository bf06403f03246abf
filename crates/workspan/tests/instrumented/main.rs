//! Programs built by `workspan build` and run by `workspan graph record`, from source to decoded accesses.

mod commands;
mod depend;
mod depend_oracle;
mod openmp;
mod oracle;
mod random;
mod support;
mod threads;
