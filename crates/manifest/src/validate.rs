//! From the wire layer to the valid one: every finding is collected.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::spanned::Spanned;

use space::{Binding, CaseFacts, Condition, Domain, NO_LIMIT, SearchSpace, SpaceError, Tunable, Value, domain_values};

use source::arch::TARGET;

use super::allow::{Allowance, hazard_kind};
use super::cann;
use super::finding::Finding;
use super::keys::nearest;
use super::model;
use super::stands_for::{Ranges, size_range};
use super::valid::{Attribute, Case, KernelHeaders, Layout, Manifest, Reference, TensorSpec, Tolerance, ValueRange};
use super::wire::{
    WireAllow, WireCase, WireDomain, WireHeaders, WireManifest, WireScalar, WireSdk, WireTensor, WireTunable,
    WireVerify,
};

/// Dtypes with the bytes of an element.
pub(super) const DTYPES: [(&str, u32); 15] = [
    ("float16", 2),
    ("float32", 4),
    ("bfloat16", 2),
    ("int8", 1),
    ("uint8", 1),
    ("int16", 2),
    ("uint16", 2),
    ("int32", 4),
    ("uint32", 4),
    ("int64", 8),
    ("uint64", 8),
    ("bool", 1),
    ("float64", 8),
    // Two share a byte.
    ("int4", 1),
    ("complex64", 8),
];
/// Names of the dtypes.
pub const DTYPE_NAMES: [&str; DTYPES.len()] = {
    let mut names = [""; DTYPES.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = DTYPES[index].0;
        index += 1;
    }
    names
};
/// Probes that a winner is tried on where the manifest names no number, and the most that it may name.
const DEFAULT_PROBES: u32 = 36;
const MOST_PROBES: u32 = 1000;
/// MiB of a case's tensors from which quick trials are sampled. At a third of it a trial of some blocks takes as long as one of all,
/// here half as long.
const SAMPLE_FROM_MIB: u64 = 64;

const ATTRIBUTE_TYPES: [&str; 8] =
    ["int", "float", "bool", "string", "list_int", "list_float", "list_bool", "list_list_int"];

/// Bytes of a name that a file is named after.
const LONGEST_NAME: usize = 128;
/// Seconds that a limit of time may have.
const LONGEST_S: f64 = 86_400.0;

struct Validator {
    findings: Vec<Finding>,
    optional_outputs: BTreeSet<(String, String)>,
}

pub(super) fn validate(path: &Path, wire: WireManifest) -> Result<Manifest, Vec<Finding>> {
    let mut validator = Validator { findings: Vec::new(), optional_outputs: BTreeSet::new() };
    let manifest = validator.manifest(path, wire);
    let mut findings = validator.findings;
    if findings.is_empty() {
        return Ok(manifest);
    }
    findings.sort_by_key(|finding| finding.span.start);
    Err(findings)
}

impl Validator {
    fn find(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.findings.push(Finding { span, message: message.into(), help: help.into() });
    }

    fn not_empty(&mut self, text: &Spanned<String>, key: &str) {
        if text.get_ref().trim().is_empty() {
            self.find(text.span(), format!("`{key}` is empty"), "");
        }
    }

    /// A name that files and folders are named after.
    fn file_name(&mut self, text: &Spanned<String>, key: &str) {
        self.not_empty(text, key);
        let name = text.get_ref();
        let unfit = |letter: char| letter.is_control() || matches!(letter, '/' | '\\' | ';' | '"');
        if name.starts_with('.') || name.contains(unfit) || name.len() > LONGEST_NAME {
            let help =
                "files are named after it: no path, no quotes, no semicolons, no dot in front, at most 128 bytes";
            self.find(text.span(), format!("`{}` cannot be a name", name.escape_debug()), help);
        }
    }

    /// A time in seconds with a lower bound, or its default.
    fn seconds(&mut self, value: Option<&Spanned<f64>>, key: &str, least: f64, unset: f64) -> f64 {
        if let Some(value) = value.filter(|value| *value.get_ref() > LONGEST_S) {
            let message = format!("`{key}` is {}", value.get_ref());
            self.find(value.span(), message, format!("it must be at most {LONGEST_S}, a day"));
        }
        self.at_least(value, key, least, unset)
    }

