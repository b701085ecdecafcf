//! Loops over rows of a tile, reductions, masks.

use super::super::launch::Element;
use super::body::Body;
use super::fused::plain;

/// One of them.
pub(super) fn phrase(body: &mut Body<'_>) {
    if !body.is_float() {
        return plain(body);
    }
    match body.draw.below(12) {
        0 | 1 => rows_close_together(body),
        2 | 3 => rows_with_a_shared_operand(body),
        4 => carried(body),
        5 => short_reductions(body),
        6 | 7 => long_reduction(body),
        8 => tail_behind_repeats(body),
        9 => masks(body),
        10 => numbers_of_rows(body),
        _ => scaled_rows(body),
    }
}

/// Elements of a row: a repeat, half of one, or two.
fn width(body: &mut Body<'_>) -> u32 {
    let repeat = if body.element == Element::Float { 64 } else { 128 };
    // Tiles have at least two repeats of floats.
    body.draw.one(&[repeat, repeat, repeat / 2, repeat / 4])
}

/// The number of whole rows of a width among `count` elements.
fn rows(body: &mut Body<'_>, width: u32) -> String {
    let name = body.fresh("rows");
    let number = if body.whole && body.draw.percent(60) { "tile_" } else { "count" };
    let kind = body.draw.one(&["const uint32_t", "uint32_t"]);
    body.line(&format!("{kind} {name} = {number} / {width};"));
    if kind == "uint32_t" && body.draw.percent(25) {
        body.line(&format!("{name} = {name} > valid_ ? valid_ : {name};"));
    }
    name
}

/// Behind whole rows the rest of a result still has to be written.
fn rest(body: &mut Body<'_>, q: &str) {
    if !body.is_ready(q) {
        let p = body.source();
        let zero = body.literal("0.0f");
        body.line(&format!("AscendC::Adds({q}, {p}, {zero}, count);"));
        body.set(q);
    }
}

fn rows_close_together(body: &mut Body<'_>) {
    let (p, r) = (body.source(), body.source());
    let q = body.target(&[]);
    rest(body, &q);
    let width = width(body);
    let (rows, row) = (rows(body, width), body.fresh("row"));
    let t = body.scratch(&[&q, &p, &r]);
    let more = body.draw.below(6);
    let pitch = if more == 1 { format!("{}", width * 2) } else { format!("{width}") };
    let end = if more == 1 { format!("{rows} / 2") } else { rows.clone() };
    body.block(&format!("for (uint32_t {row} = 0; {row} < {end}; {row}++)"), |body| {
        let at = if more == 2 {
            let at = body.fresh("at");
            body.line(&format!("const uint32_t {at} = {row} * {width};"));
            at
        } else {
            format!("{row} * {pitch}")
        };
        if more == 3 {
            let s = body.scalar();
            body.line(&format!("AscendC::Muls({t}, {p}[{at}], {s}, {width});"));
            body.line(&format!("AscendC::Add({q}[{at}], {r}[{at}], {t}, {width});"));
        } else if more == 4 {
            body.line(&format!("AscendC::Add({q}[{at}], {q}[{at}], {r}[{at}], {width});"));
            let s = body.scalar();
            body.line(&format!("AscendC::Muls({q}[{at}], {q}[{at}], {s}, {width});"));
        } else {
            body.line(&format!("AscendC::Add({q}[{at}], {p}[{at}], {r}[{at}], {width});"));
        }
        if body.draw.percent(20) {
            body.gap(&[&q, &p]);
        }
        if body.draw.percent(8) {
            body.block(&format!("if ({row} == valid_)"), |body| body.line("break;"));
        }
    });
}

fn rows_with_a_shared_operand(body: &mut Body<'_>) {
    let p = body.source();
    let q = body.target(&[]);
    rest(body, &q);
    let shared = body.scratch(&[&q, &p]);
    let s = body.scalar();
    body.line(&format!("AscendC::Duplicate({shared}, {s}, tile_);"));
    body.set(&shared);
    body.gap(&[&shared]);
    let width = width(body);
    let (rows, row) = (rows(body, width), body.fresh("row"));
    let alias = body.draw.percent(12);
    let to = if alias { shared.clone() } else { q.clone() };
    body.block(&format!("for (uint32_t {row} = 0; {row} < {rows}; {row}++)"), |body| {
        let call = body.draw.one(&["Mul", "Add", "Sub", "Max"]);
        body.line(&format!("AscendC::{call}({to}[{row} * {width}], {p}[{row} * {width}], {shared}, {width});"));
        if body.draw.percent(15) {
            body.gap(&[&shared, &q]);
        }
    });
}

