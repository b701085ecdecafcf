//! Tensors of the unified buffer that the scalar unit keeps something in from element to element: whether a round needs what an earlier
//! one left there.

use std::ops::Range;

use tree_sitter::Node;

use crate::analysis::code::{functions_of, words};
use crate::analysis::flow::changes::changed_names;
use crate::analysis::loops::counted;
use crate::analysis::polynomial::Polynomial;
use crate::analysis::running::Course;
use crate::context::Context;
use source::facts::{Kernel, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile};

/// A tensor that is all of a buffer, and that is asked for elements and given some.
pub(crate) struct Private<'a> {
    pub(crate) name: &'a str,
    pub(crate) buffer: &'a str,
    element: &'a str,
}

/// The tensor that a call takes from a buffer, where its function does nothing with it but asking for elements and giving some.
pub(crate) fn private<'a>(
    kernel: &Kernel,
    file: &'a SyntaxFile,
    function: &Function,
    call: &'a Call,
) -> Option<Private<'a>> {
    let buffer = base_name(call.object.as_deref()?);
    let element = call.template_arguments.as_deref()?.trim();
    let mut locals = file.locals().iter();
    let local = locals.find(|local| local.value.as_ref() == Some(&call.span) && local.alone)?;
    let text = file.slice(&function.body);
    let tokens: Vec<_> = pieces(text).into_iter().filter(|token| token.kind != PieceKind::Comment).collect();
    let follows = |at: usize| tokens.get(at).map_or("", |token| &text[token.span.clone()]);
    let only_elements = tokens.iter().enumerate().all(|(at, token)| {
        let is_other = token.kind != PieceKind::Word || text[token.span.clone()] != *local.name;
        let declared = local.span.contains(&(function.body.start + token.span.start));
        is_other || declared || follows(at + 1) == "." && matches!(follows(at + 2), "GetValue" | "SetValue")
    });
    let by_value = !local.type_text.contains(['&', '*']);
    let is_own = kernel.buffers.contains_key(buffer) && call.arguments.is_empty() && by_value && only_elements;
    is_own.then_some(Private { name: &local.name, buffer, element })
}

