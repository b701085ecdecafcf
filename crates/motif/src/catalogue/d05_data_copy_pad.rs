//! D05: `DataCopyPad` of whole 32-byte blocks is a plain `DataCopy`.

use crate::analysis::code::{Surroundings, scope, squash};
use crate::analysis::copies::{braced, fields_of, without_size};
use crate::analysis::machine::BLOCK_BYTES;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Spot, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::facts::{Kernel, base_name, fixed_type_bytes};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub const PLAIN_COPY: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[COPY]) };

const METADATA: Metadata = Metadata {
    id: Id::D05,
    title: "DataCopyPad to DataCopy",
    family: Family::DataMovement,
    precondition: "one block, no gaps, no padding; length = count * sizeof(element) and a multiple of 32 bytes, proved from constants and known values, else a \
     condition that a misaligned transfer would break",
    left_to_verifier: "multiple of 32 bytes, where it is not proved",
    relieves: &[Counter::Mte2Us, Counter::Mte3Us, Counter::ScalarUs],
    prior_gain: 1.01,
    cost: "lengths that are not a multiple of 32 bytes no longer work",
    tunables: "closes tile lengths that are not whole blocks",
    undoing: "Pad form (always safe)",
    rounding_changes: false,
    replaces_constants: false,
    company: Company { proved_only: true, ..Company::ANY },
};

const COPY: Exchange = Exchange {
    slow: Form::Asked(
        |around| copies(around, "DataCopyPad", None),
        "$s($a, $b, @DataCopyExtParams{1, static_cast<uint32_t>($n * sizeof($e)), 0, 0, 0}$p)",
    ),
    fast: Form::Asked(|around| copies(around, "DataCopy", Some(3)), "$s($a, $b, $n)"),
    make: Way::new("plain DataCopy", &[Guard::Holds(whole_blocks)])
        .with(|place| {
            let (count, _) = plain_count(place.around.file, place.around.kernel, place.call()?)?;
            let callee = place.hole("s").strip_suffix("Pad").ok_or("the callee is not written as DataCopyPad")?;
            let callee = callee.to_owned();
            place.fill("s", callee);
            place.fill("n", count);
            Ok(Vec::new())
        })
        .on_conditions(|place| {
            let condition = "the length is a multiple of 32 bytes in every case, tails included";
            if proved(place) { Vec::new() } else { vec![condition.to_owned()] }
        }),
    unmake: Some(
        Way::new("DataCopyPad", &[Guard::Holds(counts_elements)]).resembling(|place| padding(place).is_some()).with(
            |place| {
                let (element, padding) = padding(place).unwrap_or_default();
                let count = place.hole("n");
                let simple = !count.replace("->", ".").contains(['+', '-', '/', '%', '?']);
                let count = if simple { count.to_owned() } else { format!("({count})") };
                let callee = format!("{}Pad", place.hole("s"));
                place.fill("n", count);
                place.fill("s", callee);
                place.fill("e", element);
                place.fill("p", padding);
                Ok(Vec::new())
            },
        ),
    ),
};

/// Calls of a copy with as many arguments, and their operands.
fn copies(around: &Surroundings<'_>, name: &str, arguments: Option<usize>) -> Vec<Spot> {
    let file = around.file;
    let wanted = |call: &&Call| {
        let free = arguments.is_some() || call.object.is_none();
        call.name == name && free && arguments.is_none_or(|wanted| call.arguments.len() == wanted)
    };
    let calls = file.calls_in(around.function.body.clone()).filter(wanted);
    calls
        .map(|call| {
            let argument = |index: usize| file.argument(call, index).unwrap_or_default();
            let callee = file.slice(&call.callee);
            let holes = [("s", callee), ("a", argument(0)), ("b", argument(1)), ("n", argument(2))];
            Spot::new(file, &call.span, &holes)
        })
        .collect()
}

/// Whether the length is a multiple of 32 bytes for certain.
fn proved(place: &FoundForm<'_>) -> bool {
    let around = place.around;
    let count = place.call().and_then(|call| plain_count(around.file, around.kernel, call));
    count.is_ok_and(|(count, bytes)| {
        // Where the element's size is not known it is at least one byte.
        let divisor = around.context.facts.known.divisor(&count).saturating_mul(bytes.max(1));
        divisor != 0 && divisor % BLOCK_BYTES == 0
    })
}

fn whole_blocks(place: &FoundForm<'_>) -> Result<(), String> {
    let around = place.around;
    let (count, bytes) = plain_count(around.file, around.kernel, place.call()?)?;
    match around.context.facts.known.value(&count) {
        Some(value) if bytes > 0 && value * bytes % BLOCK_BYTES != 0 => {
            Err(format!("{count} elements are {} bytes, not a multiple of {BLOCK_BYTES}", value * bytes))
        }
        _ => Ok(()),
    }
}

/// Element type, and the argument for the padding where the copy loads; `None` where the call is something else.
fn padding(place: &FoundForm<'_>) -> Option<(String, String)> {
    let around = place.around;
    let (element, loads) = global_operand(around.file, around.kernel, place.call().ok()?)?;
    let prefix = scope(around.file);
    let none = format!(", {prefix}DataCopyPadExtParams<{element}>{{false, 0, 0, 0}}");
    Some((element.to_owned(), if loads { none } else { String::new() }))
}

fn counts_elements(place: &FoundForm<'_>) -> Result<(), String> {
    let count = place.hole("n");
    if braced(count).is_some() || count.to_ascii_lowercase().contains("param") {
        return Err("not the form with an element count".to_owned());
    }
    Ok(())
}

/// Element type of the global tensor in the call, and whether it is the source.
fn global_operand<'a>(file: &SyntaxFile, kernel: &'a Kernel, call: &Call) -> Option<(&'a str, bool)> {
    let element = |index: usize| {
        kernel.globals.get(file.argument(call, index).map(base_name)?).map(|(element, _)| element.as_str())
    };
    match (element(0), element(1)) {
        (Some(element), None) => Some((element, false)),
        (None, Some(element)) => Some((element, true)),
        _ => None,
    }
}

/// Count of elements as written and the bytes of an element (0 if only the name of the type is known).
fn plain_count(file: &SyntaxFile, kernel: &Kernel, call: &Call) -> Result<(String, i64), String> {
    let (element, loads) = global_operand(file, kernel, call)
        .ok_or("the copy is not between a global tensor of the class and a local one")?;
    if call.arguments.len() != if loads { 4 } else { 3 } || call.template_arguments.is_some() {
        return Err("not the form with copy parameters".to_owned());
    }
    let fields = fields_of(file, call, 2)?;
    let field = |index: usize| fields.get(index).map(|text| squash(text)).unwrap_or_else(|| "0".to_owned());
    if field(0) != "1" || field(2) != "0" || field(3) != "0" {
        return Err("the copy has several blocks or gaps".to_owned());
    }
    if loads {
        let padding = fields_of(file, call, 3)?;
        let padding: Vec<String> = padding.iter().map(|text| squash(text)).collect();
        let none = padding.first().is_some_and(|first| first == "false" || first == "0");
        let zero = padding.len() > 2 && padding[1] == "0" && padding[2] == "0";
        if !none && !zero {
            return Err("the copy pads".to_owned());
        }
    }
    let length = fields.get(1).ok_or("the length is not set")?;
    let count =
        without_size(length, element).ok_or_else(|| format!("the length {length} is not count * sizeof({element})"))?;
    Ok((count, fixed_type_bytes(element).unwrap_or(0)))
}