    /// A number with a lower bound, or its default.
    fn at_least(&mut self, value: Option<&Spanned<f64>>, key: &str, least: f64, unset: f64) -> f64 {
        let Some(value) = value else { return unset };
        if !value.get_ref().is_finite() || *value.get_ref() < least {
            self.find(value.span(), format!("`{key}` is {}", value.get_ref()), format!("it must be at least {least}"));
        }
        *value.get_ref()
    }

    /// An amount of memory, or its default.
    fn memory_mib(&mut self, value: Option<&Spanned<u64>>, key: &str, unset: u64) -> u64 {
        let Some(value) = value else { return unset };
        if !(64..=1 << 24).contains(value.get_ref()) {
            let message = format!("`{key}` is {}", value.get_ref());
            self.find(value.span(), message, "it must be from 64 to 16777216");
        }
        *value.get_ref()
    }

    fn headers(&mut self, sdk: WireSdk) -> KernelHeaders {
        if let Some(toolkit) = &sdk.toolkit {
            self.not_empty(toolkit, "toolkit");
            if sdk.headers == WireHeaders::Own {
                let message = "`toolkit` is there, but `headers` is \"own\"".to_owned();
                self.find(toolkit.span(), message, "write headers = \"toolkit\", or remove `toolkit`");
            }
        }
        match sdk.headers {
            WireHeaders::Own => KernelHeaders::Own,
            WireHeaders::Toolkit => KernelHeaders::Toolkit(sdk.toolkit.map(|path| path.into_inner().into())),
        }
    }

    fn manifest(&mut self, path: &Path, wire: WireManifest) -> Manifest {
        let operator_span = wire.operator.span();
        let operator = wire.operator.into_inner();
        self.not_empty(&operator.name, "name");
        self.not_empty(&operator.kernel, "kernel");
        if operator.sources.get_ref().is_empty() {
            self.find(operator.sources.span(), "`sources` is empty", "list the files that tuning may edit");
        }
        for source in operator.sources.get_ref() {
            self.relative(source);
        }
        let direct = operator.layout == Layout::DirectLaunch;
        if wire.case.is_empty() {
            self.find(operator_span, "there is no [[case]]", "add at least one case to measure");
        }
        let mut names = BTreeSet::new();
        let mut cases = Vec::new();
        let mut ranges = Ranges::default();
        for case in wire.case {
            let span = case.span();
            let case = case.into_inner();
            if !names.insert(case.name.get_ref().clone()) {
                let message = format!("case `{}` is there twice", case.name.get_ref());
                self.find(case.name.span(), message, "names of cases must differ");
            }
            let stands_for = case.stands_for.as_ref().map(|written| written.get_ref().elements.span());
            let case = self.case(span, case, direct, &wire.direct.arguments);
            if let (Some(span), Some(range)) = (stands_for, case.stands_for) {
                let of_case = (case.name.as_str(), case.elements(), !case.verify_only);
                self.findings.extend(ranges.note(of_case, range, span));
            }
            cases.push(case);
        }
        if !cases.is_empty() && cases.iter().all(|case| case.verify_only) {
            let span = 0..0;
            self.find(span, "every case is `verify-only`", "at least one must be timed");
        }
        let mut tunables = Vec::new();
        for (name, tunable) in wire.tunable {
            tunables.extend(self.tunable(name, tunable));
        }
        let constraints: Vec<(String, Range<usize>)> =
            wire.space.constraints.into_iter().map(|text| (text.get_ref().clone(), text.span())).collect();
        self.constraints(&tunables, &constraints, &cases);

        let allow = wire.allow.into_iter().filter_map(|entry| self.allowance(entry)).collect();
        let tolerance = self.tolerances(&wire.verify);
        let case_floor = self.at_least(wire.space.case_floor.as_ref(), "case-floor", 1.0, 1.02);
        let dispatch = wire.space.dispatch.unwrap_or(true);
        let check_tolerance = self.at_least(wire.check.tolerance.as_ref(), "tolerance", 1.0, 1.03);
        let run_timeout_s = self.seconds(wire.limits.run_timeout_s.as_ref(), "run-timeout-s", 0.1, 60.0);
        let compile_timeout_s = self.seconds(wire.limits.compile_timeout_s.as_ref(), "compile-timeout-s", 1.0, 600.0);
        let memory_mib = self.memory_mib(wire.limits.run_memory_mib.as_ref(), "run-memory-mib", 8192);
        let compile_memory_mib = self.memory_mib(wire.limits.compile_memory_mib.as_ref(), "compile-memory-mib", 4096);
        let sample_mib = wire.verify.sample_blocks_from_mib.as_ref().map_or(SAMPLE_FROM_MIB, |mib| *mib.get_ref());
        if let Some(seeds) = &wire.verify.seeds
            && !(1..=1000).contains(seeds.get_ref())
        {
            self.find(seeds.span(), format!("`seeds` is {}", seeds.get_ref()), "it must be from 1 to 1000");
        }
        if let Some(probes) = &wire.verify.probes
            && *probes.get_ref() > MOST_PROBES
        {
            let message = format!("`probes` is {}", probes.get_ref());
            self.find(probes.span(), message, format!("it must be from 0 (none) to {MOST_PROBES}"));
        }
        Manifest {
            path: path.to_owned(),
            operator: operator.name.into_inner(),
            layout: operator.layout,
            kernel: operator.kernel.into_inner(),
            tiling: operator.tiling,
            sources: operator.sources.into_inner().into_iter().map(Spanned::into_inner).collect(),
            cases,
            tunables,
            constraints,
            machine: wire.machine.name.map_or_else(|| TARGET.machine.to_owned(), Spanned::into_inner),
            cmake: wire.cmake.entries.into_iter().map(|(name, value)| (name, value.to_string())).collect(),
            reference: self.reference(&wire.verify),
            tolerance,
            case_floor,
            dispatch,
            check_tolerance,
            allow_rounding_changes: wire.verify.rounding_changes,
            seeds: wire.verify.seeds.map_or(3, Spanned::into_inner),
            probes: wire.verify.probes.map_or(DEFAULT_PROBES, Spanned::into_inner),
            sample_from_bytes: (sample_mib > 0).then(|| sample_mib.saturating_mul(1 << 20)),
            run_timeout_s,
            run_memory_bytes: memory_mib.saturating_mul(1 << 20),
            compile_timeout_s,
            compile_memory_bytes: compile_memory_mib.saturating_mul(1 << 20),
            headers: self.headers(wire.sdk),
            devices: self.table(wire.cann, cann::findings).unwrap_or_default(),
            model: self.table(wire.model, model::findings),
            proposer: self.table(wire.proposer, model::program_findings),
            prepare: wire.direct.prepare,
            hazards: wire.verify.hazards,
            allow,
            optional_outputs: std::mem::take(&mut self.optional_outputs),
        }
    }

