//! Scalar loops over the elements of local tensors turned into vector calls, with room for what lies between them.

use std::collections::BTreeSet;

use crate::analysis::code::{Surroundings, block_of, functions, scope, squash, unused_scratch, words};
use crate::analysis::declared_types::only_type;
use crate::context::Context;
use crate::rewrite::buffers::added;
use crate::rewrite::edits::edit;
use crate::rewrite::vectorise::{Chain, Element, Manner, Names, vectorise};
use crate::site::Candidate;
use source::Edit;
use source::facts::{InitBuffer, Origin, base_name, fixed_type_bytes};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Loop};

/// Scalar loops as candidates; those with choices in them, or the others.
pub(crate) fn scalar_loops(context: &Context, choices: bool) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, tensors) in functions(context) {
        for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
            let inside = |call: &&Call| matches!(call.name.as_str(), "SetValue" | "GetValue") && call.object.is_some();
            let nested = file
                .loops()
                .iter()
                .any(|other| other.span != repetition.span && repetition.body.contains(&other.span.start));
            let text = file.slice(&repetition.body);
            if choices != (text.contains('?') || words(text).contains(&"if")) {
                continue;
            }
            if nested || !file.calls_in(repetition.body.clone()).any(|call| inside(&call)) {
                continue;
            }
            let place = Surroundings { context, file, function, kernel, tensors: &tensors };
            let candidate = match place.vectorised(repetition, choices) {
                Ok((edits, chain)) => {
                    let note = format!("{} vector calls for {}", chain.lines.len(), chain.stored.join(", "));
                    let mut candidate =
                        Candidate::new(file, &repetition.span, note, Ok(edits)).with_rounding(chain.rounding);
                    candidate.site.conditions = chain.conditions;
                    candidate
                }
                Err(reason) => Candidate::new(file, &repetition.span, "scalar loop", Err(reason)),
            };
            found.push(candidate);
        }
    }
    found
}

