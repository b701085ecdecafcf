//! What a kernel reads of the structure that the host writes for it: nothing of a field, the element of its own block, or all.

use super::tiling_ranges::{Range, range};
use super::tiling_tokens::{Tokens, in_macros};
use crate::context::Context;
use crate::context::tiling::{TilingMember, TilingStructure};
use source::facts::is_host;
use source::lex::{Include, PieceKind, includes};

/// Types of numbers that a tensor of global memory can have.
const NUMBERS: [&str; 9] =
    ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "float"];
/// Words of the host's side: what has one of them is not compiled for the device.
const OF_THE_HOST: [&str; 3] = ["BEGIN_TILING_DATA_DEF", "gert::", "ge::"];
/// How quoted names of the API's own headers begin, which know no operator's structure.
const OF_THE_API: [&str; 5] = ["kernel_operator", "kernel_tiling/", "lib/", "adv_api/", "ascendc/"];

/// Headers of C that kernels include.
const OF_C: [&str; 5] = ["stdint.h", "stddef.h", "stdbool.h", "limits.h", "math.h"];
/// Functions that take bytes, whatever they are of.
const OF_BYTES: [&str; 6] = ["memcpy", "memmove", "memcpy_s", "memmove_s", "sizeof", "__builtin_memcpy"];

/// Macros that take the type of a structure.
const OF_TILING: [&str; 3] =
    ["GET_TILING_DATA_WITH_STRUCT", "REGISTER_TILING_DEFAULT", "REGISTER_TILING_FOR_TILINGKEY"];

/// What stands between a type and a name.
const QUALIFIERS: [&str; 5] = ["*", "&", "const", "__restrict", "__restrict__"];

/// A name of the structure, or of what points or refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Holder<'a> {
    name: &'a str,
    /// The only file in which it has this meaning.
    file: Option<&'a str>,
}

/// Whether a type is one of numbers that a tensor of global memory can have.
fn is_number(kind: &str) -> bool {
    NUMBERS.contains(&kind)
}

/// Whether a name has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// It has others.
    Never,
    /// Or it is 0.
    Sometimes,
    /// It has no other.
    Always,
}

/// How much of a field is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Nothing.
    Nothing,
    /// Of an array the element with the number of the block.
    OfBlock,
    /// The same, or the first one where the number was not taken.
    OfBlockOrFirst,
    /// Of an array the elements that a loop goes through, from one field's element of the block to another's.
    OfRange(Range),
    /// All.
    All,
}

/// All that a context knows of an operator's sources, as tokens.
pub(crate) struct Sources<'a> {
    files: Vec<(Tokens<'a>, bool)>,
}

impl<'a> Sources<'a> {
    /// Of the sources and what they include beside themselves.
    ///
    /// # Errors
    /// Where a file includes one that is not known.
    pub(crate) fn of(context: &'a Context) -> Result<Self, String> {
        let all: Vec<(&str, &str)> = context.tree.iter().chain(context.beside.iter()).collect();
        let known = |name: &str| {
            let last = name.rsplit('/').next().unwrap_or(name);
            all.iter().any(|(file, _)| file.rsplit('/').next() == Some(last))
        };
        let on_host = |file: &str, text: &str| is_host(file) || OF_THE_HOST.iter().any(|word| text.contains(word));
        for (file, text) in all.iter().filter(|(file, text)| !on_host(file, text)) {
            for include in includes(text) {
                let name = match include {
                    Include::Quoted(name) | Include::Angled(name) => name,
                    Include::Macro => return Err(format!("{file} includes what a macro names")),
                };
                // The language's own headers have no ending, or are the ones of C.
                let of_others = !name.ends_with(".h") && !name.ends_with(".hpp") || OF_C.contains(&name.as_str());
                if !known(&name) && !of_others && !OF_THE_API.iter().any(|of| name.starts_with(of)) {
                    return Err(format!("{file} includes {name}, which is not known"));
                }
            }
        }
        let files = all.into_iter().map(|(file, text)| (Tokens::new(file, text), on_host(file, text)));
        Ok(Self { files: files.collect() })
    }

