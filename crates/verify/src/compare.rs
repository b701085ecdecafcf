//! Comparison of outputs with a reference, element by element; the parts of complex numbers count as elements.

use std::fmt;

use super::DType;
use super::Tolerance;

/// How well two outputs agree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Largest absolute difference of finite elements.
    pub largest_absolute: f64,
    /// Largest relative difference of finite elements.
    pub largest_relative: f64,
}

/// The first element that is out of tolerance, and how many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Index of the first wrong element.
    pub index: usize,
    /// What the reference has there.
    pub expected: f64,
    /// What came out.
    pub actual: f64,
    /// Number of wrong elements.
    pub wrong: usize,
    /// Number of elements compared.
    pub elements: usize,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} of {} elements differ, the first at index {}: expected {:e}, got {:e}",
            self.wrong, self.elements, self.index, self.expected, self.actual
        )
    }
}

/// How far an output is from another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Elements that differ; where the lengths do, all of the longer one.
    pub differing: usize,
    /// Elements of the longer one.
    pub elements: usize,
    /// Where they differ most.
    pub index: usize,
    /// What was there.
    pub before: f64,
    /// What is there now.
    pub now: f64,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} of {} elements differ, most at index {}: {:e} was locked, now {:e} (off by {:e})",
            self.differing,
            self.elements,
            self.index,
            self.before,
            self.now,
            (self.now - self.before).abs()
        )
    }
}

/// How far an output is from an earlier one, with the element that is farthest off; `None` if they are the same.
pub fn largest_difference(now: &[u8], before: &[u8], dtype: DType) -> Option<Difference> {
    let dtype = dtype.part();
    let size = dtype.size_bytes();
    let elements = now.len().max(before.len()) / size;
    if now == before {
        return None;
    }
    let mut found = Difference { differing: 0, elements, index: 0, before: f64::NAN, now: f64::NAN };
    if now.len() != before.len() {
        found.index = now.len().min(before.len()) / size;
        return Some(Difference { differing: elements, ..found });
    }
    let mut farthest = f64::NEG_INFINITY;
    each_difference(now, before, size, |index, now, before| {
        found.differing += 1;
        let (now, before) = (dtype.decode_bits(now), dtype.decode_bits(before));
        let off = (now - before).abs();
        // What is no number is farther off than any number.
        let off = if off.is_nan() { f64::INFINITY } else { off };
        if off > farthest {
            farthest = off;
            (found.index, found.before, found.now) = (index, before, now);
        }
    });
    Some(found)
}

/// Calls `look` with the index of each element that is another one, and its bytes in both, as the low ones of a word. Most elements of
/// most outputs are the same: they are passed over many at a time, and the others are compared as words of their size.
fn each_difference(left: &[u8], right: &[u8], size: usize, mut look: impl FnMut(usize, u64, u64)) {
    /// Elements that are looked at one by one where any of them differs.
    const TOGETHER: usize = 1024;
    fn of<const SIZE: usize>(left: &[u8], right: &[u8], look: &mut impl FnMut(usize, u64, u64)) {
        let parts = left.as_chunks().0.chunks(TOGETHER).zip(right.as_chunks().0.chunks(TOGETHER));
        for (part, (left, right)) in parts.enumerate() {
            if left.as_flattened() == right.as_flattened() {
                continue;
            }
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                if left != right {
                    look(part * TOGETHER + index, word::<SIZE>(left), word::<SIZE>(right));
                }
            }
        }
    }
    match size {
        1 => of::<1>(left, right, &mut look),
        2 => of::<2>(left, right, &mut look),
        4 => of::<4>(left, right, &mut look),
        _ => of::<8>(left, right, &mut look),
    }
}

fn word<const SIZE: usize>(element: &[u8; SIZE]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..SIZE].copy_from_slice(element);
    u64::from_le_bytes(bytes)
}

/// The largest finite size of an element.
fn largest(bytes: &[u8], dtype: DType) -> f64 {
    fn of<const SIZE: usize>(bytes: &[u8], dtype: DType) -> f64 {
        let values = bytes.as_chunks().0.iter().map(|element| dtype.decode_bits(word::<SIZE>(element)).abs());
        values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    }
    match dtype.size_bytes() {
        1 => of::<1>(bytes, dtype),
        2 => of::<2>(bytes, dtype),
        4 => of::<4>(bytes, dtype),
        _ => of::<8>(bytes, dtype),
    }
}

