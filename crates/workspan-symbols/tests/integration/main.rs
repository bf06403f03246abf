//! Executables that the compiler at hand makes.

mod addresses;
mod build;
mod damage;
mod functions;
mod native;
mod sites;
mod unwind;
mod workspace_frames;
