//! Places in the sources that look like tuning decisions, each with a domain and the reason for it.
//!
//! Where a constant's value goes decides: to the number of buffers of a queue, the number of cores of a launch, the length of
//! a tile. Names only narrow tiles down. Left out on purpose, although they are small integers too: slots of the unified
//! buffer, numbers of dimensions and axes, indices, keys and events (meaning, not amount), sizes of dtypes and alignments
//! (facts of the hardware), epsilons (results), capacities (`MAX_..`, which follow from the buffers), and workspace sizes.

use std::collections::BTreeMap;

use super::constraints;
use manifest::Layout;
use source::SourceTree;
use source::arch::TARGET;
use source::tunable::lexer::Tokens;
use source::tunable::{
    ASKS_CORES, Flow, Meaning, SETS_CORES, Sink, SiteForm, asked_size, cap_of, constants_in, divisions, has_portion,
    literal, locate,
};
use space::{Binding, Domain, NO_LIMIT, Tunable, Value, domain_values};

/// The largest number of cores worth asking for.
const CORES: i64 = TARGET.vector.count;

/// What a tiling function may be told that the unified buffer has: of its 192 KiB (arch 2201) two thirds, a half, a
/// third and so on, so that twice or three times the buffers fit.
const SHARES_OF_UNIFIED_BUFFER: [i64; 8] = [8192, 16_384, 24_576, 32_768, 49_152, 65_536, 98_304, 131_072];

/// Words of amounts that are a few bytes each.
const SMALL_UNITS: [&str; 14] = [
    "length", "len", "size", "num", "nums", "count", "cnt", "elements", "element", "elem", "block", "blocks", "data",
    "bytes",
];

/// What was found, and what was looked at and left.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub tunables: Vec<Tunable>,
    pub constraints: Vec<String>,
    pub cmake_notes: Vec<String>,
    pub notes: Vec<String>,
}

/// Files that tuning may edit: C++ sources outside tests, examples, documents and plugins.
pub(super) fn editable_files(tree: &SourceTree) -> Vec<String> {
    const ENDINGS: [&str; 7] = [".cpp", ".cc", ".cxx", ".h", ".hpp", ".asc", ".cce"];
    const FOREIGN: [&str; 10] =
        ["tests", "test", "examples", "docs", "framework", "op_graph", "op_api", "scripts", "build", "build_out"];
    let editable = tree.iter().map(|(file, _)| file).filter(|file| {
        let foreign = TARGET.is_foreign(file) || file.split('/').rev().skip(1).any(|part| FOREIGN.contains(&part));
        !foreign && ENDINGS.iter().any(|ending| file.ends_with(ending))
    });
    editable.map(str::to_owned).collect()
}

/// The domain around the present value, and the reason.
fn domain_for(meaning: Meaning, value: i64) -> Option<(Domain, &'static str)> {
    let power = value > 0 && value & (value - 1) == 0;
    match meaning {
        // More than three buffers only shrink the tiles; a larger number counts something else (tensors in UB).
        Meaning::Buffers if (1..=4).contains(&value) => Some((
            Domain::Range { min: 1, max: value.max(3), step: 1 },
            "buffers per queue: two overlap copies with computing, more rarely help",
        )),
        Meaning::Cores if (1..=64).contains(&value) => Some((
            Domain::Range { min: 1, max: CORES.max(value), step: 1 },
            "cores that take part: up to all vector cores",
        )),
        Meaning::TileCount if power && value <= 4096 => Some((
            Domain::PowerOfTwo { min: 1, max: (value * 8).clamp(64, 4096) },
            "number of tiles per core: fewer are longer and amortise start-up, more overlap better",
        )),
        Meaning::TileCount if (1..=512).contains(&value) => Some((
            Domain::Range { min: 1, max: (value * 4).max(64), step: 1 },
            "number of tiles per core: fewer are longer and amortise start-up, more overlap better",
        )),
        Meaning::TileLength if power && (8..=131_072).contains(&value) => Some((
            Domain::PowerOfTwo { min: value.min(64), max: value.max(32_768) },
            "tile length: long tiles amortise start-up, short ones leave room for more buffers",
        )),
        Meaning::TileLength if (8..=131_072).contains(&value) => {
            // Multiples keep 32-byte alignment whatever the dtype; the largest that fits the present value keeps the space small.
            let step = [256, 128, 64, 32, 16, 8].into_iter().find(|step| value % step == 0)?;
            Some((
                Domain::Range { min: step, max: value.max(32_768 / step * step), step },
                "tile length: long tiles amortise start-up, short ones leave room for more buffers",
            ))
        }
        _ => None,
    }
}

