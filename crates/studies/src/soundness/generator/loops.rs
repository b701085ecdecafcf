//! Loops: over elements with the scalar unit, and around instructions that do the same in every round.

use super::super::launch::Element;
use super::body::Body;
use super::fused::plain;

/// One of them.
pub(super) fn phrase(body: &mut Body<'_>) {
    match body.draw.below(13) {
        0 | 1 => fill_in_a_loop(body),
        2 | 3 => element_in_a_loop(body),
        4 => remainders(body),
        5 | 6 => elements(body),
        7 => branches_over_elements(body),
        8 => numbers_in_steps(body),
        9 => fetches(body),
        10 => barriers_in_a_loop(body),
        11 => constant_branch(body),
        _ => cores_in_a_loop(body),
    }
}

/// The head of a loop of some rounds, and whether it runs at all for sure.
fn head(body: &mut Body<'_>, counter: &str) -> String {
    let kind = body.draw.one(&["uint32_t", "int32_t", "uint16_t"]);
    let end = match body.draw.below(4) {
        0 => "3".to_owned(),
        1 => format!("static_cast<{kind}>(rounds_)"),
        2 => format!("static_cast<{kind}>(rounds_ + 1)"),
        _ => "rounds_".to_owned(),
    };
    format!("for ({kind} {counter} = 0; {counter} < {end}; {counter}++)")
}

/// A way out of a round or of the loop, perhaps.
fn leave(body: &mut Body<'_>, counter: &str) {
    if body.draw.percent(18) {
        let word = body.draw.one(&["continue", "break"]);
        let condition = body.draw.one(&["== 1", ">= valid_ % 3"]);
        body.block(&format!("if ({counter} {condition})"), |body| body.line(&format!("{word};")));
    }
}

fn fill_in_a_loop(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let p = body.source();
    let t = body.scratch(&[&q, &p]);
    let i = body.fresh("i");
    let (s, count) = (body.scalar(), body.count());
    let head = head(body, &i);
    let integers = body.element == Element::Int32 && body.draw.percent(40);
    let late = body.draw.percent(25);
    body.block(&head, |body| {
        if late {
            body.gap(&[&q, &p]);
        }
        if integers {
            body.line(&format!("AscendC::CreateVecIndex({t}, {s}, {count});"));
        } else {
            body.line(&format!("AscendC::Duplicate({t}, {s}, {count});"));
        }
        if count == "count" {
            body.set(&t);
        }
        leave(body, &i);
        body.gap(&[&t, &q]);
        body.line(&format!("AscendC::Add({q}, {q}, {t}, {count});"));
        body.gap(&[&q]);
    });
}

fn element_in_a_loop(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let p = body.source();
    let i = body.fresh("i");
    let name = body.fresh("element");
    let index = body.draw.one(&["0", "n - 1", "count - 1", "valid_ - 1 < count ? valid_ - 1 : 0"]);
    let from = match body.draw.below(4) {
        0 => "yGm".to_owned(),
        1 => "xGm".to_owned(),
        _ => p.clone(),
    };
    let kind = if body.draw.percent(60) { "const " } else { "" };
    let head = head(body, &i);
    let element = body.element.name();
    body.block(&head, |body| {
        if body.draw.percent(20) {
            body.gap(&[&p]);
        }
        leave(body, &i);
        body.line(&format!("{kind}{element} {name} = {from}.GetValue({index});"));
        body.gap(&[&p, &q]);
        body.line(&format!("AscendC::Adds({q}, {q}, {name}, count);"));
    });
}

fn remainders(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let i = body.fresh("i");
    let start = body.draw.one(&["0", "2", "divisor_"]);
    let rest = body.draw.one(&["%", "/"]);
    let divisor = body.draw.one(&["divisor_", "this->divisor_", "(divisor_ + 1)"]);
    let step = body.draw.one(&["++", " += 1"]);
    let half = body.typed(&format!("static_cast<float>({i} {rest} {divisor})"));
    let whole = body.typed(&format!("static_cast<int32_t>({i} {rest} {divisor})"));
    let operand = if body.is_float() { half } else { whole };
    body.block(&format!("for (uint32_t {i} = {start}; {i} < rounds_ * 3; {i}{step})"), |body| {
        leave(body, &i);
        body.line(&format!("AscendC::Adds({q}, {q}, {operand}, count);"));
        if body.draw.percent(20) {
            body.line("Next();");
        }
        if body.draw.percent(12) {
            body.line(&format!("{i} += mode_ == 3 ? 1 : 0;"));
        }
        body.gap(&[&q]);
    });
}