    fn on_device(&self) -> impl Iterator<Item = &Tokens<'a>> {
        self.files.iter().filter(|(_, host)| !host).map(|(tokens, _)| tokens)
    }

    /// The structure that the host writes for the operator of a kernel: as its library says, else as the sources do.
    ///
    /// # Errors
    /// Where there is none, or more than one.
    pub(crate) fn structure_of(&self, context: &Context, kernel: &str) -> Result<TilingStructure, String> {
        match context.tiling.iter().find(|tiling| tiling.of_operator) {
            Some(tiling) => Ok(tiling.clone()),
            None => self.registered_for(kernel),
        }
    }

    /// A structure that the host's library names, else one that host and kernel share as it stands in C++.
    ///
    /// # Errors
    /// Where it is not known, known twice, or has more than fields.
    pub(crate) fn named_structure(&self, context: &Context, name: &str) -> Result<TilingStructure, String> {
        match context.tiling.iter().find(|tiling| tiling.name == name) {
            Some(tiling) => Ok(tiling.clone()),
            None => self.shared_structure(name),
        }
    }

    fn shared_structure(&self, name: &str) -> Result<TilingStructure, String> {
        let mut found: Vec<TilingStructure> = Vec::new();
        for (tokens, _) in &self.files {
            for index in (1..tokens.of.len()).filter(|index| tokens.text(*index) == name) {
                if tokens.before(index, 1) == "struct" && tokens.text(index + 1) == "{" {
                    let fields = shared_fields(tokens, index + 2);
                    let fields = fields.ok_or_else(|| format!("{}: {name} has more than fields", tokens.name))?;
                    found.push(TilingStructure { name: name.to_owned(), of_operator: false, fields });
                }
            }
        }
        found.dedup();
        match found.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(format!("{} definitions of {name} are known", found.len())),
        }
    }

    fn registered_for(&self, kernel: &str) -> Result<TilingStructure, String> {
        let plain = |name: &str| name.replace('_', "").to_lowercase();
        let mut classes: Vec<String> = Vec::new();
        let mut structures: Vec<TilingStructure> = Vec::new();
        for (tokens, _) in &self.files {
            for index in tokens.positions("REGISTER_TILING_DATA_CLASS") {
                if let [op, class] = tokens.arguments(index).as_slice() {
                    // One for each tiling key has the key behind the operator's name.
                    if plain(op).trim_end_matches(|character: char| character.is_ascii_digit())
                        == plain(kernel).trim_end_matches(|character: char| character.is_ascii_digit())
                    {
                        classes.push(class.clone());
                    }
                }
            }
            structures.extend(tokens.positions("BEGIN_TILING_DATA_DEF").filter_map(|index| structure(tokens, index)));
        }
        classes.dedup();
        let [class] = classes.as_slice() else {
            return Err(format!("{} structures are registered for {kernel}", classes.len()));
        };
        structures.retain(|structure| structure.name == *class);
        structures.dedup();
        match structures.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(format!("{} definitions of {class} are known", structures.len())),
        }
    }

    /// What is read of every field.
    ///
    /// # Errors
    /// Where the structure is used in a way that does not tell.
    pub(crate) fn reads(&self, structure: &TilingStructure) -> Result<Vec<Read>, String> {
        let holders = self.holders(structure)?;
        let names: Vec<&str> = holders.iter().map(|holder| holder.name).collect();
        for tokens in self.on_device() {
            for holder in holders.iter().filter(|holder| holder.file.is_none_or(|file| file == tokens.name)) {
                for index in tokens.positions(holder.name) {
                    self.used_by_fields(tokens, index, structure, &names)?;
                }
            }
        }
        let mut reads: Vec<Read> = structure.fields.iter().map(|field| self.read(field)).collect::<Result<_, _>>()?;
        let files: Vec<&Tokens<'_>> = self.on_device().collect();
        for place in 0..reads.len() {
            let field = &structure.fields[place];
            if reads[place] == Read::All && field.is_array {
                let ends = |name: &str| {
                    let array = self.array_of(name)?;
                    let of = structure.fields.iter().position(|field| field.name == array)?;
                    (reads[of] == Read::OfBlock).then_some(of)
                };
                if let Some(found) = range(&files, &field.name, &ends) {
                    reads[place] = Read::OfRange(found);
                }
            }
        }
        Ok(reads)
    }

    /// Names of variables, parameters and members that are the structure, or point or refer to it.
    fn holders(&self, structure: &TilingStructure) -> Result<Vec<Holder<'a>>, String> {
        let mut holders = Vec::new();
        for tokens in self.on_device() {
            let mention = |text: &str| text.contains(structure.name.as_str());
            if tokens.of.iter().any(|(kind, text)| *kind == PieceKind::Directive && mention(text)) {
                return Err(format!("{}: a directive mentions {}", tokens.name, structure.name));
            }
            let name = structure.name.as_str();
            let mentions = tokens.of.iter().enumerate().filter(|(_, (_, text))| *text == name).map(|(index, _)| index);
            for index in mentions {
                // Its definition, and macros that take it.
                let defined = tokens.before(index, 1) == "struct" && ["{", ";"].contains(&tokens.text(index + 1));
                if defined || OF_TILING.contains(&tokens.caller(index)) {
                    continue;
                }
                let mut at = index + 1;
                while QUALIFIERS.contains(&tokens.text(at)) {
                    at += 1;
                }
                let declares = tokens.is_word(at) && [",", ")", ";", "="].contains(&tokens.text(at + 1));
                if !declares || ["struct", "class", "typename", "using"].contains(&tokens.before(index, 1)) {
                    return Err(format!("{}: {name} is mentioned other than as a variable's type", tokens.name));
                }
                // A parameter is known where it stands, a member wherever its class is.
                let is_parameter = [",", ")"].contains(&tokens.text(at + 1));
                holders.push(Holder { name: tokens.text(at), file: is_parameter.then_some(tokens.name) });
            }
            let local = |name: &'a str| Holder { name, file: Some(tokens.name) };
            holders.extend(tokens.positions("GET_TILING_DATA").map(|index| local(tokens.text(index + 2))));
            let with_structure = tokens.positions("GET_TILING_DATA_WITH_STRUCT");
            let of_this = with_structure.filter(|index| tokens.text(index + 2) == name);
            holders.extend(of_this.map(|index| local(tokens.text(index + 4))));
        }
        holders.sort_unstable();
        holders.dedup();
        Ok(holders)
    }

    fn used_by_fields(
        &self,
        tokens: &Tokens<'a>,
        index: usize,
        structure: &TilingStructure,
        holders: &[&str],
    ) -> Result<(), String> {
        let refuse = |how: &str| Err(format!("{}: {} is {how}", tokens.name, tokens.text(index)));
        let (before, after) = (tokens.before(index, 1), tokens.text(index + 1));
        let member = match (after, tokens.text(index + 2)) {
            (".", _) => Some(index + 2),
            ("-", ">") => Some(index + 3),
            _ => None,
        };
        if let Some(member) = member {
            let known = structure.fields.iter().any(|field| field.name == tokens.text(member));
            // The object of something else that has the name.
            return if known || tokens.object(index).is_some() { Ok(()) } else { refuse("asked for what is no field") };
        }
        let mut kind = index.saturating_sub(1);
        while QUALIFIERS.contains(&tokens.text(kind)) && kind > 0 {
            kind -= 1;
        }
        let caller = tokens.caller(index);
        if tokens.text(kind) == structure.name || caller == "GET_TILING_DATA" || OF_TILING.contains(&caller) {
            return Ok(());
        }
        if OF_BYTES.contains(&caller) {
            return refuse("used by its bytes");
        }
        match (before, after) {
            // Cast to something else.
            ("(", ")") if tokens.before(index, 2) == ">" => refuse("cast"),
            (")", _) => refuse("cast"),
            ("=", ";") if !holders.contains(&tokens.before(index, 2)) => refuse("kept under another name"),
            ("&", ";") if tokens.before(index, 2) == "=" && holders.contains(&tokens.before(index, 3)) => Ok(()),
            ("(" | "," | "=", "," | ")" | ";" | "}") | ("&", "," | ")") => Ok(()),
            ("&", _) | ("*", _) => refuse("not only passed on"),
            (_, "=") if holders.contains(&tokens.text(index + 2)) => Ok(()),
            (_, "=" | "{" | "(") if ["nullptr", "}"].contains(&tokens.text(index + 2)) => Ok(()),
            (_, "(") if holders.contains(&tokens.text(index + 2)) => Ok(()),
            _ => refuse("used other than by its fields"),
        }
    }

    fn read(&self, field: &TilingMember) -> Result<Read, String> {
        let name = field.name.as_str();
        let mut read = Read::Nothing;
        for tokens in self.on_device() {
            if tokens.of.iter().any(|(kind, text)| *kind == PieceKind::Directive && text.contains(name)) {
                read = Read::All;
            }
            let words =
                tokens.of.iter().enumerate().filter(|(_, (kind, text))| *kind == PieceKind::Word && *text == name);
            for (index, _) in words {
                // A pointer to it, of a class that stands for the structure. Without `&` it is a member of the operator's own object.
                let scoped = tokens.before(index, 1) == ":" && tokens.before(index, 2) == ":";
                if scoped && tokens.before(index, 4) == "&" {
                    return Err(format!("{}: {name} is named as a member", tokens.name));
                }
                // A variable, or a member of the operator's own object, with the same name.
                let Some(object) = tokens.object(index) else { continue };
                if tokens.text(object) == "this" {
                    continue;
                }
                // Its address is the way to others.
                let addressed = tokens.before(object, 1) == "(" && tokens.before(object, 2) == "&";
                let own = !addressed
                    && field.is_array
                    && tokens.is_word(object)
                    && !["&", ".", ">"].contains(&tokens.before(object, 1));
                let held = if own { self.is_of_block(tokens, index) } else { Held::Never };
                read = match (held, read) {
                    (Held::Always, Read::Nothing | Read::OfBlock) => Read::OfBlock,
                    (Held::Always | Held::Sometimes, Read::Nothing | Read::OfBlock | Read::OfBlockOrFirst) => {
                        Read::OfBlockOrFirst
                    }
                    _ => Read::All,
                };
            }
        }
        if read != Read::Nothing && !is_number(&field.kind) {
            return Err(format!("{name} is read, which is a structure itself or no number"));
        }
        Ok(read)
    }

    /// Whether the element with the number of the block follows.
    fn is_of_block(&self, tokens: &Tokens<'a>, index: usize) -> Held {
        if tokens.text(index + 1) != "[" {
            return Held::Never;
        }
        let inside: Vec<&str> =
            (index + 2..tokens.of.len()).map(|at| tokens.text(at)).take_while(|text| *text != "]").collect();
        match inside.as_slice() {
            ["GetBlockIdx", "(", ")"] | ["AscendC", ":", ":", "GetBlockIdx", "(", ")"] => Held::Always,
            [name] => self.holds_the_block(name),
            _ => Held::Never,
        }
    }

    /// Whether a name is given nothing but the number of the block, wherever it stands.
    fn holds_the_block(&self, name: &str) -> Held {
        self.holds(name, &|tokens, at| {
            tokens.are(at, &["GetBlockIdx", "(", ")", ";"])
                || tokens.are(at, &["AscendC", ":", ":", "GetBlockIdx", "(", ")", ";"])
        })
    }

    /// Whether a name is given the element of the block of an array of the structure, and nothing else, wherever it stands; which array.
    fn array_of(&self, name: &str) -> Option<String> {
        let mut arrays: Vec<String> = Vec::new();
        for tokens in self.on_device() {
            for index in
                (0..tokens.of.len()).filter(|index| tokens.text(*index) == name && tokens.text(index + 1) == "=")
            {
                let end = (index + 2..tokens.of.len()).find(|at| [";", "["].contains(&tokens.text(*at)))?;
                if tokens.text(end) == "[" && tokens.object(end - 1).is_some() {
                    arrays.push(tokens.text(end - 1).to_owned());
                }
            }
        }
        arrays.sort_unstable();
        arrays.dedup();
        let [array] = <[String; 1]>::try_from(arrays).ok()?;
        let is_element = |tokens: &Tokens<'a>, at: usize| {
            let Some(member) = (at..at + 4).find(|member| tokens.text(*member) == array) else { return false };
            let close = (member..tokens.of.len()).find(|close| tokens.text(*close) == "]").unwrap_or(member);
            tokens.object(member) == Some(at)
                && self.is_of_block(tokens, member) == Held::Always
                && tokens.text(close + 1) == ";"
        };
        (self.holds(name, &is_element) == Held::Always).then_some(array)
    }

    /// Whether a name is given nothing but what `is_it` says of the tokens behind its `=`, wherever it stands. Where it is nothing before, and
    /// is not given that whatever happens, it is one or the other.
    fn holds(&self, name: &str, is_it: &dyn Fn(&Tokens<'a>, usize) -> bool) -> Held {
        if in_macros(&self.on_device().collect::<Vec<_>>(), name) {
            return Held::Never;
        }
        let (mut given, mut always, mut something_before) = (false, true, false);
        for tokens in self.on_device() {
            for index in (0..tokens.of.len()).filter(|index| tokens.is_word(*index) && tokens.text(*index) == name) {
                match (tokens.text(index + 1), tokens.text(index + 2)) {
                    ("=", "=") => {}
                    ("=", _) if is_it(tokens, index + 2) => {
                        given = true;
                        always &= tokens.always_runs(index) || tokens.is_word(index.wrapping_sub(1));
                    }
                    // What a member is before it is given the number.
                    ("=", "0" | "{")
                        if (tokens.are(index + 2, &["0", ";"]) || tokens.are(index + 2, &["{", "0", "}", ";"]))
                            && tokens.is_word(index.wrapping_sub(1)) =>
                    {
                        something_before = true;
                    }
                    _ if tokens.is_changed(index) => return Held::Never,
                    (",", _) | (")", _) if tokens.is_word(index.wrapping_sub(1)) => return Held::Never,
                    _ => {}
                }
            }
        }
        match given {
            false => Held::Never,
            true if something_before && !always => Held::Sometimes,
            true => Held::Always,
        }
    }
}