/// Tolerance of a dtype where the manifest gives none: a few units in the last place for floats, exact for integers.
pub fn default_tolerance(dtype: DType) -> Tolerance {
    match dtype.part() {
        // The limits that the vendor's own operator tests use: 1e-3 for half, 1e-4 for single; twice that of half's
        // resolution for bfloat16, whose mantissa has three bits fewer.
        DType::Float16 => Tolerance { absolute: 1e-3, relative: 1e-3 },
        DType::Bfloat16 => Tolerance { absolute: 4e-3, relative: 4e-3 },
        DType::Float32 => Tolerance { absolute: 1e-5, relative: 1e-4 },
        _ => Tolerance { absolute: 0.0, relative: 0.0 },
    }
}

/// The same for an output that should be `expected`: where all its values are small, so is what they may be off by. Otherwise
/// nothing but zeros would pass for gradients of a millionth.
pub fn default_tolerance_of(dtype: DType, expected: &[u8]) -> Tolerance {
    narrowed(default_tolerance(dtype), dtype, expected)
}

/// A tolerance for an output that should be `expected`: its absolute part is for values of 1 and above.
pub fn narrowed(tolerance: Tolerance, dtype: DType, expected: &[u8]) -> Tolerance {
    if tolerance.absolute == 0.0 {
        return tolerance;
    }
    Tolerance { absolute: tolerance.absolute * largest(expected, dtype.part()).min(1.0), ..tolerance }
}

/// Tolerance of an output that is computed from inputs of these dtypes: its own, or that of the coarsest of them, which a wider
/// output does not make finer.
pub fn tolerance_from(output: DType, inputs: impl Iterator<Item = DType>) -> Tolerance {
    let own = default_tolerance(output);
    if own.relative == 0.0 {
        return own;
    }
    inputs.map(default_tolerance).fold(own, |widest, one| if one.relative > widest.relative { one } else { widest })
}

/// Compares an output with one that comes with how far each element may be off: not at all without bounds, by anything where the
/// bound is infinite. NaN equals NaN, zeros equal each other; infinities must match in sign.
pub fn compare_within(actual: &[u8], expected: &[u8], dtype: DType, bounds: Option<&[f32]>) -> Result<(), Mismatch> {
    let dtype = dtype.part();
    let size = dtype.size_bytes();
    let elements = expected.len() / size;
    let same_length = actual.len() == expected.len() && bounds.is_none_or(|bounds| bounds.len() == elements);
    if !same_length {
        let index = actual.len().min(expected.len()) / size;
        return Err(Mismatch { index, expected: f64::NAN, actual: f64::NAN, wrong: elements, elements });
    }
    let mut first: Option<Mismatch> = None;
    each_difference(actual, expected, size, |index, got, want| {
        let bound = bounds.map_or(0.0, |bounds| f64::from(bounds[index]));
        if bound == f64::INFINITY {
            return;
        }
        let (actual, expected) = (dtype.decode_bits(got), dtype.decode_bits(want));
        // Large integers that differ may decode to the same number.
        let equal = actual == expected && dtype.is_float();
        let near = (actual - expected).abs() <= bound && bound > 0.0;
        if equal || near || actual.is_nan() && expected.is_nan() {
            return;
        }
        match &mut first {
            Some(mismatch) => mismatch.wrong += 1,
            None => first = Some(Mismatch { index, expected, actual, wrong: 1, elements }),
        }
    });
    first.map_or(Ok(()), Err)
}

/// What sums of the same terms in single precision may be apart, over the sum of their sizes: sixteen units of rounding, which is what
/// hundreds of terms in another order come to. A term that was left out is more, unless there are a million like it.
const REORDERED: f64 = 1.0 / (1 << 20) as f64;

/// Compares two outputs whose elements are sums: they may be apart as another order of their terms makes them, where that is more than the
/// tolerance, as it is where terms nearly cancel. `terms` is the sum of the sizes of an element's terms.
pub fn compare_reordered(
    actual: &[u8],
    expected: &[u8],
    dtype: DType,
    tolerance: Tolerance,
    terms: impl Fn(usize) -> f64,
) -> Result<(), Mismatch> {
    let part = dtype.part();
    let apart = |(index, bytes): (usize, &[u8])| {
        let value = part.decode(bytes).abs();
        let tolerated = tolerance.absolute + tolerance.relative * value;
        if value.is_finite() { tolerated.max(REORDERED * terms(index)) as f32 } else { 0.0 }
    };
    let bounds: Vec<f32> = expected.chunks_exact(part.size_bytes()).enumerate().map(apart).collect();
    compare_within(actual, expected, dtype, Some(&bounds))
}

