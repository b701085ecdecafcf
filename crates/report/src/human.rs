//! Events for people: cargo-like status lines and a progress bar on one stream, results on another.

use std::io::{self, ErrorKind, Write};

use aicore::Origin;
use anstyle::{AnsiColor, Effects, Style};
use events::survey::{SurveyStep, Surveyed};
use events::{
    Baseline, Build, Evaluation, Event, Failure, Improvement, Init, Repair, Sdk, SdkStatus, Stage, Start, Status,
    Warning, Written,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::sink::Sink;
use super::units::{counted, factor, microseconds, percent, percent_of_bound, seconds};

mod ablation;
mod checks;
mod devices;
mod experience;
mod fidelity;
mod locks;
mod operators;
mod replay;
mod results;
mod runs;
mod table;
mod views;

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Results and errors only.
    Quiet,
    /// What changes something.
    #[default]
    Normal,
    /// Every evaluation with its reason.
    Verbose,
}

/// How it is said.
#[derive(Debug)]
pub struct HumanOptions {
    /// How much is said.
    pub verbosity: Verbosity,
    /// Whether to use colour.
    pub color: bool,
    /// Where the progress bar is drawn; nothing for plain lines, as when standard error is not a terminal.
    pub progress: Option<ProgressDrawTarget>,
}

/// Renders events for people.
pub struct Human<'a> {
    status: Box<dyn Write + Send + 'a>,
    results: Box<dyn Write + Send + 'a>,
    verbosity: Verbosity,
    color: bool,
    draw_target: Option<ProgressDrawTarget>,
    bar: Option<ProgressBar>,
    /// `modelled on ascend910b2 version 3`, once that is known.
    origin: String,
    /// `modelled` or `measured` with a space before it, once that is known.
    word: &'static str,
    best_us: Option<f64>,
    stage: Option<Stage>,
    /// The last two switches that were told.
    switches: [Option<(Stage, String)>; 2],
    budget: Option<u64>,
    evaluations: u64,
}

impl<'a> Human<'a> {
    /// Status lines go to `status` (standard error), results to `results` (standard output).
    pub fn new(status: impl Write + Send + 'a, results: impl Write + Send + 'a, options: HumanOptions) -> Self {
        Self {
            status: Box::new(status),
            results: Box::new(results),
            verbosity: options.verbosity,
            color: options.color,
            draw_target: options.progress.filter(|_| options.verbosity > Verbosity::Quiet),
            bar: None,
            origin: String::new(),
            word: "",
            best_us: None,
            stage: None,
            switches: [None, None],
            budget: None,
            evaluations: 0,
        }
    }

    /// Takes the progress bar away, as before an error is shown.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// `     Verb message` with the verb right-aligned to twelve columns.
    fn status(&mut self, style: Style, verb: &str, message: &str) -> io::Result<()> {
        if self.verbosity == Verbosity::Quiet {
            return Ok(());
        }
        let verb = paint(self.color, style, &format!("{verb:>12}"));
        self.line(&format!("{verb} {message}\n"))
    }

    fn note(&mut self, verb: &str, message: &str) -> io::Result<()> {
        self.status(GOOD, verb, message)
    }

    /// Text on the status stream, with the bar out of the way.
    fn line(&mut self, text: &str) -> io::Result<()> {
        let status = &mut self.status;
        match &self.bar {
            Some(bar) => bar.suspend(|| put(status.as_mut(), text)),
            None => put(status.as_mut(), text),
        }
    }

    fn result(&mut self, text: &str) -> io::Result<()> {
        self.finish();
        put(self.results.as_mut(), text)
    }

    fn start(&mut self, start: &Start) -> io::Result<()> {
        self.budget = start.budget;
        self.evaluations = start.resumed.unwrap_or(0);
        if let (Some(origin), Some(machine)) = (start.origin, &start.machine) {
            self.word = match origin {
                Origin::Modelled => " modelled",
                Origin::Measured => " measured",
            };
            self.origin = machine_text(origin.word(), machine, start.machine_version.as_deref().unwrap_or("?"));
        }
        let Some(operator) = &start.operator else { return Ok(()) };
        let verb = match start.command.as_str() {
            "run" => "Tuning",
            "check" | "lock" => "Checking",
            "build" => "Building",
            "profile" => "Profiling",
            "rewind" => "Rewinding",
            _ => "Reading",
        };
        let project = start.project.as_deref().map(|path| format!(" ({path})")).unwrap_or_default();
        let origin = if self.origin.is_empty() { String::new() } else { format!(", latencies {}", self.origin) };
        self.note(verb, &format!("{operator}{project}{origin}"))?;
        if let (Some(backend), Some(because)) = (&start.backend, &start.backend_because) {
            self.note("Backend", &format!("{backend}: {because}"))?;
        }
        match start.resumed {
            Some(count) if count > 0 => self.note(
                "Resuming",
                &format!("after {} of an earlier run; --no-resume starts over", counted(count, "evaluation")),
            ),
            _ => Ok(()),
        }
    }

