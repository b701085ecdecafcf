//! C++ text cut into pieces, and pieces put together as those need them who look for launches, entries and includes.

mod embedded;
mod joined;
mod scan;

pub use embedded::{EmbeddedKernel, embedded_kernels, only_embedded_kernels};
pub(crate) use joined::touching;
pub use joined::{Include, Token, TokenKind, closing, compiles_at_run_time, has_launch, includes, tokens};
pub use scan::{Piece, PieceKind, pieces};
