//! Requests and answers, as `templates/cann/launcher.cpp` reads and writes them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fault::{DeviceFault, LaunchFailure};
use crate::object::{KernelObject, Magic};

/// What the device is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// Full name of the chip.
    pub soc: String,
    /// Cube cores; 0 where AscendCL does not tell.
    #[serde(default)]
    pub cube_cores: u32,
    /// Vector cores; 0 where AscendCL does not tell.
    #[serde(default)]
    pub vector_cores: u32,
    /// Bytes of L2 cache; 0 where AscendCL does not tell.
    #[serde(default)]
    pub l2_bytes: u64,
    /// The function that launches.
    #[serde(default)]
    pub launch: String,
}

/// An object to load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadRequest {
    /// Name that jobs call it by.
    pub id: String,
    /// The file.
    pub object: PathBuf,
    /// The word of its kind of cores, as AscendCL's headers number it.
    pub magic: u32,
    /// Symbol of the kernel.
    pub symbol: String,
    /// Key that selects it where the symbol is not found.
    pub tiling_key: u64,
}

impl LoadRequest {
    /// A request for the kernel of a tiling key.
    pub fn of(id: String, object: &KernelObject, tiling_key: u64) -> Self {
        let symbol = object.symbols.get(&tiling_key).unwrap_or(&object.kernel_name).clone();
        let magic = match object.magic {
            Magic::Mixed => 0x4355_4245,
            Magic::Vector => 0x4141_5246,
            Magic::Cube => 0x4149_4343,
        };
        Self { id, object: object.path.clone(), magic, symbol, tiling_key }
    }
}

/// An output of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchOutput {
    /// Its bytes.
    pub bytes: u64,
    /// Where they go; empty for nowhere.
    pub file: PathBuf,
    /// The input that it is, by its place among all tensors of inputs; -1 for none.
    pub in_place: i64,
    /// Bytes of one element, in hexadecimal, that it is filled with before the first launch; empty for nothing.
    pub initial: String,
}

/// An input of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LaunchInput {
    /// File with its bytes.
    File(PathBuf),
    /// So many bytes whose values nobody looks at.
    Bytes(u64),
}

/// What one parameter of a kernel is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LaunchParameter<Tensor> {
    /// The address of a tensor.
    Tensor(Tensor),
    /// The address of a list of tensors, with their shapes.
    List(Vec<Listed<Tensor>>),
}

impl<Tensor> LaunchParameter<Tensor> {
    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }

    /// Its tensors.
    pub fn tensors(&self) -> Vec<&Tensor> {
        match self {
            Self::Tensor(tensor) => vec![tensor],
            Self::List(list) => list.iter().map(|listed| &listed.tensor).collect(),
        }
    }
}

/// A tensor of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed<Tensor> {
    /// Its dimensions, which kernels read from the list.
    pub shape: Vec<u64>,
    /// The tensor.
    pub tensor: Tensor,
}

/// A launch of a loaded object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchJob {
    /// Name of the object.
    pub id: String,
    /// Cores.
    pub blocks: u32,
    /// Whether the first parameter is the address of the flags between cores.
    pub sync_address: bool,
    /// Inputs; `None` for one that is left out.
    pub inputs: Vec<Option<LaunchParameter<LaunchInput>>>,
    /// Outputs; `None` for one that is left out.
    pub outputs: Vec<Option<LaunchParameter<LaunchOutput>>>,
    /// Bytes of workspace.
    pub workspace: u64,
    /// Tiling data in hexadecimal.
    pub tiling: String,
    /// Byte that unwritten memory is filled with.
    pub poison: u8,
}

/// Launches to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunRequest {
    /// What is launched. Each runs once for its outputs.
    pub jobs: Vec<LaunchJob>,
    /// Places of the jobs in the order in which they are timed; empty for no times.
    pub order: Vec<usize>,
    /// Launches before that.
    pub warm_up: u32,
    /// Microseconds that these take at least.
    pub warm_up_us: u32,
    /// Bytes written before every timed launch, so that nothing is left in the L2 cache; 0 for none.
    pub flush_bytes: u64,
    /// Copies of the tensors that launches take turns through.
    pub rotate: u32,
    /// Milliseconds that one launch may take.
    pub timeout_ms: u32,
}