    fn begin_bar(&mut self) {
        let Some(target) = self.draw_target.take() else { return };
        let bar = ProgressBar::with_draw_target(self.budget, target);
        let template = "{prefix:>12.cyan.bold} [{bar:24}] {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_position(self.evaluations);
        bar.set_prefix("Verifying");
        self.bar = Some(bar);
    }

    fn update_bar(&self, speedup: f64) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(self.evaluations);
        bar.set_prefix(match self.stage {
            Some(Stage::Host) => "Host stage",
            Some(Stage::Kernel) => "Kernel stage",
            None => "Verifying",
        });
        let done = match self.budget {
            Some(budget) => {
                format!("{} of {budget}, {} left", self.evaluations, budget.saturating_sub(self.evaluations))
            }
            None => counted(self.evaluations, "evaluation"),
        };
        let best = self.best_us.map_or_else(|| "-".to_owned(), microseconds);
        bar.set_message(format!("{done}, best {best}{} ({})", self.word, factor(speedup)));
    }

    /// One line for an operator: what it reached, or what stopped it.
    fn surveyed(&mut self, outcome: &Surveyed) -> io::Result<()> {
        let name = format!("{}/{}", outcome.repository, outcome.operator);
        let time = seconds(outcome.wall_s);
        match outcome.failure() {
            Some(failure) => {
                let cause = failure.cause.as_ref().map(ToString::to_string).unwrap_or_default();
                self.status(WARN, "Stopped", &format!("{name} at {}: {cause} ({time})", failure.step))
            }
            None => {
                let reached = outcome.reached().map_or("nothing", SurveyStep::word);
                self.note("Passed", &format!("{name} up to {reached} ({time})"))
            }
        }
    }

    fn evaluation(&mut self, evaluation: &Evaluation) -> io::Result<()> {
        self.evaluations = self.evaluations.max(evaluation.index);
        self.stage = Some(evaluation.stage);
        if let (Some(now), Some(best)) = (evaluation.objective_us, self.best_us) {
            self.best_us = Some(best.min(now));
        }
        if self.verbosity == Verbosity::Verbose {
            let motif = evaluation.motif.as_deref().map(|motif| format!(" {motif}")).unwrap_or_default();
            let cached = if evaluation.cached { " (seen before)" } else { "" };
            let head = format!(
                "#{} {}{motif} {}{cached}",
                evaluation.index,
                evaluation.stage.word(),
                evaluation.configuration
            );
            match (evaluation.status, evaluation.objective_us) {
                (Status::Valid, Some(objective)) => {
                    let about = if evaluation.estimated { "about " } else { "" };
                    let rest = if evaluation.estimated { ", out of the race after the first cases" } else { "" };
                    let text = format!("{head}: {about}{}{}{rest}", microseconds(objective), self.word);
                    self.note("Evaluated", &text)?;
                }
                (status, _) => {
                    let reason = evaluation.reason.as_deref().unwrap_or("no reason recorded");
                    self.status(WARN, "Rejected", &format!("{head}: {}: {reason}", status.word()))?;
                }
            }
        }
        self.update_bar(evaluation.speedup);
        Ok(())
    }

    fn sdk(&mut self, sdk: &Sdk) -> io::Result<()> {
        match sdk.status {
            SdkStatus::Built => self.note(
                "Built",
                &format!("the simulator with {} in {} ({})", sdk.compiler, seconds(sdk.wall_s), sdk.path),
            ),
            SdkStatus::Cached if self.verbosity == Verbosity::Verbose => self.note("Fresh", &sdk.path),
            SdkStatus::Cached => Ok(()),
        }
    }

    fn baseline(&mut self, baseline: &Baseline) -> io::Result<()> {
        self.best_us = Some(baseline.objective_us);
        for case in &baseline.cases {
            let share = percent_of_bound(case.us, case.bound_us).map(percent).unwrap_or_default();
            let time = format!("{}: {}{}", case.name, microseconds(case.us), self.word);
            // Measured times have no bound: that of the model says nothing about them.
            let text = match case.bound_us > 0.0 {
                true => format!("{time}, {share} of the bound {}", microseconds(case.bound_us)),
                false => time,
            };
            self.note("Baseline", &text)?;
        }
        self.begin_bar();
        self.update_bar(1.0);
        Ok(())
    }

    fn improvement(&mut self, improvement: &Improvement) -> io::Result<()> {
        self.best_us = Some(improvement.objective_us);
        self.update_bar(improvement.speedup);
        self.note(
            "Improved",
            &format!(
                "{}{} ({}) at #{}, {} stage: {}",
                microseconds(improvement.objective_us),
                self.word,
                factor(improvement.speedup),
                improvement.index,
                improvement.stage.word(),
                improvement.change
            ),
        )
    }

    fn warning(&mut self, warning: &Warning) -> io::Result<()> {
        if self.verbosity == Verbosity::Quiet {
            return Ok(());
        }
        let label = paint(self.color, WARN, "warning");
        let help = help_line(self.color, warning.help.as_deref());
        self.line(&format!("{label}: {}\n{help}", warning.message))
    }

    fn failure(&mut self, failure: &Failure) -> io::Result<()> {
        self.finish();
        let label = paint(self.color, BAD, "error");
        let help = help_line(self.color, failure.help.as_deref());
        self.line(&format!("{label}: {}\n{help}", failure.message))
    }

    fn built(&mut self, build: &Build) -> io::Result<()> {
        self.finish();
        let locked = if build.locked { "with the values of ascend.lock" } else { "with the sources' own values" };
        self.note("Finished", &format!("{} {locked} in {}", build.operator, seconds(build.wall_s)))?;
        let text: String = build.artifacts.iter().map(|artifact| format!("{artifact}\n")).collect();
        self.result(&text)
    }

    fn repair(&mut self, repair: &Repair) -> io::Result<()> {
        let verb = if repair.written { "Repaired" } else { "Would repair" };
        let Repair { title, file, line, before, after, .. } = repair;
        self.note(verb, &format!("{file}:{line}: {title} ({before} faults before, {after} after)"))?;
        match self.verbosity {
            Verbosity::Quiet => Ok(()),
            Verbosity::Normal | Verbosity::Verbose => self.line(&repair.diff),
        }
    }

    fn wrote(&mut self, written: &Written) -> io::Result<()> {
        let verb = if written.written { "Created" } else { "Would create" };
        for file in &written.files {
            self.note(verb, file)?;
        }
        written.next.as_ref().map_or(Ok(()), |next| self.note("Next", next))
    }

    fn created(&mut self, init: &Init) -> io::Result<()> {
        let verb = if init.written { "Created" } else { "Would create" };
        self.note(
            verb,
            &format!(
                "{} for {} ({}): {}, {}{}",
                init.manifest,
                init.operator,
                init.layout,
                counted(init.cases.len() as u64, "case"),
                counted(init.tunables.len() as u64, "tunable"),
                left_out(init),
            ),
        )
    }
}

