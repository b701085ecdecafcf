//! Two instructions that could be one, and instructions that could be left out.

use super::super::launch::Element;
use super::body::Body;

/// One of them.
pub(super) fn phrase(body: &mut Body<'_>) {
    match body.draw.below(15) {
        0 => scaled_sum(body),
        1 => product_and_sum(body),
        2 => rectified(body),
        3 | 4 => filled_operand(body),
        5 => two_scalars(body),
        6 => negation(body),
        7 | 8 => overwritten(body),
        9 => to_half_and_back(body),
        10 => root_of_a_number(body),
        11 => root_through_an_element(body),
        12 => plain(body),
        13 => scratch_that_changes_hands(body),
        _ => rectified_cast(body),
    }
}

fn scaled_sum(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let t = body.scratch(&[&q]);
    let (p, s, count) = (body.source(), body.scalar(), body.count());
    let p = body.view_of(&p);
    body.line(&format!("AscendC::Muls({t}, {p}, {s}, {count});"));
    if count == "count" {
        body.set(&t);
    }
    body.gap(&[&t, &p, &q]);
    let second = if body.draw.percent(90) { count } else { "n" };
    if count == "count" || count == second {
        body.line(&format!("AscendC::Add({q}, {q}, {t}, {second});"));
    }
}

fn product_and_sum(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let t = body.scratch(&[&q]);
    let (p, r) = (body.source(), body.source());
    if body.draw.percent(50) {
        body.line(&format!("AscendC::Mul({t}, {p}, {r}, count);"));
        body.set(&t);
        body.gap(&[&t, &p, &q]);
        body.line(&format!("AscendC::Add({q}, {q}, {t}, count);"));
    } else {
        body.line(&format!("AscendC::Mul({q}, {q}, {p}, count);"));
        body.gap(&[&q, &r]);
        body.line(&format!("AscendC::Add({q}, {q}, {r}, count);"));
    }
}

fn rectified(body: &mut Body<'_>) {
    if body.element == Element::Int32 {
        return plain(body);
    }
    let (p, r) = (body.source(), body.source());
    let t = body.target(&[]);
    let q = if body.draw.percent(40) { t.clone() } else { body.target(&[]) };
    let call = body.draw.one(&["Add", "Sub"]);
    body.line(&format!("AscendC::{call}({t}, {p}, {r}, count);"));
    body.set(&t);
    body.gap(&[&t, &p, &r]);
    body.line(&format!("AscendC::Relu({q}, {t}, count);"));
    body.set(&q);
}

fn rectified_cast(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let (p, r) = (body.source(), body.source());
    let t = body.scratch(&[]);
    let call = body.draw.one(&["AddRelu", "SubRelu"]);
    body.line(&format!("AscendC::{call}({t}, {p}, {r}, count);"));
    body.set(&t);
    body.gap(&[&t]);
    body.line(&format!("AscendC::Cast(halves, {t}, AscendC::RoundMode::CAST_RINT, count);"));
    body.gap(&[&t]);
    let q = body.target(&[]);
    body.line(&format!("AscendC::Cast({q}, halves, AscendC::RoundMode::CAST_NONE, count);"));
    body.set(&q);
}

fn filled_operand(body: &mut Body<'_>) {
    let p = body.source();
    let t = body.scratch(&[&p]);
    let (s, count) = (body.scalar(), body.count());
    body.line(&format!("AscendC::Duplicate({t}, {s}, {count});"));
    if count == "count" {
        body.set(&t);
    }
    body.gap(&[&p, &t]);
    let q = body.target(&[]);
    let calls: &[&str] = if body.is_float() {
        &["Add", "Sub", "Mul", "Max", "Min", "Div"]
    } else {
        &["Add", "Sub", "Mul", "Max", "Min"]
    };
    let call = body.draw.one(calls);
    let operands = if body.draw.percent(80) { format!("{p}, {t}") } else { format!("{t}, {p}") };
    body.line(&format!("AscendC::{call}({q}, {operands}, {count});"));
    if count == "count" {
        body.set(&q);
    }
}

fn two_scalars(body: &mut Body<'_>) {
    let p = body.source();
    let t = body.target(&[]);
    let q = if body.draw.percent(50) { t.clone() } else { body.target(&[]) };
    let call = body.draw.one(&["Muls", "Adds"]);
    let (first, second) = (body.scalar(), body.scalar());
    body.line(&format!("AscendC::{call}({t}, {p}, {first}, count);"));
    body.set(&t);
    body.gap(&[&t, &p]);
    body.line(&format!("AscendC::{call}({q}, {t}, {second}, count);"));
    body.set(&q);
}

fn negation(body: &mut Body<'_>) {
    let (p, r) = (body.source(), body.source());
    let t = body.scratch(&[&p, &r]);
    let minus = body.literal("-1.0f");
    body.line(&format!("AscendC::Muls({t}, {p}, {minus}, count);"));
    body.set(&t);
    body.gap(&[&t, &p, &r]);
    let q = body.target(&[]);
    let (call, other) = match body.draw.below(3) {
        0 => ("Add", r),
        1 => ("Sub", r),
        _ => ("Max", p),
    };
    body.line(&format!("AscendC::{call}({q}, {other}, {t}, count);"));
    body.set(&q);
}

