//! Words of programs that call AscendCL: dtypes.

/// Dtype of an AscendCL enumerator.
pub(super) fn dtype_of(word: &str) -> Option<String> {
    let name = word.strip_prefix("ACL_")?;
    Some(
        match name {
            "FLOAT" => "float32",
            "FLOAT16" => "float16",
            "BF16" => "bfloat16",
            "DOUBLE" => "float64",
            "BOOL" => "bool",
            "INT4" => "DT_INT4",
            "INT8" => "int8",
            "UINT8" => "uint8",
            "INT16" => "int16",
            "UINT16" => "uint16",
            "INT32" => "int32",
            "UINT32" => "uint32",
            "INT64" => "int64",
            "UINT64" => "uint64",
            "COMPLEX64" => "complex64",
            _ => return None,
        }
        .to_owned(),
    )
}