/// Compares two outputs of the same dtype. NaN equals NaN; infinities must match in sign.
pub fn compare(actual: &[u8], expected: &[u8], dtype: DType, tolerance: Tolerance) -> Result<Agreement, Mismatch> {
    let dtype = dtype.part();
    let size = dtype.size_bytes();
    let elements = expected.len() / size;
    if actual.len() != expected.len() {
        return Err(Mismatch {
            index: actual.len().min(expected.len()) / size,
            expected: f64::NAN,
            actual: f64::NAN,
            wrong: elements,
            elements,
        });
    }
    let mut agreement = Agreement::default();
    if actual == expected {
        return Ok(agreement);
    }
    let mut first: Option<Mismatch> = None;
    each_difference(actual, expected, size, |index, got, want| {
        let (got, want) = (dtype.decode_bits(got), dtype.decode_bits(want));
        if got.is_nan() && want.is_nan() {
            return;
        }
        let difference = (got - want).abs();
        if difference <= tolerance.absolute + tolerance.relative * want.abs() && want.is_finite() {
            agreement.largest_absolute = agreement.largest_absolute.max(difference);
            if want != 0.0 {
                agreement.largest_relative = agreement.largest_relative.max(difference / want.abs());
            }
            return;
        }
        // Infinities are equal only to themselves, which the comparison of bytes has passed already.
        if got == want && want.is_finite() {
            return;
        }
        match &mut first {
            Some(mismatch) => mismatch.wrong += 1,
            None => first = Some(Mismatch { index, expected: want, actual: got, wrong: 1, elements }),
        }
    });
    first.map_or(Ok(agreement), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn singles(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn check(actual: &[f32], expected: &[f32]) -> Result<Agreement, Mismatch> {
        let expected = singles(expected);
        compare(&singles(actual), &expected, DType::Float32, default_tolerance_of(DType::Float32, &expected))
    }

    /// Two thousand sums of terms of both signs, as the last element has it: of one term less.
    #[test]
    fn sums_may_be_in_another_order_and_not_of_other_terms() {
        let tolerance = default_tolerance(DType::Float32);
        let mut state = 12_345_u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let (mut forwards, mut by_cores, mut without_one, mut terms) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..2000 {
            let row: Vec<f32> = (0..2048).map(|_| draw()).collect();
            forwards.push(row.iter().sum::<f32>());
            by_cores.push(row.chunks(43).map(|part| part.iter().sum::<f32>()).sum::<f32>());
            without_one.push(row[1..].iter().sum::<f32>());
            terms.push(f64::from(row.iter().map(|term| term.abs()).sum::<f32>()));
        }
        let expected = singles(&forwards);
        let sums = |actual: &[f32]| {
            compare_reordered(&singles(actual), &expected, DType::Float32, tolerance, |index| terms[index])
        };
        assert!(compare(&singles(&by_cores), &expected, DType::Float32, tolerance).is_err(), "some nearly cancel");
        assert_eq!(sums(&by_cores), Ok(()));
        let wrong = sums(&without_one).unwrap_err().wrong;
        assert!(wrong > 1980, "only a term of almost nothing can be left out: {wrong}");
        forwards[7] = f32::NAN;
        assert!(sums(&forwards).is_err());
        let nothing_known = compare_reordered(&singles(&by_cores), &expected, DType::Float32, tolerance, |_| 0.0);
        assert!(nothing_known.is_err(), "the tolerance holds");
    }

    #[test]
    fn tolerance_is_relative_and_absolute() {
        assert!(check(&[100.005], &[100.0]).is_ok());
        assert!(check(&[100.05], &[100.0]).is_err());
        assert!(check(&[0.0, 1.0], &[5e-6, 1.0]).is_ok());
        assert!(check(&[0.0, 0.0], &[5e-6, 2e-6]).is_err(), "zeros for what is small altogether");
        assert!(check(&[5.0002e-6, 2e-6], &[5e-6, 2e-6]).is_ok());
    }

    #[test]
    fn both_parts_of_complex_numbers_are_compared() {
        let check = |actual: &[f32], expected: &[f32]| {
            compare(&singles(actual), &singles(expected), DType::Complex64, default_tolerance(DType::Complex64))
        };
        assert!(check(&[1.0, 100.005], &[1.0, 100.0]).is_ok());
        assert_eq!(check(&[1.0, 100.05], &[1.0, 100.0]).unwrap_err().index, 1);
        let moved = largest_difference(&singles(&[1.0, 3.0]), &singles(&[1.0, 2.0]), DType::Complex64).unwrap();
        assert_eq!((moved.index, moved.before, moved.now), (1, 2.0, 3.0));
    }

    #[test]
    fn special_values_match_only_themselves() {
        assert!(check(&[f32::NAN, f32::INFINITY, 0.0], &[-f32::NAN, f32::INFINITY, -0.0]).is_ok());
        assert!(check(&[f32::NAN], &[1.0]).is_err());
        assert!(check(&[1.0], &[f32::NAN]).is_err());
        assert!(check(&[f32::MAX], &[f32::INFINITY]).is_err());
        assert!(check(&[f32::NEG_INFINITY], &[f32::INFINITY]).is_err());
    }

    #[test]
    fn the_first_wrong_element_is_reported_with_the_count() {
        let mismatch = check(&[1.0, 2.5, 3.0, 4.5], &[1.0, 2.0, 3.0, 4.0]).unwrap_err();
        assert_eq!((mismatch.index, mismatch.wrong, mismatch.elements), (1, 2, 4));
        assert!(mismatch.to_string().contains("2 of 4 elements differ"));
    }

    #[test]
    fn differences_of_long_outputs_are_found_at_their_places() {
        let right: Vec<f32> = (0..5000).map(|index| index as f32).collect();
        for wrong in [0, 1023, 1024, 3000, 4999] {
            let mut found = right.clone();
            found[wrong] += 1.0;
            let mismatch = compare_within(&singles(&found), &singles(&right), DType::Float32, None).unwrap_err();
            assert_eq!((mismatch.index, mismatch.wrong, mismatch.elements), (wrong, 1, 5000));
        }
    }

    #[test]
    fn the_largest_difference_is_found() {
        let far = |now: &[f32], before: &[f32]| largest_difference(&singles(now), &singles(before), DType::Float32);
        assert_eq!(far(&[1.0, 2.0], &[1.0, 2.0]), None);
        let found = far(&[1.0, 2.5, 3.0, 8.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((found.differing, found.elements, found.index), (2, 4, 3));
        assert!(found.to_string().contains("off by 4e0"), "{found}");
        assert_eq!(far(&[f32::NAN, 9.0], &[1.0, 1.0]).unwrap().index, 0);
        assert_eq!(far(&[1.0], &[1.0, 2.0]).unwrap().differing, 2);
    }

    #[test]
    fn bounds_are_for_each_element() {
        let within = |actual: &[f32], expected: &[f32], bounds: Option<&[f32]>| {
            compare_within(&singles(actual), &singles(expected), DType::Float32, bounds)
                .map_err(|one| (one.index, one.wrong))
        };
        assert_eq!(within(&[1.0, 2.5], &[1.0, 2.0], Some(&[0.0, 0.5])), Ok(()));
        assert_eq!(within(&[1.5, 2.5], &[1.0, 2.0], Some(&[0.0, 0.5])), Err((0, 1)));
        assert_eq!(within(&[-0.0, f32::NAN, f32::INFINITY], &[0.0, f32::NAN, f32::INFINITY], None), Ok(()));
        assert_eq!(within(&[1.0, 2.0, 3.0], &[1.0, 2.1, 3.1], None), Err((1, 2)));
        // What is not specified may be anything; what is infinite must be that.
        assert_eq!(within(&[f32::NAN, 9.0], &[1.0, 1.0], Some(&[f32::INFINITY; 2])), Ok(()));
        assert_eq!(within(&[1e30, f32::NAN], &[f32::INFINITY, 1.0], Some(&[1.0; 2])), Err((0, 2)));
        assert_eq!(within(&[1.0], &[1.0, 1.0], None), Err((1, 2)));
        assert_eq!(within(&[1.0], &[1.0], Some(&[1.0, 1.0])), Err((1, 1)));
    }

    #[test]
    fn large_integers_that_differ_by_one_differ() {
        let bytes = |value: i64| value.to_le_bytes();
        let within =
            |bound: Option<&[f32]>| compare_within(&bytes((1 << 60) + 1), &bytes(1 << 60), DType::Int64, bound).is_ok();
        assert!(!within(None) && !within(Some(&[0.0])) && within(Some(&[1.0])));
    }

    #[test]
    fn a_wider_output_is_as_coarse_as_its_inputs() {
        let from = |output, inputs: &[DType]| tolerance_from(output, inputs.iter().copied()).relative;
        assert_eq!(from(DType::Float32, &[DType::Float32, DType::Int32]), 1e-4);
        assert_eq!(from(DType::Float32, &[DType::Float32, DType::Float16]), 1e-3);
        assert_eq!(from(DType::Int8, &[DType::Float16]), 0.0);
    }

    #[test]
    fn lengths_must_agree() {
        assert!(check(&[1.0], &[1.0, 1.0]).is_err());
    }
}
