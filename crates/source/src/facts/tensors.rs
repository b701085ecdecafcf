//! Local tensors of one function: where they come from and every place that touches them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::api::{Access, argument_access, member_access};
use crate::lex::{Piece, PieceKind, pieces};
use crate::parse::{Call, Function, Local, SyntaxFile};

/// Where a local tensor comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// `queue.AllocTensor`.
    Alloc(String),
    /// `queue.DeQue`.
    DeQue(String),
    /// `buffer.Get`.
    Buffer(String),
    /// Function parameter.
    Parameter,
    /// Anything else: part of another tensor, a cast, assigned later, declared twice.
    Unknown,
}

/// A local tensor variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Element type as written; empty if it can't be read off (`auto` without template argument).
    pub element: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The declaration; the function's head for a parameter.
    pub declaration: Range<usize>,
}

/// One place that touches a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorUse {
    /// Name of the tensor.
    pub tensor: String,
    /// How it is touched.
    pub access: Access,
    /// Whether the operand is the tensor itself, not `tensor[offset]`.
    pub whole: bool,
    /// Index into [`SyntaxFile::calls`] of the call that touches it.
    pub call: Option<usize>,
    /// Argument position, `None` for the object of a member call.
    pub argument: Option<usize>,
    /// The tensor's name there.
    pub span: Range<usize>,
}

/// Tensors and their uses in one function, uses in text order.
#[derive(Clone, Debug, Default)]
pub struct TensorFacts {
    /// Tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// Uses in text order.
    pub uses: Vec<TensorUse>,
}

impl TensorFacts {
    /// Analyses a function.
    pub fn of(file: &SyntaxFile, function: &Function) -> Self {
        let mut facts = Self::default();
        for parameter in &function.parameters {
            if let Some(element) = element_type(&parameter.type_text) {
                let tensor = Tensor {
                    element,
                    origin: Origin::Parameter,
                    declaration: function.span.start..function.body.start,
                };
                facts.tensors.insert(parameter.name.clone(), tensor);
            }
        }
        for local in file.locals().iter().filter(|local| inside(&local.span, &function.body)) {
            let call = local.value.as_ref().and_then(|value| {
                file.calls().iter().find(|call| call.span == *value).or_else(|| kept_or_taken(file, value))
            });
            let Some(tensor) = declared_tensor(&local.type_text, call, &local.span) else { continue };
            facts
                .tensors
                .entry(local.name.clone())
                .and_modify(|known| known.origin = Origin::Unknown)
                .or_insert(tensor);
        }
        facts.collect_uses(file, function);
        facts
    }

    fn collect_uses(&mut self, file: &SyntaxFile, function: &Function) {
        let mut accounted: BTreeMap<usize, TensorUse> = BTreeMap::new();
        self.collect_calls(file, function, &mut accounted);
        self.collect_casts(file, function, &mut accounted);
        // Most functions have no tensor, and their texts are long.
        if !self.tensors.is_empty() {
            let tokens = pieces(file.slice(&function.body));
            self.collect_mentions(file, function, &tokens, &mut accounted);
            self.collect_hidden(file, function, &tokens, &mut accounted);
        }
        self.uses = accounted.into_values().collect();
        let views = self.views(file, function);
        self.uses.extend(views);
        self.uses.sort_by_key(|used| used.span.start);
    }

    /// Objects and arguments of calls.
    fn collect_calls(&self, file: &SyntaxFile, function: &Function, accounted: &mut BTreeMap<usize, TensorUse>) {
        for (index, call) in file.calls().iter().enumerate().filter(|(_, call)| inside(&call.span, &function.body)) {
            if let Some(object) = &call.object {
                let name = base_name(object);
                if self.tensors.contains_key(name) && object.trim() == name {
                    let span = call.span.start..call.span.start + name.len();
                    let access = member_access(&call.name);
                    let used = TensorUse {
                        tensor: name.to_owned(),
                        access,
                        whole: false,
                        call: Some(index),
                        argument: None,
                        span,
                    };
                    accounted.insert(call.span.start, used);
                }
            }
            for (position, argument) in call.arguments.iter().enumerate() {
                let text = file.slice(argument);
                let name = base_name(text);
                if !self.tensors.contains_key(name) || !(text.len() == name.len() || is_indexed(text, name)) {
                    continue;
                }
                let release = matches!(call.name.as_str(), "EnQue" | "FreeTensor") && call.object.is_some();
                let access = match () {
                    () if release => Access::Release,
                    () if call.object.is_some() => Access::Escape,
                    () => argument_access(&call.name, position),
                };
                let span = argument.start..argument.start + name.len();
                let whole = text.len() == name.len();
                let used = TensorUse {
                    tensor: name.to_owned(),
                    access,
                    whole,
                    call: Some(index),
                    argument: Some(position),
                    span,
                };
                accounted.insert(argument.start, used);
            }
        }
    }

