//! Arithmetic types, on machines where `long` has 64 bits.

/// An integer type: its width and whether it has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerType {
    /// Width; 1 is `bool`.
    pub bits: u32,
    /// Whether it has a sign.
    pub signed: bool,
}

impl IntegerType {
    /// `bool`.
    pub const BOOL: Self = Self { bits: 1, signed: false };
    /// `char` and `int8_t`.
    pub const I8: Self = Self { bits: 8, signed: true };
    /// `uint8_t`.
    pub const U8: Self = Self { bits: 8, signed: false };
    /// `int16_t`.
    pub const I16: Self = Self { bits: 16, signed: true };
    /// `uint16_t`.
    pub const U16: Self = Self { bits: 16, signed: false };
    /// `int32_t`.
    pub const I32: Self = Self { bits: 32, signed: true };
    /// `uint32_t`.
    pub const U32: Self = Self { bits: 32, signed: false };
    /// `int64_t`.
    pub const I64: Self = Self { bits: 64, signed: true };
    /// `uint64_t`.
    pub const U64: Self = Self { bits: 64, signed: false };

    /// Least and largest value.
    pub(super) fn range(self) -> (i128, i128) {
        let bits = self.bits.min(64);
        if self.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// Whether it holds a value.
    pub(super) fn holds(self, value: i128) -> bool {
        let (least, most) = self.range();
        (least..=most).contains(&value)
    }

    /// The value that is the same in all bits that it has.
    pub(super) fn wrapped(self, value: i128) -> i128 {
        if self == Self::BOOL {
            return i128::from(value != 0);
        }
        let span = 1i128 << self.bits.min(64);
        let low = value.rem_euclid(span);
        if self.signed && low > self.range().1 { low - span } else { low }
    }

    /// What operands of it become before anything is done to them: at least so wide. What has no room to be positive keeps
    /// having no sign.
    pub(super) fn promoted(self, least: Self) -> Self {
        let signed = self.signed || self.bits < Self::I32.bits;
        if self.bits < least.bits { Self { signed, ..least } } else { self }
    }

    /// What two promoted operands become.
    pub(super) fn common(self, other: Self) -> Self {
        let wider = if self.bits >= other.bits { self } else { other };
        let signed = if self.bits == other.bits { self.signed && other.signed } else { wider.signed };
        Self { bits: wider.bits, signed }
    }
}

/// An arithmetic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// An integer type.
    Integer(IntegerType),
    /// `float`.
    Single,
    /// `double`.
    Double,
}

impl NumberType {
    /// What a type is called in sources, with or without `std::` and `const`; `None` where it is not the same everywhere or not
    /// for arithmetic on the host.
    pub fn named(name: &str) -> Option<Self> {
        let words: Vec<&str> = name
            .split([' ', '\t', '\n', ':'])
            .filter(|word| !matches!(*word, "" | "std" | "const" | "constexpr" | "volatile"))
            .collect();
        let integer = |kind| Some(Self::Integer(kind));
        match words.as_slice() {
            ["float" | "float32_t"] => Some(Self::Single),
            ["double"] => Some(Self::Double),
            ["bool"] => integer(IntegerType::BOOL),
            ["char" | "int8_t"] | ["signed", "char"] => integer(IntegerType::I8),
            ["uint8_t"] | ["unsigned", "char"] => integer(IntegerType::U8),
            ["int16_t" | "short"] | ["short", "int"] => integer(IntegerType::I16),
            ["uint16_t"] | ["unsigned", "short"] | ["unsigned", "short", "int"] => integer(IntegerType::U16),
            ["int32_t" | "int" | "signed"] | ["signed", "int"] => integer(IntegerType::I32),
            ["uint32_t" | "unsigned"] | ["unsigned", "int"] => integer(IntegerType::U32),
            ["int64_t" | "ptrdiff_t" | "ssize_t" | "long"] | ["long", "int" | "long"] | ["long", "long", "int"] => {
                integer(IntegerType::I64)
            }
            ["uint64_t" | "size_t"]
            | ["unsigned", "long"]
            | ["unsigned", "long", "int" | "long"]
            | ["unsigned", "long", "long", "int"] => integer(IntegerType::U64),
            _ => None,
        }
    }

    /// Size in bytes.
    fn bytes(self) -> i64 {
        match self {
            Self::Integer(kind) => i64::from(kind.bits.max(8) / 8),
            Self::Single => 4,
            Self::Double => 8,
        }
    }
}

/// Size in bytes of the types that mean the same everywhere.
pub fn fixed_type_bytes(type_name: &str) -> Option<i64> {
    let name = type_name.trim();
    match name.strip_prefix("AscendC::").unwrap_or(name) {
        "half" | "float16_t" | "bfloat16_t" => Some(2),
        name => NumberType::named(name).map(NumberType::bytes),
    }
}
