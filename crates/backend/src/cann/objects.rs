//! What candidates are built to for devices: each built once, told by what it is built from.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ::cann::KernelObject;

use super::super::execution::RunFailure;
use super::super::job::DeviceSources;

/// What a build leaves for devices.
#[derive(Clone, Debug, Default)]
pub struct DeviceProducts {
    /// Kernel objects by type of the operator, one or one for each combination of dtypes.
    pub objects: BTreeMap<String, Vec<KernelObject>>,
    /// The program of a project with a main of its own.
    pub program: Option<PathBuf>,
    /// Libraries that the project makes.
    pub libraries: Vec<PathBuf>,
}

impl DeviceProducts {
    /// Kernel objects of an operator.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn objects_of(&self, operator: &str) -> Result<&[KernelObject], RunFailure> {
        self.objects.get(operator).map(Vec::as_slice).ok_or_else(|| {
            let known: Vec<&str> = self.objects.keys().map(String::as_str).collect();
            RunFailure::NoDevice(format!(
                "the toolkit's build leaves no kernel object of {operator}; it leaves some of: {}",
                known.join(", ")
            ))
        })
    }
}

/// Builds candidates with the toolkit. Its calls wait; they are made on threads of their own.
pub trait DeviceBuild: Debug + Send + Sync {
    /// What sources become.
    ///
    /// # Errors
    /// Where they do not build, or the toolkit fails.
    fn build(&self, sources: &DeviceSources) -> Result<DeviceProducts, RunFailure>;
}

/// What is known of a candidate's build.
type Products = Result<Arc<DeviceProducts>, RunFailure>;

/// A build whose results are kept: candidates that differ only in what the tiling function decides share an object.
#[derive(Debug)]
pub struct BuiltOnce {
    build: Arc<dyn DeviceBuild>,
    known: Mutex<BTreeMap<String, Products>>,
    /// A project has one build tree: one build at a time.
    building: tokio::sync::Mutex<()>,
}

impl BuiltOnce {
    /// Nothing is built yet.
    pub fn new(build: Arc<dyn DeviceBuild>) -> Self {
        Self { build, known: Mutex::default(), building: tokio::sync::Mutex::default() }
    }

    /// What these sources become.
    ///
    /// # Errors
    /// Where they do not build; also the next time, without another try. Trouble of the machine is tried again.
    pub async fn products(&self, sources: &DeviceSources) -> Result<Arc<DeviceProducts>, RunFailure> {
        let key = format!("{} {:?}", sources.sources.digest(), sources.cmake);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known() {
            return known;
        }
        let _turn = self.building.lock().await;
        if let Some(known) = known() {
            return known;
        }
        let (build, given) = (Arc::clone(&self.build), sources.clone());
        let built = tokio::task::spawn_blocking(move || build.build(&given)).await;
        let built = built.map_err(|error| RunFailure::Broken(format!("building for the device: {error}")))?;
        let built = built.map(Arc::new);
        if !built.as_ref().is_err_and(RunFailure::is_of_machine) {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, built.clone());
        }
        built
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl DeviceBuild for Counting {
        fn build(&self, sources: &DeviceSources) -> Result<DeviceProducts, RunFailure> {
            self.0.fetch_add(1, Ordering::SeqCst);
            match sources.sources.text("a.h") {
                Some("full") => Err(RunFailure::Broken("the disk is full".to_owned())),
                Some("wrong") => Err(RunFailure::Refused("it does not compile".to_owned())),
                _ => Ok(DeviceProducts::default()),
            }
        }
    }

    #[tokio::test]
    async fn each_is_built_once_and_trouble_of_the_machine_is_no_result() {
        let counting = Arc::new(Counting::default());
        let built = BuiltOnce::new(Arc::clone(&counting) as Arc<dyn DeviceBuild>);
        let sources =
            |text: &str| DeviceSources { sources: [("a.h", text)].into_iter().collect(), cmake: BTreeMap::new() };
        for (text, fails, builds) in [
            ("1", false, 1),
            ("1", false, 1),
            ("2", false, 2),
            ("wrong", true, 3),
            ("wrong", true, 3),
            ("full", true, 4),
            ("full", true, 5),
        ] {
            assert_eq!(built.products(&sources(text)).await.is_err(), fails);
            assert_eq!(counting.0.load(Ordering::SeqCst), builds, "{text}");
        }
    }
}
