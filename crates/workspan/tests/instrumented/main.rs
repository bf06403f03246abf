//! Programs built by `workspan build` and run by `workspan graph record`, from source to decoded accesses.

mod allocators;
mod back_ends;
mod cargo_memory;
mod commands;
mod cross;
mod depend;
mod depend_calls;
mod depend_loops;
mod depend_memory;
mod depend_models;
mod depend_oracle;
mod depend_paths;
mod depend_rust;
mod depend_shapes;
mod inflation;
mod mpi;
mod openmp;
mod oracle;
mod random;
mod random_fortran;
mod random_rust;
mod rayon;
mod sample;
mod support;
mod tbb;
mod threads;
