//! Host functions that set the number of cores of a launch, and what that number follows from.

use crate::analysis::code::words;
use crate::context::Context;
use source::facts::is_host;
use source::parse::{Call, Function, Local, SyntaxFile};

/// Elements that a core should have to do: from 4 KiB of 8-bit numbers to 16 KiB of floats.
pub(crate) const ELEMENTS_PER_CORE: u32 = 4096;

/// No more cores than work is worth.
pub(crate) fn cap_of(cores: &str, work: &str) -> String {
    format!("std::min<uint32_t>({cores}, {work})")
}

/// A host function that sets the block dimension.
pub(crate) struct Launch<'a> {
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    /// The call of `SetBlockDim`.
    pub(crate) set: &'a Call,
}

/// Host functions that set one block dimension.
pub(crate) fn launches(context: &Context) -> Vec<Launch<'_>> {
    let mut found = Vec::new();
    for file in context.forest.iter().filter(|file| is_host(file.name())) {
        for function in file.functions() {
            let mut calls = file.calls_in(function.body.clone()).filter(|call| call.name == "SetBlockDim");
            // Several block dimensions in one function belong to several ways of splitting.
            if let (Some(set), None) = (calls.next(), calls.next()) {
                found.push(Launch { file, function, set });
            }
        }
    }
    found
}

/// Every place of host code that sets a block dimension.
pub(crate) fn all_launches(context: &Context) -> Vec<Launch<'_>> {
    let mut found = Vec::new();
    for file in context.forest.iter().filter(|file| is_host(file.name())) {
        for function in file.functions() {
            let calls = file.calls_in(function.body.clone()).filter(|call| call.name == "SetBlockDim");
            found.extend(calls.map(|set| Launch { file, function, set }));
        }
    }
    found
}

impl<'a> Launch<'a> {
    /// Its local variables.
    pub(crate) fn locals(&self) -> impl Iterator<Item = &'a Local> {
        let body = self.function.body.clone();
        self.file.locals().iter().filter(move |local| body.contains(&local.span.start))
    }

    /// Names that the block dimension follows from.
    pub(crate) fn sources(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.set.arguments.iter().flat_map(|span| words(self.file.slice(span))).collect();
        for _ in 0..6 {
            for local in self.locals() {
                let value = local.value.as_ref().filter(|_| names.contains(&local.name.as_str()));
                for word in value.map(|value| words(self.file.slice(value))).unwrap_or_default() {
                    if !names.contains(&word) {
                        names.push(word);
                    }
                }
            }
        }
        names
    }

    /// The question for the number of vector cores, with the function's context as it is called here.
    pub(crate) fn question(&self) -> Result<String, String> {
        let context = self.set.object.as_deref().ok_or("SetBlockDim is not called on a context")?;
        Ok(format!("platform_ascendc::PlatformAscendC({context}->GetPlatformInfo()).GetCoreNumAiv()"))
    }

    /// How many cores the work is worth where each should have so many of its [`Self::elements`]; at least one.
    pub(crate) fn work(&self, elements_per_core: u32) -> Result<String, String> {
        Ok(format!("static_cast<uint32_t>(1 + {} / {elements_per_core})", self.elements()?))
    }

    /// Elements of the first input, or of the first output where host code looks at that and at no first input.
    pub(crate) fn elements(&self) -> Result<String, String> {
        let context = self.set.object.as_deref().unwrap_or_default();
        let pointer = self.file.slice(&self.set.callee).contains("->SetBlockDim");
        let named = context.to_lowercase();
        if !pointer || !(named.contains("context") || named.contains("ctx")) {
            return Err("SetBlockDim is not called on a pointer to a context".to_owned());
        }
        let asks = |questions: &[&str]| questions.iter().any(|asked| self.file.text().contains(asked));
        let shape = if asks(&["GetInputShape(0)", "GetInputTensor(0)"]) {
            "GetInputShape(0)"
        } else if asks(&["GetOutputShape(0)"]) {
            "GetOutputShape(0)"
        } else {
            return Err("nothing here asks for the shape of the first input, which may be an optional one".to_owned());
        };
        Ok(format!("{context}->{shape}->GetStorageShape().GetShapeSize()"))
    }
}
