//! Results as text: the summary table, the profile, the verdicts.

use std::fmt::Write as _;

use aicore::Severity;
use events::survey::{self, Row, SurveyStep, TestTotals, WitnessCounts};
use events::{
    CheckState, Comparison, Doctor, Doors, Generalisation, HazardReport, KernelTest, KernelTestSummary, ModelUse,
    PathReport, ProfileEvent, StallReport, Summary, TestVerdict,
};

use super::super::units::{
    bytes, counted, factor, limiter, microseconds, number, path_shown, path_words, percent, percent_of_bound, place,
    seconds,
};
use super::table::{Align, table};
use super::{BAD, GOOD, HINT, STRONG, WARN, machine_text, paint};

/// Cells of a full bar.
const BAR_CELLS: usize = 40;
/// Stalls shown.
const STALLS: usize = 8;

/// Every probe with both times, and what they come to.
pub(super) fn comparison(comparison: &Comparison, color: bool) -> String {
    let word = comparison.origin.word();
    let rows: Vec<Vec<String>> = comparison
        .probes
        .iter()
        .map(|probe| {
            let verdict = match (&probe.wrong, probe.holds, probe.compared) {
                (Some(reason), ..) => paint(color, BAD, &format!("wrong: {reason}")),
                (None, false, _) => paint(color, BAD, "slower"),
                (None, true, true) => "right".to_owned(),
                (None, true, false) => "no new hazard; too large to compare outputs".to_owned(),
            };
            vec![
                probe.name.clone(),
                microseconds(probe.before_us),
                probe.now_us.map_or_else(|| "-".to_owned(), microseconds),
                probe.speedup().map_or_else(|| "-".to_owned(), factor),
                verdict,
            ]
        })
        .collect();
    let (before, now) = (format!("before ({word})"), format!("now ({word})"));
    let columns = [
        ("probe", Align::Left),
        (before.as_str(), Align::Right),
        (now.as_str(), Align::Right),
        ("speed-up", Align::Right),
        ("", Align::Left),
    ];
    let mut text = table(&columns, &rows);
    let broken = comparison.probes.iter().filter(|probe| !probe.holds).count();
    let compared = comparison.probes.iter().filter(|probe| probe.compared).count();
    let verdict = match broken {
        0 => paint(color, GOOD, "all hold"),
        broken => paint(color, BAD, &format!("{broken} do not hold")),
    };
    let probes = counted(comparison.probes.len() as u64, "probe");
    let origin = machine_text(word, &comparison.machine, &comparison.machine_version);
    let _ = writeln!(
        text,
        "\n{}: {} drawn by seed {}, outputs of {compared} compared, {verdict}; {origin}",
        paint(color, STRONG, &comparison.operator),
        match comparison.speedup() {
            Some(speedup) => format!("{} on {probes}", factor(speedup)),
            None => format!("no size but those of the cases could be tried, {probes}"),
        },
        comparison.seed,
    );
    if comparison.at_fault > 0 {
        let _ = writeln!(
            text,
            "  the operator had hazards on {} of them before, and has no others now",
            comparison.at_fault
        );
    }
    for faulty in &comparison.faulty {
        let _ = writeln!(text, "  not comparable: {faulty}");
    }
    text
}

/// What a language model was asked and cost, one line.
fn model_use(model: &ModelUse) -> String {
    let unanswered = if model.failures > 0 { format!(", {} without answer", model.failures) } else { String::new() };
    let money = if model.money > 0.0 { format!(", {:.4} in money", model.money) } else { String::new() };
    let ended = model.ended.as_ref().map(|why| format!("; ended: {why}")).unwrap_or_default();
    format!(
        "  model          {}: {}{unanswered}, {} + {} tokens, {:.1} s{money}; {} of what it proposed{ended}\n",
        model.asked,
        counted(model.answers, "answer"),
        model.prompt_tokens,
        model.answer_tokens,
        model.seconds,
        counted(model.evaluations, "evaluation"),
    )
}

