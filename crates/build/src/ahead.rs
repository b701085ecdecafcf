//! What of an operator is compiled before the SDK's library is there to link it with.

use super::builder::Builder;
use super::error::BuildError;
use super::kernel::Unit;
use project::KernelEntry;
use source::SourceTree;

impl Builder {
    /// Compiles what needs no library: objects of the host's sources, and the headers that kernels begin with. Whatever fails here is
    /// kept as any other result is, and told where it is wanted.
    pub fn compile_ahead(&self, tree: &SourceTree, kernel: &str) {
        let sources = self.host_sources(tree);
        if sources.is_empty() {
            return;
        }
        let _ = self.objects(tree, &sources);
        if let Some(entry) = self.project.entry_named(kernel) {
            let _ = self.headers_ahead(tree, entry);
        }
    }

    fn headers_ahead(&self, tree: &SourceTree, entry: &KernelEntry) -> Result<(), BuildError> {
        let flags = self.project_flags(&entry.file);
        let reached = self.closure(tree, &entry.file, &flags);
        // Only the tiling function knows the key. Where the kind of cores depends on it, this may be the wrong one.
        let kind = self.kind_of_key(tree, &reached, 0);
        let overlay = self.overlay(tree)?;
        let project = self.project_words(&overlay, &flags, &reached)?;
        for unit in Unit::of(kind) {
            self.first_headers(&self.unit_words(unit, kind), &flags, &project)?;
        }
        Ok(())
    }
}
