//! Template arguments of a kernel entry from its tiling key. The declaration (`ASCENDC_TPL_ARGS_DECL`) says how the key is
//! packed: parameters from the lowest bit up, each with its width; a UINT parameter is stored as its index in the list of
//! declared values, everything else as the value itself. Values may be macros, so decoding is left to the C++ compiler:
//! this module turns the declaration into constant expressions.

use source::lex::{Token, TokenKind, closing, tokens};

/// A declared template parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplateParameter {
    /// What it stands for.
    pub kind: ParameterKind,
    /// Width in the key: a constant expression.
    pub bits: String,
    /// Declared values as written, for UINT with the mode first.
    pub values: Vec<String>,
}

/// Kinds of template parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// A data type given as its number.
    Dtype,
    /// A data type given as a type.
    DatatypeName,
    /// A format or kernel type number.
    Format,
    /// An integer, stored as an index.
    Uint,
    /// A switch.
    Bool,
}

/// Parameters declared in the first `ASCENDC_TPL_ARGS_DECL` of a text; `None` if there is none.
pub(crate) fn declared_parameters(text: &str) -> Option<Vec<TemplateParameter>> {
    if !text.contains("ASCENDC_TPL_ARGS_DECL") {
        return None;
    }
    let all = tokens(text);
    let at = all.iter().enumerate().position(|(index, token)| {
        token.is(text, "ASCENDC_TPL_ARGS_DECL")
            && all.get(index + 1).is_some_and(|next| next.is(text, "("))
            && !(index > 0 && all[index - 1].is(text, "define"))
    })?;
    let end = closing(text, &all, at + 1)?;
    let mut result = Vec::new();
    for group in split(text, &all[at + 2..end]).into_iter().skip(1) {
        let [name, open, inner @ .., _] = group else { continue };
        if !open.is(text, "(") {
            continue;
        }
        let parts: Vec<String> = split(text, inner).into_iter().map(|part| spelled(text, part)).collect();
        let (kind, bits, first) = match name.text(text) {
            "ASCENDC_TPL_DTYPE_DECL" => (ParameterKind::Dtype, "8".to_owned(), 1),
            "ASCENDC_TPL_DATATYPE_DECL" => (ParameterKind::DatatypeName, "8".to_owned(), 1),
            "ASCENDC_TPL_FORMAT_DECL" | "ASCENDC_TPL_KERNEL_TYPE_DECL" => (ParameterKind::Format, "8".to_owned(), 1),
            "ASCENDC_TPL_BOOL_DECL" => (ParameterKind::Bool, "1".to_owned(), 1),
            "ASCENDC_TPL_UINT_DECL" => (ParameterKind::Uint, parts.get(1).cloned().unwrap_or_default(), 2),
            _ => continue,
        };
        result.push(TemplateParameter { kind, bits, values: parts.into_iter().skip(first).collect() });
    }
    Some(result)
}

/// C++ that every decoding needs, once a wrapper.
pub(crate) const DECODER: &str = "\
namespace ascend_tune {
// Value behind an index of a declared list: mode 1 lists values, mode 0 gives pairs of bounds after their number, and
// mode 2 gives pairs and then values.
template <unsigned long long... Words>
constexpr unsigned long long ListedValue(unsigned long long index)
{
    constexpr unsigned long long words[] = {Words...};
    constexpr unsigned long long count = sizeof...(Words);
    if (words[0] == 1) {
        return 1 + index < count ? words[1 + index] : throw \"the tiling key holds an index that is not declared\";
    }
    const unsigned long long ranges = words[1];
    for (unsigned long long range = 0; range < ranges; ++range) {
        const unsigned long long low = words[2 + 2 * range];
        const unsigned long long size = words[3 + 2 * range] - low + 1;
        if (index < size) {
            return low + index;
        }
        index -= size;
    }
    const unsigned long long at = 2 + 2 * ranges + index;
    return at < count ? words[at] : throw \"the tiling key holds an index that is not declared\";
}
template <int Number> struct TypeOf;
template <> struct TypeOf<0> { using type = float; };
template <> struct TypeOf<1> { using type = half; };
template <> struct TypeOf<2> { using type = int8_t; };
template <> struct TypeOf<3> { using type = int32_t; };
template <> struct TypeOf<4> { using type = uint8_t; };
template <> struct TypeOf<6> { using type = int16_t; };
template <> struct TypeOf<7> { using type = uint16_t; };
template <> struct TypeOf<8> { using type = uint32_t; };
template <> struct TypeOf<9> { using type = int64_t; };
template <> struct TypeOf<10> { using type = uint64_t; };
template <> struct TypeOf<11> { using type = double; };
template <> struct TypeOf<12> { using type = bool; };
template <> struct TypeOf<27> { using type = bfloat16_t; };
}  // namespace ascend_tune
";