impl Private<'_> {
    /// Proves that a round gives every element a value before it asks for one.
    pub(crate) fn is_set_in_every_round(&self, course: &Course<'_>, body: &Range<usize>) -> Result<(), String> {
        let line = course.file.line(body.start);
        let unclear = || format!("line {line}: a round may get elements of {} from the one before", self.name);
        let room = self.room(course.context, course.kernel).ok_or_else(unclear)?;
        let node = course.file.node_at(body).ok_or_else(unclear)?;
        if self.is_set_first(course, node, &room) { Ok(()) } else { Err(unclear()) }
    }

    /// How many elements the buffer was made for.
    fn room(&self, context: &Context, kernel: &Kernel) -> Option<Polynomial> {
        let init = kernel.init_of(self.buffer)?;
        let file = context.forest.get(&init.statement.file)?;
        let function = file.enclosing_function(init.statement.span().start)?;
        let bytes = Polynomial::of(&init.size, &|name| {
            let own = name.strip_prefix("this->").unwrap_or(name);
            let is_parameter = own == name && function.parameters.iter().any(|parameter| parameter.name == own);
            let member = if is_parameter { kept_in(file, function, own)? } else { own };
            set_once(context, kernel, function, member).then(|| Polynomial::atom(member))
        })?;
        let (elements, rest) = bytes.split(&format!("sizeof({})", self.element))?;
        rest.is_zero().then_some(elements)
    }

    fn mentioned(&self, file: &SyntaxFile, node: Node<'_>) -> bool {
        words(file.slice(&node.byte_range())).contains(&self.name)
    }

    /// Whether the first thing that code does with the tensor is giving all of its elements a value.
    fn is_set_first(&self, course: &Course<'_>, node: Node<'_>, room: &Polynomial) -> bool {
        let file = course.file;
        match node.kind() {
            "compound_statement" => {
                let mut cursor = node.walk();
                let uses: Vec<Node<'_>> =
                    node.named_children(&mut cursor).filter(|child| self.mentioned(file, *child)).collect();
                let Some(first) = uses.first() else { return true };
                let fills = self.fills(course, *first, room);
                // What a loop sets whose rounds may be none is not there behind it.
                fills || uses.len() == 1 && first.kind() != "if_statement" && self.is_set_first(course, *first, room)
            }
            "for_statement" => {
                let mut loops = file.loops().iter();
                let repetition = loops.find(|other| other.span == node.byte_range());
                let body = node.child_by_field_name("body");
                repetition.zip(body).is_some_and(|(repetition, body)| {
                    counted(file, repetition).is_ok() && self.is_set_first(course, body, room)
                })
            }
            _ => false,
        }
    }

    /// Whether a statement gives every element a value, whichever way it goes, and asks for none before.
    fn fills(&self, course: &Course<'_>, node: Node<'_>, room: &Polynomial) -> bool {
        let file = course.file;
        match node.kind() {
            "if_statement" => {
                let arms = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")];
                let condition = node.child_by_field_name("condition").is_some_and(|asked| self.mentioned(file, asked));
                !condition
                    && arms.into_iter().all(|arm| {
                        let arm = arm
                            .and_then(|arm| if arm.kind() == "else_clause" { arm.named_child(0) } else { Some(arm) });
                        arm.is_some_and(|arm| self.fills(course, arm, room))
                    })
            }
            "compound_statement" => {
                let mut cursor = node.walk();
                let first = node.named_children(&mut cursor).find(|child| self.mentioned(file, *child));
                first.is_some_and(|first| self.fills(course, first, room))
            }
            "for_statement" => self.fills_in_rounds(course, node, room).is_some(),
            _ => false,
        }
    }

    /// `for (i from 0 below the room) { tensor.SetValue(i, ...); }`, with whatever else does not ask for elements.
    fn fills_in_rounds(&self, course: &Course<'_>, node: Node<'_>, room: &Polynomial) -> Option<()> {
        let file = course.file;
        let repetition = file.loops().iter().find(|other| other.span == node.byte_range())?;
        let (counter, bound) = counted(file, repetition).ok()?;
        let rounds = course.steady_form(&bound)?;
        course.every_round(repetition).ok()?;
        let of_tensor = |call: &&Call| call.object.as_deref().map(base_name) == Some(self.name);
        let mut calls = file.calls_in(repetition.body.clone()).filter(of_tensor);
        if calls.any(|call| call.name != "SetValue") || changed_names(file, &repetition.body).contains(counter.as_str())
        {
            return None;
        }
        let sets = file.calls_in(repetition.body.clone()).filter(of_tensor).any(|call| {
            let index = call.arguments.first().map(|index| file.slice(index).trim());
            let block = call.statement.as_ref().and_then(|statement| crate::analysis::code::block_of(file, statement));
            index == Some(counter.as_str()) && block.as_ref() == Some(&repetition.body)
        });
        (sets && rounds == *room).then_some(())
    }
}

/// The member that a function keeps a parameter in, and that the parameter is not changed before.
fn kept_in<'a>(file: &'a SyntaxFile, function: &Function, parameter: &str) -> Option<&'a str> {
    if changed_names(file, &function.body).contains(parameter)
        && !file.slice(&function.body).contains(&format!("this->{parameter} = {parameter};"))
    {
        return None;
    }
    let text = file.slice(&function.body);
    let kept = text.lines().filter_map(|line| {
        let (member, value) = line.trim().strip_suffix(';')?.split_once('=')?;
        let member = member.trim().strip_prefix("this->")?;
        (value.trim() == parameter && crate::analysis::code::is_name(member)).then_some(member)
    });
    let mut kept: Vec<&str> = kept.collect();
    kept.sort_by_key(|member| *member != parameter);
    kept.first().copied()
}

/// Whether a member is changed in one function alone, and there at one place.
fn set_once(context: &Context, kernel: &Kernel, setter: &Function, member: &str) -> bool {
    functions_of(context, kernel).into_iter().all(|(file, function)| {
        let of_name = crate::analysis::flow::changes::changes(file, &function.body)
            .into_iter()
            .filter(|change| change.name == member)
            .count();
        if function.span == setter.span { of_name <= 1 } else { of_name == 0 }
    })
}
