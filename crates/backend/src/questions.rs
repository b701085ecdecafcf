//! Questions to a tiling function that are asked together, because all of them will be asked.
//!
//! A process of its own for each costs several times what the question does. One process answers many: for each it makes a child that
//! begins where a process of its own would, so that no answer depends on another question. What does not answer like that is asked
//! alone when its turn comes, which is how everything but an answer comes about.

use std::ffi::OsString;
use std::path::Path;

use super::job::{KernelJob, RunnerReply, result_file};
use super::scratch::ScratchDirectory;
use super::sim::{SimBackend, knob_environment};

/// Questions of one process: the time limit of one is theirs together.
const TOGETHER: usize = 64;

impl SimBackend {
    /// What a job asks its tiling function, wherever that happens.
    pub(super) fn question(&self, job: &KernelJob) -> String {
        format!("{} {:?}", job.text("tile", Path::new(""), self.platform_of_job()), job.knobs)
    }

    /// Answers for [`SimBackend::tile`], which is going to be asked for these.
    pub async fn foresee(&self, jobs: &[KernelJob]) {
        // The values of knobs are those of a process.
        let alike = jobs.chunk_by(|one, other| one.knobs == other.knobs);
        for some in alike.flat_map(|alike| alike.chunks(TOGETHER)).filter(|some| some.len() > 1) {
            self.answer_together(some).await;
        }
    }

    /// Where this fails the questions are still there to be asked.
    async fn answer_together(&self, jobs: &[KernelJob]) -> Option<()> {
        let directory = ScratchDirectory::below(&self.scratch).ok()?;
        let mut files: Vec<OsString> = Vec::new();
        for (place, job) in jobs.iter().enumerate() {
            let own = directory.path().join(place.to_string());
            fs_err::create_dir(&own).ok()?;
            let file = own.join("job.txt");
            fs_err::write(&file, job.text("tile", &own, self.platform_of_job())).ok()?;
            files.push(file.into_os_string());
        }
        let libraries = jobs.iter().flat_map(KernelJob::library_folders);
        let environment = knob_environment(&jobs.first()?.knobs);
        let command = self.tiling_command(files, directory.path(), libraries, environment);
        // Whatever came to an end before the limit is an answer.
        let _ = command.run().await;
        for (place, job) in jobs.iter().enumerate() {
            let bytes = fs_err::read(result_file(&directory.path().join(place.to_string())));
            let reply = bytes.ok().and_then(|bytes| serde_json::from_slice::<RunnerReply>(&bytes).ok());
            if let Some(reply) = reply.filter(|reply| reply.status == "ok") {
                self.foreseen.keep(self.question(job), reply.tiled());
            }
        }
        Some(())
    }
}