impl Sink for Human<'_> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Start(start) => self.start(start),
            Event::Sdk(sdk) => self.sdk(sdk),
            Event::Devices(devices) => self.note("Measuring", &devices::devices(devices)),
            Event::ModelError(error) => self.note("Model", &devices::model_error(error)),
            Event::Progress(progress) => self.note("Looking", &progress.step),
            Event::Baseline(baseline) => self.baseline(baseline),
            Event::Repair(repair) => self.repair(repair),
            Event::Evaluation(evaluation) => self.evaluation(evaluation),
            Event::Improvement(improvement) => self.improvement(improvement),
            Event::StageSwitch(switch) => {
                self.stage = Some(switch.to);
                // Stages that only take turns say so once.
                let said = Some((switch.to, switch.reason.clone()));
                if self.switches.contains(&said) {
                    return Ok(());
                }
                self.switches.rotate_left(1);
                self.switches[1] = said;
                self.note("Switching", &format!("to the {} stage: {}", switch.to.word(), switch.reason))
            }
            Event::TakenBack(taken) => self.note("Took back", &format!("{}: {}", taken.step, taken.why)),
            Event::Warning(warning) => self.warning(warning),
            Event::Error(failure) => self.failure(failure),
            Event::Build(build) => self.built(build),
            Event::Init(init) => self.created(init),
            Event::Written(written) => self.wrote(written),
            Event::Surveyed(outcome) => self.surveyed(outcome),
            result => {
                let text = results::text(result, self.color, self.verbosity == Verbosity::Verbose);
                text.map_or(Ok(()), |text| self.result(&text))
            }
        }
    }
}

impl Drop for Human<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const WARN: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
const BAD: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const HINT: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);
const STRONG: Style = Style::new().effects(Effects::BOLD);

fn paint(color: bool, style: Style, text: &str) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

fn help_line(color: bool, help: Option<&str>) -> String {
    help.map(|help| format!("  {} {help}\n", paint(color, HINT, "help:"))).unwrap_or_default()
}

/// `modelled on ascend910b2 version 3`.
fn machine_text(origin: &str, machine: &str, version: &str) -> String {
    format!("{origin} on {machine} version {version}")
}

/// Writes and flushes; a reader that went away is not an error.
fn put(output: &mut dyn Write, text: &str) -> io::Result<()> {
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// What a new manifest does not have of the cases that were found.
fn left_out(init: &Init) -> String {
    let more = match init.more_cases {
        0 => String::new(),
        count => format!("; {} more with --cases all", counted(count as u64, "case")),
    };
    let refused = match init.refused.len() {
        0 => String::new(),
        count => format!("; {} refused by the tiling function", counted(count as u64, "case")),
    };
    let faults = match init.faults.len() {
        0 => String::new(),
        count => format!("; the operator is at fault in {}", counted(count as u64, "case")),
    };
    let doubtful = match init.doubtful.len() {
        0 => String::new(),
        count => format!("; {} left out at which it or the operator is at fault", counted(count as u64, "case")),
    };
    more + &refused + &faults + &doubtful
}
