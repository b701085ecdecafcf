//! A survey on one page that needs nothing else.

use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};

use super::own_tests::KERNEL_TESTS;
use events::survey::{State, Summary, SurveyStep, Surveyed, TestTotals, WitnessCounts};

const TEMPLATE: &str = include_str!("../../../../templates/survey.html");

/// The page as text.
pub fn render_html(summary: &Summary, outcomes: &[Surveyed]) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("survey.html", TEMPLATE)?;
    let rows: Vec<Value> = summary
        .rows
        .iter()
        .map(|row| {
            let share = |count: u32| 100.0 * f64::from(count) / f64::from(row.operators.max(1));
            let steps: Vec<Value> = [SurveyStep::Host, SurveyStep::Tiling, SurveyStep::Kernel, SurveyStep::Run]
                .into_iter()
                .map(|step| context! { count => row.passed(step), share => share(row.passed(step)).round() as u32 })
                .collect();
            context! {
                repository => if row.repository.is_empty() { "all" } else { row.repository.as_str() },
                class => row.class.as_str(), operators => row.operators, steps,
                right => row.right, wrong => row.wrong, unwritten => row.unwritten, unknown => row.unknown, clean => row.clean,
                witnessed => !row.witnesses.is_empty(), witnesses => row.witnesses.cells().to_vec(),
                tested => !row.tests.is_empty(), tests => row.tests.cells().to_vec(),
            }
        })
        .collect();
    let groups: Vec<Value> = summary
        .groups
        .iter()
        .map(|group| {
            context! {
                step => group.step.word(),
                cause => group.cause_text(), example => group.example.as_str(),
                count => group.operators.len(), operators => group.operators.clone(),
            }
        })
        .collect();
    let list: Vec<Value> = outcomes.iter().map(operator).collect();
    environment.get_template("survey.html")?.render(context! {
        rows, groups, operators => list, headers => summary.headers.as_str(), machine => summary.machine.as_str(),
        machine_version => summary.machine_version.as_str(), other_chips => summary.other_chips,
        left_out => summary.left_out, tested => summary.rows.iter().any(|row| !row.tests.is_empty()),
        witnessed => summary.rows.iter().any(|row| !row.witnesses.is_empty()),
        witness_columns => WitnessCounts::COLUMNS.to_vec(),
        test_columns => TestTotals::COLUMNS.to_vec(), kernel_tests => KERNEL_TESTS, tool => env!("CARGO_PKG_VERSION"),
    })
}

fn operator(outcome: &Surveyed) -> Value {
    let steps: Vec<Value> = SurveyStep::ALL
        .into_iter()
        .chain([SurveyStep::TilingTests, SurveyStep::KernelTests])
        .map(|step| {
            let found = outcome.step(step);
            let (mark, class) = match found.map(|found| found.state) {
                Some(State::Passed) => ("✓", "good"),
                Some(State::Failed) => ("✗", "bad"),
                Some(State::Unknown) => ("?", "open"),
                None => ("", "none"),
            };
            let title = found.map(|found| {
                let cause = found.cause.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{cause} {}", found.detail).trim().to_owned()
            });
            context! { mark, class, title => title.unwrap_or_default() }
        })
        .collect();
    let failure = outcome.failure();
    context! {
        name => format!("{}/{}", outcome.repository, outcome.operator), class => outcome.class.word(), steps,
        case => outcome.case.as_str(), wall_s => format!("{:.1}", outcome.wall_s),
        cause => failure.and_then(|step| step.cause.as_ref()).map(ToString::to_string).unwrap_or_default(),
    }
}