/// The fields of a structure in C++ from its first token on; `None` where there is anything else, such as a function.
fn shared_fields(tokens: &Tokens<'_>, mut at: usize) -> Option<Vec<TilingMember>> {
    let mut fields = Vec::new();
    while tokens.text(at) != "}" {
        // With `std::` before it or not.
        while tokens.text(at) == "std" || tokens.text(at) == ":" {
            at += 1;
        }
        let (kind, name) = (tokens.text(at), tokens.text(at + 1));
        if !tokens.is_word(at) || !tokens.is_word(at + 1) || ["static", "const", "struct", "using"].contains(&kind) {
            return None;
        }
        let is_array = tokens.text(at + 2) == "[";
        let end = (at + 2..tokens.of.len()).find(|end| tokens.text(*end) == ";")?;
        let before = (at + 2..end).map(|at| tokens.text(at));
        if before.clone().any(|text| text == "(" || text == ",") || before.filter(|text| *text == "[").count() > 1 {
            return None;
        }
        fields.push(TilingMember { name: name.to_owned(), kind: kind.to_owned(), is_array });
        at = end + 1;
    }
    Some(fields)
}

/// The structure whose definition begins at a token.
fn structure(tokens: &Tokens<'_>, index: usize) -> Option<TilingStructure> {
    let [name] = <[String; 1]>::try_from(tokens.arguments(index)).ok()?;
    let mut fields = Vec::new();
    for at in index + 1..tokens.of.len() {
        match tokens.text(at) {
            "END_TILING_DATA_DEF" => return Some(TilingStructure { name, of_operator: true, fields }),
            "TILING_DATA_FIELD_DEF" | "TILING_DATA_FIELD_DEF_STRUCT" => {
                let [kind, name] = <[String; 2]>::try_from(tokens.arguments(at)).ok()?;
                fields.push(TilingMember { kind, name, is_array: false });
            }
            "TILING_DATA_FIELD_DEF_ARR" => {
                let [kind, _, name] = <[String; 3]>::try_from(tokens.arguments(at)).ok()?;
                fields.push(TilingMember { kind, name, is_array: true });
            }
            _ => {}
        }
    }
    None
}
