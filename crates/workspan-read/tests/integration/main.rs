//! Files as they come: whole, of every version, cut off, damaged, and made up.

mod damage;
mod golden;
mod made_up;
