//! Local motifs of a bank: one TOML file each, in its folder `motifs`.

use std::path::Path;

use super::bank::BankError;
use motif::{LocalForm, LocalMotif, LocalRecord};

/// The folder in a bank.
const FOLDER: &str = "motifs";
/// In it, the folder of those that have occurred too seldom: nobody makes them.
const ASIDE: &str = "aside";
/// How their names begin.
const PREFIX: &str = "local-";
/// Files that are read.
const MOST: usize = 64;

/// The name of a local motif: the same forms have the same everywhere.
pub fn local_name(form: &LocalForm) -> String {
    let text = format!("{}\0{}\0{:?}{:?}{:?}", form.slow, form.fast, form.tensors, form.apart, form.fresh);
    format!("{PREFIX}{}", &blake3::hash(text.as_bytes()).to_hex().as_str()[..12])
}

/// All local motifs of a bank that are not refused, by name. A folder that is not there has none.
pub fn local_motifs(bank: &Path) -> Result<Vec<(String, LocalMotif)>, BankError> {
    let folder = bank.join(FOLDER);
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| BankError::Io { path, source }
    };
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io(&folder))?,
    };
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(io(&folder))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).map_err(io(path))?;
        let malformed = |message: String| BankError::Malformed { path: path.to_owned(), message };
        let form: LocalForm = toml::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        let name = local_name(&form);
        Ok((name, LocalMotif::new(form).map_err(|error| malformed(error.to_string()))?))
    };
    let refused = |read: &Result<(String, LocalMotif), BankError>| {
        read.as_ref().is_ok_and(|(_, motif)| !motif.form().record.refused.is_empty())
    };
    paths.iter().take(MOST).map(|path| read(path)).filter(|read| !refused(read)).collect()
}

fn form_of(bank: &Path, name: &str) -> Option<LocalForm> {
    form_in(&bank.join(FOLDER), name)
}

fn form_in(folder: &Path, name: &str) -> Option<LocalForm> {
    let path = folder.join(format!("{name}.toml"));
    toml::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// What a local motif of a bank broke, of one that is kept as refused.
pub fn refused_local_motif(bank: &Path, name: &str) -> Option<String> {
    form_of(bank, name).map(|form| form.record.refused).filter(|refused| !refused.is_empty())
}

/// Adds what became of a local motif to its record in a bank; one that is not there stays that way.
pub fn add_to_local_motif(bank: &Path, name: &str, more: &LocalRecord) -> Result<(), BankError> {
    let Some(mut form) = form_of(bank, name) else { return Ok(()) };
    form.record.add(more);
    keep_in(&bank.join(FOLDER), &form).map(|_| ())
}

/// Keeps one in a folder. Returns its name.
fn keep_in(folder: &Path, form: &LocalForm) -> Result<String, BankError> {
    let name = local_name(form);
    let path = folder.join(format!("{name}.toml"));
    let io = |source| BankError::Io { path: path.clone(), source };
    let malformed = |error: toml::ser::Error| BankError::Malformed { path: path.clone(), message: error.to_string() };
    let text = toml::to_string_pretty(form).map_err(malformed)?;
    std::fs::create_dir_all(folder).map_err(io)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(io)?;
    file.persist(&path).map_err(|error| io(error.error))?;
    Ok(name)
}

/// Where a local motif stands that was stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stated {
    /// It is made by later runs.
    Kept(LocalForm),
    /// It lies aside, since it was made at too few places.
    Aside(LocalForm),
}

/// Keeps a local motif that a model has stated, with what is known of it: it has to have occurred `wanted` times, at places at which it was
/// taken over, now or when it was stated before, and in `elsewhere` other operators that got faster with it. What has not lies aside, where
/// it waits for another one. One that broke an operator is kept as what it is.
pub fn keep_stated(bank: &Path, form: LocalForm, elsewhere: u32, wanted: u32) -> Result<Stated, BankError> {
    let (name, aside) = (local_name(&form), bank.join(FOLDER).join(ASIDE));
    let mut form = form;
    for earlier in [form_in(&bank.join(FOLDER), &name), form_in(&aside, &name)].into_iter().flatten() {
        let now = std::mem::replace(&mut form.record, earlier.record);
        form.record.add(&now);
    }
    if form.record.refused.is_empty() && form.record.places + elsewhere < wanted {
        keep_in(&aside, &form)?;
        return Ok(Stated::Aside(form));
    }
    keep_in(&bank.join(FOLDER), &form)?;
    drop_in(&aside, &name)?;
    Ok(Stated::Kept(form))
}

