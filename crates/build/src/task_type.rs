//! On which cores a kernel runs, as the operator compiler finds out: from `KERNEL_TASK_TYPE*` in the sources, and without
//! one from whether they use the cube.

use aicore::KernelType;
use source::condition::directive_end;
use source::constant::{ConstantValue, Names, evaluate};
use source::lex::{Token, tokens};

/// Type that a constant of the kernel API names.
fn named(name: &str) -> Option<KernelType> {
    Some(match name {
        "KERNEL_TYPE_AIV_ONLY" | "KERNEL_TYPE_MIX_AIV_1_0" | "KERNEL_TYPE_MIX_VECTOR_CORE" => KernelType::Aiv,
        "KERNEL_TYPE_AIC_ONLY" => KernelType::Aic,
        "KERNEL_TYPE_MIX_AIC_1_0" => KernelType::Mix10,
        "KERNEL_TYPE_MIX_AIC_1_1" => KernelType::Mix11,
        "KERNEL_TYPE_MIX_AIC_1_2" => KernelType::Mix12,
        _ => return None,
    })
}

/// The type that needs more cores: it serves where several stand in branches of the preprocessor.
fn wider(a: Option<KernelType>, b: KernelType) -> Option<KernelType> {
    let rank = |kind: KernelType| KernelType::ALL.iter().position(|other| *other == kind);
    a.filter(|a| rank(*a) > rank(b)).or(Some(b))
}

/// What the sources of a kernel say about its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskTypes {
    default: Option<KernelType>,
    keyed: Vec<(u64, KernelType)>,
    cube: bool,
}

/// Names that only code for the cube uses.
const CUBE_NAMES: [&str; 6] = ["REGIST_MATMUL_OBJ", "Mmad", "MmadWithSparse", "LoadData3D", "MatmulImpl", "Fixpipe"];

impl TaskTypes {
    /// Reads the texts that a kernel reaches.
    pub fn of<'text>(texts: impl Iterator<Item = &'text str> + Clone) -> Self {
        let mut types = TaskTypes::default();
        for text in texts.clone() {
            if CUBE_NAMES.iter().any(|name| text.contains(name)) {
                types.cube |= tokens(text).iter().any(|token| CUBE_NAMES.contains(&token.text(text)));
            }
            if text.contains("KERNEL_TASK_TYPE") || text.contains("__mix__") || text.contains("__cube__") {
                types.read(text, texts.clone());
            }
        }
        types
    }

    /// Type of the kernel for a tiling key.
    pub fn of_key(&self, key: u64) -> KernelType {
        let keyed = self.keyed.iter().find(|(known, _)| *known == key).map(|(_, kind)| *kind);
        keyed.or(self.default).unwrap_or(if self.cube { KernelType::Mix12 } else { KernelType::Aiv })
    }

    /// Whether every key has the same type.
    pub fn same_for_all_keys(&self) -> bool {
        let default = self.default.unwrap_or(if self.cube { KernelType::Mix12 } else { KernelType::Aiv });
        self.keyed.iter().all(|(_, kind)| *kind == default)
    }

    fn read<'text>(&mut self, text: &str, texts: impl Iterator<Item = &'text str> + Clone) {
        let all = tokens(text);
        let at = |index: usize| all.get(index).map_or("", |token: &Token| token.text(text));
        for (index, token) in all.iter().enumerate() {
            if index > 0 && at(index - 1) == "define" {
                continue;
            }
            if at(index).starts_with("KERNEL_TASK_TYPE") && is_in_unused_macro(text, token.span.start, texts.clone()) {
                continue;
            }
            match at(index) {
                "KERNEL_TASK_TYPE_DEFAULT" if at(index + 1) == "(" => {
                    if let Some(kind) = named(at(index + 2)) {
                        self.default = wider(self.default, kind);
                    }
                }
                "KERNEL_TASK_TYPE" if at(index + 1) == "(" && at(index + 3) == "," => {
                    if let (Some(key), Some(kind)) = (key(at(index + 2), texts.clone()), named(at(index + 4))) {
                        self.keyed.push((key, kind));
                    }
                }
                "__mix__" if at(index + 1) == "(" => {
                    let vectors = if at(index + 3) == "," { at(index + 4) } else { "0" };
                    let kind = match vectors {
                        "2" => KernelType::Mix12,
                        "1" => KernelType::Mix11,
                        _ => KernelType::Mix10,
                    };
                    self.default = wider(self.default, kind);
                }
                "__cube__" if at(index.wrapping_sub(1)) == "__global__" || at(index + 1) == "__global__" => {
                    self.default = wider(self.default, KernelType::Aic);
                }
                _ => {}
            }
        }
    }
}

