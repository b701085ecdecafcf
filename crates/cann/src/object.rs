//! The pair that a kernel build leaves: an object file, and the text that says how to launch it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Which cores an object is for; the word that the runtime loads it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magic {
    /// Cube and vector cores together.
    Mixed,
    /// Vector cores.
    Vector,
    /// Cube cores.
    Cube,
}

impl Magic {
    const ALL: [Magic; 3] = [Magic::Mixed, Magic::Vector, Magic::Cube];
    /// How every word begins.
    pub(crate) const BEGINNING: &str = "RT_DEV_BINARY_MAGIC_ELF";

    /// The toolkit's word.
    pub fn word(self) -> &'static str {
        match self {
            Magic::Mixed => "RT_DEV_BINARY_MAGIC_ELF",
            Magic::Vector => "RT_DEV_BINARY_MAGIC_ELF_AIVEC",
            Magic::Cube => "RT_DEV_BINARY_MAGIC_ELF_AICUBE",
        }
    }
}

/// A kernel object as a build left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelObject {
    /// The object file.
    pub path: PathBuf,
    /// Name of its kernel, without a tiling key.
    pub kernel_name: String,
    /// Symbols by tiling key; empty where the text lists none.
    pub symbols: BTreeMap<u64, String>,
    /// Which cores it is for.
    pub magic: Magic,
    /// Bytes of tiling data that it takes.
    pub tiling_bytes: u64,
    /// Whether its cores wait for each other, so that a launch takes the address of their flags.
    pub intercore_sync: bool,
    /// Dtypes of its inputs; empty where the text does not tell.
    pub dtypes: Vec<String>,
}

/// A pair that does not say how to launch it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct ObjectError {
    /// The file at fault.
    pub path: PathBuf,
    /// What is wrong with it.
    pub message: String,
}

/// The text's fields that are read; others come and go between versions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    bin_file_name: String,
    #[serde(default = "suffix")]
    bin_file_suffix: String,
    kernel_name: String,
    #[serde(default)]
    kernel_list: Vec<Listed>,
    magic: String,
    #[serde(default)]
    op_para_size: u64,
    #[serde(default)]
    intercore_sync: u64,
    #[serde(default)]
    support_info: serde_json::Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    kernel_name: String,
}

fn suffix() -> String {
    ".o".to_owned()
}

impl KernelObject {
    /// Reads the text of a pair. The object is the file beside it that the text names.
    ///
    /// # Errors
    /// Where the text cannot be read, lacks what a launch needs, or names an object that is not there or empty.
    pub fn read(text: &Path) -> Result<Self, ObjectError> {
        let fail = |path: &Path, message: String| ObjectError { path: path.to_owned(), message };
        let content = fs_err::read(text).map_err(|error| fail(text, error.to_string()))?;
        let described: Described =
            serde_json::from_slice(&content).map_err(|error| fail(text, format!("it is no launch text: {error}")))?;
        let magic = Magic::ALL.into_iter().find(|magic| magic.word() == described.magic);
        let magic = magic.ok_or_else(|| fail(text, format!("magic = {:?} is not known", described.magic)))?;
        let path = text.with_file_name(format!("{}{}", described.bin_file_name, described.bin_file_suffix));
        match fs_err::metadata(&path) {
            Ok(found) if found.len() > 0 => {}
            Ok(_) => return Err(fail(&path, "the kernel object is empty: its build did not end well".to_owned())),
            Err(error) => return Err(fail(&path, format!("the kernel object is missing: {error}"))),
        }
        let key = |listed: Listed| {
            let key = listed.kernel_name.strip_prefix(&described.kernel_name)?.strip_prefix('_')?.parse().ok()?;
            Some((key, listed.kernel_name))
        };
        Ok(Self {
            path,
            symbols: described.kernel_list.into_iter().filter_map(key).collect(),
            kernel_name: described.kernel_name,
            magic,
            tiling_bytes: described.op_para_size,
            intercore_sync: described.intercore_sync != 0,
            dtypes: dtypes(&described.support_info),
        })
    }

    /// Whether it is for inputs of these dtypes; some of its own may be left out. One that does not tell is for all.
    pub fn fits(&self, dtypes: &[&str]) -> bool {
        let mut own = self.dtypes.iter();
        self.dtypes.is_empty() || dtypes.iter().all(|wanted| own.any(|known| same_dtype(known, wanted)))
    }
}

fn same_dtype(left: &str, right: &str) -> bool {
    let plain = |name: &str| match name.trim_start_matches("DT_").to_ascii_lowercase().as_str() {
        "float" => "float32".to_owned(),
        "bf16" => "bfloat16".to_owned(),
        "double" => "float64".to_owned(),
        other => other.to_owned(),
    };
    plain(left) == plain(right)
}

/// Dtypes of the inputs that an object says it supports. A list of tensors stands as a list; what is absent, as nothing.
fn dtypes(support: &serde_json::Value) -> Vec<String> {
    let inputs = support["inputs"].as_array().into_iter().flatten();
    let first = |input: &serde_json::Value| input.as_array().and_then(|list| list.first()).unwrap_or(input).clone();
    inputs.filter_map(|input| Some(first(input)["dtype"].as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::{KernelObject, Magic};

    const TEXT: &str = r#"{"binFileName":"ScaleAdd_ab12","binFileSuffix":".o","kernelName":"ScaleAdd_ab12",
        "kernelList":[{"kernelName":"ScaleAdd_ab12_1"},{"kernelName":"ScaleAdd_ab12_21"}],"blockDim":-1,
        "magic":"RT_DEV_BINARY_MAGIC_ELF_AIVEC","opParaSize":32,"coreType":"VectorCore","sha256":"0"}"#;

    #[test]
    fn a_pair_says_how_to_launch_it() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("ScaleAdd_ab12.json");
        fs_err::write(&text, TEXT).unwrap();
        let missing = KernelObject::read(&text).unwrap_err().to_string();
        assert!(missing.contains("the kernel object is missing"), "{missing}");

        let object = folder.path().join("ScaleAdd_ab12.o");
        fs_err::write(&object, "").unwrap();
        assert!(KernelObject::read(&text).unwrap_err().to_string().contains("is empty"));

        fs_err::write(&object, "ELF").unwrap();
        let read = KernelObject::read(&text).unwrap();
        assert_eq!((read.path, read.magic, read.tiling_bytes), (object, Magic::Vector, 32));
        assert_eq!(
            read.symbols.into_iter().collect::<Vec<_>>(),
            [(1, "ScaleAdd_ab12_1".to_owned()), (21, "ScaleAdd_ab12_21".to_owned())]
        );
        assert!(!read.intercore_sync);
        assert!(read.fits(&["float16"]), "what does not tell is for all");

        let told = r#""supportInfo":{"inputs":[{"dtype":"float16"},null,[{"dtype":"float32"}]]},"sha256""#;
        fs_err::write(&text, TEXT.replace("\"sha256\"", told)).unwrap();
        let read = KernelObject::read(&text).unwrap();
        assert_eq!(read.dtypes, ["float16", "float32"]);
        assert!(read.fits(&["float16", "float"]) && read.fits(&["DT_FLOAT"]));
        assert!(!read.fits(&["float32", "float16"]) && !read.fits(&["int8"]));
    }

    #[test]
    fn a_text_of_something_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("x.json");
        fs_err::write(&text, TEXT.replace("ELF_AIVEC", "COFF")).unwrap();
        assert!(KernelObject::read(&text).unwrap_err().to_string().contains("magic = \"RT_DEV_BINARY_MAGIC_COFF\""));
    }
}
