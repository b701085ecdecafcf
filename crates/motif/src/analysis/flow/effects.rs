//! Whether the value of an expression survives a piece of code: what the code changes by itself, by other names of a variable, by
//! macros, by lambdas, and by every function that its calls may reach. What is not known changes what it can get at.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::bindings::other_names;
use super::changes::{How, changes, path};
use crate::analysis::code::words;
use crate::context::Context;
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::{Kernel, base_name, is_host};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile};

/// Free functions that change none of their arguments.
const HARMLESS: &[&str] = &[
    "static_cast",
    "reinterpret_cast",
    "sizeof",
    "PipeBarrier",
    "SetFlag",
    "WaitFlag",
    "GetBlockIdx",
    "GetBlockNum",
    "GetSubBlockIdx",
    "min",
    "max",
    "Min",
    "Max",
    "CeilDiv",
    "Ceil",
    "half",
    "float",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
];

/// Whether a free function of this name changes none of its arguments.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

/// Whether an expression has no effect and asks for nothing but variables, sizes and casts of them.
pub(crate) fn is_plain(expression: &str) -> bool {
    const PURE: &[&str] = &[
        "static_cast",
        "sizeof",
        "sqrt",
        "GetSize",
        "GetBlockIdx",
        "GetBlockNum",
        "half",
        "float",
        "int32_t",
        "uint32_t",
        "T",
    ];
    let tokens = pieces(expression);
    let calls_nothing = tokens.windows(2).all(|pair| {
        let open = &expression[pair[1].span.clone()] == "(";
        !(open && pair[0].kind == PieceKind::Word) || PURE.contains(&&expression[pair[0].span.clone()])
    });
    let indexed = tokens.iter().any(|token| matches!(&expression[token.span.clone()], "[" | "="));
    calls_nothing && !indexed && !expression.contains("++") && !expression.contains("--")
}

/// Whether an expression has no effect and a span does not change it, calls aside.
pub(crate) fn invariant(expression: &str, file: &SyntaxFile, span: &Range<usize>) -> bool {
    is_plain(expression) && {
        let names: BTreeSet<&str> = words(expression).into_iter().collect();
        let mut changed = changes(file, span).into_iter().filter(|change| change.how != How::Declared);
        !changed.any(|change| names.contains(change.name))
    }
}

/// Functions of the kernel's class by name.
pub(crate) fn own_functions<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    name: &'a str,
) -> impl Iterator<Item = (&'a SyntaxFile, &'a Function)> {
    kernel.functions.iter().filter_map(move |(file, index)| {
        let file = context.forest.get(file)?;
        Some((file, file.functions().get(*index)?)).filter(|(_, function)| function.name == name)
    })
}

/// Functions of the class that calls in the span reach, directly or through others.
pub(crate) fn reached<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    span: &Range<usize>,
) -> Vec<(&'a SyntaxFile, &'a Function)> {
    let mut found: Vec<(&SyntaxFile, &Function)> = Vec::new();
    let mut seen: BTreeSet<(&str, usize)> = BTreeSet::new();
    let mut spans: Vec<(&SyntaxFile, Range<usize>)> = vec![(file, span.clone())];
    while let Some((file, span)) = spans.pop() {
        for call in file.calls_in(span).filter(|call| call.is_own()) {
            for (other, function) in own_functions(context, kernel, &call.name) {
                if seen.insert((other.name(), function.body.start)) {
                    found.push((other, function));
                    spans.push((other, function.body.clone()));
                }
            }
        }
    }
    found
}

/// Proves that an expression has the same value everywhere in the span.
pub(crate) fn steady(
    context: &Context,
    file: &SyntaxFile,
    kernel: &Kernel,
    expression: &str,
    span: &Range<usize>,
) -> Result<(), String> {
    steady_over(context, file, kernel, expression, std::slice::from_ref(span))
}