fn overwritten(body: &mut Body<'_>) {
    let p = body.source();
    let t = body.target(&[&p]);
    let (s, count) = (body.scalar(), body.count());
    let (first, second) = (body.literal("0.0f"), body.count());
    let fill = if body.draw.percent(50) { first } else { s };
    body.line(&format!("AscendC::Duplicate({t}, {fill}, {count});"));
    if count == "count" {
        body.set(&t);
    }
    body.gap(&[&t, &p]);
    let scalar = body.scalar();
    body.line(&format!("AscendC::Adds({t}, {p}, {scalar}, {second});"));
    if second == "count" {
        body.set(&t);
    }
    // Somebody looks at all of it.
    if count == "count" && body.draw.percent(60) {
        let q = body.target(&[&t]);
        body.line(&format!("AscendC::Adds({q}, {t}, {scalar}, count);"));
        body.set(&q);
    }
}

fn to_half_and_back(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let p = body.source();
    let (tensor, round) = match body.draw.below(3) {
        0 => ("halves", "CAST_RINT"),
        1 => ("numbers", "CAST_FLOOR"),
        _ => ("numbers", "CAST_RINT"),
    };
    body.line(&format!("AscendC::Cast({tensor}, {p}, AscendC::RoundMode::{round}, count);"));
    body.gap(&[&p]);
    let q = body.target(&[]);
    body.line(&format!("AscendC::Cast({q}, {tensor}, AscendC::RoundMode::CAST_NONE, count);"));
    body.set(&q);
    if body.draw.percent(20) {
        let q = body.target(&[&q]);
        body.line(&format!("AscendC::Cast({q}, {tensor}, AscendC::RoundMode::CAST_NONE, count);"));
        body.set(&q);
    }
}

fn root_of_a_number(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let t = body.scratch(&[]);
    let s = body.draw.one(&["scale_ + 3.0f", "bias_ * bias_ + 1.0f", "2.0f", "s * s + 1.0f"]);
    let count = body.count();
    body.line(&format!("AscendC::Duplicate({t}, {s}, {count});"));
    if count == "count" {
        body.set(&t);
    }
    body.gap(&[&t]);
    let u = if body.draw.percent(60) { t.clone() } else { body.scratch(&[&t]) };
    body.line(&format!("AscendC::Sqrt({u}, {t}, {count});"));
    if count == "count" {
        body.set(&u);
    }
    body.gap(&[&u]);
    let (p, q) = (body.source(), body.target(&[]));
    let call = body.draw.one(&["Div", "Mul"]);
    body.line(&format!("AscendC::{call}({q}, {p}, {u}, {count});"));
    if count == "count" {
        body.set(&q);
    }
}

fn root_through_an_element(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let p = body.source();
    let t = body.scratch(&[&p]);
    body.line(&format!("AscendC::Muls({t}, {p}, 0.25f, count);"));
    body.set(&t);
    let (mean, root) = (body.fresh("mean"), body.fresh("root"));
    body.line(&format!("float {mean} = {t}.GetValue(0) * {t}.GetValue(0);"));
    body.line(&format!("{t}.SetValue(0, {mean} + 1.0f);"));
    body.gap(&[&t]);
    body.line(&format!("AscendC::Sqrt({t}, {t}, 1);"));
    body.line(&format!("float {root} = {t}.GetValue(0);"));
    body.gap(&[&t]);
    let q = body.target(&[&t]);
    body.line(&format!("AscendC::Muls({q}, {p}, {root}, count);"));
    body.set(&q);
}

pub(super) fn plain(body: &mut Body<'_>) {
    let (p, r) = (body.source(), body.source());
    let q = body.target(&[]);
    match body.draw.below(5) {
        0 if body.is_float() => body.line(&format!("AscendC::Abs({q}, {p}, count);")),
        1 if body.is_float() => {
            let t = body.target(&[]);
            let small = body.literal("0.125f");
            body.line(&format!("AscendC::Muls({t}, {p}, {small}, count);"));
            body.set(&t);
            body.line(&format!("AscendC::Exp({q}, {t}, count);"));
        }
        2 => body.line(&format!("AscendC::Add({q}, {p}, {r}, count);")),
        3 => body.line(&format!("AscendC::Max({q}, {p}, {r}, count);")),
        _ => {
            let s = body.scalar();
            body.line(&format!("AscendC::Adds({q}, {p}, {s}, count);"));
        }
    }
    body.set(&q);
}

/// A local name for a buffer that stands for another one later.
fn scratch_that_changes_hands(body: &mut Body<'_>) {
    let p = body.source();
    let (first, second) = (body.scratch(&[&p]), body.target(&[]));
    let name = body.fresh("current");
    let (s, t) = (body.scalar(), body.scalar());
    body.line(&format!("AscendC::LocalTensor<{}> {name} = {first};", body.element.name()));
    body.line(&format!("AscendC::Muls({name}, {p}, {s}, count);"));
    body.set(&first);
    body.gap(&[&first, &p]);
    if body.draw.percent(50) {
        body.line(&format!("AscendC::Adds({second}, {first}, {t}, count);"));
    } else {
        body.line(&format!("AscendC::Adds({second}, {name}, {t}, count);"));
    }
    body.set(&second);
}
