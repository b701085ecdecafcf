//! One parsed file.

use std::ops::Range;
use std::sync::Arc;

use tree_sitter::{Node, Parser, Tree};

use super::blank::{MacroNames, blank};
use super::items::{Call, Class, Function, Items, Local, Loop, Unread, collect};

/// Why a file could not be parsed, or an edit not be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The grammar could not be loaded or gave up.
    #[error("{file}: the C++ parser gave no tree")]
    NoTree {
        /// The file.
        file: String,
    },
    /// An edit touches code that the parser did not understand.
    #[error("{file}:{line}: the code here is not understood by the C++ parser, it is left alone")]
    InError {
        /// The file.
        file: String,
        /// First line of the part not understood.
        line: usize,
    },
    /// After the patch the file has more syntax errors than before.
    #[error("{file}:{line}: the patch would leave code that does not parse")]
    Broken {
        /// The file.
        file: String,
        /// Line of the new error, in the patched text.
        line: usize,
    },
}

/// A file with its syntax tree. Spans in the tree and in all items are spans of the original text.
#[derive(Clone, Debug)]
pub struct SyntaxFile {
    name: String,
    text: Arc<str>,
    blanked: String,
    /// Where lines begin, but the first.
    line_starts: Vec<usize>,
    tree: Tree,
    items: Items,
}