impl Surroundings<'_> {
    fn vectorised(&self, repetition: &Loop, choices: bool) -> Result<(Vec<Edit>, Chain), String> {
        block_of(self.file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        let prefix = scope(self.file);
        // Tensors that certainly do not share memory may serve as intermediate results of each other.
        let touched = vectorise(self.file, repetition, self, prefix, Manner { scratch_free: true, choices })?.touched;
        let names: Vec<&String> = touched.iter().collect();
        let disjoint = names
            .iter()
            .enumerate()
            .all(|(index, left)| names[index + 1..].iter().all(|right| self.tensors.disjoint(left, right)));
        let mut chain = vectorise(self.file, repetition, self, prefix, Manner { scratch_free: disjoint, choices })?;
        if !disjoint {
            chain
                .conditions
                .push("operands that share memory start at the same element, on a 32-byte boundary".to_owned());
        }
        let copied = self.kernel.copied_buffers(&self.context.forest).buffers;
        for name in &touched {
            if let Some(Origin::Buffer(buffer)) = self.tensors.tensors.get(name).map(|tensor| &tensor.origin)
                && copied.contains(buffer)
            {
                return Err(format!(
                    "{name} lies in {buffer}, which a copy touches without a queue: only scalar accesses are ordered there"
                ));
            }
        }
        let mut edits = Vec::new();
        let mut lines = self.comments(repetition);
        let mut texts = Vec::new();
        self.place_temporaries(&chain, &mut edits, &mut lines, &mut texts)?;
        for line in &chain.lines {
            // From the back, so that @1 does not match in @10.
            lines.push(
                texts
                    .iter()
                    .enumerate()
                    .rev()
                    .fold(line.clone(), |line, (index, name)| line.replace(&format!("@{index}"), name)),
            );
        }
        let separator = format!("\n{}", self.file.indentation(repetition.span.start));
        edits.push(edit(self.file, repetition.span.clone(), lines.join(&separator)));
        Ok((edits, chain))
    }

    /// Why a scalar operand, which a vector call computes once and as a number of the element's type, may be another number in
    /// the rounds of a loop.
    pub(crate) fn other_in_rounds(&self, scalar: &str) -> Option<String> {
        let double = |text: &str| {
            let suffixed = text.ends_with(['f', 'F']) || text.starts_with("0x");
            !suffixed && text.contains(['.', 'e'])
        };
        for token in pieces(scalar) {
            let text = &scalar[token.span.clone()];
            match token.kind {
                PieceKind::Number if double(text) => return Some(format!("{text} is a double")),
                PieceKind::Word if self.scalar_type(text).is_some_and(|kind| kind.contains("double")) => {
                    return Some(format!("{text} is a double"));
                }
                PieceKind::Word if text == "double" || self.tensors.tensors.contains_key(text) => {
                    return Some(format!("{text} may be another number in every round"));
                }
                _ => {}
            }
        }
        None
    }

    /// Comments of the loop survive in front of the calls.
    fn comments(&self, repetition: &Loop) -> Vec<String> {
        let text = self.file.slice(&repetition.span);
        pieces(text)
            .into_iter()
            .filter(|token| token.kind == PieceKind::Comment)
            .map(|token| text[token.span].trim_end().to_owned())
            .collect()
    }

    /// Finds or makes a tensor for every temporary: an unused scratch tensor, or a new `TBuf` with member, InitBuffer and Get.
    fn place_temporaries(
        &self,
        chain: &Chain,
        edits: &mut Vec<Edit>,
        lines: &mut Vec<String>,
        names: &mut Vec<String>,
    ) -> Result<(), String> {
        if chain.temporaries.is_empty() {
            return Ok(());
        }
        let target = chain.stored.first().ok_or("nothing is stored")?;
        let (init, element_bytes) = self.room_of(target)?;
        let mut buffers = Vec::new();
        for element in &chain.temporaries {
            let bytes = fixed_type_bytes(element.name()).unwrap_or(4);
            let size = match bytes / element_bytes {
                1 => init.size.clone(),
                0 => format!("({}) / {}", init.size, element_bytes / bytes),
                factor => format!("({}) * {factor}", init.size),
            };
            if bytes == element_bytes
                && let Some(scratch) = self.existing_scratch(*element, init, names)
            {
                names.push(scratch);
                continue;
            }
            let number = (0..100).find(|number| {
                let name = format!("vecTmp{number}");
                !names.contains(&name) && !self.context.tree.iter().any(|(_, text)| text.contains(&name))
            });
            let name = format!("vecTmp{}", number.ok_or("no free name for a temporary")?);
            let prefix = scope(self.file);
            buffers.push((format!("{name}Buf"), size));
            lines.push(format!("{prefix}LocalTensor<{0}> {name} = {name}Buf.Get<{0}>();", element.name()));
            names.push(name);
        }
        if !buffers.is_empty() {
            edits.extend(added(self.context, self.kernel, init, &buffers, &[])?);
        }
        Ok(())
    }

    /// The one `InitBuffer` behind a tensor, and the tensor's element size.
    fn room_of(&self, tensor: &str) -> Result<(&InitBuffer, i64), String> {
        let known = self.tensors.tensors.get(tensor).ok_or(format!("{tensor} is not a local tensor"))?;
        let target = match &known.origin {
            Origin::Alloc(target) | Origin::DeQue(target) | Origin::Buffer(target) => target,
            Origin::Parameter | Origin::Unknown => {
                return Err(format!("a temporary is needed, and the size of {tensor} is not known"));
            }
        };
        let init = self
            .kernel
            .init_of(target)
            .ok_or(format!("a temporary is needed, and {target} is not initialised at exactly one place"))?;
        let bytes = self.element(&known.element).and_then(|element| fixed_type_bytes(element.name()));
        Ok((init, bytes.ok_or(format!("the size of {} is not known", known.element))?))
    }

    /// A declared and unused scratch tensor of the same type in a buffer of the same size that nobody else takes.
    fn existing_scratch(&self, element: Element, room: &InitBuffer, taken: &[String]) -> Option<String> {
        let name = unused_scratch(self.tensors, element.name())
            .into_iter()
            .find(|name| !taken.iter().any(|other| other == name))?;
        let Some(Origin::Buffer(buffer)) = self.tensors.tensors.get(name).map(|tensor| &tensor.origin) else {
            return None;
        };
        let same_size = self.kernel.init_of(buffer).is_some_and(|init| squash(&init.size) == squash(&room.size));
        let handed_out = self
            .kernel
            .calls(&self.context.forest)
            .filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(buffer.as_str()))
            .count();
        (same_size && handed_out == 1).then(|| name.to_owned())
    }
}

