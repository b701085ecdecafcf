//! Whether two kernels do the same.

use super::bench::Observed;
use super::launch::Element;

/// How far results may be apart where a motif says that it rounds differently: of the larger of the two, and of the largest number
/// of the result. Errors that are no rounding are larger than this.
const ROUNDING_FLOAT: f64 = 2e-3;
const ROUNDING_HALF: f64 = 3e-2;

/// What became of a pair.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The same everywhere.
    Right,
    /// Wrong or at fault somewhere.
    Wrong(Failure),
    /// At fault on a case, and the site says under which condition it is right: the tuner's verifier stops it.
    Stopped(Failure),
    /// Right on every case, wrong on a probe, and the site says under which condition it is right: what only probes find.
    Escaped(Failure),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The launch, described; empty where it did not come to one.
    pub launch: String,
    /// What is different.
    pub what: Difference,
}

/// A difference between two launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The changed kernel is no C++ any more.
    NotCompiled(String),
    /// It did not end.
    Fault(String),
    /// A hazard that the kernel did not have.
    Hazard(String),
    /// Other results.
    Result(String),
}

impl Difference {
    /// One clause.
    pub fn text(&self) -> String {
        match self {
            Difference::NotCompiled(log) => {
                let error = log.lines().find(|line| line.contains("error")).unwrap_or_default();
                format!("does not compile: {error}")
            }
            Difference::Fault(fault) => format!("fault: {fault}"),
            Difference::Hazard(hazard) => format!("new hazard: {hazard}"),
            Difference::Result(result) => format!("other result: {result}"),
        }
    }
}

/// How a changed launch differs from the launch of the kernel as it was.
pub fn difference(before: &Observed, after: &Observed, element: Element, rounding: bool) -> Option<Difference> {
    if let Some(fault) = &after.fault {
        return Some(Difference::Fault(fault.clone()));
    }
    if let Some((kind, message)) = after.hazards.iter().find(|(kind, _)| !before.hazards.contains_key(kind)) {
        return Some(Difference::Hazard(format!("{kind:?}: {message}")));
    }
    for (region, old) in &before.outputs {
        let Some(new) = after.outputs.get(region) else {
            return Some(Difference::Result("nothing was written".to_owned()));
        };
        let same = if rounding { nearly(old, new, element) } else { first_other(old, new, element) };
        if let Err(at) = same {
            let size = element.bytes() as usize;
            let from = at / size * size;
            let show = |bytes: &[u8]| bytes.get(from..from + size).map_or(f64::NAN, |bytes| number(bytes, element));
            return Some(Difference::Result(format!("element {}: {} became {}", from / size, show(old), show(new))));
        }
    }
    None
}

/// `Err` with the first byte of an element that differs. What is no number may be so in any of its spellings.
fn first_other(old: &[u8], new: &[u8], element: Element) -> Result<(), usize> {
    if old.len() != new.len() {
        return Err(old.len().min(new.len()));
    }
    let size = element.bytes() as usize;
    let differ =
        |(old, new): (&[u8], &[u8])| old != new && !(number(old, element).is_nan() && number(new, element).is_nan());
    old.chunks(size).zip(new.chunks(size)).position(differ).map_or(Ok(()), |position| Err(position * size))
}

/// `Err` with the first byte of a number that is off by more than rounding.
fn nearly(old: &[u8], new: &[u8], element: Element) -> Result<(), usize> {
    if old.len() != new.len() {
        return Err(old.len().min(new.len()));
    }
    let size = element.bytes() as usize;
    let relative = match element {
        Element::Float => ROUNDING_FLOAT,
        Element::Half => ROUNDING_HALF,
        _ => return first_other(old, new, element),
    };
    let numbers = |bytes: &[u8]| bytes.chunks_exact(size).map(|bytes| number(bytes, element)).collect::<Vec<_>>();
    let (old, new) = (numbers(old), numbers(new));
    let largest =
        old.iter().copied().filter(|number| number.is_finite()).fold(0.0_f64, |most, number| most.max(number.abs()));
    let off = |(old, new): (&f64, &f64)| {
        let both_without_bound = !old.is_finite() && !new.is_finite();
        let allowed = relative * old.abs().max(new.abs()).max(largest * 0.05);
        !(both_without_bound || (old - new).abs() <= allowed)
    };
    old.iter().zip(&new).position(off).map_or(Ok(()), |position| Err(position * size))
}

fn number(bytes: &[u8], element: Element) -> f64 {
    let four = || bytes.try_into().unwrap_or([0; 4]);
    let two = || bytes.try_into().unwrap_or([0; 2]);
    match element {
        Element::Float => f64::from(f32::from_le_bytes(four())),
        Element::Half => half(u16::from_le_bytes(two())),
        Element::Int32 => f64::from(i32::from_le_bytes(four())),
        Element::Int16 => f64::from(i16::from_le_bytes(two())),
    }
}

fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use aicore::HazardKind;

    fn observed(values: &[f32]) -> Observed {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Observed { outputs: BTreeMap::from([(1, bytes)]), ..Observed::default() }
    }

    #[test]
    fn results_are_compared_bit_by_bit_unless_rounding_is_declared() {
        let (old, near, far) = (observed(&[1.0, 0.0]), observed(&[1.000_001, -0.0]), observed(&[1.5, 0.0]));
        let differ = |new: &Observed, rounding| difference(&old, new, Element::Float, rounding).is_some();
        assert!(!differ(&old, false) && differ(&near, false));
        assert!(!differ(&near, true) && differ(&far, true));
    }

    #[test]
    fn a_hazard_counts_where_it_is_new() {
        let mut raced = observed(&[1.0]);
        raced.hazards.insert(HazardKind::Race, "a race".to_owned());
        assert!(matches!(difference(&observed(&[1.0]), &raced, Element::Float, false), Some(Difference::Hazard(_))));
        assert_eq!(difference(&raced, &raced, Element::Float, false), None);
        assert_eq!(difference(&raced, &observed(&[1.0]), Element::Float, false), None);
    }

    #[test]
    fn halves_are_read() {
        assert_eq!([0x3C00, 0xC000, 0x0001, 0x7BFF].map(half), [1.0, -2.0, 2_f64.powi(-24), 65504.0]);
        assert!(half(0x7E00).is_nan() && half(0xFC00) == f64::NEG_INFINITY);
    }
}