/// A request as a line.
pub(super) fn line(what: &str, request: Option<&impl Serialize>) -> Result<String, LaunchFailure> {
    let garbled = |error: serde_json::Error| LaunchFailure::Garbled(error.to_string());
    let mut value = match request {
        Some(request) => serde_json::to_value(request).map_err(garbled)?,
        None => serde_json::json!({}),
    };
    value["do"] = what.into();
    Ok(format!("{value}\n"))
}

/// Whether a line is an answer: libraries that the launcher loads print on the same stream.
pub(super) fn is_answer(line: &str) -> bool {
    line.starts_with("{\"ok\":")
}

#[derive(Deserialize)]
struct Answer<Body> {
    ok: bool,
    #[serde(default)]
    stage: String,
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(flatten)]
    body: Option<Body>,
}

/// Body of an answer.
pub(super) fn answer<Body: for<'de> Deserialize<'de>>(line: &str) -> Result<Body, LaunchFailure> {
    let garbled = || LaunchFailure::Garbled(line.trim().to_owned());
    let answer: Answer<Body> = serde_json::from_str(line).map_err(|_| garbled())?;
    if !answer.ok {
        let fault = DeviceFault::of(answer.code);
        return Err(LaunchFailure::Device { stage: answer.stage, code: answer.code, message: answer.message, fault });
    }
    answer.body.ok_or_else(garbled)
}

/// Times of a run, job by job.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Times {
    /// Microseconds in the order in which they were taken.
    pub times_us: Vec<Vec<f64>>,
}

/// An answer without anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Nothing {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_single_lines() {
        let load = LoadRequest {
            id: "a".to_owned(),
            object: "/x \"y\"\n.o".into(),
            magic: 7,
            symbol: "k_1".to_owned(),
            tiling_key: u64::MAX,
        };
        let text = line("load", Some(&load)).unwrap();
        assert_eq!(text.matches('\n').count(), 1);
        let expected = r#"{"do":"load","id":"a","magic":7,"object":"/x \"y\"\n.o","symbol":"k_1","tiling_key":18446744073709551615}"#;
        assert_eq!(text.trim_end(), expected);
        assert_eq!(line("hello", None::<&LoadRequest>).unwrap(), "{\"do\":\"hello\"}\n");
    }

    #[test]
    fn lists_of_tensors_are_lists() {
        let one = LaunchParameter::Tensor(LaunchInput::File("/a.bin".into()));
        let listed = |shape: &[u64]| Listed { shape: shape.to_vec(), tensor: LaunchInput::Bytes(8) };
        let list = LaunchParameter::List(vec![listed(&[2, 4]), listed(&[])]);
        let text = serde_json::to_string(&[Some(one), None, Some(list)]).unwrap();
        assert_eq!(text, r#"["/a.bin",null,[{"shape":[2,4],"tensor":8},{"shape":[],"tensor":8}]]"#);
    }

    #[test]
    fn answers_are_told_from_what_libraries_print() {
        assert!(!is_answer("[INFO] ACL started"));
        assert!(is_answer("{\"ok\":true}"));
        assert_eq!(answer::<Nothing>("{\"ok\":true}").unwrap(), Nothing {});
        assert_eq!(answer::<Times>("{\"ok\":true,\"times_us\":[[1.5],[]]}").unwrap().times_us, [vec![1.5], vec![]]);
        let hello: Hello = answer("{\"ok\":true,\"soc\":\"Ascend910B2\",\"cube_cores\":24}").unwrap();
        assert_eq!((hello.soc.as_str(), hello.cube_cores, hello.l2_bytes), ("Ascend910B2", 24, 0));
        assert!(matches!(answer::<Times>("{\"ok\":true}"), Err(LaunchFailure::Garbled(_))));
    }

    #[test]
    fn refusals_have_a_stage_a_code_and_words() {
        let text = "{\"ok\":false,\"stage\":\"running the kernel\",\"code\":507015,\"message\":\"[FUNC:X] fault\"}";
        let failure = answer::<Times>(text).unwrap_err();
        assert_eq!(failure.to_string(), "running the kernel failed with code 507015: [FUNC:X] fault");
        assert_eq!(failure.fault(), DeviceFault::Exception);
    }
}
