//! What a kernel reads of the structure that the host writes for it: nothing of a field, the element of its own block, or all.

use crate::context::Context;
use crate::context::tiling::{TilingMember, TilingStructure};
use source::facts::is_host;
use source::lex::{Include, PieceKind, includes, pieces};

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

/// How much of a field is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Nothing.
    Nothing,
    /// Of an array the element with the number of the block.
    OfBlock,
    /// All.
    All,
}

/// A file as words, numbers and punctuation.
struct Tokens<'a> {
    name: &'a str,
    of: Vec<(PieceKind, &'a str)>,
}

impl<'a> Tokens<'a> {
    fn new(name: &'a str, text: &'a str) -> Self {
        let of = pieces(text).into_iter().filter(|piece| piece.kind != PieceKind::Comment);
        Self { name, of: of.map(|piece| (piece.kind, &text[piece.span])).collect() }
    }

    fn text(&self, index: usize) -> &'a str {
        self.of.get(index).map_or("", |(_, text)| text)
    }

    fn before(&self, index: usize, steps: usize) -> &'a str {
        index.checked_sub(steps).map_or("", |index| self.text(index))
    }

    fn is_word(&self, index: usize) -> bool {
        self.of.get(index).is_some_and(|(kind, _)| *kind == PieceKind::Word)
    }

    fn positions(&self, word: &'a str) -> impl Iterator<Item = usize> + '_ {
        let of_word = move |(_, token): &(usize, &(PieceKind, &str))| token.0 == PieceKind::Word && token.1 == word;
        self.of.iter().enumerate().filter(of_word).map(|(index, _)| index)
    }

    /// The arguments of a macro's call whose name stands at `index`, each without blanks.
    fn arguments(&self, index: usize) -> Vec<String> {
        let mut arguments = vec![String::new()];
        let mut depth = 0_usize;
        for (_, text) in self.of.iter().skip(index + 1) {
            match *text {
                "(" if depth == 0 => depth = 1,
                ")" if depth == 1 => return arguments,
                "," if depth == 1 => arguments.push(String::new()),
                other => {
                    depth = match other {
                        "(" => depth + 1,
                        ")" => depth.saturating_sub(1),
                        _ => depth,
                    };
                    if let Some(last) = arguments.last_mut() {
                        last.push_str(other);
                    }
                }
            }
        }
        Vec::new()
    }

    /// Name of the function, or word, whose parentheses are around a token, as far as they are in the same statement.
    fn caller(&self, index: usize) -> &'a str {
        let mut depth = 0_usize;
        for at in (0..index).rev() {
            match self.text(at) {
                ")" => depth += 1,
                "(" if depth == 0 => return self.before(at, 1),
                "(" => depth -= 1,
                ";" | "{" | "}" => break,
                _ => {}
            }
        }
        ""
    }

    /// Whether a statement is run whenever the function around it is: it stands in the function's own block, and nothing leaves that before.
    fn always_runs(&self, index: usize) -> bool {
        let index = self.unqualified(index);
        if ![";", "{", "}"].contains(&self.before(index, 1)) {
            return false;
        }
        let mut depth = 0_usize;
        for at in (0..index).rev() {
            match self.text(at) {
                "}" => depth += 1,
                "{" if depth > 0 => depth -= 1,
                "{" => match self.before(at, 1) {
                    // A block by itself.
                    "{" | "}" | ";" => {}
                    ")" => return !["if", "for", "while", "switch"].contains(&self.caller(at - 1)),
                    "const" | "noexcept" | "override" => return true,
                    _ => return false,
                },
                "return" | "break" | "goto" => return false,
                _ => {}
            }
        }
        false
    }

    /// First token of a member's name with what it may be qualified by: its classes, or `this`.
    fn unqualified(&self, mut index: usize) -> usize {
        if self.before(index, 1) == ">" && self.before(index, 2) == "-" && self.before(index, 3) == "this" {
            return index - 3;
        }
        while self.before(index, 1) == ":" && self.before(index, 2) == ":" && index > 2 && self.is_word(index - 3) {
            index -= 3;
        }
        index
    }

    /// First token of the expression whose member's name stands at `index`, where it is a name, with `this` before it or not;
    /// `None` where the name is no member of anything.
    fn object(&self, index: usize) -> Option<usize> {
        let (point, arrow) =
            (self.before(index, 1) == ".", self.before(index, 1) == ">" && self.before(index, 2) == "-");
        if !point && !arrow {
            return None;
        }
        index.checked_sub(if point { 2 } else { 3 })
    }
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
        structure.fields.iter().map(|field| self.read(field)).collect()
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
                read = match (own && self.is_of_block(tokens, index), read) {
                    (true, Read::Nothing | Read::OfBlock) => Read::OfBlock,
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
    fn is_of_block(&self, tokens: &Tokens<'a>, index: usize) -> bool {
        if tokens.text(index + 1) != "[" {
            return false;
        }
        let inside: Vec<&str> =
            (index + 2..tokens.of.len()).map(|at| tokens.text(at)).take_while(|text| *text != "]").collect();
        match inside.as_slice() {
            ["GetBlockIdx", "(", ")"] | ["AscendC", ":", ":", "GetBlockIdx", "(", ")"] => true,
            [name] => self.holds_the_block(name),
            _ => false,
        }
    }

    /// Whether a name is given nothing but the number of the block, wherever it stands. Where it is something else before, it must be
    /// given that whatever happens.
    fn holds_the_block(&self, name: &str) -> bool {
        let (mut given, mut always, mut something_before) = (false, true, false);
        for tokens in self.on_device() {
            for index in (0..tokens.of.len()).filter(|index| tokens.is_word(*index) && tokens.text(*index) == name) {
                let text = |steps: usize| tokens.text(index + steps);
                let block = ["GetBlockIdx", "AscendC"].contains(&text(2));
                let exact = text(2) == "GetBlockIdx" && text(5) == ";" || text(2) == "AscendC" && text(8) == ";";
                match (text(1), text(2)) {
                    ("=", "=") => {}
                    ("=", _) if block && exact => {
                        given = true;
                        always &= tokens.always_runs(index) || tokens.is_word(index.wrapping_sub(1));
                    }
                    // What a member is before it is given the number.
                    ("=", "0") if text(3) == ";" && tokens.is_word(index.wrapping_sub(1)) => {
                        something_before = true;
                    }
                    ("=", _)
                    | ("+" | "-", "+" | "-" | "=")
                    | ("*" | "/" | "%" | "&" | "|" | "^", "=")
                    | ("{" | "(", _) => return false,
                    (",", _) | (")", _) if tokens.is_word(index.wrapping_sub(1)) => return false,
                    _ if tokens.before(index, 1) == "&" && tokens.before(index, 2) != "&" => return false,
                    _ if ["+", "-"].contains(&tokens.before(index, 1))
                        && tokens.before(index, 1) == tokens.before(index, 2) =>
                    {
                        return false;
                    }
                    _ => {}
                }
            }
        }
        given && (always || !something_before)
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