    /// Every other mention is something this analysis does not understand.
    fn collect_mentions(
        &self,
        file: &SyntaxFile,
        function: &Function,
        tokens: &[Piece],
        accounted: &mut BTreeMap<usize, TensorUse>,
    ) {
        let body = file.slice(&function.body);
        for (position, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == PieceKind::Word) {
            let name = &body[token.span.clone()];
            let start = function.body.start + token.span.start;
            let Some(tensor) = self.tensors.get(name) else { continue };
            let previous = position.checked_sub(1).map_or("", |before| &body[tokens[before].span.clone()]);
            if tensor.declaration.contains(&start) || accounted.contains_key(&start) || matches!(previous, "." | ":") {
                continue;
            }
            let span = start..start + name.len();
            let listed =
                previous == "=" && body.get(token.span.end..).is_some_and(|rest| rest.trim_start().starts_with('['));
            let words = |at: usize| tokens.get(at).map_or("", |token| &body[token.span.clone()]);
            let part = listed.then(|| listed_in(&words, position - 1)).flatten();
            let used = match part.and_then(|list| in_one_call(file, function, list)) {
                Some((call, argument, access)) => TensorUse {
                    tensor: name.to_owned(),
                    access,
                    whole: false,
                    call: Some(call),
                    argument: Some(argument),
                    span,
                },
                None => TensorUse {
                    tensor: name.to_owned(),
                    access: Access::Escape,
                    whole: false,
                    call: None,
                    argument: None,
                    span,
                },
            };
            accounted.insert(start, used);
        }
    }

    /// A directive may hide more mentions.
    fn collect_hidden(
        &self,
        file: &SyntaxFile,
        function: &Function,
        tokens: &[Piece],
        accounted: &mut BTreeMap<usize, TensorUse>,
    ) {
        let body = file.slice(&function.body);
        for token in tokens.iter().filter(|token| token.kind == PieceKind::Directive) {
            for word in pieces(body[token.span.clone()].trim_start_matches('#')) {
                let start = function.body.start + token.span.start;
                let name = body[token.span.clone()].trim_start_matches('#').get(word.span).unwrap_or_default();
                if self.tensors.contains_key(name) {
                    let span = start..start;
                    let used = TensorUse {
                        tensor: name.to_owned(),
                        access: Access::Escape,
                        whole: false,
                        call: None,
                        argument: None,
                        span,
                    };
                    accounted.insert(start, used);
                }
            }
        }
    }

    /// Uses of tensors by other names: by variables that were made of a part of them, references, lists, lambdas.
    fn views(&self, file: &SyntaxFile, function: &Function) -> Vec<TensorUse> {
        // Which tensors a name may stand for, from where on.
        let mut made: Vec<(String, BTreeSet<&str>, usize)> = Vec::new();
        let mut kept: BTreeSet<&str> = BTreeSet::new();
        let locals: Vec<&Local> =
            file.locals().iter().filter(|local| inside(&local.span, &function.body) && local.value.is_some()).collect();
        for local in &locals {
            let value = local.value.clone().unwrap_or_default();
            let lambda = file.slice(&value).trim_start().starts_with('[');
            let names = self.handed_on(file, &value, lambda, &made);
            if !names.is_empty() {
                made.push((local.name.clone(), names, local.span.end));
            }
        }
        for used in self.uses.iter().filter(|used| used.access == Access::Escape) {
            let Some(mut node) = file.node_at(&used.span) else { continue };
            while node.kind() != "assignment_expression" {
                match node.parent().filter(|parent| inside(&parent.byte_range(), &function.body)) {
                    Some(parent) => node = parent,
                    None => break,
                }
            }
            let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            else {
                continue;
            };
            if node.kind() != "assignment_expression" || !inside(&used.span, &right.byte_range()) {
                continue;
            }
            let name = base_name(file.slice(&left.byte_range())).to_owned();
            let is_local = file.locals().iter().any(|local| local.name == name && inside(&local.span, &function.body));
            let names = self.handed_on(file, &right.byte_range(), false, &made);
            if !is_local {
                kept.extend(names.iter().copied());
            }
            made.push((name, names, node.end_byte()));
        }
        if made.is_empty() {
            return Vec::new();
        }
        let by = |name: &str, access: Access, span: Range<usize>| TensorUse {
            tensor: name.to_owned(),
            access,
            whole: false,
            call: None,
            argument: None,
            span,
        };
        // What a member keeps of it may be used when the function has ended.
        let end = function.body.end - 1;
        let mut found: Vec<TensorUse> = kept.iter().map(|name| by(name, Access::Escape, end..end)).collect();
        let body = file.slice(&function.body);
        for token in pieces(body).into_iter().filter(|token| token.kind == PieceKind::Word) {
            let span = function.body.start + token.span.start..function.body.start + token.span.end;
            let word = &body[token.span.clone()];
            if !made.iter().any(|(name, _, from)| name == word && *from <= span.start) {
                continue;
            }
            let own = self.uses.iter().find(|used| used.span.start == span.start && used.tensor == word);
            let access = own.map_or(Access::Escape, |used| used.access);
            let access = if matches!(access, Access::Read | Access::None) { access } else { Access::Escape };
            for (_, names, _) in made.iter().filter(|(name, _, from)| name == word && *from <= span.start) {
                found.extend(names.iter().filter(|name| **name != word).map(|name| by(name, access, span.clone())));
            }
        }
        found
    }

