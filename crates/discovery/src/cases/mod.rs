//! Cases of an operator: what its authors wrote to test or to show it, and guesses where they wrote nothing.
//!
//! Sources in the order in which they are asked: scripts that make test data (`reference`), calls that its
//! own tiling tests make (`tiling_test`), calls that Python tests of its repository make (`python_test`), programs
//! that call it through AscendCL (`example`), case lists (`list`), calls that the definition of its type is known to hold for
//! (`by_definition`), and guesses from what it says of its inputs (`guess`). Each gives [`Candidate`]s; whether the operator's tiling
//! function accepts one is found out by calling it ([`Finder`]).

mod beside;
mod by_definition;
mod call;
mod described;
mod edges;
mod example;
mod finder;
mod forms;
mod grow;
mod guess;
mod list;
mod literal;
mod loosen;
mod packed;
mod probe;
mod proportion;
mod python_test;
mod reference;
mod rescale;
mod tiling_test;
mod vary;

use manifest::{Attribute, TensorSpec, ValueRange};

pub use described::{DescribedAttribute, DescribedOp, DescribedOps, DescribedTensor};
pub use edges::Edges;
pub use finder::{Accepted, Finder, MOST_ENDLESS, Reach, Refusal, Sense, Stage, with_inputs_compared};
pub use grow::{resized, wider};
pub use probe::{EVEN, ProbeDraw, ProbeKind, Wish, smallest_and_largest};
pub use proportion::of_length;
pub use reference::{Array, Defined, DefinedOutput, Definition, Meant, Python, ReferenceError, golden_script};
pub use rescale::{leading_shape, traffic_bytes};

/// Where a case comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Data that a script of its tests or examples makes, with right answers.
    DataScript,
    /// A call in its tiling tests.
    TilingTest,
    /// A program that calls it through AscendCL.
    Example,
    /// A call in a Python test of its repository.
    PythonTest,
    /// A list of cases for a test program.
    CaseList,
    /// A call that the definition of its type is known to hold for.
    Definition,
    /// Nobody wrote it: made up from the definition.
    Guess,
}

impl Origin {
    /// In words, as they follow the shapes in a case's name.
    pub fn words(self) -> &'static str {
        match self {
            Origin::DataScript => "its own test data",
            Origin::TilingTest => "its own tiling test",
            Origin::Example => "its own example",
            Origin::PythonTest => "its own Python test",
            Origin::CaseList => "its own case list",
            Origin::Definition => "an example of its definition",
            Origin::Guess => "guessed",
        }
    }
}

/// A case of which nobody knows yet whether the tiling function accepts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Where it comes from.
    pub origin: Origin,
    /// File and line, relative to the operator's directory; empty for a guess.
    pub place: String,
    /// Inputs, one for each instance.
    pub inputs: Vec<TensorSpec>,
    /// Outputs; without a shape where inference decides.
    pub outputs: Vec<TensorSpec>,
    /// Shapes of the outputs as the source has them, for operators without shape inference; empty if it has none.
    pub output_shapes: Vec<Vec<u64>>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Files with the inputs' data and the right outputs, where a script made both.
    pub data: Option<ScriptData>,
    /// Whether its lengths are not those of the source.
    pub resized: bool,
    /// Whether it says nothing of an attribute that must be given, and another value stands for it.
    pub assumed: bool,
}

/// Data that came with a case.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptData {
    /// Content of every input.
    pub inputs: Vec<Array>,
    /// Right content of every output.
    pub outputs: Vec<Array>,
}

impl Candidate {
    /// One that nobody wrote.
    fn guessed(
        inputs: Vec<TensorSpec>,
        outputs: Vec<TensorSpec>,
        output_shapes: Vec<Vec<u64>>,
        attributes: Vec<Attribute>,
    ) -> Self {
        let (origin, place) = (Origin::Guess, String::new());
        Self { origin, place, inputs, outputs, output_shapes, attributes, data: None, resized: false, assumed: false }
    }

    /// Elements of all tensors whose shape is known.
    pub fn elements(&self) -> u64 {
        let given = self.inputs.iter().chain(&self.outputs).filter_map(|spec| spec.shape.as_ref());
        given.chain(&self.output_shapes).map(|shape| elements(shape)).fold(0, u64::saturating_add)
    }

    /// Whether an input has more than one element whose values mean nothing but themselves: else the outputs say how large the case is.
    pub(super) fn has_sized_input(&self) -> bool {
        let has_size = |input: &TensorSpec| {
            input.values.is_empty() && input.shape.as_deref().is_some_and(|shape| elements(shape) > 1)
        };
        self.inputs.iter().any(has_size)
    }

    /// Whether another case has the same tensors.
    pub fn same_tensors(&self, other: &Candidate) -> bool {
        (&self.inputs, &self.outputs, &self.output_shapes) == (&other.inputs, &other.outputs, &other.output_shapes)
    }

    /// Whether another case is the same call, wherever both come from.
    pub fn same_call(&self, other: &Candidate) -> bool {
        self.same_tensors(other) && self.attributes == other.attributes
    }