/// Finds the tunables of a project.
pub(super) fn find(tree: &SourceTree, sources: &[String], layout: Layout) -> Found {
    let mut found = Found::default();
    let flow = Flow::of(tree, sources);
    constants(tree, sources, &flow, &mut found);
    let host: Vec<&String> = sources.iter().filter(|file| !file.contains("op_kernel/")).collect();
    if layout != Layout::DirectLaunch {
        for file in &host {
            shares(tree, file, &mut found);
        }
    }
    // A rule that is right for every size takes the place of a number of cores that is right for one.
    let ruled = found.tunables.iter().any(|tunable| matches!(tunable.binding, Binding::Share { .. }));
    for file in sources {
        arguments(tree, file, &flow, &mut found);
        if layout != Layout::DirectLaunch && host.contains(&file) {
            caps(tree, file, &flow, ruled, &mut found);
        }
    }
    cmake_entries(tree, &mut found);
    let mut said = Vec::new();
    found.notes.retain(|note| {
        !said.contains(note) && {
            said.push(note.clone());
            true
        }
    });
    found.constraints = constraints::find(tree, sources, &flow, &found.tunables);
    found
}

/// Adds a tunable if its sites can be found and written; otherwise notes why not.
fn add(tree: &SourceTree, found: &mut Found, mut tunable: Tunable) {
    if found.tunables.iter().any(|known| known.binding == tunable.binding) {
        return;
    }
    let valid: String =
        tunable.name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    let mut name = valid.clone();
    let mut number = 2;
    while found.tunables.iter().any(|known| known.name == name) {
        name = format!("{valid}_{number}");
        number += 1;
    }
    tunable.name = name;
    match locate(tree, &tunable.binding) {
        // One limit is one decision: a value that is set in several places is not a maintainer's to limit in each of them.
        Ok(sites) if matches!(tunable.binding, Binding::Cap { .. }) && sites.len() > 1 => {
            let places: Vec<String> = sites.iter().map(|site| site.line.to_string()).collect();
            let place = format!("{}:{}", sites[0].file, places.join(", "));
            found.notes.push(format!("Left out: {} is limited by no single place ({place}).", tunable.name));
        }
        Err(error) => found.notes.push(format!("Left out: {error}")),
        Ok(_) if domain_values(&tunable).is_ok() => found.tunables.push(tunable),
        Ok(_) => {}
    }
}

/// Why a constant that is called like an amount to choose is left out.
const NOWHERE: &str = "where it goes is no number of buffers or cores and no length of a tile";

/// What a constant decides, by where its value goes. Where it does not stand in the call itself the name must say so as well:
/// chains run through names that mean different things in different places, and lengths are made of many constants
/// (alignments, sizes of types, slots of the unified buffer), few of which are choices.
fn decides(flow: &Flow, name: &str) -> Option<(Meaning, Evidence)> {
    let known = |meaning| Some((meaning, Evidence::Flow));
    if flow.stands_in(name, Sink::Buffers) {
        return known(Meaning::Buffers);
    }
    if flow.stands_in(name, Sink::Cores) {
        return known(Meaning::Cores).filter(|_| flow.splits_among_cores);
    }
    let meaning = Meaning::of_name(name)?;
    let reaches = match meaning {
        Meaning::Buffers => flow.is_handed_to(name, Sink::Buffers),
        Meaning::Cores => flow.is_number_of_cores(name) && flow.splits_among_cores,
        Meaning::TileLength => flow.makes(name, Sink::Length),
        Meaning::TileCount => flow.makes(name, Sink::Loop),
    };
    if reaches {
        return known(meaning);
    }
    // That work is divided by it says that it is an amount; of what, only its name does.
    let is_amount = matches!(meaning, Meaning::TileLength | Meaning::TileCount) && flow.divides_work(name);
    is_amount.then_some((meaning, Evidence::Name))
}

/// What a meaning rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// Where the value goes.
    Flow,
    /// What it is called: a hint.
    Name,
}

