//! Files that were parsed lately. A proposer composes its steps in every order that may pay: most of the files that it then asks for are
//! those of a moment ago, and a parser needs a millisecond for each.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::blank::MacroNames;
use super::file::{ParseError, SyntaxFile};

/// Files of one generation: more than a search has under its hands at a time, and few enough to keep.
const GENERATION: usize = 128;

/// What was parsed, and with which names of macros; two texts may have one key.
type Generation = HashMap<u64, Parsed>;
type Parsed = (Arc<MacroNames>, Arc<SyntaxFile>);

static PARSED: LazyLock<Mutex<[Generation; 2]>> = LazyLock::new(Mutex::default);

/// [`SyntaxFile::parse`], or what it gave for the same text before.
pub(super) fn parsed(name: &str, text: &str, macros: &Arc<MacroNames>) -> Result<Arc<SyntaxFile>, ParseError> {
    let mut hasher = DefaultHasher::new();
    (name, text, macros.as_ref()).hash(&mut hasher);
    let key = hasher.finish();
    let recalled = recent(&mut PARSED.lock().unwrap_or_else(PoisonError::into_inner), key);
    if let Some((known, file)) = recalled
        && (file.name(), file.text(), &known) == (name, text, macros)
    {
        return Ok(file);
    }
    let file = Arc::new(SyntaxFile::parse(name, text, macros)?);
    keep(&mut PARSED.lock().unwrap_or_else(PoisonError::into_inner), key, (Arc::clone(macros), Arc::clone(&file)));
    Ok(file)
}

/// What is there under a key; of the older generation it is taken over.
fn recent(generations: &mut [Generation; 2], key: u64) -> Option<Parsed> {
    let [young, old] = &*generations;
    if let Some(found) = young.get(&key) {
        return Some(found.clone());
    }
    let found = old.get(&key)?.clone();
    keep(generations, key, found.clone());
    Some(found)
}

fn keep([young, old]: &mut [Generation; 2], key: u64, found: Parsed) {
    if young.len() >= GENERATION {
        *old = std::mem::take(young);
    }
    young.insert(key, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, macros: &Arc<MacroNames>) -> Arc<SyntaxFile> {
        parsed("memory.h", text, macros).unwrap()
    }

    #[test]
    fn only_the_same_text_with_the_same_macros_is_recalled() {
        let (none, hidden) = (Arc::default(), Arc::new(MacroNames::new(["HIDDEN".to_owned()])));
        let text = "HIDDEN void Run();\nvoid Stop();\n";
        let file = of(text, &none);
        assert!(Arc::ptr_eq(&file, &of(text, &none)));
        assert!(!Arc::ptr_eq(&file, &of(text, &hidden)));
        assert!(!Arc::ptr_eq(&file, &of("void Stop();\n", &none)));
        assert_eq!(of(text, &hidden).blanked(), "       void Run();\nvoid Stop();\n");
    }

    #[test]
    fn what_nobody_asks_for_is_forgotten() {
        let mut generations = <[Generation; 2]>::default();
        let macros: Arc<MacroNames> = Arc::default();
        let file = Arc::new(SyntaxFile::parse("k.h", "int x;", &macros).unwrap());
        let one = || (Arc::clone(&macros), Arc::clone(&file));
        keep(&mut generations, 0, one());
        keep(&mut generations, 1, one());
        for key in 2..3 * GENERATION as u64 {
            keep(&mut generations, key, one());
            assert!(recent(&mut generations, 0).is_some(), "asked for all the time");
        }
        assert!(recent(&mut generations, 1).is_none());
        assert!(generations.iter().all(|generation| generation.len() <= GENERATION));
    }
}