/// Template argument list for a key, between the angle brackets.
pub(crate) fn template_arguments(parameters: &[TemplateParameter], key: u64) -> String {
    let mut shift = String::from("0");
    let mut arguments = Vec::new();
    for parameter in parameters {
        let bits = &parameter.bits;
        let raw = format!("(({key}ull >> ({shift})) & ((1ull << ({bits})) - 1))");
        arguments.push(match parameter.kind {
            ParameterKind::Uint => format!("ascend_tune::ListedValue<{}>({raw})", parameter.values.join(", ")),
            ParameterKind::Bool => format!("({raw} != 0)"),
            ParameterKind::Dtype | ParameterKind::Format => raw,
            ParameterKind::DatatypeName => format!("typename ascend_tune::TypeOf<{raw}>::type"),
        });
        shift = format!("{shift} + ({bits})");
    }
    arguments.join(", ")
}

/// C++ that refuses a key with bits above the declared parameters: the operator compiler makes no kernel for such a key.
pub(crate) fn width_check(parameters: &[TemplateParameter], key: u64) -> String {
    let width = parameters.iter().map(|parameter| format!("({})", parameter.bits)).collect::<Vec<_>>().join(" + ");
    format!(
        "static_assert(({width}) >= 64 || ({key}ull >> (({width}) & 63)) == 0,\n\
         \x20             \"tiling key {key} has more bits than ASCENDC_TPL_ARGS_DECL declares; make it with GET_TPL_TILING_KEY\");\n"
    )
}

/// Groups separated by commas outside of brackets.
fn split<'tokens>(text: &str, list: &'tokens [Token]) -> Vec<&'tokens [Token]> {
    let mut result = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    for (index, token) in list.iter().enumerate() {
        match token.text(text) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                result.push(&list[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    if start < list.len() {
        result.push(&list[start..]);
    }
    result
}

fn spelled(text: &str, list: &[Token]) -> String {
    let mut result = String::new();
    for token in list {
        if token.kind == TokenKind::Identifier && result.ends_with(|letter: char| letter.is_alphanumeric()) {
            result.push(' ');
        }
        result.push_str(token.text(text));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#define MODE_A 3
// ASCENDC_TPL_ARGS_DECL(Comment)
ASCENDC_TPL_ARGS_DECL(Add,
    ASCENDC_TPL_UINT_DECL(mode, ASCENDC_TPL_8_BW, ASCENDC_TPL_UI_LIST, MODE_A, 7),
    ASCENDC_TPL_DTYPE_DECL(D_T_X, C_DT_FLOAT, C_DT_FLOAT16),
    ASCENDC_TPL_BOOL_DECL(last, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(mode, ASCENDC_TPL_UI_LIST, MODE_A)));
";

    #[test]
    fn declarations_become_constant_expressions() {
        let parameters = declared_parameters(TEXT).unwrap();
        let kinds: Vec<ParameterKind> = parameters.iter().map(|parameter| parameter.kind).collect();
        assert_eq!(kinds, [ParameterKind::Uint, ParameterKind::Dtype, ParameterKind::Bool]);
        assert_eq!(parameters[0].values, ["ASCENDC_TPL_UI_LIST", "MODE_A", "7"]);
        assert_eq!(
            template_arguments(&parameters, 257),
            "ascend_tune::ListedValue<ASCENDC_TPL_UI_LIST, MODE_A, 7>(((257ull >> (0)) & ((1ull << (ASCENDC_TPL_8_BW)) - 1))), \
             ((257ull >> (0 + (ASCENDC_TPL_8_BW))) & ((1ull << (8)) - 1)), \
             (((257ull >> (0 + (ASCENDC_TPL_8_BW) + (8))) & ((1ull << (1)) - 1)) != 0)"
        );
        assert_eq!(
            width_check(&parameters[1..], 257).split(',').next(),
            Some("static_assert(((8) + (1)) >= 64 || (257ull >> (((8) + (1)) & 63)) == 0")
        );
        assert!(declared_parameters("int x;").is_none());
    }
}
