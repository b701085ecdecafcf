//! `ascend.toml`: schema, defaults, validation with line and column.
//!
//! Two layers: `wire` is what may be written, [`Manifest`] is what everything else works with. Everything that is
//! wrong is found in one go, and each finding points at its bytes in the file.

mod allow;
mod cann;
mod finding;
mod keys;
mod model;
mod schema;
mod spanned;
mod stands_for;
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod valid;
mod validate;
mod wire;

use std::path::Path;

pub use allow::Allowance;
pub use cann::DeviceSettings;
pub use finding::{Finding, InvalidManifest, ManifestError};
pub use model::{MODEL_KEY_VARIABLE, MODEL_ROLES, MODEL_TOOLS, ModelSettings, ProposerSettings, host_of};
pub use schema::schema;
pub use stands_for::SizeRange;
pub use valid::{
    Attribute, Case, HazardPolicy, KernelHeaders, Layout, Manifest, Reference, TensorSpec, Tolerance, ValueRange,
};

pub use validate::DTYPE_NAMES;

use space::CaseFacts;

/// Name of the file.
pub const FILE_NAME: &str = "ascend.toml";

impl Manifest {
    /// Reads and validates a manifest.
    pub fn load(path: &Path) -> Result<Self, ManifestError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ManifestError::Unreadable { path: path.to_owned(), message: error.to_string() })?;
        Ok(Self::parse(&text, path)?)
    }

    /// Validates the text of a manifest; `path` is only for messages and for [`Manifest::path`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, InvalidManifest> {
        let invalid =
            |findings: Vec<Finding>| InvalidManifest { path: path.to_owned(), text: text.to_owned(), findings };
        let from_toml = |error: &toml::de::Error| Finding {
            span: error.span().unwrap_or(0..0),
            message: error.message().to_owned(),
            help: String::new(),
        };
        let (document, errors) = toml::de::DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            return Err(invalid(errors.iter().map(from_toml).collect()));
        }
        let unknown = keys::unknown_keys(document.get_ref());
        if !unknown.is_empty() {
            return Err(invalid(unknown));
        }
        let wire = toml::from_str(text).map_err(|error| invalid(vec![from_toml(&error)]))?;
        validate::validate(path, wire).map_err(invalid)
    }
}

impl Case {
    /// Elements of the first input; `None` where there is none with a shape.
    pub fn elements(&self) -> Option<u64> {
        let shape = self.inputs.first()?.shape.as_ref()?;
        Some(shape.iter().fold(1, |product: u64, dimension| product.saturating_mul(*dimension)))
    }

    /// Facts for constraints: those of the machine, and of the first input (the first output where there is none) its
    /// `n`, `rank`, `dim0`.. and `dtype_bytes`; integer attributes as `attr_NAME`.
    pub fn facts(&self, cores: u32, ub_bytes: u64) -> CaseFacts {
        let mut facts = CaseFacts::of_machine(&self.name, cores, ub_bytes);
        if let Some(tensor) = self.inputs.first().or(self.outputs.first())
            && let Some(shape) = &tensor.shape
        {
            let known = validate::DTYPES.iter().find(|(name, _)| *name == tensor.dtype);
            facts = facts.with_tensor(shape, known.map_or(1, |(_, bytes)| *bytes));
        }
        for attribute in &self.attributes {
            if let Ok(value) = attribute.value.parse() {
                facts.set(format!("attr_{}", attribute.name), value);
            }
        }
        facts
    }
}