fn carried(body: &mut Body<'_>) {
    let p = body.source();
    let q = body.target(&[&p]);
    rest(body, &q);
    let carry = body.scratch(&[&q, &p]);
    let s = body.scalar();
    body.line(&format!("AscendC::Duplicate({carry}, {s}, tile_);"));
    body.set(&carry);
    let width = width(body);
    let (rows, row) = (rows(body, width), body.fresh("row"));
    let call = body.draw.one(&["Add", "Max", "Mul"]);
    let copy = if body.draw.percent(50) { ("Adds", body.literal("0.0f")) } else { ("Muls", body.literal("1.0f")) };
    let used = body.draw.percent(50);
    body.block(&format!("for (uint32_t {row} = 0; {row} < {rows}; {row}++)"), |body| {
        body.line(&format!("AscendC::{call}({carry}, {carry}, {p}[{row} * {width}], {width});"));
        if body.draw.percent(12) {
            body.gap(&[&carry]);
        }
        body.line(&format!("AscendC::{}({q}[{row} * {width}], {carry}, {}, {width});", copy.0, copy.1));
    });
    if used {
        body.line(&format!("AscendC::Add({q}, {q}, {carry}, count < {width} ? count : {width});"));
    }
}

fn short_reductions(body: &mut Body<'_>) {
    let p = body.source();
    let t = body.scratch(&[&p]);
    let repeat = if body.element == Element::Float { 64 } else { 128 };
    let block = if body.element == Element::Float { 8 } else { 16 };
    let zero = body.literal("0.0f");
    body.line(&format!("AscendC::Duplicate({t}, {zero}, tile_);"));
    body.set(&t);
    let width = body.draw.one(&[repeat, repeat / 2]);
    let (rows, row) = (rows(body, width), body.fresh("row"));
    let call = body.draw.one(&["ReduceSum", "ReduceMax", "ReduceMin"]);
    let pitch = if width == repeat { block } else { body.draw.one(&[block, block * 2]) };
    body.block(&format!("for (uint32_t {row} = 0; {row} < {rows}; {row}++)"), |body| {
        body.line(&format!("AscendC::{call}({t}[{row} * {pitch}], {p}[{row} * {width}], work, {width});"));
        if body.draw.percent(10) {
            body.gap(&[&t]);
        }
    });
    let q = body.target(&[&t]);
    let other = body.source();
    body.line(&format!("AscendC::Add({q}, {other}, {t}, count);"));
    body.set(&q);
}

fn long_reduction(body: &mut Body<'_>) {
    let p = body.source();
    let t = body.scratch(&[&p]);
    let call = body.draw.one(&["ReduceSum", "ReduceMax", "ReduceMin"]);
    let (scratch, number) = ("work", body.fresh("number"));
    let place = body.draw.below(4);
    let count = body.draw.one(&["count", "static_cast<int32_t>(count)", "n"]);
    let (to, from) = match place {
        0 => ("work".to_owned(), p.clone()),
        1 => {
            let s = body.scalar();
            body.line(&format!("AscendC::Muls({t}, {p}, {s}, count);"));
            body.set(&t);
            (t.clone(), t.clone())
        }
        _ => (t.clone(), p.clone()),
    };
    body.line(&format!("AscendC::{call}({to}, {from}, {scratch}, {count});"));
    body.gap(&[&p]);
    body.line(&format!("const {} {number} = {to}.GetValue(0);", body.element.name()));
    body.gap(&[&p]);
    let q = body.target(&[]);
    let sum = call == "ReduceSum" && body.draw.percent(50) && body.element == Element::Float;
    if sum {
        body.line(&format!("AscendC::Duplicate(c, {number} * {number} + 1.0f, count);"));
        body.set("c");
        body.gap(&[]);
        let p = body.source();
        body.line(&format!("AscendC::Div({q}, {p}, c, count);"));
    } else {
        let p = body.source();
        body.line(&format!("AscendC::Adds({q}, {p}, {number}, count);"));
    }
    body.set(&q);
    if place == 1 && body.draw.percent(40) {
        let q = body.target(&[]);
        let one = body.literal("1.0f");
        body.line(&format!("AscendC::Adds({q}, {t}, {one}, {count});"));
    }
}

fn tail_behind_repeats(body: &mut Body<'_>) {
    let p = body.source();
    let q = body.target(&[]);
    rest(body, &q);
    let repeat = if body.element == Element::Float { 64 } else { 128 };
    let (repeats, left) = (body.fresh("repeats"), body.fresh("left"));
    body.line(&format!("uint32_t {repeats} = count / {repeat};"));
    body.line(&format!("uint32_t {left} = count % {repeat};"));
    let (s, again) = (body.scalar(), body.draw.percent(10));
    let other = if again { body.scalar() } else { s.clone() };
    let loops = body.draw.percent(40);
    if loops {
        let i = body.fresh("i");
        body.block(&format!("for (uint32_t {i} = 0; {i} < {repeats}; {i}++)"), |body| {
            body.line(&format!("AscendC::Muls({q}[{i} * {repeat}], {p}[{i} * {repeat}], {s}, {repeat});"));
        });
    } else {
        body.block(&format!("if ({repeats} > 0)"), |body| {
            body.line(&format!("AscendC::Muls({q}, {p}, {s}, {repeat}, {repeats}, {{1, 1, 8, 8}});"));
        });
    }
    if body.draw.percent(15) {
        body.gap(&[&q, &p]);
    }
    let condition = body.draw.one(&["> 0", "!= 0", "> 0 && mode_ != 1"]);
    body.block(&format!("if ({left} {condition})"), |body| {
        body.line(&format!(
            "AscendC::Muls({q}[{repeats} * {repeat}], {p}[{repeats} * {repeat}], {other}, {left}, 1, {{1, 1, 8, 8}});"
        ));
    });
}