/// Proves that an expression has the same value before, in and after some spans of a function.
pub(crate) fn steady_over(
    context: &Context,
    file: &SyntaxFile,
    kernel: &Kernel,
    expression: &str,
    spans: &[Range<usize>],
) -> Result<(), String> {
    let names = words(expression);
    let declared = |word: &&&str| {
        let mut locals = file.locals().iter().filter(|local| local.name == **word);
        locals.any(|local| spans.iter().any(|span| span.contains(&local.span.start)))
    };
    if let Some(word) = names.iter().find(declared) {
        return Err(format!("{word} is declared in the loop"));
    }
    let changing = || format!("{expression} may change from round to round");
    if !is_plain(expression) {
        return Err(changing());
    }
    let wanted: Names = names
        .into_iter()
        .filter(|word| !HARMLESS.contains(word) && *word != "this")
        .map(|word| (word.to_owned(), word.to_owned()))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut search = Search { context, kernel, expression, seen: BTreeSet::new() };
    let function = spans.first().and_then(|span| file.enclosing_function(span.start));
    let wanted = search.with_other_names(file, function, wanted);
    for span in spans {
        search.code(file, function, span, &wanted, None)?;
    }
    Ok(())
}

/// Names that are looked for in a function, each with the name that the expression has for it.
type Names = BTreeMap<String, String>;

/// The functions that code reaches, looked through for changes.
struct Search<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    expression: &'a str,
    seen: BTreeSet<(String, usize, Vec<String>)>,
}

impl<'a> Search<'a> {
    /// The names with all others that may stand for the same variables in a function.
    fn with_other_names(&self, file: &SyntaxFile, function: Option<&Function>, mut wanted: Names) -> Names {
        let Some(function) = function else { return wanted };
        for (other, name) in other_names(self.context, self.kernel, file, function, wanted.keys()) {
            let original = wanted.get(&name).cloned().unwrap_or(name);
            wanted.entry(other).or_insert(original);
        }
        wanted
    }

    /// `Err` where code may change one of the names; `inside` is the function that was called for it, if one was.
    fn code(
        &mut self,
        file: &'a SyntaxFile,
        function: Option<&'a Function>,
        span: &Range<usize>,
        wanted: &Names,
        inside: Option<&'a Function>,
    ) -> Result<(), String> {
        for change in changes(file, span).into_iter().filter(|change| change.how != How::Declared) {
            if let Some(word) = wanted.get(change.name) {
                return Err(match inside {
                    Some(function) => format!("{} may change {word}", function.name),
                    None => format!("{} may change from round to round", self.expression),
                });
            }
        }
        self.macros(file.slice(span), wanted)?;
        for call in file.calls_in(span.clone()) {
            let lambda = file.locals().iter().filter(|local| local.name == call.name).find_map(|local| {
                let value = local.value.clone().filter(|value| file.slice(value).trim_start().starts_with('['))?;
                function.filter(|function| function.body.contains(&value.start)).map(|_| value)
            });
            if let Some(lambda) = lambda.filter(|lambda| !span.contains(&lambda.start)) {
                if self.seen.insert((file.name().to_owned(), lambda.start, wanted.keys().cloned().collect())) {
                    self.code(file, function, &lambda, wanted, inside)?;
                }
                continue;
            }
            self.call(file, call, wanted)?;
        }
        Ok(())
    }

    /// `Err` where a call may change one of the names.
    fn call(&mut self, file: &'a SyntaxFile, call: &'a Call, wanted: &Names) -> Result<(), String> {
        let known = HARMLESS.contains(&call.name.as_str())
            || is_copy(&call.name)
            || argument_access(&call.name, 0) != Access::Escape;
        if known {
            return Ok(());
        }
        let own: Vec<(&SyntaxFile, &Function)> =
            if call.is_own() { own_functions(self.context, self.kernel, &call.name).collect() } else { Vec::new() };
        let is_own = !own.is_empty();
        let free = self.context.forest.iter().filter(|file| !is_own && !is_host(file.name()));
        let free = free.flat_map(|file| file.functions().iter().map(move |function| (file, function)));
        let callees: Vec<(&SyntaxFile, &Function)> =
            own.into_iter().chain(free.filter(|(_, function)| function.name == call.name)).collect();
        for (other, callee) in &callees {
            self.callee(file, call, other, callee, wanted)?;
        }
        if is_own {
            return Ok(());
        }
        let object = call.object.as_deref().map(base_name).unwrap_or_default();
        let handed = call.object.is_none() && callees.is_empty() && {
            let arguments = call.arguments.iter().flat_map(|argument| handed(file, argument));
            arguments.into_iter().any(|name| wanted.contains_key(name))
        };
        let inherited = call.object.is_none() && call.scope.is_empty() && self.kernel.has_base();
        if wanted.contains_key(object) || handed || inherited {
            let line = file.line(call.span.start);
            return Err(format!("{} at line {line} may change {}", call.name, self.expression));
        }
        Ok(())
    }

