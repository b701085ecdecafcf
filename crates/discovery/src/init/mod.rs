//! Writing a manifest from what the sources say.
//!
//! [`discover_sources`] works from text alone: the operator definition, the kernel entry, the tiling function and places that
//! look like tuning decisions. [`render`] writes the commented `ascend.toml`. What the runner reports about the compiled
//! operator ([`DescribedOps`]) takes precedence over what the text seems to say.

mod brought;
mod cases;
mod choose;
mod constraints;
mod entry;
mod operator;
mod render;
#[cfg(test)]
mod tests;
mod tunables;

use crate::cases::DescribedOps;
use manifest::{Attribute, Case, Layout};
use project::OperatorProject;
use source::SourceTree;
use space::Tunable;

pub use brought::{Brought, brought};
pub use choose::{case_of, choose, dtypes_without_cases, unfit, written};
pub use render::render;

/// Machine description of a new manifest.
pub const MACHINE: &str = source::arch::TARGET.machine;

/// A case and where it comes from, for the comment above it.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCase {
    /// The case.
    pub case: Case,
    /// Its source; empty to say nothing.
    pub source: String,
    /// Why a fault that shows may be its own, as [`Candidate::doubt`](crate::cases::Candidate::doubt) has it.
    pub doubt: Option<&'static str>,
}

/// A tensor of the operator definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundTensor {
    /// Name.
    pub name: String,
    /// Dtype names in the order of the definition.
    pub dtypes: Vec<String>,
    /// Whether it may be absent.
    pub optional: bool,
}

/// Everything that goes into a new manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovery {
    /// Shape of the project.
    pub layout: Layout,
    /// Operator chosen; for direct launch the name of the program's target.
    pub operator: String,
    /// All operators that the sources define.
    pub operators: Vec<String>,
    /// Kernel entry function.
    pub kernel: String,
    /// Tiling function, empty for none.
    pub tiling: String,
    /// Files that tuning may edit.
    pub sources: Vec<String>,
    /// Inputs of the operator.
    pub inputs: Vec<FoundTensor>,
    /// Outputs of the operator.
    pub outputs: Vec<FoundTensor>,
    /// Attributes with a value to start from.
    pub attributes: Vec<Attribute>,
    /// Cases to start from.
    pub cases: Vec<FoundCase>,
    /// Tunables with domain and reason.
    pub tunables: Vec<Tunable>,
    /// Conditions that every configuration must meet.
    pub constraints: Vec<String>,
    /// A reference beside the operator as it stands, if there is one that runs.
    pub reference: Option<FoundReference>,
    /// Remarks on the reference.
    pub reference_notes: Vec<String>,
    /// Remarks on CMake entries that were left alone.
    pub cmake_notes: Vec<String>,
    /// Remarks on the cases.
    pub case_notes: Vec<String>,
    /// Remarks on places that were looked at and left out.
    pub tunable_notes: Vec<String>,
}

/// What says which outputs are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundReference {
    /// A script of the authors that computes them.
    Script {
        /// File, relative to the operator's root.
        script: String,
        /// The Python that ran it.
        python: String,
    },
    /// The tool's own definition of the operator type.
    Definition {
        /// The Python that ran it.
        python: String,
    },
}

/// Why no manifest can be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InitError {
    /// Nothing that looks like an operator.
    #[error(
        "no operator found among {files} source files: neither a class derived from OpDef nor a tiling registration; \
         run init in the operator's directory"
    )]
    NoOperator {
        /// Files looked at.
        files: usize,
    },
    /// The operator asked for is not there.
    #[error("no operator `{wanted}` here, only {}", known.join(", "))]
    UnknownOperator {
        /// The name asked for.
        wanted: String,
        /// The names found.
        known: Vec<String>,
    },
    /// No kernel entry.
    #[error("no kernel entry (a `__global__` function) found for `{operator}`")]
    NoKernel {
        /// The operator.
        operator: String,
    },
    /// Nothing that could be compared.
    #[error(
        "`{operator}` defines neither an input nor an output: there is nothing to compare, so that it is not tuned here"
    )]
    NoOutput {
        /// The operator.
        operator: String,
    },
    /// Numbers that there is no data of.
    #[error("`{operator}` takes or gives `{tensor}` as {dtype} only; there is data of {}", known.join(", "))]
    DType {
        /// The operator.
        operator: String,
        /// The tensor.
        tensor: String,
        /// Its dtype.
        dtype: String,
        /// Dtypes that a manifest may have.
        known: Vec<&'static str>,
    },
    /// The built-in template cannot be rendered: a defect of this program.
    #[error("the built-in manifest template is broken: {message}")]
    Template {
        /// What the template engine says.
        message: String,
    },
}

/// Reads a project: its loaded sources and, for cache entries and the program's name, its `CMakeLists.txt`.
pub fn discover(
    project: &OperatorProject,
    sources: &SourceTree,
    operator: Option<&str>,
    described: Option<&DescribedOps>,
) -> Result<Discovery, InitError> {
    let mut tree = sources.clone();
    // An operator of a larger tree may have none; what it says is extra.
    if let Ok(text) = fs_err::read_to_string(project.root.join("CMakeLists.txt")) {
        tree.insert("CMakeLists.txt", text);
    }
    discover_sources(&tree, project.layout, operator, described)
}

/// Reads the sources. `operator` chooses among several; `described` is what the runner says about the compiled operators.
/// A `CMakeLists.txt` in the tree is read for cache entries and the program's name.
pub fn discover_sources(
    tree: &SourceTree,
    layout: Layout,
    operator: Option<&str>,
    described: Option<&DescribedOps>,
) -> Result<Discovery, InitError> {
    let sources = tunables::editable_files(tree);
    let direct = layout == Layout::DirectLaunch;
    let mut operators = if direct { entry::program_names(tree) } else { operator::operator_names(tree, &sources) };
    for op in described.iter().flat_map(|described| &described.ops) {
        if !operators.contains(&op.kind) {
            operators.push(op.kind.clone());
        }
    }
    let chosen = match operator {
        Some(wanted) if operators.iter().any(|known| known == wanted) => wanted.to_owned(),
        Some(wanted) => return Err(InitError::UnknownOperator { wanted: wanted.to_owned(), known: operators }),
        None => operators.first().cloned().ok_or(InitError::NoOperator { files: sources.len() })?,
    };
    let kernel =
        entry::kernel_entry(tree, &sources, &chosen).ok_or(InitError::NoKernel { operator: chosen.clone() })?;
    let tiling =
        if direct { String::new() } else { entry::tiling_function(tree, &sources, &chosen).unwrap_or_default() };

    let mut found = operator::definition(tree, &sources, &chosen);
    if let Some(op) = described.and_then(|described| described.ops.iter().find(|op| op.kind == chosen)) {
        found = operator::described(op);
    }
    let (cases, case_notes) =
        if direct { (vec![cases::program()], Vec::new()) } else { cases::for_operator(tree, &sources, &found) };
    let tuning = tunables::find(tree, &sources, layout);
    Ok(Discovery {
        layout,
        operator: chosen,
        operators,
        kernel,
        tiling,
        sources,
        inputs: found.inputs,
        outputs: found.outputs,
        attributes: found.attributes,
        cases: cases.into_iter().map(|case| FoundCase { case, source: String::new(), doubt: None }).collect(),
        tunables: tuning.tunables,
        constraints: tuning.constraints,
        cmake_notes: tuning.cmake_notes,
        case_notes,
        reference: None,
        reference_notes: Vec::new(),
        tunable_notes: tuning.notes,
    })
}