/// What is to be said where the gains of the stages do not come to the speed-up: a stage's gain is that of each of its steps when it
/// was found, and cases have joined or steps have gone since.
fn of_its_time(summary: &Summary) -> &'static str {
    let both = summary.stages.host.gain * summary.stages.kernel.gain;
    if (both / summary.speedup - 1.0).abs() > 0.01 { ", as of when each step was found" } else { "" }
}

fn generalisation(general: &Generalisation) -> String {
    let probes = counted(general.probes.len() as u64, "case");
    let mut text = match (general.worst(), general.unconfirmed) {
        (Some(worst), false) => format!(
            "  probes         {} on {probes} that the search never saw, {} on the worst ({})\n",
            factor(general.speedup),
            factor(worst.speedup),
            worst.name
        ),
        (Some(worst), true) => format!(
            "  probes         right on {probes} that the search never saw, {} on the worst ({})\n                 \
             none is of another size than the cases: nothing is known of other shapes\n",
            factor(worst.speedup),
            worst.name
        ),
        (None, _) => "  probes         none: nothing is known of other shapes\n".to_owned(),
    };
    if let Some(first) = general.faulty.first() {
        let others = if general.probes.is_empty() { "" } else { " more" };
        let _ = writeln!(
            text,
            "                 the operator as it was is not right on {}{others}, where nothing can be compared, first on {first}",
            counted(general.faulty.len() as u64, "case"),
        );
    }
    if general.at_fault > 0 {
        let _ = writeln!(
            text,
            "                 the operator as it was has hazards on {} of them, and so it has now",
            general.at_fault
        );
    }
    if !general.joined.is_empty() {
        let _ = writeln!(
            text,
            "                 an earlier winner did not hold on {}: tuned on from then",
            general.joined.join(", ")
        );
    }
    if !general.representing.is_empty() {
        let _ = writeln!(
            text,
            "                 the cases flattered: timed with {} from then",
            general.representing.join(", ")
        );
    }
    text
}

