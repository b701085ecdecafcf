//! What motifs leave behind, for those that unmake it.

use super::super::launch::Element;
use super::body::Body;
use super::fused::plain;

/// One of them.
pub(super) fn phrase(body: &mut Body<'_>) {
    if !body.is_float() {
        return plain(body);
    }
    let (p, r) = (body.source(), body.source());
    match body.draw.below(11) {
        0 => {
            let (q, s) = (body.changeable(&[&p]), body.scalar());
            body.line(&format!("AscendC::Axpy({q}, {p}, {s}, count);"));
        }
        1 => {
            let q = body.changeable(&[&p, &r]);
            body.line(&format!("AscendC::MulAddDst({q}, {p}, {r}, count);"));
        }
        2 => {
            let q = body.changeable(&[&p, &r]);
            body.line(&format!("AscendC::FusedMulAdd({q}, {p}, {r}, count);"));
        }
        3 => {
            let (q, call) = (body.target(&[]), body.draw.one(&["AddRelu", "SubRelu"]));
            body.line(&format!("AscendC::{call}({q}, {p}, {r}, count);"));
            body.set(&q);
        }
        4 => {
            let (q, s, call) = (body.target(&[]), body.scalar(), body.draw.one(&["Maxs", "Mins"]));
            body.line(&format!("AscendC::{call}({q}, {p}, {s}, count);"));
            body.set(&q);
        }
        5 if body.element == Element::Float => {
            let q = body.target(&[]);
            body.line(&format!("AscendC::Muls({q}, {p}, scale_ * bias_, count);"));
            body.set(&q);
        }
        6 if body.element == Element::Float => {
            let (q, root) = (body.target(&[]), body.fresh("root"));
            body.line(&format!("const float {root} = sqrt(scale_ * scale_ + 1.0f);"));
            body.gap(&[&p]);
            body.line(&format!("AscendC::Muls({q}, {p}, 1.0f / {root}, count);"));
            body.set(&q);
        }
        7 => {
            let (q, name) = (body.changeable(&[]), body.fresh("element"));
            let i = body.fresh("i");
            let element = body.element.name();
            body.line(&format!("const {element} {name} = {p}.GetValue(0);"));
            body.block(&format!("for (uint32_t {i} = 0; {i} < rounds_; {i}++)"), |body| {
                body.line(&format!("AscendC::Adds({q}, {q}, {name}, count);"));
                body.gap(&[&p]);
            });
        }
        8 => {
            let q = body.changeable(&[]);
            let s = body.scalar();
            body.line("if constexpr (LEVEL > 1) {");
            body.line(&format!("    AscendC::Adds({q}, {q}, {s}, count);"));
            body.line("}");
        }
        9 if body.element == Element::Float => {
            let (t, number) = (body.scratch(&[&p]), body.fresh("number"));
            body.line(&format!("AscendC::BlockReduceMax({t}, {p}, 1, count < 64 ? count : 64, 1, 1, 8);"));
            body.line(&format!("float {number} = {t}.GetValue(0);"));
            let q = body.target(&[]);
            body.line(&format!("AscendC::Adds({q}, {p}, {number}, count);"));
            body.set(&q);
        }
        _ => {
            let (q, i) = (body.changeable(&[]), body.fresh("i"));
            let (t, s) = (body.scratch(&[&q]), body.scalar());
            body.line(&format!("AscendC::Duplicate({t}, {s}, count);"));
            body.set(&t);
            body.block(&format!("for (uint32_t {i} = 0; {i} < rounds_; {i}++)"), |body| {
                body.line(&format!("AscendC::Add({q}, {q}, {t}, count);"));
                body.gap(&[&q]);
            });
        }
    }
}