    /// A table that says itself what is wrong with it.
    fn table<Table>(
        &mut self,
        table: Option<Spanned<Table>>,
        of: fn(&Table) -> Vec<(String, String)>,
    ) -> Option<Table> {
        let table = table?;
        for (message, help) in of(table.get_ref()) {
            self.find(table.span(), message, help);
        }
        Some(table.into_inner())
    }

    fn allowance(&mut self, entry: Spanned<WireAllow>) -> Option<Allowance> {
        let span = entry.span();
        let WireAllow { hazard, file, function, reason } = entry.into_inner();
        if let Some(file) = &file {
            self.relative(file);
        }
        if file.is_none() && function.is_none() {
            self.find(span.clone(), "[[allow]] names no place", "write `file`, `function`, or both");
        }
        match &reason {
            Some(reason) => self.not_empty(reason, "reason"),
            None => self.find(span, "[[allow]] has no `reason`", "say why the hazard is right"),
        }
        let kind = match hazard_kind(hazard.get_ref()) {
            Ok(kind) => kind,
            Err(message) => {
                self.find(hazard.span(), format!("`hazard`: {message}"), "");
                return None;
            }
        };
        let (file, function) = (file.map(Spanned::into_inner), function.map(Spanned::into_inner));
        Some(Allowance { hazard: kind, file, function, reason: reason.map(Spanned::into_inner)? })
    }

    fn relative(&mut self, file: &Spanned<String>) {
        let text = file.get_ref();
        if text.is_empty() || text.starts_with('/') || text.split('/').any(|part| part == "..") || text.contains('\\') {
            let help = "name files relative to the operator's directory, inside it, with `/`";
            self.find(file.span(), format!("`{text}` is not a source file's path"), help);
        }
    }

