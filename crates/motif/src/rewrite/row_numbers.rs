//! The scalar unit's part of a loop over rows that is taken apart: a loop of its own, with the numbers of rows beside each other.

use std::ops::Range;

use crate::analysis::code::{squash, words};
use crate::analysis::flow::changes::changes_name;
use crate::rewrite::row_fission::Fission;
use crate::rewrite::row_scalars::{Part, RowScalars};
use source::facts::base_name;

impl RowScalars<'_> {
    /// The scalar work so far, a loop over rows of its own; `next` is the statement behind it.
    pub(crate) fn flush(&mut self, next: usize) -> Result<(), String> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let (file, rows) = (self.fission.file, self.fission.rows);
        let counter = rows.counter.clone();
        let mut texts = Vec::new();
        let mut read: Vec<String> = Vec::new();
        for index in &pending {
            texts.push(self.scalar_text(&self.parts[*index].0.clone(), &mut read)?);
        }
        let all = texts.join("\n");
        if let Some(name) = self.numbers.keys().find(|name| words(&all).contains(&name.as_str())) {
            return Err(format!("{name} is used by the scalar unit again"));
        }
        let declared =
            file.locals().iter().filter(|local| pending.iter().any(|index| self.parts[*index].0 == local.span));
        let declared: Vec<_> = declared.collect();
        let mut wanted = Vec::new();
        for local in declared.iter().filter(|local| self.mentioned_from(next, &local.name)) {
            let element = local.type_text.trim_start_matches("const ").trim();
            if !matches!(element, "float" | "half") || !local.alone {
                return Err(format!("{} is neither a float nor a half", local.name));
            }
            wanted.push((local.name.clone(), element.to_owned()));
        }
        // A number that is only handed over lies in its tensor already.
        if let ([index], [(name, element)]) = (&pending[..], &wanted[..]) {
            let value = declared.first().and_then(|local| local.value.clone()).map(|value| file.slice(&value).trim());
            let direct =
                value.and_then(|value| value.strip_suffix(&format!(".GetValue({counter})"))).map(str::to_owned);
            let direct = direct.or_else(|| {
                let object = value?.strip_suffix(".GetValue(0)")?;
                self.reduced.get(object).cloned()
            });
            let again = changes_name(file, &(self.parts[*index].0.end..rows.repetition.body.end), name);
            if let Some(tensor) =
                direct.filter(|tensor| !again && (self.element(tensor) == *element || self.is_new(tensor)))
            {
                self.numbers.insert(name.clone(), tensor);
                return Ok(());
            }
        }
        for (name, element) in wanted {
            let stored = format!(".SetValue({counter},{name});");
            let kept = texts.last().and_then(|last| {
                let squashed = squash(last);
                let tensor = squashed.strip_suffix(&stored)?.to_owned();
                let elsewhere =
                    self.parts.iter().filter(|(span, _)| words(file.slice(span)).contains(&tensor.as_str()));
                (self.element(&tensor) == element && elsewhere.count() == 1).then_some(tensor)
            });
            let tensor = match kept {
                Some(tensor) => tensor,
                None => {
                    let free = |tensor: &&String| !self.numbers.values().any(|taken| taken == *tensor);
                    let tensor = match read.iter().find(free) {
                        Some(tensor) if element == "float" => tensor.clone(),
                        _ => {
                            let bytes = format!("sizeof({element})");
                            self.buffer("rowNumbers", &element, &bytes)
                        }
                    };
                    texts.push(format!("{tensor}.SetValue({counter}, {name});"));
                    tensor
                }
            };
            self.kept.insert(tensor.clone());
            self.numbers.insert(name, tensor);
        }
        let indentation = file.indentation(rows.span().start);
        let head = file.slice(&(rows.span().start..rows.repetition.body.start)).trim_end();
        let body: String = texts.iter().map(|text| format!("\n{indentation}    {text}")).collect();
        self.lines.push(format!("{head} {{{body}\n{indentation}}}"));
        Ok(())
    }

    pub(crate) fn is_new(&self, tensor: &str) -> bool {
        self.buffers.iter().any(|(_, name, ..)| name == tensor)
    }

    /// A scalar statement with the numbers of rows in place of their first elements.
    fn scalar_text(&self, span: &Range<usize>, read: &mut Vec<String>) -> Result<String, String> {
        const PURE: &[&str] = &["static_cast", "sqrt", "min", "max", "float", "half", "int32_t", "uint32_t"];
        let Fission { file, rows, tensors, kernel, .. } = *self.fission;
        let (mut text, mut done) = (String::new(), span.start);
        let mut accounted = 0;
        for call in file.calls_in(span.clone()) {
            let Some(object) = call.object.as_deref() else {
                if PURE.contains(&call.name.as_str()) {
                    continue;
                }
                return Err(format!("{} at line {} is not analysed", call.name, file.line(call.span.start)));
            };
            let index = file.argument(call, 0).unwrap_or_default().trim();
            let beside = rows.stepped(index).is_some_and(|at| squash(&at.pitch) == "1");
            let local = tensors.tensors.contains_key(object);
            accounted += usize::from(local);
            match (call.name.as_str(), self.reduced.get(object)) {
                ("GetValue", Some(vector)) if index == "0" => {
                    text.push_str(&file.text()[done..call.span.start]);
                    text.push_str(&format!("{vector}.GetValue({})", rows.counter));
                    done = call.span.end;
                    if !read.contains(vector) {
                        read.push(vector.clone());
                    }
                }
                ("GetValue", None) if beside && (kernel.globals.contains_key(object) || !self.written(object)) => {}
                ("SetValue", None) if beside && local && !self.in_instructions(object) => {}
                _ => return Err(format!("{}: an element that is not the row's own", file.slice(&call.span))),
            }
        }
        text.push_str(&file.text()[done..span.end]);
        let mentioned = words(file.slice(span)).into_iter().filter(|word| tensors.tensors.contains_key(*word)).count();
        if mentioned != accounted {
            return Err(format!("line {}: a tensor is used in another way", file.line(span.start)));
        }
        Ok(text)
    }

    fn in_instructions(&self, tensor: &str) -> bool {
        let instruction = |part: &Part<'_>| !matches!(part, Part::Scalar);
        self.parts
            .iter()
            .any(|(span, part)| instruction(part) && words(self.fission.file.slice(span)).contains(&tensor))
    }

    fn written(&self, tensor: &str) -> bool {
        self.parts.iter().any(|(_, part)| match part {
            Part::Vector(call) | Part::Reduce(call, _) => {
                self.fission.file.argument(call, 0).map(base_name) == Some(tensor)
            }
            _ => false,
        })
    }
}
