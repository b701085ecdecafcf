//! What comes together of the cores of a launch while one after the other is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::cross::CrossFlags;
use super::data_cache::CacheLog;
use super::findings::Findings;
use super::gm_log::{GmLog, Known};
use super::kernel_type::CoreName;

/// What the judges of all cores share.
pub(crate) struct Shared {
    pub(crate) findings: Findings,
    pub(crate) log: GmLog,
    pub(crate) caches: CacheLog,
    pub(crate) cross: CrossFlags<Rc<Known>>,
    /// Last set of each cross-core flag.
    pub(crate) set_sites: BTreeMap<u32, u64>,
    /// Some core polls global memory.
    pub(crate) polls: bool,
    /// Cores whose own pipes wait for each other for ever.
    pub(crate) stuck: BTreeSet<u32>,
}

impl Shared {
    /// Before any core is judged; `names` are those of the cores.
    pub(crate) fn new(names: Vec<CoreName>) -> Self {
        Self {
            findings: Findings::default(),
            log: GmLog::default(),
            caches: CacheLog::default(),
            cross: CrossFlags::new(names),
            set_sites: BTreeMap::new(),
            polls: false,
            stuck: BTreeSet::new(),
        }
    }
}