pub(super) fn summary(summary: &Summary, color: bool) -> String {
    let origin = machine_text(summary.origin.word(), &summary.machine, &summary.machine_version);
    let error = summary.error.map_or_else(String::new, |error| format!(" (standard error {:.1} %)", error * 100.0));
    // Who reads one number reads the lesser one.
    let unconfirmed = summary.generalisation.as_ref().is_some_and(|general| general.unconfirmed);
    let on_cases = match factor(summary.speedup) {
        _ if unconfirmed && summary.claimed > 1.0 => " on the cases (no other size could be tried)".to_owned(),
        on_cases if on_cases == factor(summary.claimed) => String::new(),
        on_cases => format!(" where nobody looked, {on_cases} on the cases"),
    };
    let mut text = format!(
        "\n{}: {} faster{on_cases}{error}, {origin}\n\n",
        paint(color, STRONG, &summary.operator),
        paint(color, if summary.claimed > 1.0 { GOOD } else { STRONG }, &factor(summary.claimed)),
    );
    let rows: Vec<Vec<String>> = summary
        .cases
        .iter()
        .map(|case| {
            let share = case.bound_us.and_then(|bound| percent_of_bound(case.best_us, bound));
            vec![
                case.name.clone(),
                microseconds(case.baseline_us),
                microseconds(case.best_us),
                factor(case.speedup),
                case.bound_us.map_or_else(|| "-".to_owned(), microseconds),
                share.map_or_else(|| "-".to_owned(), percent),
                case.limiter.map_or_else(|| "-".to_owned(), |one| limiter(one).to_owned()),
            ]
        })
        .collect();
    let word = summary.origin.word();
    let (baseline, best) = (format!("baseline ({word})"), format!("best ({word})"));
    text.push_str(&table(
        &[
            ("case", Align::Left),
            (&baseline, Align::Right),
            (&best, Align::Right),
            ("speed-up", Align::Right),
            ("bound", Align::Right),
            ("of bound", Align::Right),
            ("limited by", Align::Left),
        ],
        &rows,
    ));
    let _ = writeln!(
        text,
        "\n  {} in {}, {} rejected; host stage {} ({}), kernel stage {} ({}){}",
        counted(summary.evaluations, "evaluation"),
        seconds(summary.wall_s),
        summary.rejected,
        factor(summary.stages.host.gain),
        counted(summary.stages.host.evaluations, "evaluation"),
        factor(summary.stages.kernel.gain),
        counted(summary.stages.kernel.evaluations, "evaluation"),
        of_its_time(summary),
    );
    if !summary.configuration.is_empty() {
        let _ = writeln!(text, "  configuration  {}", summary.configuration);
    }
    if !summary.motifs.is_empty() {
        let _ = writeln!(text, "  motifs         {}", summary.motifs.join(", "));
    }
    if let Some(general) = &summary.generalisation {
        text.push_str(&generalisation(general));
    }
    if let Some(model) = &summary.model {
        text.push_str(&model_use(model));
    }
    for case in summary.sampled.iter().filter(|case| case.sampled > 0) {
        let whole = match (case.whole, &case.reason) {
            (1.., Some(reason)) => format!(", every block in {} ({reason})", case.whole),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "  blocks         case {}: {} of {} ran with data in {}{whole}; what became the best ran in full",
            case.name,
            case.blocks,
            case.of,
            counted(case.sampled, "quick trial"),
        );
    }
    for known in &summary.known {
        let allowed = known.allowed.as_ref().map_or(String::new(), |reason| format!("; allowed: {reason}"));
        let _ = writeln!(text, "  {}   {known}{allowed}", paint(color, BAD, "known hazard"));
    }
    if let Some(lock) = &summary.lock {
        let _ = writeln!(text, "  lock           {lock}");
    }
    if let Some(report) = &summary.report {
        let _ = writeln!(text, "  report         {report}");
    }
    text
}

pub(super) fn profile(profile: &ProfileEvent, color: bool) -> String {
    let origin = machine_text(profile.origin.word(), &profile.machine, &profile.machine_version);
    let mut text = format!(
        "\n{}, case {}: kernel {}, launch {}\n",
        paint(color, STRONG, &profile.operator),
        profile.case,
        profile.kernel,
        profile.launch,
    );
    let _ = write!(
        text,
        "  task   {} {origin}, {}",
        paint(color, STRONG, &microseconds(profile.task_us)),
        counted(u64::from(profile.cores), "core"),
    );
    if let Some(longest) = profile.longest_core_us {
        let _ = write!(text, ", longest core {}", microseconds(longest));
    }
    if let (Some(count), Some(spread)) = (profile.count, profile.spread) {
        let _ = write!(text, ", median of {}, spread {:.1} %", counted(u64::from(count), "launch"), spread * 100.0);
    }
    text.push('\n');
    if let (Some(bound_us), Some(by)) = (profile.bound_us, profile.limiter)
        && let Some(share) = percent_of_bound(profile.task_us, bound_us)
    {
        let style = if share >= 90.0 { GOOD } else { WARN };
        let _ = writeln!(
            text,
            "  bound  {} by {}: you are at {} of the bound",
            microseconds(bound_us),
            limiter(by),
            paint(color, style, &percent(share)),
        );
    }
    if let Some(published) = profile.published_us {
        let _ = writeln!(
            text,
            "  published  {}; {} over published is {}",
            microseconds(published),
            profile.origin.word(),
            number(profile.task_us / published),
        );
    }
    let _ =
        writeln!(text, "  memory  {} read, {} written", bytes(profile.gm_read_bytes), bytes(profile.gm_write_bytes));
    text.push_str(&pipes(profile));
    text.push_str(&critical_path(&profile.critical_path));
    text.push_str(&stalls(&profile.stalls));
    text.push_str(&hazards(&profile.hazards, color));
    let verdict = match profile.correct {
        Some(true) if profile.checked.is_empty() => paint(color, GOOD, "outputs are right"),
        Some(true) => paint(color, GOOD, &format!("right, checked against {}", profile.checked)),
        Some(false) if profile.wrong.is_empty() => paint(color, BAD, "NOT right"),
        Some(false) => format!("{}: {}", paint(color, BAD, "NOT right"), profile.wrong),
        None if profile.timing_only => {
            paint(color, WARN, "timed without data: outputs were not computed, nothing is verified")
        }
        None => "outputs were not compared: there is no reference".to_owned(),
    };
    let _ = writeln!(text, "\n  {verdict}");
    text
}

