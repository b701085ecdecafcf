//! Plain data: calls of tiling functions, and what tests say about them.

use serde::Deserialize;

use manifest::Attribute;

/// A tensor of an example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TensorExample {
    /// Dtype name as manifests have it (`float16`); others keep their own (`DT_INT4`).
    pub dtype: String,
    /// Format name (`ND`).
    pub format: String,
    /// Dimensions as the operator's author writes them (origin shape); negative ones are unknown.
    pub shape: Vec<i64>,
    /// Dimensions in memory; the same as `shape` for most formats.
    #[serde(default)]
    pub storage_shape: Vec<i64>,
    /// Raw little-endian content where the tiling function may look at values (const inputs), as hexadecimal digits.
    #[serde(default)]
    pub const_hex: Option<String>,
}

/// The machine that a test describes; `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ExamplePlatform {
    /// Short name of the chip: `Ascend910B`.
    #[serde(default)]
    pub soc: Option<String>,
    /// Architecture number: 2201.
    #[serde(default)]
    pub architecture: Option<u32>,
    /// Cores.
    #[serde(default)]
    pub cores: Option<u64>,
    /// Bytes of the unified buffer.
    #[serde(default)]
    pub ub_bytes: Option<u64>,
}

/// What a test expects of one call; `None` where it does not look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Expected {
    /// Whether the tiling function accepts the call.
    #[serde(default)]
    pub success: Option<bool>,
    /// Tiling key.
    #[serde(default)]
    pub tiling_key: Option<u64>,
    /// Tiling data as the test prints it.
    #[serde(default)]
    pub tiling_data: Option<String>,
    /// Workspace sizes in bytes.
    #[serde(default)]
    pub workspaces: Option<Vec<u64>>,
    /// Blocks.
    #[serde(default)]
    pub block_dim: Option<u64>,
}

/// What the tiling function decided here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TilingOutcome {
    /// Whether it accepted the call.
    pub success: bool,
    /// Tiling key.
    #[serde(default)]
    pub tiling_key: u64,
    /// Blocks.
    #[serde(default)]
    pub block_dim: u64,
    /// Workspace sizes in bytes.
    #[serde(default)]
    pub workspaces: Vec<u64>,
    /// Tiling data, hexadecimal digits.
    #[serde(default)]
    pub tiling_hex: String,
}

/// One call of a tiling function that a test makes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct TilingExample {
    /// Test file, relative to the operator's root.
    #[serde(default)]
    pub file: String,
    /// Line of the test, from 1.
    #[serde(default)]
    pub line: u32,
    /// Operator type.
    pub operator: String,
    /// Inputs that are passed, in order.
    pub inputs: Vec<TensorExample>,
    /// How many of them each input of the definition takes: 0 for one that is left out, more than 1 for a list.
    #[serde(default)]
    pub input_instances: Vec<u32>,
    /// Outputs in order.
    pub outputs: Vec<TensorExample>,
    /// How many of them each output of the definition takes.
    #[serde(default)]
    pub output_instances: Vec<u32>,
    /// Attributes in order.
    #[serde(default)]
    pub attributes: Vec<Attribute>,
    /// The machine meant.
    #[serde(default)]
    pub platform: ExamplePlatform,
    /// What the test expects.
    #[serde(default)]
    pub expected: Expected,
    /// What came out here; `None` where the call ended the process.
    #[serde(default)]
    pub outcome: Option<TilingOutcome>,
}

/// A disagreement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Difference {
    /// Line of the test that looks, from 1.
    #[serde(default)]
    pub line: u32,
    /// What is compared, in the words of the test.
    pub what: String,
    /// Value the test wants.
    pub expected: String,
    /// Value here.
    pub got: String,
}

/// What became of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Everything it checks holds.
    Agreement,
    /// Something does not.
    Difference(Vec<Difference>),
    /// It is about another machine, as it says itself.
    OtherMachine(String),
    /// It names no chip, fails on ours and holds on this other one: it says nothing about ours, for or against.
    HeldElsewhere(String),
    /// It ended the process: a crash or a time limit.
    Crashed(String),
    /// It does not compile or link here, with the first message.
    NotBuilt(String),
}

/// One test and the calls it makes.
#[derive(Clone, Debug, PartialEq)]
pub struct TilingTest {
    /// Suite and name: `AddTiling.add_float16`.
    pub name: String,
    /// Test file, relative to the operator's root.
    pub file: String,
    /// Line of its head, from 1.
    pub line: u32,
    /// Calls of tiling functions, in order.
    pub examples: Vec<TilingExample>,
    /// The verdict.
    pub verdict: Verdict,
}