/// A loop over elements without branches.
fn elements(body: &mut Body<'_>) {
    if !body.is_float() {
        return plain(body);
    }
    let (p, r) = (body.source(), body.source());
    let q = body.target(&[]);
    let i = body.fresh("i");
    let name = body.fresh("v");
    let end = body.draw.one(&["count", "count", "n"]);
    let at = match body.draw.below(8) {
        0 => format!("count - 1 - {i}"),
        _ => i.clone(),
    };
    let float = body.element == Element::Float;
    let (read, write) = if float { ("", "") } else { ("(float)", "(half)") };
    let formula = body.draw.one(&[
        "v * v * v * 0.044715f + v",
        "v + bias_",
        "(v + 1.0f) * (w - v)",
        "-v",
        "scale_ * v - w",
        "fabs(v) + 1.0f",
        "v * w",
        "v * s",
    ]);
    let formula = formula.replace('v', &name).replace('w', &format!("{read}{r}.GetValue({i})"));
    let formula = formula.replace(&format!("{name}alid"), "valid");
    let extra = body.draw.below(10);
    body.block(&format!("for (uint32_t {i} = 0; {i} < {end}; {i}++)"), |body| {
        body.line(&format!("float {name} = {read}{p}.GetValue({i});"));
        if extra == 0 {
            body.line(if float { "s = s + 0.5f;" } else { "s += 1.0f;" });
        }
        body.line(&format!("{q}.SetValue({at}, {write}({formula}));"));
        if extra == 1 {
            body.line("Next();");
        }
    });
    if end == "count" {
        body.set(&q);
    }
}

fn branches_over_elements(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let (p, r) = (body.source(), body.source());
    let q = body.target(&[]);
    let (i, v) = (body.fresh("i"), body.fresh("v"));
    let shape = body.draw.below(6);
    body.block(&format!("for (uint32_t {i} = 0; {i} < count; {i}++)"), |body| match shape {
        0 => body.line(&format!("{q}.SetValue({i}, {p}.GetValue({i}) > bias_ ? {p}.GetValue({i}) : bias_);")),
        1 => {
            body.line(&format!("float {v} = {p}.GetValue({i});"));
            body.block(&format!("if ({v} > 2.0f)"), |body| body.line(&format!("{v} = 2.0f;")));
            body.line(&format!("{v} = {v} < 0.0f ? 0.0f : {v};"));
            body.line(&format!("{q}.SetValue({i}, {v} * scale_);"));
        }
        2 => {
            body.line(&format!("float {v} = {p}.GetValue({i});"));
            body.line(&format!("{q}.SetValue({i}, {v} < 0 ? -{v} : {v});"));
        }
        3 => {
            body.line(&format!("if ({p}.GetValue({i}) >= {r}.GetValue({i})) {{"));
            body.line(&format!("    {q}.SetValue({i}, {r}.GetValue({i}));"));
            body.line("} else {");
            body.line(&format!("    {q}.SetValue({i}, {p}.GetValue({i}));"));
            body.line("}");
        }
        4 => body.line(&format!("{q}.SetValue({i}, {p}.GetValue({i}) > 0.0f ? 1.0f : 0.0f);")),
        _ => body.line(&format!("{q}.SetValue({i}, {p}.GetValue({i}) <= s ? s : {p}.GetValue({i}));")),
    });
    body.set(&q);
}