fn pipes(profile: &ProfileEvent) -> String {
    let Some(pipes) = &profile.pipes else { return String::new() };
    let longest_core_us = profile.longest_core_us.unwrap_or(0.0);
    let all = [
        ("MTE2", pipes.mte2_us, true),
        ("MTE1", pipes.mte1_us, false),
        ("cube", pipes.cube_us, false),
        ("vector", pipes.vec_us, true),
        ("fixpipe", pipes.fixpipe_us, false),
        ("MTE3", pipes.mte3_us, true),
        ("scalar", pipes.scalar_us, true),
    ];
    let mut text = "\n  pipe busy, mean over cores\n".to_owned();
    for (name, busy_us, always) in all {
        if !always && busy_us == 0.0 {
            continue;
        }
        let share = if longest_core_us > 0.0 { (busy_us / longest_core_us).clamp(0.0, 1.0) } else { 0.0 };
        let _ = writeln!(text, "    {name:<8}{} {:>5}  {}", bar(share), percent(share * 100.0), microseconds(busy_us));
    }
    text
}

/// A bar of eighth blocks, always [`BAR_CELLS`] wide.
fn bar(share: f64) -> String {
    const PARTS: [char; 8] = ['·', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share * (BAR_CELLS * 8) as f64).round() as usize;
    let mut cells = "█".repeat(eighths / 8);
    if eighths / 8 < BAR_CELLS {
        cells.push(PARTS[eighths % 8]);
        cells.push_str(&"·".repeat(BAR_CELLS - eighths / 8 - 1));
    }
    cells
}

fn stalls(stalls: &[StallReport]) -> String {
    if stalls.is_empty() {
        return String::new();
    }
    let mut text = "\n  stalls, mean over cores\n".to_owned();
    let rows: Vec<Vec<String>> = stalls
        .iter()
        .take(STALLS)
        .map(|stall| {
            vec![
                "  ".to_owned() + &stall.pipe,
                stall.reason.clone(),
                microseconds(stall.time_us),
                place(&stall.file, stall.line),
            ]
        })
        .collect();
    text.push_str(&table(
        &[("  pipe", Align::Left), ("waits for", Align::Left), ("time", Align::Right), ("longest at", Align::Left)],
        &rows,
    ));
    if stalls.len() > STALLS {
        let _ = writeln!(text, "    and {} smaller ones", stalls.len() - STALLS);
    }
    text
}

fn critical_path(steps: &[PathReport]) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let mut text = "\n  critical path of the longest core\n".to_owned();
    let shown = path_shown(steps);
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|step| {
            vec![
                format!("  {}", percent(100.0 * step.share)),
                microseconds(step.time_us),
                step.pipe.clone(),
                path_words(step),
                place(&step.file, step.line),
                step.via.clone(),
            ]
        })
        .collect();
    text.push_str(&table(
        &[
            ("  share", Align::Right),
            ("time", Align::Right),
            ("pipe", Align::Left),
            ("spent on", Align::Left),
            ("at", Align::Left),
            ("goes on by", Align::Left),
        ],
        &rows,
    ));
    if steps.len() > shown.len() {
        let rest: f64 = steps[shown.len()..].iter().map(|step| step.share).sum();
        let _ =
            writeln!(text, "    and {} smaller ones, {} together", steps.len() - shown.len(), percent(100.0 * rest));
    }
    text
}