    /// Tensors that an expression hands on as what they are, directly or by names made of them before.
    fn handed_on<'a>(
        &'a self,
        file: &SyntaxFile,
        value: &Range<usize>,
        lambda: bool,
        made: &[(String, BTreeSet<&'a str>, usize)],
    ) -> BTreeSet<&'a str> {
        let here = self.uses.iter().filter(|used| inside(&used.span, value));
        let mut names: BTreeSet<&str> =
            here.filter(|used| lambda || used.access == Access::Escape).map(|used| used.tensor.as_str()).collect();
        // An element that is asked for by another name is a number.
        let asked = |at: usize| {
            file.calls_in(value.clone()).any(|call| {
                call.span.start == at && call.object.is_some() && member_access(&call.name) != Access::Escape
            })
        };
        let text = file.slice(value);
        let tokens = if made.is_empty() { Vec::new() } else { pieces(text) };
        for token in tokens.into_iter().filter(|token| token.kind == PieceKind::Word) {
            let mut known = made.iter().filter(|(name, _, _)| *name == text[token.span.clone()]).peekable();
            if known.peek().is_some() && (lambda || !asked(value.start + token.span.start)) {
                names.extend(known.flat_map(|(_, names, _)| names.iter().copied()));
            }
        }
        names
    }

    /// `t.ReinterpretCast<U>()` as an operand, or with an element read or written: the tensor is what is touched.
    fn collect_casts(&self, file: &SyntaxFile, function: &Function, accounted: &mut BTreeMap<usize, TensorUse>) {
        for (index, call) in file.calls().iter().enumerate().filter(|(_, call)| inside(&call.span, &function.body)) {
            let mut add = |name: &str, start: usize, access: Access, argument: Option<usize>| {
                let span = start..start + name.len();
                let used = TensorUse {
                    tensor: name.to_owned(),
                    access,
                    whole: argument.is_some(),
                    call: Some(index),
                    argument,
                    span,
                };
                accounted.insert(start, used);
            };
            if let Some(name) = call.object.as_deref().and_then(recast).filter(|name| self.tensors.contains_key(*name))
            {
                add(name, call.span.start, member_access(&call.name), None);
            }
            for (position, argument) in call.arguments.iter().enumerate().filter(|_| call.object.is_none()) {
                if let Some(name) = recast(file.slice(argument)).filter(|name| self.tensors.contains_key(*name)) {
                    add(name, argument.start, argument_access(&call.name, position), Some(position));
                }
            }
        }
    }

    /// Uses of one tensor in text order.
    pub fn uses_of<'a>(&'a self, tensor: &'a str) -> impl Iterator<Item = &'a TensorUse> {
        self.uses.iter().filter(move |used| used.tensor == tensor)
    }