fn numbers_in_steps(body: &mut Body<'_>) {
    let (i, q) = (body.fresh("i"), body.target(&[]));
    if body.element == Element::Float || body.element == Element::Int32 {
        let element = body.element.name();
        let value = body.draw.one(&["I", "I * 3 + 1", "valid_ + I * 2", "I * divisor_", "I * I"]).replace('I', &i);
        body.block(&format!("for (uint32_t {i} = 0; {i} < count; {i}++)"), |body| {
            body.line(&format!("{q}.SetValue({i}, static_cast<{element}>({value}));"));
        });
        return body.set(&q);
    }
    plain(body);
}

fn fetches(body: &mut Body<'_>) {
    if body.element != Element::Float {
        return plain(body);
    }
    let p = body.source();
    let q = body.target(&[&p]);
    let (i, j, place) = (body.fresh("i"), body.fresh("j"), body.fresh("place"));
    let index = body.draw.one(&["count - 1 - I", "I / 2", "(I * 7) % count", "I < n ? I : n - 1"]).replace('I', &i);
    body.block(&format!("for (uint32_t {i} = 0; {i} < count; {i}++)"), |body| {
        body.line(&format!("numbers.SetValue({i}, static_cast<int32_t>({index}));"));
    });
    body.gap(&[&p]);
    let named = body.draw.percent(50);
    body.block(&format!("for (uint32_t {j} = 0; {j} < count; {j}++)"), |body| {
        if named {
            body.line(&format!("int32_t {place} = numbers.GetValue({j});"));
            body.line(&format!("{q}.SetValue({j}, {p}.GetValue({place}));"));
        } else {
            body.line(&format!("{q}.SetValue({j}, {p}.GetValue(numbers.GetValue({j})));"));
        }
    });
    body.set(&q);
}

fn barriers_in_a_loop(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let i = body.fresh("i");
    let two = body.literal("2.0f");
    let head = head(body, &i);
    body.block(&head, |body| {
        leave(body, &i);
        let s = body.scalar();
        body.line(&format!("AscendC::Muls({q}, {q}, {s}, count);"));
        if body.draw.percent(50) {
            body.line(&format!("{q}.SetValue(0, {two});"));
        }
        body.line("AscendC::PipeBarrier<PIPE_ALL>();");
        body.gap(&[&q]);
    });
}

fn constant_branch(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let hidden = body.draw.percent(15);
    let conditions =
        ["LEVEL > 1", "LEVEL == 3 && FLAG", "FLAG", "sizeof(float) == 4", "LEVEL > 1 || FLAG", "BUFFER_NUM > 1"];
    let condition = if hidden { "BUFFER_NUM > 1" } else { body.draw.one(&conditions) };
    let (s, t) = (body.scalar(), body.scalar());
    if hidden {
        body.line("{");
        body.line("    const uint32_t BUFFER_NUM = mode_;");
    }
    body.line(&format!("if ({condition}) {{"));
    body.line(&format!("    AscendC::Adds({q}, {q}, {s}, count);"));
    if body.draw.percent(50) {
        body.line("} else {");
        body.line(&format!("    AscendC::Muls({q}, {q}, {t}, count);"));
    }
    body.line("}");
    if hidden {
        body.line("}");
    }
}

fn cores_in_a_loop(body: &mut Body<'_>) {
    let q = body.changeable(&[]);
    let i = body.fresh("i");
    let block = body.typed(if body.is_float() {
        "static_cast<float>(AscendC::GetBlockIdx())"
    } else {
        "static_cast<int32_t>(AscendC::GetBlockIdx())"
    });
    body.block(
        &format!(
            "for (uint32_t {i} = AscendC::GetBlockIdx(); {i} < rounds_ + divisor_; {i} += AscendC::GetBlockNum())"
        ),
        |body| {
            leave(body, &i);
            body.line(&format!("AscendC::Adds({q}, {q}, {block}, count);"));
            if body.draw.percent(40) {
                body.line(&format!(
                    "AscendC::Muls({q}, {q}, {}, rounds_ < count ? rounds_ + 1 - 1 > 0 ? rounds_ : 1 : 1);",
                    body.literal("2.0f")
                ));
            }
            body.gap(&[&q]);
        },
    );
}
