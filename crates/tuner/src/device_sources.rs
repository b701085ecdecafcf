//! What a candidate is built for a device from.

use super::candidate::at_first_value;
use super::evaluator::Evaluator;
use super::plan::Plan;
use backend::DeviceSources;
use manifest::Layout;
use source::SourceTree;
use source::tunable::realize;
use space::{Binding, Tunable, Value};

impl Evaluator {
    /// The same that asks the model alone; `None` where that is all that is asked anyway.
    pub(super) fn model_only(&self) -> Option<Self> {
        let measured = self.backend.capabilities().devices > 0 && !self.model_alone;
        measured.then(|| {
            let mut alone = self.clone();
            alone.model_alone = true;
            alone
        })
    }

    /// Sources for the toolkit's build, where a device is measured on. Values have to be compiled in there; those that only the
    /// tiling function reads stand at the same value in all candidates, because the embedded tiling function decides with the real one,
    /// and candidates that differ only in what it decides share an object.
    pub(super) fn device_sources(&self, plan: &Plan) -> Option<DeviceSources> {
        if self.model_alone || self.backend.capabilities().devices == 0 {
            return None;
        }
        let written = plan.written.as_ref().unwrap_or(&plan.sources);
        let sources = match self.manifest.layout {
            Layout::DirectLaunch => written.clone(),
            Layout::Msopgen | Layout::InTree => {
                let kernels = &self.builder.project().kernel_files;
                at_one_value(written, &self.manifest.tunables, kernels).unwrap_or_else(|| written.clone())
            }
        };
        let mut cmake = self.manifest.cmake.clone();
        cmake.extend(plan.cmake.clone());
        Some(DeviceSources { sources, cmake })
    }
}

/// The sources with every tunable of host code at the first value of its domain; `None` where that cannot be written.
fn at_one_value(sources: &SourceTree, tunables: &[Tunable], kernels: &[String]) -> Option<SourceTree> {
    let of_host = tunables.iter().filter(|tunable| only_host(tunable, sources, kernels));
    let anchored: Vec<(Tunable, Value)> = of_host.filter_map(at_first_value).collect();
    sources.apply(&realize(sources, &anchored).ok()?).ok()
}

/// Whether no kernel can see a tunable: it stands in a source file of the host, which nobody includes.
pub(super) fn only_host(tunable: &Tunable, sources: &SourceTree, kernels: &[String]) -> bool {
    let is_host = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        let is_source = [".cpp", ".cc", ".cxx"].iter().any(|end| name.ends_with(end));
        let included = sources.iter().any(|(other, text)| other != file && text.contains(&format!("{name}\"")));
        is_source && !included && !kernels.iter().any(|kernel| kernel == file)
    };
    match &tunable.binding {
        Binding::Constant { file, also, .. } => is_host(file) && also.iter().all(|file| is_host(file)),
        Binding::Argument { file, .. }
        | Binding::Cap { file, .. }
        | Binding::Share { file, .. }
        | Binding::Portion { file, .. } => is_host(file),
        Binding::Cmake { .. } | Binding::Recorded => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Domain;

    fn constant(name: &str, file: &str, also: &[&str]) -> Tunable {
        Tunable {
            name: name.to_owned(),
            domain: Domain::PowerOfTwo { min: 8, max: 64 },
            default: None,
            binding: Binding::Constant {
                file: file.to_owned(),
                name: name.to_owned(),
                also: also.iter().map(|file| (*file).to_owned()).collect(),
            },
            reason: String::new(),
            when: None,
        }
    }

    #[test]
    fn what_only_the_host_reads_makes_no_other_object() {
        let tree = |cores: u32, tile: u32| -> SourceTree {
            let host = format!("#include \"x_tiling.h\"\nconstexpr uint32_t CORES = {cores};\n");
            let kernel = format!("constexpr uint32_t TILE = {tile};\n");
            let files = [("op_host/x.cpp", host), ("op_host/x_tiling.h", "struct T {};\n".to_owned())];
            files.into_iter().chain([("op_kernel/x.cpp", kernel)]).collect()
        };
        let tunables = [constant("CORES", "op_host/x.cpp", &[]), constant("TILE", "op_kernel/x.cpp", &[])];
        let kernels = ["op_kernel/x.cpp".to_owned()];
        let object = |cores, tile| at_one_value(&tree(cores, tile), &tunables, &kernels).unwrap().digest();
        assert_eq!(object(8, 16), object(40, 16));
        assert_ne!(object(8, 16), object(8, 40));
        let shared = constant("CORES", "op_host/x.cpp", &["op_kernel/x.cpp"]);
        assert!(!only_host(&shared, &tree(8, 8), &kernels), "what is kept in step is in the kernel, too");
        assert!(!only_host(&constant("N", "op_host/x_tiling.h", &[]), &tree(8, 8), &kernels));
    }
}