/// Takes one out of a bank that did not hold; it is no error where it is not there.
pub fn drop_local_motif(bank: &Path, name: &str) -> Result<(), BankError> {
    drop_in(&bank.join(FOLDER), name)
}

fn drop_in(folder: &Path, name: &str) -> Result<(), BankError> {
    let path = folder.join(format!("{name}.toml"));
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(BankError::Io { path, source: error }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use motif::Counter;

    #[test]
    fn a_local_motif_is_a_file_and_goes_where_it_does_not_hold() {
        let directory = tempfile::tempdir().unwrap();
        assert!(local_motifs(directory.path()).unwrap().is_empty());
        let form = LocalForm {
            title: "one \"barrier\" less".to_owned(),
            slow: "@PipeBarrier<PIPE_ALL>();\n@PipeBarrier<PIPE_ALL>();".to_owned(),
            fast: "@PipeBarrier<PIPE_ALL>();".to_owned(),
            ..LocalForm::default()
        };
        let name = keep_in(&directory.path().join(FOLDER), &form).unwrap();
        let kept = local_motifs(directory.path()).unwrap();
        assert_eq!((kept.len(), kept[0].0.as_str(), kept[0].1.form()), (1, name.as_str(), &form));
        // What becomes of it is added up, and does not change its name.
        let once = LocalRecord { searched: 3, matched: 2, held: 2, gained: 1, ..LocalRecord::default() };
        add_to_local_motif(directory.path(), &name, &once).unwrap();
        add_to_local_motif(directory.path(), &name, &once).unwrap();
        add_to_local_motif(directory.path(), "local-unknown", &once).unwrap();
        let kept = local_motifs(directory.path()).unwrap();
        assert_eq!((kept.len(), &kept[0].0, kept[0].1.form().record.searched), (1, &name, 6));
        let refused = LocalRecord { refused: "Add: hazard".to_owned(), ..once };
        add_to_local_motif(directory.path(), &name, &refused).unwrap();
        assert_eq!(refused_local_motif(directory.path(), &name).as_deref(), Some("Add: hazard"));
        assert!(local_motifs(directory.path()).unwrap().is_empty(), "it is not made any more");
        drop_local_motif(directory.path(), &name).unwrap();
        drop_local_motif(directory.path(), &name).unwrap();
        assert!(local_motifs(directory.path()).unwrap().is_empty());
        std::fs::write(directory.path().join("motifs/x.toml"), "title = \"t\"\nslow = \"$x\"\nfast = \"y\"\n").unwrap();
        let error = local_motifs(directory.path()).unwrap_err().to_string();
        assert!(error.contains("x.toml") && error.contains("begin with a word"), "{error}");
    }

    #[test]
    fn a_rule_is_made_once_it_has_recurred() {
        let stated = |places: u32, from: &str, elsewhere: u32, wanted: u32, bank: &Path| {
            let record = LocalRecord { places, from: vec![from.to_owned()], ..LocalRecord::default() };
            let (title, slow, fast) = ("t".to_owned(), "@Adds($x);".to_owned(), "@Add($x);".to_owned());
            let form = LocalForm { title, slow, fast, record, relieves: Some(Counter::VecUs), ..LocalForm::default() };
            let kept = keep_stated(bank, form, elsewhere, wanted).unwrap();
            let made = local_motifs(bank).unwrap();
            assert_eq!(made.len(), usize::from(matches!(kept, Stated::Kept(_))));
            assert!(made.iter().all(|(_, motif)| motif.form().relieves == Some(Counter::VecUs)));
            matches!(kept, Stated::Kept(_))
        };
        let bank = || tempfile::tempdir().unwrap();
        assert!(stated(2, "a", 0, 2, bank().path()), "two places of one operator");
        assert!(stated(1, "a", 1, 2, bank().path()), "another operator");
        assert!(stated(1, "a", 0, 1, bank().path()), "as the user wants it");
        let bank = bank();
        assert!(!stated(1, "a", 0, 2, bank.path()));
        assert!(!stated(1, "a", 0, 2, bank.path()), "the same place once more");
        assert!(stated(1, "b", 0, 2, bank.path()), "another place, in a later run");
        assert!(stated(1, "c", 0, 2, bank.path()), "and so it stays");
        assert!(!bank.path().join("motifs/aside").read_dir().unwrap().any(|_| true), "it is in one place");
    }
}
