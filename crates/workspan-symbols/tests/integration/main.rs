//! Executables that the compiler at hand makes.

mod build;
mod damage;
mod functions;
mod sites;
mod workspace_frames;