    fn case(&mut self, span: Range<usize>, case: WireCase, direct: bool, arguments: &[String]) -> Case {
        self.file_name(&case.name, "name");
        let weight = case.weight.as_ref().map_or(1.0, |weight| *weight.get_ref());
        if let Some(written) = &case.weight
            && !(weight.is_finite() && weight > 0.0)
        {
            self.find(written.span(), format!("`weight` is {weight}"), "it must be above 0; leave it out for 1");
        }
        if direct && !(case.inputs.is_empty() && case.outputs.is_empty()) {
            let help = "a direct-launch program makes its own tensors; delete `inputs` and `outputs`";
            self.find(span.clone(), format!("case `{}` lists tensors", case.name.get_ref()), help);
        }
        if !direct && case.outputs.is_empty() {
            self.find(
                span,
                format!("case `{}` has no `outputs`", case.name.get_ref()),
                "list them in the operator's order",
            );
        }
        for output in &case.outputs {
            if output.get_ref().optional.as_ref().is_some_and(|optional| *optional.get_ref()) {
                let name = (case.name.get_ref().clone(), output.get_ref().name.get_ref().clone());
                self.optional_outputs.insert(name);
            }
        }
        let mut tensors = |list: Vec<Spanned<WireTensor>>, input: bool| {
            list.into_iter().map(|tensor| self.tensor(tensor, input)).collect::<Vec<_>>()
        };
        let (inputs, outputs) = (tensors(case.inputs, true), tensors(case.outputs, false));
        let mut attributes = Vec::new();
        for attribute in case.attributes {
            let attribute = attribute.into_inner();
            let kind = attribute.kind.get_ref().as_str();
            let value = attribute.value.get_ref();
            if !ATTRIBUTE_TYPES.contains(&kind) {
                let help = format!("types are {}", ATTRIBUTE_TYPES.join(", "));
                self.find(attribute.kind.span(), format!("unknown attribute type `{kind}`"), help);
            } else if !fits(kind, value) {
                let message = format!("attribute `{}` of type {kind} cannot be `{value}`", attribute.name);
                self.find(attribute.value.span(), message, "write a value of that type");
            }
            attributes.push(Attribute { name: attribute.name, kind: kind.to_owned(), value: value.to_string() });
        }
        let stands_for = case.stands_for.map(Spanned::into_inner);
        let stands_for = stands_for.and_then(|written| match size_range(&written.elements) {
            Ok(range) => Some(range),
            Err(finding) => {
                self.findings.push(finding);
                None
            }
        });
        Case {
            name: case.name.into_inner(),
            weight,
            stands_for,
            inputs,
            outputs,
            attributes,
            hostile: case.hostile.unwrap_or(!direct),
            verify_only: case.verify_only,
            arguments: case.arguments.unwrap_or_else(|| arguments.to_vec()),
        }
    }

