//! C++ text cut into pieces, and pieces put together as those need them who look for launches, entries and includes.

mod joined;
mod scan;

pub(crate) use joined::touching;
pub use joined::{Include, Token, TokenKind, closing, has_launch, includes, tokens};
pub use scan::{Piece, PieceKind, pieces};