    /// `Err` where a function that a call may mean changes one of the names, by itself or through what it is handed.
    fn callee(
        &mut self,
        file: &SyntaxFile,
        call: &Call,
        other: &'a SyntaxFile,
        callee: &'a Function,
        wanted: &Names,
    ) -> Result<(), String> {
        let body = other.slice(&callee.body);
        let hides = |name: &str| {
            let parameter = callee.parameters.iter().any(|parameter| parameter.name == name);
            let local = || {
                let mut locals = other.locals().iter();
                locals.any(|local| local.name == name && callee.body.contains(&local.span.start))
                    && !self.is_member(name)
            };
            !body.contains(&format!("this->{name}")) && (parameter || local())
        };
        let mut inner: Names =
            wanted.iter().filter(|(name, _)| !hides(name)).map(|(name, word)| (name.clone(), word.clone())).collect();
        for (parameter, argument) in callee.parameters.iter().zip(&call.arguments) {
            let constant = parameter.type_text.contains("const") && !parameter.type_text.contains('*');
            if constant || !parameter.type_text.contains(['&', '*']) {
                continue;
            }
            let named = handed(file, argument).into_iter().find_map(|name| wanted.get(name));
            inner.extend(named.map(|word| (parameter.name.clone(), word.clone())));
        }
        let key = (other.name().to_owned(), callee.body.start, inner.keys().cloned().collect());
        if inner.is_empty() || !self.seen.insert(key) {
            return Ok(());
        }
        let inner = self.with_other_names(other, Some(callee), inner);
        self.code(other, Some(callee), &callee.body, &inner, Some(callee))
    }

    /// Whether a class has a member of the name.
    fn is_member(&self, name: &str) -> bool {
        let mut classes = self.context.forest.iter().flat_map(|file| file.classes());
        classes.any(|class| class.members.iter().any(|member| member.name == name))
    }

    /// `Err` where a macro in a text changes one of the names.
    fn macros(&self, text: &str, wanted: &Names) -> Result<(), String> {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = words(text);
        while let Some(word) = open.pop() {
            let Some((name, bodies)) = self.context.facts.macros.get_key_value(word).filter(|_| seen.insert(word))
            else {
                continue;
            };
            for body in bodies {
                if let Some(word) = changed_by_macro(body, wanted) {
                    return Err(format!("the macro {name} may change {word}"));
                }
                open.extend(words(body));
            }
        }
        Ok(())
    }
}

/// Names that an argument may let a function change: those on the way to it, and to what it is the address of.
fn handed<'a>(file: &'a SyntaxFile, argument: &Range<usize>) -> Vec<&'a str> {
    let Some(node) = file.node_at(argument) else { return words(file.slice(argument)) };
    let nodes = match node.kind() {
        "identifier"
        | "field_expression"
        | "subscript_expression"
        | "pointer_expression"
        | "parenthesized_expression" => path(node),
        _ => Vec::new(),
    };
    nodes.into_iter().map(|node| file.slice(&node.byte_range())).collect()
}

/// A name that the body of a macro changes, by the name that the expression has for it. Without the macro's arguments the body
/// is understood as far as a statement goes; what is not a statement changes what it names.
fn changed_by_macro<'a>(body: &str, wanted: &'a Names) -> Option<&'a str> {
    if !words(body).iter().any(|word| wanted.contains_key(*word)) {
        return None;
    }
    // The parameters' list of a macro stands before its body.
    let text = format!("void F() {{ {};\n}}\n", body.replace("\\\n", " "));
    let Ok(file) = SyntaxFile::parse("macro", &text, &source::parse::MacroNames::default()) else {
        return words(body).into_iter().find_map(|word| wanted.get(word)).map(String::as_str);
    };
    let changed = changes(&file, &(0..text.len()));
    changed
        .iter()
        .filter(|change| change.how != How::Declared)
        .find_map(|change| wanted.get(change.name))
        .map(String::as_str)
}