impl Evidence {
    /// The domain as far as it may be tried on that evidence, and the reason with what has to be known of it. Tiles may get shorter
    /// on a hint, and so more, which needs no more memory than there is.
    fn limits(self, meaning: Meaning, value: i64, domain: Domain, reason: &str) -> (Domain, String) {
        if self == Evidence::Flow {
            return (domain, reason.to_owned());
        }
        let (least, most) = if meaning == Meaning::TileLength { (i64::MIN, value) } else { (value, i64::MAX) };
        let domain = match domain {
            Domain::Range { min, max, step } => Domain::Range { min: min.max(least), max: max.min(most), step },
            Domain::PowerOfTwo { min, max } => Domain::PowerOfTwo { min: min.max(least), max: max.min(most) },
            other => other,
        };
        (domain, format!("a hint: only its name says so, and so tiles may only get shorter; {reason}"))
    }
}

fn constants(tree: &SourceTree, sources: &[String], flow: &Flow, found: &mut Found) {
    // Same name and value on both sides, host and kernel, is one decision written twice.
    let mut groups: BTreeMap<(String, i64), Vec<(String, String)>> = BTreeMap::new();
    let mut order = Vec::new();
    for file in sources {
        let constants = constants_in(file, tree.text(file).unwrap_or_default());
        for constant in &constants {
            let Some(Value::Int(value)) = constant.site.value else { continue };
            if constant.site.form == SiteForm::Enumerator {
                continue;
            }
            let same = constants.iter().filter(|other| other.name == constant.name).count();
            let name = if same > 1 && !constant.class.is_empty() {
                format!("{}::{}", constant.class, constant.name)
            } else {
                constant.name.clone()
            };
            let key = (name.clone(), value);
            let group = groups.entry(key.clone()).or_default();
            if group.is_empty() {
                order.push(key);
            }
            group.push((file.clone(), constant.name.clone()));
        }
    }
    for (name, value) in order {
        let Some(group) = groups.get(&(name.clone(), value)) else { continue };
        let Some((_, short)) = group.first() else { continue };
        let Some((meaning, evidence)) = decides(flow, short) else {
            if Meaning::of_name(short).is_some() {
                found.notes.push(format!("Left out: {name} = {value}: {NOWHERE}."));
            }
            continue;
        };
        let Some((domain, reason)) = domain_for(meaning, value) else {
            found.notes.push(format!("Left out: {name} = {value} does not look like an amount to choose."));
            continue;
        };
        let (domain, reason) = evidence.limits(meaning, value, domain, reason);
        let mut files: Vec<String> = group.iter().map(|(file, _)| file.clone()).collect();
        files.dedup();
        let reason = if files.len() > 1 { format!("{reason}; host and kernel must agree") } else { reason };
        let file = files.remove(0);
        let binding = Binding::Constant { file, name: name.clone(), also: files };
        add(tree, found, Tunable { name, domain, default: Some(Value::Int(value)), binding, reason, when: None });
    }
}

fn arguments(tree: &SourceTree, file: &str, flow: &Flow, found: &mut Found) {
    let tokens = Tokens::of(tree.text(file).unwrap_or_default());
    for position in 0..tokens.tokens.len() {
        let word = tokens.get(position);
        let (index, meaning, count) = match word {
            // More cores do the same work again where no kernel asks which one it is.
            _ if SETS_CORES.contains(&word) && flow.splits_among_cores => (0, Meaning::Cores, 1),
            "InitBuffer" => (1, Meaning::Buffers, 3),
            _ => continue,
        };
        if tokens.get(position + 1) != "(" {
            continue;
        }
        let Some(arguments) = tokens.arguments(position + 1).filter(|arguments| arguments.len() == count) else {
            continue;
        };
        let words: Vec<&str> = arguments[index].clone().map(|at| tokens.get(at)).collect();
        let Some(value) = literal::constant_expression(&words) else { continue };
        let Some((domain, reason)) = domain_for(meaning, value) else { continue };
        let (name, first) = if word == "InitBuffer" {
            let queue = tokens.compact(arguments[0].clone());
            (format!("{}_buffers", queue.replace("this->", "")), queue)
        } else {
            ("block_dim".to_owned(), String::new())
        };
        let binding = Binding::Argument { file: file.to_owned(), call: word.to_owned(), first, index };
        let reason = reason.to_owned();
        add(tree, found, Tunable { name, domain, default: Some(Value::Int(value)), binding, reason, when: None });
    }
}