pub(super) fn kernel_test(test: &KernelTest, color: bool) -> String {
    let (style, word, detail) = match &test.verdict {
        TestVerdict::Right => (GOOD, "right", String::new()),
        TestVerdict::Wrong { what } => (BAD, "wrong", format!("    {what}\n")),
        TestVerdict::RanOnly => (STRONG, "ran, results not looked at", String::new()),
        TestVerdict::NotRunnable { why } => (WARN, "not runnable", format!("    {why}\n")),
    };
    let seen = if test.hazards.is_empty() { String::new() } else { hazards(&test.hazards, color) };
    format!("{}: {}\n{detail}{seen}", test.name, paint(color, style, word))
}

pub(super) fn kernel_test_summary(summary: &KernelTestSummary) -> String {
    format!(
        "\n{}: {} right, {} wrong, {} with hazards, {} ran without a check, {} not runnable\n",
        summary.operator, summary.right, summary.wrong, summary.hazardous, summary.ran_only, summary.not_runnable
    )
}

fn hazards(hazards: &[HazardReport], color: bool) -> String {
    if hazards.is_empty() {
        return "\n  no hazards\n".to_owned();
    }
    let mut text = format!("\n  {}\n", counted(hazards.len() as u64, "hazard"));
    for hazard in hazards {
        let (style, word) = match hazard.severity {
            Severity::Error => (BAD, "error"),
            Severity::Warning => (WARN, "warning"),
        };
        let kind = hazard.kind.word();
        let label = paint(color, style, &format!("{word}[{kind}]"));
        let _ = writeln!(text, "    {label} {}\n      {}", place(&hazard.file, hazard.line), hazard.message);
    }
    text
}

pub(super) fn doctor(doctor: &Doctor, color: bool) -> String {
    let mut text = String::new();
    let widest = doctor.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in &doctor.checks {
        let (style, word) = match check.state {
            CheckState::Found => (GOOD, "found"),
            CheckState::Absent => (STRONG, "absent"),
            CheckState::Missing => (BAD, "missing"),
        };
        let state = paint(color, style, &format!("{word:>8}"));
        let _ = writeln!(text, "{state}  {:<widest$}  {}", check.name, check.detail);
        if let Some(fix) = &check.fix {
            let _ = writeln!(text, "          {} {fix}", paint(color, HINT, "help:"));
        }
    }
    let verdict = if doctor.ok {
        paint(color, GOOD, "ok") + ": everything that tuning needs is there"
    } else {
        paint(color, BAD, "incomplete") + ": tuning needs what is marked missing"
    };
    let _ = writeln!(text, "\n{verdict}");
    text
}

pub(super) fn doors(doors: &Doors) -> String {
    let mut text = format!(
        "{}: {} instructions with the embedded headers, {} with the toolkit's, {} differ\n",
        doors.case, doors.own_steps, doors.toolkit_steps, doors.differences
    );
    for output in &doors.outputs {
        text.push_str(&format!("  {output}\n"));
    }
    for hazard in &doors.hazards {
        text.push_str(&format!("  {hazard}\n"));
    }
    if !doors.hazards.is_empty() {
        text.push_str("  outputs of runs with hazards prove nothing, equal or not\n");
    }
    for difference in &doors.first {
        for (sign, step) in [("-", &difference.own), ("+", &difference.toolkit)] {
            if let Some(step) = step {
                text.push_str(&format!("  {sign} {} {} ({}:{})\n", step.number, step.what, step.file, step.line));
            }
        }
    }
    text
}

/// Causes listed one by one without `--verbose`.
const CAUSES: usize = 40;

/// Further figures of a row, with what they are of.
fn named<const CELLS: usize>(row: &Row, cells: [String; CELLS]) -> Vec<String> {
    let name = if row.repository.is_empty() { "all".to_owned() } else { row.repository.clone() };
    [name, row.class.clone()].into_iter().chain(cells).collect()
}

