//! The JSON schema of `ascend.toml`, made from the types that it is read by.

use schemars::{Schema, schema_for};

use super::wire::WireManifest;

/// The schema, for editors and for whoever writes manifests by program. It says which keys there are and of which kind; what goes
/// together is found out by reading.
pub fn schema() -> Schema {
    let mut schema = schema_for!(WireManifest);
    schema.insert("title".to_owned(), "ascend.toml".into());
    schema
}
