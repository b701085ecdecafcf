//! Which accesses of a kernel are ordered: pipes run side by side, and flags, barriers and queues alone order what they do.

pub(crate) mod flags;
pub(crate) mod operands;
pub(crate) mod order;
pub(crate) mod rounds;
mod state;
pub(crate) mod touches;

/// Pipes as bits.
pub(crate) type Pipes = u8;

/// The second pipe waits for the first.
pub(crate) type Pair = (Pipes, Pipes);

/// The scalar unit, which hands out everything else: what comes after it in the text comes after it.
pub(crate) const SCALAR: Pipes = 1;
/// The vector unit.
pub(crate) const VECTOR: Pipes = 2;
/// Copies from global memory.
pub(crate) const COPY_IN: Pipes = 4;
/// Copies to global memory.
pub(crate) const COPY_OUT: Pipes = 8;
const ALL: Pipes = SCALAR | VECTOR | COPY_IN | COPY_OUT;

/// A pipe of the name that events and barriers have for it; `None` for those of the cube unit.
fn pipe(name: &str) -> Option<Pipes> {
    match name.trim().trim_start_matches("PIPE_") {
        "S" => Some(SCALAR),
        "V" => Some(VECTOR),
        "MTE2" => Some(COPY_IN),
        "MTE3" => Some(COPY_OUT),
        _ => None,
    }
}

/// Name of a pipe as in the names of events.
pub(crate) fn name_of(pipe: Pipes) -> &'static str {
    match pipe {
        SCALAR => "S",
        VECTOR => "V",
        COPY_IN => "MTE2",
        _ => "MTE3",
    }
}

/// What the queue of a position orders: first the first pipe, then the second, and the other way round when it takes its buffer back.
pub(crate) fn sides(position: &str) -> Option<(Pipes, Pipes)> {
    match position {
        "VECIN" => Some((COPY_IN, VECTOR)),
        "VECOUT" => Some((VECTOR, COPY_OUT)),
        "VECIN,VECOUT" => Some((COPY_IN, COPY_OUT)),
        "VECCALC" => Some((VECTOR, VECTOR)),
        _ => None,
    }
}
