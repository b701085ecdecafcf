//! From return addresses to the operator's source lines.

use std::collections::BTreeMap;

use addr2line::Loader;

use super::Place;

/// Loaded modules of a worker with lazily read line information.
pub struct Symbols {
    modules: Vec<Module>,
    known: BTreeMap<u64, Place>,
}

struct Module {
    start: u64,
    end: u64,
    path: String,
    loader: Option<Option<Loader>>,
}

impl Symbols {
    /// From the module list of a trace: a line `start end path` for each, addresses in hexadecimal.
    pub fn new(modules: &str) -> Self {
        let modules = modules
            .lines()
            .filter_map(|line| {
                let mut words = line.splitn(3, ' ');
                let start = u64::from_str_radix(words.next()?, 16).ok()?;
                let end = u64::from_str_radix(words.next()?, 16).ok()?;
                Some(Module { start, end, path: words.next()?.to_owned(), loader: None })
            })
            .collect();
        Self { modules, known: BTreeMap::new() }
    }

    /// The innermost line of the operator's own sources that leads to `site`.
    ///
    /// The builder maps the operator's root to `.` in line information, so whatever starts with `./` or is relative
    /// is the operator's; the SDK's own frames have absolute paths.
    pub fn place(&mut self, site: u64) -> Place {
        if site == 0 {
            return Place::default();
        }
        if let Some(place) = self.known.get(&site) {
            return place.clone();
        }
        let place = self.look_up(site).unwrap_or_default();
        self.known.insert(site, place.clone());
        place
    }

    fn look_up(&mut self, site: u64) -> Option<Place> {
        let module = self.modules.iter_mut().find(|module| (module.start..module.end).contains(&site))?;
        let path = module.path.clone();
        let loader = module.loader.get_or_insert_with(|| Loader::new(&path).ok()).as_ref()?;
        // The return address is one past the call; its last byte still belongs to the call's line.
        let probe = (site - 1).checked_sub(module.start)?.checked_add(loader.relative_address_base())?;
        let mut frames = loader.find_frames(probe).ok()?;
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { continue };
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            if !file.starts_with('/') {
                return Some(Place { file: file.trim_start_matches("./").to_owned(), line });
            }
        }
        None
    }
}