pub(super) fn survey(survey: &survey::Summary, verbose: bool) -> String {
    let rows: Vec<Vec<String>> = survey
        .rows
        .iter()
        .map(|row| {
            let mut cells = vec![
                if row.repository.is_empty() { "all".to_owned() } else { row.repository.clone() },
                row.class.clone(),
                row.operators.to_string(),
            ];
            for step in [SurveyStep::Host, SurveyStep::Tiling, SurveyStep::Kernel, SurveyStep::Run] {
                let share = 100.0 * f64::from(row.passed(step)) / f64::from(row.operators.max(1));
                cells.push(format!("{} ({share:.0} %)", row.passed(step)));
            }
            cells.extend([row.right, row.wrong, row.unknown, row.clean].map(|count| count.to_string()));
            cells
        })
        .collect();
    let columns = [
        ("repository", Align::Left),
        ("cores", Align::Left),
        ("operators", Align::Right),
        ("host", Align::Right),
        ("tiling", Align::Right),
        ("kernel", Align::Right),
        ("run", Align::Right),
        ("right", Align::Right),
        ("wrong", Align::Right),
        ("unknown", Align::Right),
        ("no hazard", Align::Right),
    ];
    let mut text = format!(
        "\n{} headers, machine description {} version {}\n\n",
        survey.headers, survey.machine, survey.machine_version
    );
    text.push_str(&table(&columns, &rows));
    let witnessed = survey.rows.iter().filter(|row| !row.witnesses.is_empty());
    let rows: Vec<Vec<String>> = witnessed.map(|row| named(row, row.witnesses.cells())).collect();
    if !rows.is_empty() {
        text.push('\n');
        let mut columns = vec![("repository", Align::Left), ("cores", Align::Left)];
        columns.extend(WitnessCounts::COLUMNS.map(|column| (column, Align::Right)));
        text.push_str(&table(&columns, &rows));
    }
    let tested = survey.rows.iter().filter(|row| !row.tests.is_empty());
    let rows: Vec<Vec<String>> = tested.map(|row| named(row, row.tests.cells())).collect();
    if !rows.is_empty() {
        text.push('\n');
        let mut columns = vec![("repository", Align::Left), ("cores", Align::Left)];
        columns.extend(TestTotals::COLUMNS.map(|column| (column, Align::Right)));
        text.push_str(&table(&columns, &rows));
    }
    if !survey.groups.is_empty() {
        text.push('\n');
        let shown = if verbose { survey.groups.len() } else { CAUSES };
        let rows: Vec<Vec<String>> = survey
            .groups
            .iter()
            .take(shown)
            .map(|group| {
                let named: Vec<&str> =
                    group.operators.iter().take(if verbose { 1000 } else { 3 }).map(String::as_str).collect();
                let more = if group.operators.len() > named.len() { ", …" } else { "" };
                vec![
                    group.operators.len().to_string(),
                    group.step.to_string(),
                    group.cause.to_string(),
                    format!("{}{more}", named.join(", ")),
                ]
            })
            .collect();
        let columns =
            [("operators", Align::Right), ("step", Align::Left), ("in the way", Align::Left), ("where", Align::Left)];
        text.push_str(&table(&columns, &rows));
        if survey.groups.len() > shown {
            let _ = writeln!(text, "  and {} more; --verbose shows all", survey.groups.len() - shown);
        }
    }
    for (count, what) in [
        (survey.other_chips, "exists only for other chips and was not tried"),
        (survey.left_out, "was not part of the sample"),
    ] {
        if count > 0 {
            let what =
                if count == 1 { what.to_owned() } else { what.replace("exists", "exist").replace("was", "were") };
            let _ = writeln!(text, "\n{} {what}", counted(u64::from(count), "operator"));
        }
    }
    text
}
