//! NumPy's `.npy` files, as far as golden data need them: C order, little endian.

use super::DType;

/// An array read from a `.npy` file.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyArray {
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Raw little-endian elements.
    pub bytes: Vec<u8>,
}

/// Why a `.npy` file could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    /// Not such a file, or cut short.
    #[error("not a complete .npy file")]
    Malformed,
    /// An element type without counterpart.
    #[error("element type `{0}` is not supported; save as one of f2, f4, f8, i1 to i8, u1 to u8 or bool")]
    Dtype(String),
    /// Stored column by column.
    #[error("array is in Fortran order; save it with numpy.ascontiguousarray")]
    FortranOrder,
}

/// Reads the bytes of a `.npy` file.
pub fn parse_npy(file: &[u8]) -> Result<NpyArray, NpyError> {
    let major = *file.get(6).filter(|_| file.starts_with(b"\x93NUMPY")).ok_or(NpyError::Malformed)?;
    let (length, start) = if major == 1 {
        let bytes = file.get(8..10).ok_or(NpyError::Malformed)?;
        (usize::from(u16::from_le_bytes([bytes[0], bytes[1]])), 10)
    } else {
        let bytes = file.get(8..12).ok_or(NpyError::Malformed)?;
        (u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize, 12)
    };
    let data_start = start + length;
    let header =
        file.get(start..data_start).and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or(NpyError::Malformed)?;
    let descr = quoted_after(header, "'descr':").ok_or(NpyError::Malformed)?;
    let dtype = match descr {
        "<f2" => DType::Float16,
        "<f4" => DType::Float32,
        "<f8" => DType::Float64,
        "<c8" => DType::Complex64,
        "|i1" => DType::Int8,
        "|u1" => DType::Uint8,
        "<i2" => DType::Int16,
        "<u2" => DType::Uint16,
        "<i4" => DType::Int32,
        "<u4" => DType::Uint32,
        "<i8" => DType::Int64,
        "<u8" => DType::Uint64,
        "|b1" => DType::Bool,
        other => return Err(NpyError::Dtype(other.to_owned())),
    };
    if header.contains("'fortran_order': True") {
        return Err(NpyError::FortranOrder);
    }
    let shape_text = header
        .split_once("'shape':")
        .and_then(|(_, rest)| rest.split_once('('))
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(inside, _)| inside)
        .ok_or(NpyError::Malformed)?;
    let shape = shape_text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse::<u64>().map_err(|_| NpyError::Malformed))
        .collect::<Result<Vec<u64>, NpyError>>()?;
    let elements = shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim)).ok_or(NpyError::Malformed)?;
    let size = usize::try_from(elements)
        .ok()
        .and_then(|count| count.checked_mul(dtype.size_bytes()))
        .ok_or(NpyError::Malformed)?;
    let bytes = data_start.checked_add(size).and_then(|end| file.get(data_start..end)).ok_or(NpyError::Malformed)?;
    Ok(NpyArray { dtype, shape, bytes: bytes.to_vec() })
}

fn quoted_after<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(key)?;
    let (_, rest) = rest.split_once('\'')?;
    rest.split_once('\'').map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn reads_shape_dtype_and_data() {
        let array = parse_npy(&file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }", &[0; 8]));
        assert_eq!(array, Ok(NpyArray { dtype: DType::Float32, shape: vec![2, 1], bytes: vec![0; 8] }));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(parse_npy(b"PK"), Err(NpyError::Malformed));
        let short = file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", &[0; 8]);
        assert_eq!(parse_npy(&short), Err(NpyError::Malformed));
        let complex = file("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", &[0; 16]);
        assert_eq!(parse_npy(&complex), Err(NpyError::Dtype("<c16".to_owned())));
        let fortran = file("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", &[0; 8]);
        assert_eq!(parse_npy(&fortran), Err(NpyError::FortranOrder));
    }
}
