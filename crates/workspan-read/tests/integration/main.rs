//! Files as they come: whole, cut off, damaged, and made up.

mod damage;
mod made_up;