/// Where work is divided among cores: the least share of a core is a rule that holds for every size.
fn shares(tree: &SourceTree, file: &str, found: &mut Found) {
    for division in divisions(file, tree.text(file).unwrap_or_default()) {
        let parts = source::tunable::words(&division.of);
        // Rows, groups and the like are many bytes each; elements and blocks are few.
        let coarse = !parts.iter().any(|part| SMALL_UNITS.contains(&part.as_str()));
        let mut values = vec![NO_LIMIT];
        values.extend(if coarse { (1..=7).map(power).collect::<Vec<_>>() } else { (5..=16).map(power).collect() });
        let default = division.site.value.filter(|value| values.contains(value));
        let cores = division.cores.rsplit(['.', '>']).next().unwrap_or_default().trim_end_matches('_');
        let name = format!("{cores}_share");
        let reason = format!(
            "least share of `{}` a core gets: short work is done sooner by fewer cores; 0: no rule",
            division.of
        );
        let domain = Domain::List { values, ordered: true };
        let binding = Binding::Share { file: file.to_owned(), cores: division.cores, of: division.of };
        let default = default.or(Some(NO_LIMIT));
        add(tree, found, Tunable { name, domain, default, binding, reason, when: None });
    }
}

/// A rule for how much of the unified buffer is planned with, where the first input is at hand to tell how much there is to do.
fn portion(tree: &SourceTree, file: &str, target: &str, found: &mut Found) {
    if !has_portion(file, tree.text(file).unwrap_or_default(), target) {
        return;
    }
    let mut values = vec![NO_LIMIT];
    values.extend((0..=5).map(power));
    let binding = Binding::Portion { file: file.to_owned(), target: target.to_owned() };
    let present = source::tunable::present_value(tree, &binding).ok().flatten();
    let default = present.filter(|value| values.contains(value)).or(Some(NO_LIMIT));
    let domain = Domain::List { values, ordered: true };
    let reason = "bytes of the unified buffer that are planned with for every element of the first input that a core gets: short work in several tiles, which overlap; 0: no rule";
    let name = format!("{}_portion", target.trim_end_matches('_'));
    add(tree, found, Tunable { name, domain, default, binding, reason: reason.to_owned(), when: None });
}

fn power(exponent: u32) -> Value {
    Value::Int(1 << exponent)
}

/// Functions that read an attribute of the operator.
const READS_ATTRIBUTE: [&str; 7] =
    ["GetAttrPointer", "GetInt", "GetFloat", "GetBool", "GetStr", "GetListInt", "GetListFloat"];

