//! Names of the API that a candidate gives to something of its own: a member `PIPE_ALL` makes every barrier that names it another one,
//! and whoever reads the kernel sees nothing.

use source::SourceTree;
use source::lex::{Token, TokenKind, tokens};

/// Names that order or place what a kernel does, or say which block it is.
const OF_THE_API: [&str; 38] = [
    "CrossCoreSetFlag",
    "CrossCoreWaitFlag",
    "DataCacheCleanAndInvalid",
    "DataCopy",
    "DataCopyPad",
    "GetBlockIdx",
    "GetBlockNum",
    "GetSubBlockIdx",
    "GetSubBlockNum",
    "GetTaskRation",
    "GlobalTensor",
    "HardEvent",
    "IBSet",
    "IBWait",
    "LocalTensor",
    "NotifyEvent",
    "NotifyNextBlock",
    "PipeBarrier",
    "SetAtomicAdd",
    "SetAtomicMax",
    "SetAtomicMin",
    "SetAtomicNone",
    "SetFlag",
    "SetMaskCount",
    "SetMaskNorm",
    "SetVectorMask",
    "SyncAll",
    "TBuf",
    "TBufPool",
    "TPipe",
    "TPosition",
    "TQue",
    "TQueBind",
    "TQueSync",
    "WaitEvent",
    "WaitFlag",
    "WaitPreBlock",
    "pipe_barrier",
];

/// Names of pipes, of the events between them and of event ids.
fn orders_pipes(name: &str) -> bool {
    const PIPES: [&str; 8] = ["ALL", "FIX", "M", "MTE1", "MTE2", "MTE3", "S", "V"];
    let is_pipe = |name: &str| PIPES.contains(&name);
    name.strip_prefix("PIPE_").is_some_and(is_pipe)
        || name
            .strip_prefix("EVENT_ID")
            .is_some_and(|id| id.len() == 1 && id.bytes().all(|digit| digit.is_ascii_digit()))
        || name.split_once('_').is_some_and(|(from, to)| is_pipe(from) && is_pipe(to))
}

/// The first name of the API that the candidate declares and the operator as it stands does not, with its file.
pub(super) fn new_shadow(before: &SourceTree, now: &SourceTree) -> Option<(String, String)> {
    let changed = now.iter().filter(|(file, text)| before.text(file) != Some(*text));
    let mut declared = changed.flat_map(|(file, text)| declared(text).into_iter().map(move |name| (file, name)));
    let known = |name: &str| before.iter().any(|(_, text)| text.contains(name) && self::declared(text).contains(&name));
    declared.find(|(_, name)| !known(name)).map(|(file, name)| (file.to_owned(), name.to_owned()))
}

/// Names of the API that a text declares: as variables, functions, types, enumerators, parameters or macros.
fn declared(text: &str) -> Vec<&str> {
    let tokens = tokens(text);
    let words: Vec<&str> = tokens.iter().map(|token| token.text(text)).collect();
    let is_name = |at: usize| tokens[at].kind == TokenKind::Identifier;
    let mut found = Vec::new();
    for at in (0..words.len()).filter(|at| is_name(*at)) {
        let name = words[at];
        if !orders_pipes(name) && OF_THE_API.binary_search(&name).is_err() {
            continue;
        }
        let before = at.checked_sub(1).map(|before| (words[before], &tokens[before]));
        let after = words.get(at + 1).copied().unwrap_or_default();
        if before.is_some_and(|before| names_what_follows(before, orders_pipes(name)))
            || (after == "=" && words.get(at + 2) != Some(&"="))
        {
            found.push(name);
        }
    }
    found
}

/// Whether a token in front of a name makes it a declaration: a type, its end, or a word that introduces names. Types and functions stand
/// behind brackets and operators as well where they are used.
fn names_what_follows((word, token): (&str, &Token), is_value: bool) -> bool {
    const BEFORE_USES: [&str; 20] = [
        "__aicore__",
        "case",
        "co_return",
        "const",
        "constexpr",
        "do",
        "else",
        "extern",
        "friend",
        "goto",
        "inline",
        "mutable",
        "new",
        "private",
        "public",
        "return",
        "static",
        "typedef",
        "typename",
        "volatile",
    ];
    match token.kind {
        TokenKind::Identifier => BEFORE_USES.binary_search(&word).is_err(),
        // The end of a list of arguments: `Event<HardEvent::V_S> V_S`.
        TokenKind::Angles => is_value,
        _ => is_value && matches!(word, "*" | "&"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> SourceTree {
        SourceTree::from_iter([("k.h", text)])
    }

    #[test]
    fn names_are_in_their_order() {
        assert!(OF_THE_API.is_sorted());
    }

    #[test]
    fn a_name_of_the_api_is_nobody_elses() {
        let plain = tree("PipeBarrier<PIPE_ALL>();\n");
        for shadow in [
            "static constexpr pipe_t PIPE_ALL = PIPE_V;",
            "#define PIPE_ALL PIPE_V",
            "enum { PIPE_ALL = 1 };",
            "template <pipe_t pipe> void PipeBarrier() {}",
            "struct SyncAll {};",
            "const auto &MTE2_V = HardEvent::V_MTE2;",
            "using HardEvent = Mine;",
            "int32_t EVENT_ID0;",
        ] {
            assert!(new_shadow(&plain, &tree(shadow)).is_some(), "{shadow}");
            assert_eq!(new_shadow(&tree(shadow), &tree(&format!("{shadow}\nint x;\n"))), None, "{shadow}");
        }
    }

    #[test]
    fn uses_declare_nothing() {
        for used in [
            "AscendC::PipeBarrier<PIPE_ALL>();",
            "SetFlag<HardEvent::MTE2_V>(EVENT_ID0); WaitFlag<HardEvent::MTE2_V>(id);",
            "if (last) SyncAll(); else SyncAll<false>();",
            "TQue<TPosition::VECIN, 2> queue_; TBuf<TPosition::VECCALC> buffer_;",
            "return GetBlockIdx() == 0 && GetBlockNum() > 1;",
            "const bool all = pipe == PIPE_ALL;",
            "LocalTensor<float> x = queue_.AllocTensor<float>();",
            "__aicore__ inline void Copy(const GlobalTensor<T> &from, LocalTensor<T> to) {}",
            "template <typename T> LocalTensor<T> Get(); static LocalTensor<T> Other();",
            "const uint32_t all = each * GetBlockNum() && SyncAll();",
            "private: TPipe *pipe_; friend class Other;",
        ] {
            assert_eq!(new_shadow(&tree(""), &tree(used)), None, "{used}");
        }
    }
}
