//! Kernels made by draws: correct by themselves, and close to what every motif looks for.
//!
//! A kernel is a class around a computation. The computation is a row of phrases; between the statements of a phrase may stand
//! what a rewrite across it has to see: counts and scalars that change, views, helpers that write, barriers, branches, ways out.

mod body;
mod class;
mod fast;
mod flags;
mod fused;
mod loops;
mod process;
mod rows;

use super::draw::Draw;
use super::launch::{Element, Fields, Launch};

/// A generated kernel with the launches that judge it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its number in the campaign.
    pub number: u64,
    /// Source.
    pub text: String,
    /// Type of its elements.
    pub element: Element,
    /// Cases: coverage comes from these alone, as in a run of the tuner.
    pub cases: Vec<Launch>,
    /// What no case shows: other lengths, branches, data, in place.
    pub probes: Vec<Launch>,
}

/// The kernel with a number.
pub fn kernel(seed: u64, number: u64) -> Kernel {
    let mut draw = Draw::new(seed, number);
    let element = match draw.below(100) {
        0..72 => Element::Float,
        72..88 => Element::Half,
        _ => Element::Int32,
    };
    let class = class::Class::draw(&mut draw, element);
    let text = class.text(&mut draw);
    let (cases, probes) = launches(&mut draw, element, class.whole);
    Kernel { number, text, element, cases, probes }
}

/// Cases and probes. Tiles of the probes have the length of those of the cases: that is what tiling functions vary least.
fn launches(draw: &mut Draw, element: Element, whole: bool) -> (Vec<Launch>, Vec<Launch>) {
    let tile = match element {
        Element::Half | Element::Int16 => draw.one(&[256_u32, 512]),
        _ => draw.one(&[128_u32, 256]),
    };
    let ragged = 1 + u32::try_from(draw.below(tile as usize - 1)).unwrap_or(0);
    let mode = draw.one(&[0_u32, 0, 1, 2]);
    let rounds = draw.one(&[1_u32, 2, 3]);
    let other = |value: u32| (value + 1) % 4;
    let mut make = |wanted: u32, blocks: u32, mode: u32, rounds: u32| {
        let length = if whole { wanted.div_ceil(tile).max(1) * tile } else { wanted.max(1) };
        let fields = Fields {
            length: u64::from(length),
            tile,
            tiles: length / tile,
            tail: length % tile,
            mode,
            valid: draw.one(&[1, 3, tile / 2, tile - 1, tile, 2 * tile]),
            rounds,
            divisor: draw.one(&[1, 2, 3, 7]),
            scale: draw.one(&[0.5, 1.5, -2.0, 0.75]),
            bias: draw.one(&[0.25, -0.5, 1.0, 3.0]),
        };
        Launch { blocks, fields, seed: draw.number(), hostile: false, poison: 0xC3, in_place: false }
    };
    let cases = vec![make(3 * tile + ragged, 1, mode, rounds), make(2 * tile, 2, mode, rounds)];
    let mut probes = vec![
        make(1, 1, mode, rounds),
        make(tile - 1, 2, other(mode), 1),
        make(5 * tile + 7, 1, other(other(mode)), 0),
        Launch { hostile: true, poison: 0x3C, ..make(tile + ragged / 2, 1, other(mode), 2) },
        Launch { in_place: true, poison: 0x7F, ..make(2 * tile + 5, 1, mode, 4) },
        make(tile + 1, 3, other(other(other(mode))), rounds),
    ];
    if whole {
        // One tile is one tile, however long it was meant to be.
        probes.remove(1);
    }
    (cases, probes)
}

#[cfg(test)]
mod tests {
    use super::kernel;

    #[test]
    fn the_same_seed_makes_the_same_kernel() {
        let (first, again, other) = (kernel(3, 7), kernel(3, 7), kernel(3, 8));
        assert_eq!((first.text.as_str(), &first.probes), (again.text.as_str(), &again.probes));
        assert_ne!(first.text, other.text);
    }
}
