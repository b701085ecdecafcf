//! Who calls a function of a kernel, and what its parameters stand for there.

use std::collections::BTreeSet;

use super::kernel::Kernel;
use super::tensors::{Origin, TensorFacts, base_name};
use crate::parse::{Call, Function, SyntaxFile, SyntaxForest};

/// Parameters are followed through so many callers.
const DEPTH_MAX: usize = 4;

/// Calls among the functions of one kernel.
#[derive(Clone, Copy)]
pub struct Callers<'a> {
    kernel: &'a Kernel,
    forest: &'a SyntaxForest,
}

/// A call of a function of the kernel.
#[derive(Clone, Copy)]
pub struct CallSite<'a> {
    /// File of the call.
    pub file: &'a SyntaxFile,
    /// Function that calls.
    pub function: &'a Function,
    /// The call.
    pub call: &'a Call,
}

impl<'a> Callers<'a> {
    /// Calls among the functions of a kernel.
    pub fn new(kernel: &'a Kernel, forest: &'a SyntaxForest) -> Self {
        Self { kernel, forest }
    }

    /// Functions of the kernel that a call may mean.
    pub fn callees(self, call: &Call) -> Vec<(&'a SyntaxFile, &'a Function)> {
        if call.object.as_deref().is_some_and(|object| object.trim() != "this") || call.scope == "AscendC" {
            return Vec::new();
        }
        let all = self.kernel.functions.iter().filter_map(|(file, index)| {
            let file = self.forest.get(file)?;
            Some((file, file.functions().get(*index)?))
        });
        all.filter(|(_, function)| function.name == call.name && call.arguments.len() <= function.parameters.len())
            .collect()
    }

    /// Calls of a function inside the kernel.
    pub fn sites(self, function: &Function) -> Vec<CallSite<'a>> {
        let mut found = Vec::new();
        for (file, _, call) in self.kernel.calls(self.forest).filter(|(_, _, call)| call.name == function.name) {
            let means = self.callees(call).iter().any(|(_, callee)| callee.span == function.span);
            if let Some(caller) = file.enclosing_function(call.span.start).filter(|_| means) {
                found.push(CallSite { file, function: caller, call });
            }
        }
        found
    }

    /// Arguments that a parameter stands for, with the calls.
    fn arguments(self, function: &Function, parameter: &str) -> Vec<(CallSite<'a>, &'a str)> {
        let Some(position) = function.parameters.iter().position(|known| known.name == parameter) else {
            return Vec::new();
        };
        let sites = self.sites(function).into_iter();
        sites.filter_map(|site| Some((site, site.file.argument(site.call, position)?.trim()))).collect()
    }

    /// Members of the kernel that a name in a function stands for: itself, or what callers pass for a parameter.
    pub fn members(self, function: &Function, name: &str) -> BTreeSet<String> {
        self.members_to(function, name, 0)
    }

    fn members_to(self, function: &Function, name: &str, depth: usize) -> BTreeSet<String> {
        let parameter = function.parameters.iter().any(|parameter| parameter.name == name);
        if !parameter || depth > DEPTH_MAX {
            return BTreeSet::from([name.to_owned()]);
        }
        let arguments = self.arguments(function, name).into_iter();
        arguments.flat_map(|(site, text)| self.members_to(site.function, base_name(text), depth + 1)).collect()
    }

    /// Where a local tensor comes from, followed through parameters.
    pub fn origins(
        self,
        file: &SyntaxFile,
        function: &Function,
        facts: &TensorFacts,
        tensor: &str,
    ) -> Result<BTreeSet<Origin>, String> {
        self.origins_to(file, function, facts, tensor, 0)
    }

    fn origins_to(
        self,
        file: &SyntaxFile,
        function: &Function,
        facts: &TensorFacts,
        tensor: &str,
        depth: usize,
    ) -> Result<BTreeSet<Origin>, String> {
        let unknown = || format!("{}: where {tensor} comes from is not known", file.name());
        let known = facts.tensors.get(tensor).ok_or_else(unknown)?;
        let named = |origin: &Origin| -> BTreeSet<Origin> {
            let each = |name: &String, make: fn(String) -> Origin| {
                self.members(function, name).into_iter().map(make).collect::<BTreeSet<_>>()
            };
            match origin {
                Origin::Alloc(name) => each(name, Origin::Alloc),
                Origin::DeQue(name) => each(name, Origin::DeQue),
                Origin::Buffer(name) => each(name, Origin::Buffer),
                Origin::Parameter | Origin::Unknown => BTreeSet::new(),
            }
        };
        match &known.origin {
            Origin::Unknown => Err(unknown()),
            Origin::Parameter => {
                let arguments = self.arguments(function, tensor);
                if arguments.is_empty() || depth > DEPTH_MAX {
                    return Err(unknown());
                }
                let mut found = BTreeSet::new();
                for (site, text) in arguments {
                    let outer = TensorFacts::of(site.file, site.function);
                    let name = base_name(text);
                    let part =
                        text == name || (text[name.len()..].trim_start().starts_with('[') && text.ends_with(']'));
                    if !part {
                        return Err(unknown());
                    }
                    found.extend(self.origins_to(site.file, site.function, &outer, name, depth + 1)?);
                }
                Ok(found)
            }
            origin => Ok(named(origin)),
        }
    }
}
