//! Critical-path graphs: their view, the page's drawings, DOT, and what-if.

pub(super) mod dot;
pub mod export;
pub(super) mod html;
pub(super) mod make;
pub(super) mod text;
pub mod view;
pub mod what_if;