    /// Whether two tensors certainly live in different memory.
    pub fn disjoint(&self, left: &str, right: &str) -> bool {
        let place = |name: &str| match &self.tensors.get(name)?.origin {
            Origin::Alloc(queue) | Origin::DeQue(queue) => Some(("queue", queue.clone())),
            Origin::Buffer(buffer) => Some(("buffer", buffer.clone())),
            Origin::Parameter | Origin::Unknown => None,
        };
        match (place(left), place(right)) {
            (Some(left), Some(right)) => left != right,
            _ => false,
        }
    }
}

/// `t` of `t.ReinterpretCast<U>()`.
fn recast(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once('.')?;
    let rest =
        rest.trim_start().trim_start_matches("template ").strip_prefix("ReinterpretCast<")?.strip_suffix(">()")?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (plain(name) && plain(rest)).then_some(name)
}

/// Name of the list in `list[i] =`, where the token at `assignment` is the equals sign.
fn listed_in<'a>(words: &impl Fn(usize) -> &'a str, assignment: usize) -> Option<&'a str> {
    let open = (1..10)
        .map(|back| assignment.checked_sub(back))
        .take_while(Option::is_some)
        .flatten()
        .find(|at| words(*at) == "[")?;
    (words(assignment.checked_sub(1)?) == "]").then(|| words(open.saturating_sub(1)))
}

/// The one instruction that takes a list of tensors, with the position of the list and what it does with it.
fn in_one_call(file: &SyntaxFile, function: &Function, list: &str) -> Option<(usize, usize, Access)> {
    let declared = |local: &&crate::parse::Local| {
        local.name == list && local.type_text.contains("LocalTensor<") && inside(&local.span, &function.body)
    };
    let calls = file.calls().iter().enumerate().filter(|(_, call)| inside(&call.span, &function.body));
    let mut takers = calls.filter_map(|(index, call)| {
        let position = call.arguments.iter().position(|argument| file.slice(argument).trim() == list)?;
        Some((index, position, argument_access(&call.name, position)))
    });
    let (first, second) = (takers.next()?, takers.next());
    let understood = first.2 != Access::Escape && file.calls()[first.0].object.is_none();
    (second.is_none() && understood && file.locals().iter().any(|local| declared(&local))).then_some(first)
}

/// The `DeQue` of a choice between it and a part of a buffer that no tensor stands for.
fn kept_or_taken<'a>(file: &'a SyntaxFile, value: &Range<usize>) -> Option<&'a Call> {
    let (_, choice) = file.slice(value).split_once(" ? ")?;
    let buffer = choice.split_once(".Get<")?.0;
    let named = buffer.is_empty() || base_name(buffer) != buffer || file.text().contains(&format!("= {buffer}.Get<"));
    let inner = choice.split_once(" : ")?.1;
    let call = file.calls().iter().find(|call| call.name == "DeQue" && call.span.end == value.end)?;
    (!named && file.slice(&call.span) == inner && value.contains(&call.span.start)).then_some(call)
}

fn declared_tensor(type_text: &str, call: Option<&Call>, declaration: &Range<usize>) -> Option<Tensor> {
    let element = element_type(type_text);
    let origin = match call {
        Some(Call { name, object: Some(object), arguments, .. }) if arguments.is_empty() => match name.as_str() {
            "AllocTensor" => Origin::Alloc(base_name(object).to_owned()),
            "DeQue" => Origin::DeQue(base_name(object).to_owned()),
            "Get" => Origin::Buffer(base_name(object).to_owned()),
            _ => Origin::Unknown,
        },
        _ => Origin::Unknown,
    };
    let from_template = || call.and_then(|call| call.template_arguments.clone());
    let element = match (element, &origin) {
        (Some(element), _) => element,
        (None, Origin::Unknown) if !type_text.contains("auto") => return None,
        (None, Origin::Unknown) => return None,
        (None, _) => from_template().unwrap_or_default(),
    };
    Some(Tensor { element, origin, declaration: declaration.clone() })
}

/// `T` of `LocalTensor<T>`, also qualified and by reference.
pub fn element_type(type_text: &str) -> Option<String> {
    let start = type_text.find("LocalTensor<")? + "LocalTensor<".len();
    let end = type_text.rfind('>')?;
    type_text.get(start..end).map(|element| element.trim().to_owned())
}

/// The leading name of an operand, without `this->`: `x` of `x[3]`, `this->x`.
pub fn base_name(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("this->").unwrap_or(text);
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

fn is_indexed(text: &str, name: &str) -> bool {
    text.starts_with(name) && text[name.len()..].trim_start().starts_with('[') && text.trim_end().ends_with(']')
}

fn inside(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