impl Names for Surroundings<'_> {
    fn tensor(&self, name: &str) -> Option<Result<Element, String>> {
        let tensor = self.tensors.tensors.get(name)?;
        let known = self.element(&tensor.element);
        Some(known.ok_or_else(|| {
            format!("{name} has elements of type {}, which is not fixed or has no vector form", tensor.element)
        }))
    }

    fn scalar_type(&self, name: &str) -> Option<String> {
        let parameter = self
            .function
            .parameters
            .iter()
            .find(|parameter| parameter.name == name)
            .map(|parameter| parameter.type_text.clone());
        let local = || {
            let mut found = self
                .file
                .locals()
                .iter()
                .filter(|local| local.name == name && self.function.body.contains(&local.span.start));
            found.next().map(|local| local.type_text.clone())
        };
        let member = || {
            let classes = self.context.forest.iter().flat_map(|file| file.classes());
            let mut members = classes.filter(|class| class.name == self.kernel.name).flat_map(|class| &class.members);
            members.find(|member| member.name == name).map(|member| member.type_text.clone())
        };
        let global = || {
            self.context.forest.iter().find_map(|file| {
                let mut found = file
                    .locals()
                    .iter()
                    .filter(|local| local.name == name && file.enclosing_function(local.span.start).is_none());
                found.next().map(|local| local.type_text.clone())
            })
        };
        parameter.or_else(local).or_else(member).or_else(global)
    }

    fn element(&self, type_name: &str) -> Option<Element> {
        let name = type_name.trim();
        Element::from_name(name).or_else(|| self.declared(name)).or_else(|| self.instantiated(name))
    }
}

impl Surroundings<'_> {
    /// The one type that a template parameter of the kernel stands for, if every use of the class in the tree agrees.
    fn instantiated(&self, parameter: &str) -> Option<Element> {
        let mut found: BTreeSet<String> = BTreeSet::new();
        for file in self.context.forest.iter() {
            // The first template parameter only: `template <typename T>` before the class.
            for class in file.classes().iter().filter(|class| class.name == self.kernel.name) {
                let head = file.text()[..class.span.start].trim_end();
                let list = head.rfind("template").map(|start| &head[start..])?;
                let first = words(list).into_iter().nth(2)?;
                if !list.ends_with('>') || first != parameter {
                    return None;
                }
            }
            let words: Vec<_> = pieces(file.blanked())
                .into_iter()
                .filter(|token| !matches!(token.kind, PieceKind::Comment | PieceKind::Directive))
                .collect();
            let text = |index: usize| words.get(index).map_or("", |token| &file.blanked()[token.span.clone()]);
            for index in (0..words.len()).filter(|index| text(*index) == self.kernel.name && text(*index + 1) == "<") {
                let argument = text(index + 2).to_owned();
                if argument != parameter {
                    found.insert(argument);
                }
            }
        }
        let only = found.iter().next().filter(|_| found.len() == 1)?;
        Element::from_name(only).or_else(|| self.declared(only))
    }

    /// The one type of an input or output that the build names.
    fn declared(&self, name: &str) -> Option<Element> {
        Element::from_name(only_type(self.context, name)?)
    }
}