/// Whether a place is in the definition of a macro that none of the texts expands: the compiler sees nothing of it.
fn is_in_unused_macro<'text>(text: &str, place: usize, mut texts: impl Iterator<Item = &'text str>) -> bool {
    let Some(define) = text[..place].rfind("#define").filter(|at| directive_end(text, *at) > place) else {
        return false;
    };
    let words: Vec<Token> = tokens(&text[define..]);
    let Some(name) = words.get(2).map(|token| token.text(&text[define..])) else { return false };
    !texts.any(|text| {
        let all = tokens(text);
        let at = |index: usize| all.get(index).map_or("", |token: &Token| token.text(text));
        (0..all.len()).any(|index| at(index) == name && (index == 0 || !matches!(at(index - 1), "define" | "undef")))
    })
}

/// Tiling key that an expression of literals, macros and constants stands for.
fn key<'text>(expression: &str, texts: impl Iterator<Item = &'text str> + Clone) -> Option<u64> {
    let value = evaluate(expression, &Definitions { texts, depth: 4 }).ok()?;
    match value {
        ConstantValue::Integer { value, .. } => u64::try_from(value).ok(),
        ConstantValue::Single(_) | ConstantValue::Double(_) => None,
    }
}

/// Macros and constants that the texts of a kernel define.
struct Definitions<Texts> {
    texts: Texts,
    /// How often a definition may lead to another one.
    depth: u32,
}

impl<'text, Texts: Iterator<Item = &'text str> + Clone> Definitions<Texts> {
    /// What stands behind the first definition that has a value.
    fn defined(&self, name: &str, text: &str) -> Option<ConstantValue> {
        let all = tokens(text);
        let at = |index: usize| all.get(index).map_or("", |token: &Token| token.text(text));
        let inner = Definitions { texts: self.texts.clone(), depth: self.depth.checked_sub(1)? };
        (1..all.len()).filter(|index| at(*index) == name).find_map(|index| {
            let start = all[index].span.end;
            let expression = match (at(index - 1), at(index + 1)) {
                ("define", _) => &text[start..directive_end(text, start)],
                (_, "=") => text[all[index + 1].span.end..].split([';', ',', '}']).next()?,
                _ => return None,
            };
            evaluate(expression, &inner as &dyn Names).ok()
        })
    }
}

impl<'text, Texts: Iterator<Item = &'text str> + Clone> Names for Definitions<Texts> {
    fn value(&self, name: &str) -> Option<ConstantValue> {
        self.texts.clone().filter(|text| text.contains(name)).find_map(|text| self.defined(name, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(texts: &[&str]) -> TaskTypes {
        TaskTypes::of(texts.iter().copied())
    }

    #[test]
    fn task_types_are_read_from_the_sources() {
        assert_eq!(types(&["KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);"]).of_key(3), KernelType::Aiv);
        assert_eq!(types(&["x // KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);"]).of_key(3), KernelType::Aiv);
        assert_eq!(types(&["#define KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY)"]).of_key(3), KernelType::Aiv);
        let unused = "#define NOTES(a) \\\n    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);\nint a;";
        assert_eq!(types(&[unused]).of_key(3), KernelType::Aiv, "the compiler never sees it");
        assert_eq!(types(&[unused, "void k() { NOTES(1) }"]).of_key(3), KernelType::Aic);
        let keyed = types(&[
            "#define KEY_A 21UL\nconstexpr uint64_t KEY_B = 0x10;",
            "KERNEL_TASK_TYPE(KEY_A, KERNEL_TYPE_AIC_ONLY); KERNEL_TASK_TYPE(KEY_B, KERNEL_TYPE_MIX_AIC_1_1);",
        ]);
        assert_eq!([21, 16, 1].map(|key| keyed.of_key(key)), [KernelType::Aic, KernelType::Mix11, KernelType::Aiv]);
        assert!(!keyed.same_for_all_keys());
        let made = types(&[
            "#define BASE (10UL) // of all\nenum Key { FIRST = BASE + 1, SECOND = FIRST << 1 };\nconst int LOOP = LOOP + 1;",
            "KERNEL_TASK_TYPE(SECOND, KERNEL_TYPE_AIC_ONLY); KERNEL_TASK_TYPE(LOOP, KERNEL_TYPE_MIX_AIC_1_1);",
        ]);
        assert_eq!([22, 0].map(|key| made.of_key(key)), [KernelType::Aic, KernelType::Aiv]);
    }

    #[test]
    fn without_a_task_type_the_cube_decides() {
        assert_eq!(types(&["REGIST_MATMUL_OBJ(&pipe, workspace, mm);"]).of_key(0), KernelType::Mix12);
        assert_eq!(types(&["// Mmad\n"]).of_key(0), KernelType::Aiv);
        assert_eq!(types(&["__global__ __mix__(1, 2) void k()"]).of_key(0), KernelType::Mix12);
    }
}