fn masks(body: &mut Body<'_>) {
    let p = body.source();
    let q = body.target(&[]);
    rest(body, &q);
    let repeat = if body.element == Element::Float { 64 } else { 128 };
    let (rows, row) = (rows(body, repeat), body.fresh("row"));
    let mask = body.draw.one(&[repeat, repeat / 2, 8]);
    let s = body.scalar();
    body.block(&format!("for (uint32_t {row} = 0; {row} < {rows}; {row}++)"), |body| {
        body.line(&format!(
            "AscendC::Muls({q}[{row} * {repeat}], {p}[{row} * {repeat}], {s}, {mask}, 1, {{1, 1, 8, 8}});"
        ));
        if body.draw.percent(50) {
            body.line(&format!(
                "AscendC::Adds({q}[{row} * {repeat}], {q}[{row} * {repeat}], {s}, {mask}, 1, {{1, 1, 8, 8}});"
            ));
        }
        if body.draw.percent(20) {
            body.gap(&[&q]);
        }
    });
    if body.draw.percent(30) {
        body.line(&format!("AscendC::Adds({q}, {q}, {s}, count);"));
    }
}

/// Numbers of rows are taken from a tensor.
fn numbers_of_rows(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let p = body.source();
    let q = body.target(&[&p]);
    rest(body, &q);
    let t = body.scratch(&[&q, &p]);
    body.line(&format!("AscendC::Duplicate({t}, scale_, tile_);"));
    body.line(&format!("{t}.SetValue(1, bias_);"));
    body.set(&t);
    let width = body.draw.one(&[64_u32, 64, 128]);
    let rows = if body.whole { format!("rows{width}_") } else { rows(body, width) };
    let (row, number) = (body.fresh("row"), body.fresh("number"));
    let call = body.draw.one(&["Muls", "Adds"]);
    let change = body.draw.below(8);
    body.block(&format!("for (uint32_t {row} = 0; {row} < {rows}; {row}++)"), |body| {
        body.line(&format!("float {number} = {t}.GetValue({row});"));
        if change == 0 {
            body.line(&format!("{number} = {number} + 1.0f;"));
        }
        body.line(&format!("AscendC::{call}({q}[{row} * {width}], {p}[{row} * {width}], {number}, {width});"));
        if change == 1 {
            body.line(&format!("{t}.SetValue({row} + 1, {number});"));
        }
        if change == 2 {
            body.line("Next();");
        }
    });
}

/// A scale for each row, out of a reduction of it.
fn scaled_rows(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let p = body.source();
    let q = body.target(&[&p, "a", "b"]);
    rest(body, &q);
    let width = body.draw.one(&[64_u32, 128]);
    let rows = if body.whole { format!("rows{width}_") } else { rows(body, width) };
    let (row, number) = (body.fresh("row"), body.fresh("number"));
    let (first, second) = if q == "c" { ("a", "b") } else { ("a", "c") };
    if p == first || p == second {
        return plain(body);
    }
    let call = body.draw.one(&["ReduceMax", "ReduceSum", "ReduceMin"]);
    let kept = body.draw.percent(15);
    let divide = body.draw.percent(50);
    body.block(&format!("for (uint32_t {row} = 0; {row} < {rows}; {row}++)"), |body| {
        body.line(&format!("AscendC::Adds({first}, {p}[{row} * {width}], bias_, {width});"));
        body.line(&format!("AscendC::Abs({second}, {first}, {width});"));
        body.line(&format!("AscendC::{call}({second}, {second}, work, {width});"));
        body.line(&format!("float {number} = {second}.GetValue(0) * scale_;"));
        body.line(&format!("if ({number} < 0.5f) {{"));
        body.line(&format!("    {number} = 0.5f;"));
        body.line("}");
        if kept {
            body.line(&format!("numbers.SetValue({row}, static_cast<int32_t>({number}));"));
        }
        if divide {
            body.line(&format!("AscendC::Duplicate({second}, {number}, {width});"));
            body.line(&format!("AscendC::Div({q}[{row} * {width}], {first}, {second}, {width});"));
        } else {
            body.line(&format!("AscendC::Muls({q}[{row} * {width}], {first}, {number}, {width});"));
        }
    });
}