/// Computed tile lengths and core counts of tiling functions: a limit is right for every shape.
fn caps(tree: &SourceTree, file: &str, flow: &Flow, ruled: bool, found: &mut Found) {
    let tokens = Tokens::of(tree.text(file).unwrap_or_default());
    for position in 0..tokens.tokens.len() {
        let word = tokens.get(position);
        if let Some(asked) = asked_size(file, &tokens, position) {
            let values: Vec<Value> = SHARES_OF_UNIFIED_BUFFER.map(Value::Int).into();
            let default = asked.site.value.filter(|limit| values.contains(limit));
            let domain = Domain::List { values, ordered: true };
            let binding = Binding::Cap { file: file.to_owned(), target: asked.name.clone() };
            let reason =
                "limit on the unified buffer that is planned with: less gives shorter tiles and room for buffers";
            let name = format!("{}_limit", asked.name.trim_end_matches('_'));
            add(tree, found, Tunable { name, domain, default, binding, reason: reason.to_owned(), when: None });
            portion(tree, file, &asked.name, found);
            continue;
        }
        let (target, range) = if let Some(field) = word.strip_prefix("set_")
            && tokens.get(position + 1) == "("
            && let Some(close) = tokens.closing(position + 1)
        {
            (field, position + 2..close)
        } else if tokens.get(position + 1) == "=" {
            (word, position + 2..tokens.expression_end(position + 2, true))
        } else {
            continue;
        };
        let words: Vec<&str> = range.clone().map(|at| tokens.get(at)).collect();
        // What whoever calls the operator says is no choice of its tiling, and a pointer to it is no number.
        if words.iter().any(|word| READS_ATTRIBUTE.contains(word)) {
            continue;
        }
        let capped = cap_of(&tokens, range.clone());
        // What follows from a limited size is limited with it, and a plain copy is decided elsewhere.
        let computed = words.iter().any(|word| matches!(*word, "+" | "-" | "*" | "/" | "%" | "(" | "?"));
        if capped.is_none() && (!computed || flow.is_of_unified_buffer(target)) {
            continue;
        }
        // A literal, a constant or a plain copy is decided elsewhere.
        if capped.is_none() && (words.len() < 4 || literal::constant_expression(&words).is_some()) {
            continue;
        }
        let platform = words.iter().any(|word| ASKS_CORES.contains(word));
        let target_words = source::tunable::words(target);
        let per_core =
            target_words.iter().any(|word| matches!(word.as_str(), "block" | "core" | "row" | "rows" | "loop"));
        let (domain, reason) = match Meaning::of_name(target) {
            _ if platform && ruled => continue,
            _ if platform => (
                Domain::Range { min: 4, max: CORES - 4, step: 4 },
                "limit on the cores that take part: short work is done sooner by fewer",
            ),
            Some(Meaning::TileLength) if !per_core => (
                Domain::PowerOfTwo { min: 256, max: 16_384 },
                "limit on the computed tile length: shorter tiles start the pipeline sooner and balance better",
            ),
            _ => continue,
        };
        let default = capped.map(|(limit, _)| Value::Int(limit));
        let domain = match (&default, domain) {
            (Some(Value::Int(limit)), Domain::PowerOfTwo { min, max }) if limit & (limit - 1) == 0 => {
                Domain::PowerOfTwo { min: min.min(*limit), max: max.max(*limit) }
            }
            (Some(Value::Int(limit)), Domain::Range { .. }) if *limit < CORES => {
                Domain::Range { min: 1, max: CORES - 1, step: 1 }
            }
            (Some(_), _) => continue,
            (None, domain) => domain,
        };
        let binding = Binding::Cap { file: file.to_owned(), target: target.to_owned() };
        let name = format!("{}_limit", target.trim_end_matches('_'));
        add(tree, found, Tunable { name, domain, default, binding, reason: reason.to_owned(), when: None });
    }
}

/// Numeric CMake cache entries: tunables only where the name says an amount; an entry that chooses a program variant
/// stays a matter of `-D`, because comparing variants is not tuning one.
fn cmake_entries(tree: &SourceTree, found: &mut Found) {
    let Some(text) = tree.text("CMakeLists.txt") else { return };
    for line in text.lines() {
        let Some(inside) = line.trim_start().strip_prefix("set(") else { continue };
        let mut parts = inside.split_whitespace();
        let (Some(name), Some(value), Some("CACHE")) = (parts.next(), parts.next(), parts.next()) else { continue };
        let Ok(value) = value.trim_matches('"').parse::<i64>() else { continue };
        let about = inside.split('"').rev().nth(1).unwrap_or_default();
        match Meaning::of_name(name).and_then(|meaning| domain_for(meaning, value)) {
            Some((domain, reason)) => {
                let domain = documented_range(about)
                    .filter(|(min, max)| (*min..=*max).contains(&value))
                    .map_or(domain, |(min, max)| Domain::Range { min, max, step: 1 });
                let binding = Binding::Cmake { variable: name.to_owned() };
                let tunable = Tunable {
                    name: name.to_owned(),
                    domain,
                    default: Some(Value::Int(value)),
                    binding,
                    reason: format!("{reason} (fixed when configuring: every value is a build)"),
                    when: None,
                };
                add(tree, found, tunable);
            }
            None if !name.starts_with("CMAKE_") => {
                found
                    .cmake_notes
                    .push(format!("{name} = {value} ({about}): chooses what is built; pass -D {name}=.. for another."));
            }
            None => {}
        }
    }
}

/// The range in a text like `Case type to compile (0-6)`.
fn documented_range(text: &str) -> Option<(i64, i64)> {
    let inside = text.split_once('(')?.1.split_once(')')?.0;
    let (low, high) = inside.split_once('-').or_else(|| inside.split_once(".."))?;
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?)).filter(|(low, high)| low < high)
}
