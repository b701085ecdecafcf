//! The program of an operator's kernel unit tests: the test files and the unmodified kernel, each its own translation unit,
//! with the SDK's stand-ins for the test framework and for launches (`sdk/unit_test`).

use std::path::{Path, PathBuf};

use super::builder::{Artifact, Builder, device_defines};
use super::error::BuildError;
use super::kernel_variant::TilingClass;
use super::overlay::Overlay;
use super::tiling_header::tiling_header;
use project::{KernelEntry, KernelTests};
use source::SourceTree;
use source::arch::TARGET;

const OUTPUT: &str = "kernel_tests";

/// What the unit-test build of an operator defines for kernels and tests alike.
const TEST_DEFINES: [&str; 3] = ["-DASCENDC_CPU_DEBUG=1", "-D__CCE_KT_TEST__=1", "-DKERNELUT=1"];

impl Builder {
    /// Builds the program of the kernel unit tests. `classes` describe the tiling data where the tests bring no header.
    pub fn kernel_tests(
        &self,
        tree: &SourceTree,
        tests: &KernelTests,
        operator: &str,
        entry: &KernelEntry,
        classes: &[TilingClass],
    ) -> Result<Artifact, BuildError> {
        let flags = self.project_flags(&entry.file);
        let reached = self.closure(tree, &entry.file, &flags);
        let generated = match tests.tiling_header {
            Some(_) => String::new(),
            None => tiling_header(operator, 0, classes, None),
        };
        let mut digest = self.digest("kernel tests 2", tree, &reached, &flags);
        digest.text(&generated).texts(&tests.defines);
        for file in self.files_of_tests(tests) {
            digest.text(&file.display().to_string()).bytes(&std::fs::read(&file).unwrap_or_default());
        }
        let digest = digest.finish();
        self.artifact(&digest, OUTPUT, |directory| {
            let overlay = self.overlay(tree)?;
            let header = directory.join("tiling_header.h");
            fs_err::write(&header, &generated).map_err(BuildError::io(&header))?;
            // Behind the API's own headers, whose names some of these definitions take.
            let defines = directory.join("defines.h");
            fs_err::write(&defines, definitions(&tests.defines)).map_err(BuildError::io(&defines))?;
            let mut common = self.compile_words(&overlay, &flags, &reached)?;
            common.extend(device_defines());
            common.extend(TEST_DEFINES.map(str::to_owned));
            common.push(format!("-DUT_SOC_VERSION=\"{}\"", TARGET.test_soc));
            common.extend(tests.includes.iter().map(|folder| format!("-I{}", folder.display())));
            common.push(format!("-I{}", self.unit_test_directory().display()));
            common.push(format!("-I{}", self.sdk.root.join("src").display()));
            let tiling = tests.tiling_header.as_ref().unwrap_or(&header).display().to_string();
            let device: Vec<String> = ["-include", "tikicpulib.h", "-include", &tiling].map(str::to_owned).to_vec();
            let mut units: Vec<(PathBuf, bool)> = tests.sources.iter().map(|file| (file.clone(), true)).collect();
            if !tests.includes_kernel {
                units.push((overlay.operator().join(&entry.file), true));
            }
            units.extend(tests.helpers.iter().map(|file| (file.clone(), false)));
            units.extend(["report.cpp", "launch.cpp"].map(|name| (self.unit_test_directory().join(name), false)));
            let mut objects = Vec::new();
            for (index, (file, is_device)) in units.iter().enumerate() {
                let object = directory.join(format!("{index}.o"));
                let mut words = common.clone();
                if *is_device {
                    words.extend(device.iter().cloned());
                }
                self.compile_unit(&overlay, words, file, &object)?;
                objects.push(object);
            }
            let mut words = vec!["-rdynamic".to_owned()];
            words.extend(objects.iter().map(|object| object.display().to_string()));
            words.extend(["-o".to_owned(), directory.join(OUTPUT).display().to_string()]);
            words.extend(self.sdk.link_words());
            words.extend(["-ldl", "-pthread"].map(str::to_owned));
            self.compile(OUTPUT, &overlay, &words)
        })
    }

    fn compile_unit(
        &self,
        overlay: &Overlay,
        mut words: Vec<String>,
        file: &Path,
        object: &Path,
    ) -> Result<(), BuildError> {
        words.extend(["-c".to_owned(), file.display().to_string(), "-o".to_owned(), object.display().to_string()]);
        self.compile(OUTPUT, overlay, &words)
    }

    fn unit_test_directory(&self) -> PathBuf {
        self.sdk.root.join("unit_test")
    }

    /// Everything that tests are made of, as far as it lies in their folders.
    fn files_of_tests(&self, tests: &KernelTests) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = tests
            .includes
            .iter()
            .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        files
    }
}

/// Words such as `-DA=1` as lines of a header.
fn definitions(words: &[String]) -> String {
    words
        .iter()
        .filter_map(|word| word.strip_prefix("-D"))
        .map(|define| match define.split_once('=') {
            Some((name, value)) => format!("#undef {name}\n#define {name} {value}\n"),
            None => format!("#undef {define}\n#define {define} 1\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_become_lines() {
        let words = ["-DDTYPE_X=float".to_owned(), "-DFAST".to_owned(), "-O2".to_owned()];
        assert_eq!(definitions(&words), "#undef DTYPE_X\n#define DTYPE_X float\n#undef FAST\n#define FAST 1\n");
    }
}