    fn tensor(&mut self, tensor: Spanned<WireTensor>, input: bool) -> TensorSpec {
        let span = tensor.span();
        let tensor = tensor.into_inner();
        self.file_name(&tensor.name, "name");
        let dtype = tensor.dtype.get_ref();
        let names: Vec<&str> = DTYPES.iter().map(|(name, _)| *name).collect();
        if !names.contains(&dtype.as_str()) {
            let help = match nearest(dtype, &names) {
                Some(likely) => format!("did you mean `{likely}`?"),
                None => format!("dtypes are {}", names.join(", ")),
            };
            self.find(tensor.dtype.span(), format!("unknown dtype `{dtype}`"), help);
        }
        if let Some(optional) = tensor.optional.as_ref().filter(|_| input) {
            self.find(optional.span(), "`optional` belongs to an output", "an input that may be missing is left out");
        }
        if input && tensor.shape.is_none() {
            self.find(
                span,
                format!("input `{}` has no `shape`", tensor.name.get_ref()),
                "only outputs may leave it out",
            );
        }
        let mut shape = None;
        if let Some(dimensions) = &tensor.shape {
            let sizes: Vec<u64> = dimensions.get_ref().iter().filter_map(|size| u64::try_from(*size).ok()).collect();
            let elements = sizes.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
            if sizes.len() != dimensions.get_ref().len() || elements.is_none_or(|count| count > 1 << 33) {
                let help = "dimensions are 0 or more, and all elements together at most 8589934592";
                self.find(dimensions.span(), format!("shape {:?}", dimensions.get_ref()), help);
            }
            shape = Some(sizes);
        }
        let mut range = ValueRange { low: -1.0, high: 1.0 };
        if dtype.starts_with("uint") {
            range.low = 0.0;
            range.high = 100.0;
        } else if dtype == "int4" {
            range = ValueRange { low: -8.0, high: 8.0 };
        } else if dtype.starts_with("int") {
            range = ValueRange { low: -100.0, high: 100.0 };
        } else if dtype == "bool" {
            range.low = 0.0;
        }
        if let Some(written) = &tensor.range {
            match written.get_ref().as_slice() {
                [low, high] if low.is_finite() && high.is_finite() && low <= high => {
                    range = ValueRange { low: *low, high: *high };
                }
                other => self.find(written.span(), format!("range {other:?}"), "write [lowest, highest]"),
            }
        }
        let values = tensor.values.as_ref().map(|values| values.get_ref().clone()).unwrap_or_default();
        if let Some(written) = &tensor.values {
            if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
                self.find(written.span(), format!("values {values:?}"), "list one number or more");
            } else if tensor.range.is_some() {
                self.find(written.span(), "`values` and `range` exclude each other", "leave one of them out");
            } else if !input && values.len() > 1 {
                let help = "write one number, which all of it holds before the launch, for an operator that adds to it";
                self.find(written.span(), format!("{} values for an output", values.len()), help);
            }
        }
        TensorSpec {
            name: tensor.name.into_inner(),
            dtype: tensor.dtype.into_inner(),
            format: tensor.format.map_or_else(|| "ND".to_owned(), Spanned::into_inner),
            shape,
            range,
            values,
        }
    }

    fn tunable(&mut self, name: String, tunable: Spanned<WireTunable>) -> Option<Tunable> {
        let span = tunable.span();
        let tunable = tunable.into_inner();
        let identifier = !name.is_empty()
            && !name.starts_with(|character: char| character.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !identifier {
            let help = "letters, digits and `_`, so that constraints and knobs can use it";
            self.find(span.clone(), format!("`{name}` cannot be a tunable's name"), help);
        }
        let binding = self.binding(&name, span, &tunable);
        let domain = self.domain(&name, &tunable.domain);
        let (binding, domain) = (binding?, domain?);
        let default = tunable.default.as_ref().map(|value| value.get_ref().clone());
        let cap = matches!(binding, Binding::Cap { .. });
        let when = tunable.when.map(|when| Condition { span: when.span(), text: when.into_inner() });
        let built = Tunable { name, domain, default, binding, reason: tunable.reason, when };
        match domain_values(&built) {
            Err(message) => self.find(tunable.domain.span(), format!("tunable `{}`: {message}", built.name), ""),
            Ok(values) => match &tunable.default {
                Some(default) if !values.contains(default.get_ref()) && *default.get_ref() != NO_LIMIT => {
                    let message = format!("default {} of `{}` is outside its domain", default.get_ref(), built.name);
                    self.find(
                        default.span(),
                        message,
                        "widen the domain: the present value must be a point of the space",
                    );
                }
                None if !cap && !matches!(built.binding, Binding::Cmake { .. }) => {
                    let help = "write the value that stands in the sources";
                    self.find(tunable.domain.span(), format!("tunable `{}` has no `default`", built.name), help);
                }
                _ => {}
            },
        }
        Some(built)
    }

    fn binding(&mut self, name: &str, span: Range<usize>, tunable: &WireTunable) -> Option<Binding> {
        if let Some(file) = &tunable.file {
            self.relative(file);
        }
        tunable.also.iter().for_each(|file| self.relative(file));
        let kinds = [&tunable.constant, &tunable.call, &tunable.cap, &tunable.share, &tunable.portion, &tunable.cmake];
        let help = "write one of: file and constant; file, call, first and index; file and cap; file, share and of; file and portion; cmake";
        if kinds.iter().filter(|kind| kind.is_some()).count() != 1 {
            self.find(span, format!("tunable `{name}` must say in one way where it lives"), help);
            return None;
        }
        let stray = [
            (tunable.call.is_none(), tunable.first.as_ref().map(Spanned::span), "first"),
            (tunable.call.is_none(), tunable.index.as_ref().map(Spanned::span), "index"),
            (tunable.cmake.is_some(), tunable.file.as_ref().map(Spanned::span), "file"),
            (tunable.share.is_none(), tunable.of.as_ref().map(Spanned::span), "of"),
            (tunable.constant.is_none(), tunable.also.first().map(Spanned::span), "also"),
        ];
        for (wrong, span, key) in stray {
            if wrong && let Some(span) = span {
                self.find(span, format!("`{key}` does not belong to this kind of tunable"), help);
            }
        }
        if let Some(variable) = &tunable.cmake {
            return Some(Binding::Cmake { variable: variable.get_ref().clone() });
        }
        let Some(file) = tunable.file.as_ref().map(|file| file.get_ref().clone()) else {
            self.find(span, format!("tunable `{name}` has no `file`"), "name the source file it lives in");
            return None;
        };
        if let Some(constant) = &tunable.constant {
            let also = tunable.also.iter().map(|file| file.get_ref().clone()).collect();
            return Some(Binding::Constant { file, name: constant.get_ref().clone(), also });
        }
        if let Some(target) = &tunable.cap {
            return Some(Binding::Cap { file, target: target.get_ref().clone() });
        }
        if let Some(target) = &tunable.portion {
            return Some(Binding::Portion { file, target: target.get_ref().clone() });
        }
        if let Some(cores) = &tunable.share {
            let Some(of) = tunable.of.as_ref().map(|of| of.get_ref().clone()) else {
                self.find(span, format!("tunable `{name}` has no `of`"), "write what is divided among the cores");
                return None;
            };
            return Some(Binding::Share { file, cores: cores.get_ref().clone(), of });
        }
        let call = tunable.call.as_ref()?.get_ref().clone();
        let first = tunable.first.as_ref().map(|first| first.get_ref().clone()).unwrap_or_default();
        let index = tunable.index.as_ref().map_or(0, |index| *index.get_ref() as usize);
        Some(Binding::Argument { file, call, first, index })
    }

    fn domain(&mut self, name: &str, domain: &Spanned<WireDomain>) -> Option<Domain> {
        let wire = domain.get_ref();
        let kinds = [
            wire.range.is_some(),
            wire.multiple_of.is_some(),
            wire.power_of_two.is_some(),
            wire.values.is_some(),
            wire.boolean.is_some(),
            wire.permutation.is_some(),
        ];
        let built = if kinds.into_iter().filter(|given| *given).count() == 1 { kind_of_domain(wire) } else { None };
        if built.is_none() {
            let help = "write one of { range = [least, most, step] }, { multiple-of = [step, least, most] }, { power-of-two = [least, most] }, { values = [..] }, { bool = true }, { permutation = [..] }";
            self.find(domain.span(), format!("the domain of `{name}` is not one kind of domain"), help);
        }
        built
    }

    /// Reads every constraint once with placeholder machine facts, to find what cannot be read.
    fn constraints(&mut self, tunables: &[Tunable], constraints: &[(String, Range<usize>)], cases: &[Case]) {
        let facts: Vec<CaseFacts> = cases.iter().map(|case| case.facts(1, 1)).collect();
        let sound: Vec<Tunable> = tunables.iter().filter(|tunable| domain_values(tunable).is_ok()).cloned().collect();
        for error in SearchSpace::new(&sound, constraints, &facts).err().unwrap_or_default() {
            if let SpaceError::BadConstraint { text, message, span } = error {
                let names: Vec<&str> =
                    facts.first().map(|facts| facts.values.keys().map(String::as_str).collect()).unwrap_or_default();
                let help = format!("facts are {}", names.join(", "));
                let help = if message.contains("case fact") { help } else { String::new() };
                self.find(span, format!("constraint `{text}`: {message}"), help);
            }
        }
    }

    fn tolerances(&mut self, verify: &WireVerify) -> BTreeMap<String, Tolerance> {
        let mut tolerances = BTreeMap::new();
        for (dtype, written) in &verify.tolerance {
            let tolerance = written.get_ref();
            let sound = |part: f64| part.is_finite() && part >= 0.0;
            if !DTYPES.iter().any(|(name, _)| name == dtype) {
                self.find(
                    written.span(),
                    format!("tolerance for unknown dtype `{dtype}`"),
                    "name a dtype such as float16",
                );
            }
            if !sound(tolerance.absolute) || !sound(tolerance.relative) {
                self.find(written.span(), format!("tolerance of {dtype} is negative or not a number"), "use 0 or more");
            }
            let value = Tolerance { absolute: tolerance.absolute, relative: tolerance.relative };
            tolerances.insert(dtype.clone(), value);
        }
        tolerances
    }

    fn reference(&mut self, verify: &WireVerify) -> Reference {
        let Some(kind) = &verify.reference else { return Reference::Baseline };
        let python = || PathBuf::from(verify.python.as_deref().unwrap_or("python3"));
        match (kind.get_ref().as_str(), &verify.golden) {
            ("baseline", _) => Reference::Baseline,
            ("command", _) if !verify.command.is_empty() => Reference::Command(verify.command.clone()),
            ("command", _) => {
                self.find(
                    kind.span(),
                    "`reference` is a command, but there is no `command`",
                    "write command = [\"program\", ..]",
                );
                Reference::Baseline
            }
            ("npy", Some(golden)) => Reference::Npy(PathBuf::from(golden.get_ref())),
            ("npy", None) => {
                self.find(kind.span(), "`reference` is npy, but there is no `golden`", "write golden = \"directory\"");
                Reference::Baseline
            }
            ("script", _) => {
                let Some(script) = &verify.script else {
                    self.find(
                        kind.span(),
                        "`reference` is a script, but there is no `script`",
                        "write script = \"tests/golden.py\"",
                    );
                    return Reference::Baseline;
                };
                Reference::Script { script: PathBuf::from(script.get_ref()), python: python() }
            }
            ("definition", _) => Reference::Definition { python: python() },
            (other, _) => {
                let known = "it is baseline, definition, command, npy or script";
                self.find(kind.span(), format!("unknown reference `{other}`"), known);
                Reference::Baseline
            }
        }
    }
}