    /// The shape of the output of an operator that is told it by the values of an input: a list of whole numbers that the case has both as
    /// values and as shape, and that hold more than the list is long.
    pub(super) fn shape_in_values(&self) -> Option<&[u64]> {
        let [shape] = self.output_shapes.as_slice() else { return None };
        let is_shape = |input: &TensorSpec| {
            let listed = input.dtype.starts_with("int") && input.shape.as_deref() == Some(&[shape.len() as u64]);
            listed && input.values.iter().copied().eq(shape.iter().map(|length| *length as f64))
        };
        let told = self.inputs.iter().any(is_shape) && elements(shape) > shape.len() as u64;
        told.then_some(shape.as_slice())
    }

    /// The same with a dimension made longer, so that all tensors have about `wanted` elements; several ways to do it.
    pub fn larger(&self, wanted: u64) -> Vec<Candidate> {
        grow::larger(self, wanted)
    }

    /// The call of a tiling test with the shapes of its outputs left to inference: where that gives the same, it also knows those of other
    /// sizes. `None` where the call is none of those, or has no such shapes.
    pub(super) fn with_inferred_outputs(&self) -> Option<Candidate> {
        if self.origin != Origin::TilingTest || self.outputs.iter().any(|output| output.shape.is_none()) {
            return None;
        }
        let mut inferring = self.clone();
        inferring.output_shapes = inferring.outputs.iter_mut().filter_map(|output| output.shape.take()).collect();
        Some(inferring)
    }

    /// Why a fault that shows may be the case's and not the operator's; `None` where nothing speaks for that.
    pub fn doubt(&self) -> Option<&'static str> {
        let may_point = |input: &TensorSpec| input.values.is_empty() && input.dtype.contains("int");
        let drawn = self.data.is_none() && self.inputs.iter().any(may_point);
        match self.origin {
            Origin::DataScript | Origin::Definition if !self.resized => None,
            Origin::Guess => Some("nobody wrote this call"),
            _ if self.resized => Some("nobody wrote a call of these lengths"),
            Origin::TilingTest => Some("a tiling test runs no kernel, and its tensors need not be those of a call"),
            _ if self.assumed => {
                Some("an attribute that must be given is not in the call, and what stands for it was assumed")
            }
            _ if drawn => Some("its whole numbers are drawn, and need not be such as the operator is made for"),
            _ => None,
        }
    }

    /// Shapes and dtypes of the inputs, and where the case comes from.
    pub fn title(&self) -> String {
        let resized = if self.resized { " at another size" } else { "" };
        let inputs = self
            .inputs
            .iter()
            .map(|input| format!("{} {}", shape_text(input.shape.as_deref().unwrap_or_default()), input.dtype));
        format!("{} ({}{resized})", inputs.collect::<Vec<_>>().join(", "), self.origin.words())
    }
}

/// Elements of a shape, as far as they can be counted.
pub(crate) fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, &size| product.saturating_mul(size))
}

/// `8x2048`, or `scalar`.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// Whether an input or output may be left out.
fn is_optional(tensor: &DescribedTensor) -> bool {
    tensor.param.eq_ignore_ascii_case("optional")
}

/// Whether an input or output is a list.
fn is_dynamic(tensor: &DescribedTensor) -> bool {
    tensor.param.eq_ignore_ascii_case("dynamic")
}

/// Whether whole numbers of an input count or name elements.
fn is_index(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["ind", "idx", "offset", "axis", "axes", "pos", "table", "slot", "len", "dim", "map", "label"]
        .iter()
        .any(|part| name.contains(part))
}

/// Whether whole numbers of an input are places or sizes, so that they go with the shapes of the other tensors.
fn names_places(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let sizes = [
        "shape", "size", "pad", "stride", "perm", "repeat", "multiple", "begin", "end", "split", "seq", "target",
        "roi", "block",
    ];
    is_index(name) || sizes.iter().any(|part| lower.contains(part))
}

/// Whether values of a dtype are numbers between whole ones, or pairs of them.
fn is_real(dtype: &str) -> bool {
    ["float", "bfloat", "double", "complex"].iter().any(|kind| dtype.starts_with(kind))
}

/// Values that do no harm: integers may be indices, positions or counts.
pub fn value_range(name: &str, dtype: &str) -> ValueRange {
    let is_index = is_index(name);
    let name = name.to_ascii_lowercase();
    // A region of interest begins with the index of its image.
    let is_region = name.split('_').any(|word| matches!(word, "roi" | "rois"));
    match dtype {
        "bool" => ValueRange { low: 0.0, high: 2.0 },
        _ if is_region => ValueRange { low: 0.0, high: 1.0 },
        dtype if is_real(dtype) => ValueRange { low: -2.0, high: 2.0 },
        _ if is_index => ValueRange { low: 0.0, high: 2.0 },
        _ => ValueRange { low: 0.0, high: 8.0 },
    }
}
