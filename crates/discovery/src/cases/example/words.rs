//! Words of programs that call AscendCL: numbers and dtypes.

/// A number of C++: `0x3C00`, `1e-5f`, `10UL`.
pub(super) fn literal(word: &str) -> Option<f64> {
    let plain = word.replace('\'', "");
    if let Some(digits) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        return i64::from_str_radix(digits.trim_end_matches(['u', 'U', 'l', 'L']), 16).ok().map(|value| value as f64);
    }
    let plain = plain.trim_end_matches(['u', 'U', 'l', 'L', 'f', 'F']);
    plain.starts_with(|first: char| first.is_ascii_digit() || first == '.').then(|| plain.parse().ok())?
}

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