impl SyntaxFile {
    /// Parses a text.
    pub fn parse(name: &str, text: &str, macros: &MacroNames) -> Result<Self, ParseError> {
        let no_tree = || ParseError::NoTree { file: name.to_owned() };
        let blanked = blank(text, macros);
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_cpp::LANGUAGE.into()).map_err(|_| no_tree())?;
        let tree = parser.parse(&blanked, None).ok_or_else(no_tree)?;
        let items = collect(&tree, text, &blanked);
        let line_starts = text.match_indices('\n').map(|(byte, _)| byte + 1).collect();
        Ok(Self { name: name.to_owned(), text: text.into(), blanked, line_starts, tree, items })
    }

    /// File name, relative to the operator's root.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text the tree was made from: as long as the original, device qualifiers blanked.
    pub fn blanked(&self) -> &str {
        &self.blanked
    }

    /// Root of the tree.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The smallest named node that covers the span.
    pub fn node_at(&self, span: &Range<usize>) -> Option<Node<'_>> {
        self.root().named_descendant_for_byte_range(span.start, span.end)
    }

    /// Original text of a span; empty if it is not one.
    pub fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Line of a byte, from 1.
    pub fn line(&self, byte: usize) -> usize {
        1 + self.line_starts.partition_point(|start| *start <= byte)
    }

    /// Spans of the parts that the parser did not understand.
    pub fn errors(&self) -> &[Unread] {
        &self.items.errors
    }

    /// Refuses spans that touch a part that was not understood.
    pub fn check_span(&self, span: &Range<usize>) -> Result<(), ParseError> {
        let touched =
            self.items.errors.iter().find(|error| error.span.start <= span.end && span.start <= error.span.end);
        touched.map_or(Ok(()), |error| {
            Err(ParseError::InError { file: self.name.clone(), line: self.line(error.span.start) })
        })
    }

    /// All calls in text order; an outer call comes before the calls in its arguments.
    pub fn calls(&self) -> &[Call] {
        &self.items.calls
    }

    /// Calls of one name, whatever their scope, object and template arguments.
    pub fn calls_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Call> {
        self.items.calls.iter().filter(move |call| call.name == name)
    }

    /// Calls inside a span.
    pub fn calls_in(&self, span: Range<usize>) -> impl Iterator<Item = &Call> {
        self.items.calls.iter().filter(move |call| span.start <= call.span.start && call.span.end <= span.end)
    }

    /// Functions and methods with a body.
    pub fn functions(&self) -> &[Function] {
        &self.items.functions
    }

    /// Classes and structs with a body.
    pub fn classes(&self) -> &[Class] {
        &self.items.classes
    }

    /// Loops, outer before inner.
    pub fn loops(&self) -> &[Loop] {
        &self.items.loops
    }

    /// Variables declared in functions and at namespace level.
    pub fn locals(&self) -> &[Local] {
        &self.items.locals
    }

    /// Innermost function around a byte.
    pub fn enclosing_function(&self, byte: usize) -> Option<&Function> {
        self.items.functions.iter().rev().find(|function| function.span.contains(&byte))
    }

    /// Innermost loop around a byte.
    pub fn enclosing_loop(&self, byte: usize) -> Option<&Loop> {
        self.items.loops.iter().rev().find(|repetition| repetition.span.contains(&byte))
    }

    /// Innermost class around a byte.
    pub fn enclosing_class(&self, byte: usize) -> Option<&Class> {
        self.items.classes.iter().rev().find(|class| class.span.contains(&byte))
    }

    /// The text of an argument of a call.
    pub fn argument(&self, call: &Call, index: usize) -> Option<&str> {
        call.arguments.get(index).map(|span| self.slice(span))
    }

    /// Indentation of the line a byte is on.
    pub fn indentation(&self, byte: usize) -> &str {
        let start = self.text[..byte].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The span widened to whole lines, indentation and line end included, if nothing else stands on them.
    pub fn whole_lines(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let start = self.text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        if !self.text[start..span.start].trim().is_empty() {
            return None;
        }
        let rest = &self.text[span.end..];
        let end = rest.find('\n').map_or(self.text.len(), |end| span.end + end + 1);
        self.text[span.end..end].trim().is_empty().then_some(start..end)
    }

    /// What to delete to remove a statement: its whole lines where it stands alone, else the statement itself.
    pub fn removal_span(&self, statement: &Range<usize>) -> Range<usize> {
        self.whole_lines(statement).unwrap_or_else(|| statement.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KERNEL: &str = r#"
#include "kernel_operator.h"
using namespace AscendC;
constexpr int32_t BUFFER_NUM = 2;
template <typename T>
class Scale : public Base {
public:
    __aicore__ inline void Init(GM_ADDR x, const Tiling *tiling)
    {
        pipe.InitBuffer(queue_, BUFFER_NUM, tiling->tile * sizeof(T)); // room
    }
    __aicore__ inline void Compute(LocalTensor<T> &dst, uint32_t count = 3);

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> queue_, other_;
    GlobalTensor<T> gm_;
    int64_t rows_ = 0;
};

template <typename T>
__aicore__ inline void Scale<T>::Compute(LocalTensor<T> &dst, uint32_t count)
{
    LocalTensor<T> src = queue_.template DeQue<T>();
    for (uint32_t i = 0; i < count; i++) {
        AscendC::PipeBarrier<PIPE_ALL>();
        PipeBarrier<PIPE_V>();
        AscendC::Std::Foo::Bar<int>(src, dst[i]);
        dst.SetValue(i, src.GetValue(i));
    }
    if ASCEND_IS_AIV {
        queue_.FreeTensor(src);
    }
}
extern "C" __global__ __aicore__ void scale(GM_ADDR x) { Scale<half> op; op.Init(x, nullptr); }
"#;

    fn kernel() -> SyntaxFile {
        SyntaxFile::parse("scale.h", KERNEL, &MacroNames::default()).unwrap()
    }

    #[test]
    fn a_kernel_has_no_errors_and_all_its_calls() {
        let file = kernel();
        assert!(file.errors().is_empty(), "{:?}", file.errors());
        let names: Vec<&str> = file.calls().iter().map(|call| call.name.as_str()).collect();
        assert_eq!(
            names,
            ["InitBuffer", "DeQue", "PipeBarrier", "PipeBarrier", "Bar", "SetValue", "GetValue", "FreeTensor", "Init"]
        );
        let bar = file.calls_named("Bar").next().unwrap();
        assert_eq!((bar.scope.as_str(), bar.template_arguments.as_deref()), ("AscendC::Std::Foo", Some("int")));
        assert_eq!(file.argument(bar, 1), Some("dst[i]"));
        let init = file.calls_named("InitBuffer").next().unwrap();
        assert_eq!(init.object.as_deref(), Some("pipe"));
        assert_eq!(file.argument(init, 2), Some("tiling->tile * sizeof(T)"));
        assert!(file.slice(init.statement.as_ref().unwrap()).ends_with(");"));
        assert_eq!(file.calls_named("GetValue").next().unwrap().statement, None);
    }

    #[test]
    fn functions_classes_and_loops_are_found() {
        let file = kernel();
        let functions: Vec<(&str, Option<&str>)> =
            file.functions().iter().map(|function| (function.name.as_str(), function.class.as_deref())).collect();
        assert_eq!(functions, [("Init", Some("Scale")), ("Compute", Some("Scale")), ("scale", None)]);
        let parameters = &file.functions()[1].parameters;
        assert_eq!((parameters[0].name.as_str(), parameters[0].type_text.as_str()), ("dst", "LocalTensor<T> &"));
        let class = &file.classes()[0];
        assert_eq!(class.bases, ["Base"]);
        let members: Vec<(&str, &str)> =
            class.members.iter().map(|member| (member.name.as_str(), member.type_text.as_str())).collect();
        assert_eq!(members[0], ("pipe", "TPipe"));
        assert_eq!(members[2], ("other_", "TQue<QuePosition::VECIN, 1>"));
        assert_eq!(members.len(), 5);
        let repetition = &file.loops()[0];
        assert_eq!(file.slice(repetition.condition.as_ref().unwrap()), "i < count");
        let barrier = file.calls_named("PipeBarrier").next().unwrap();
        assert_eq!(file.enclosing_function(barrier.span.start).unwrap().name, "Compute");
        assert_eq!(file.enclosing_loop(barrier.span.start).unwrap(), repetition);
        let constant = file.locals().iter().find(|local| local.name == "BUFFER_NUM").unwrap();
        assert_eq!(file.slice(constant.value.as_ref().unwrap()), "2");
    }

    #[test]
    fn whole_lines_are_taken_only_when_nothing_else_is_there() {
        let file = kernel();
        let barrier = file.calls_named("PipeBarrier").next().unwrap().statement.clone().unwrap();
        assert_eq!(file.slice(&file.whole_lines(&barrier).unwrap()), "        AscendC::PipeBarrier<PIPE_ALL>();\n");
        let init = file.calls_named("InitBuffer").next().unwrap().statement.clone().unwrap();
        assert_eq!(file.whole_lines(&init), None);
    }

    #[test]
    fn edits_in_code_that_is_not_understood_are_refused() {
        let text = "void f() { g(; }\nvoid h() { k(1); }\n";
        let file = SyntaxFile::parse("a.h", text, &MacroNames::default()).unwrap();
        let (inside, outside) = (text.find("g(").unwrap(), text.find("k(").unwrap());
        assert_eq!(file.check_span(&(inside..inside + 3)), Err(ParseError::InError { file: "a.h".into(), line: 1 }));
        assert_eq!(file.check_span(&(outside..outside + 3)), Ok(()));
    }

    proptest! {
        #[test]
        fn hostile_text_parses_to_something(text in "[a-zA-Z_<>\\-*#\"'/\\\\(){};,. \n=0-9é]{0,300}") {
            let file = SyntaxFile::parse("x.cpp", &text, &MacroNames::default()).unwrap();
            for call in file.calls() {
                prop_assert!(text.get(call.span.clone()).is_some());
            }
        }
    }
}