fn fits(kind: &str, value: &WireScalar) -> bool {
    match (kind, value) {
        ("int", WireScalar::Int(_))
        | ("float", WireScalar::Int(_) | WireScalar::Float(_))
        | ("bool", WireScalar::Bool(_))
        | ("string", WireScalar::Text(_)) => true,
        ("list_int", WireScalar::List(items)) => items.iter().all(|item| fits("int", item)),
        ("list_float", WireScalar::List(items)) => items.iter().all(|item| fits("float", item)),
        ("list_bool", WireScalar::List(items)) => items.iter().all(|item| fits("bool", item)),
        ("list_list_int", WireScalar::Text(text)) => serde_json::from_str::<Vec<Vec<i64>>>(text).is_ok(),
        _ => false,
    }
}

/// The domain as the only kind that is written says it; `None` where its numbers are too few or too many.
fn kind_of_domain(wire: &WireDomain) -> Option<Domain> {
    if let Some(range) = &wire.range {
        return match range.as_slice() {
            [min, max] => Some(Domain::Range { min: *min, max: *max, step: 1 }),
            [min, max, step] => Some(Domain::Range { min: *min, max: *max, step: *step }),
            _ => None,
        };
    }
    if let Some(multiples) = &wire.multiple_of {
        // The least multiple that is not below `min`.
        let [step, min, max] = *multiples.as_slice() else { return None };
        let above = min.checked_add(step - 1).filter(|_| step > 0)?;
        return Some(Domain::Range { min: above.div_euclid(step) * step, max, step });
    }
    if let Some(bounds) = &wire.power_of_two {
        let [min, max] = *bounds.as_slice() else { return None };
        return Some(Domain::PowerOfTwo { min, max });
    }
    if let Some(values) = &wire.values {
        // Numbers have an order that means something unless the manifest says otherwise.
        let numbers = values.iter().all(|value| matches!(value, Value::Int(_)));
        return Some(Domain::List { values: values.clone(), ordered: wire.ordered.unwrap_or(numbers) });
    }
    if let Some(items) = &wire.permutation {
        return Some(Domain::Permutation { items: items.clone() });
    }
    (wire.boolean == Some(true)).then_some(Domain::Bool)
}
