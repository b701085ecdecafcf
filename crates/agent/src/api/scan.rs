//! Declarations in headers of the embedded SDK, which are written in one style: `ASC_API` before each function, families of functions
//! behind one macro, and what is internal in a namespace `detail`.

/// A function as a header declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Class that it belongs to; empty for a free function.
    pub class: String,
    /// Template head, result, name and parameters, in one line.
    pub signature: String,
    /// Dtypes that it takes, where it checks them.
    pub dtypes: Vec<String>,
    /// Vector instructions that stand in it.
    pub opcodes: Vec<String>,
    /// Comment before it, one line.
    pub note: String,
}

/// A macro that declares functions.
struct Family {
    name: String,
    parameters: Vec<String>,
    members: Vec<Declared>,
}

const MARK: &str = "ASC_API ";
const CHECK: &str = "ASCENDC_CHECK_DTYPE(";

/// All functions that a header declares.
pub fn declared(text: &str) -> Vec<Declared> {
    let text = without_details(&text.replace("\r\n", "\n"));
    let (mut plain, mut families) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut whole = line.trim_end().to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            whole.push('\n');
            whole.push_str(lines.next().unwrap_or_default().trim_end());
        }
        match line.strip_prefix("#define ") {
            Some(_) => families.extend(family(whole.trim_start_matches("#define "))),
            None if line.starts_with('#') => {}
            None => {
                plain.push_str(&whole);
                plain.push('\n');
            }
        }
    }
    let mut all = functions(&plain);
    all.extend(members(&plain, &families));
    all
}

/// The text without what stands in a namespace `detail`.
fn without_details(text: &str) -> String {
    let (mut kept, mut inside) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        inside |= line.starts_with("namespace detail {");
        if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
        inside &= !line.starts_with("}  // namespace detail");
    }
    kept
}

fn family(definition: &str) -> Option<Family> {
    let (name, rest) = definition.split_once('(').filter(|(name, _)| name.chars().all(is_letter))?;
    let (parameters, body) = rest.split_once(')')?;
    let members = functions(body);
    let parameters = parameters.split(',').map(|name| name.trim().to_owned()).collect();
    (!members.is_empty()).then(|| Family { name: name.to_owned(), parameters, members })
}

/// Functions of a text without macros.
fn functions(text: &str) -> Vec<Declared> {
    let places: Vec<usize> = text.match_indices(MARK).map(|(place, _)| place).collect();
    let mut all = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let behind = &text[place + MARK.len()..];
        let Some(open) = behind.find('(') else { continue };
        let Some(end) = closing(&behind[open..]) else { continue };
        let head = &behind[..open];
        let name = head.rsplit(|letter| !is_letter(letter)).next().unwrap_or_default();
        if name.is_empty() || head.contains([';', '}', '~']) || head.contains("operator") {
            continue;
        }
        let before = &text[..*place];
        let template = template_before(before);
        let body_end = places.get(index + 1).copied().unwrap_or(text.len());
        let body = text.get(place + MARK.len() + open + end..body_end).unwrap_or_default();
        let signature = format!("{template} {}{}", head.trim(), &behind[open..open + end]);
        all.push(Declared {
            name: name.to_owned(),
            class: class_around(before),
            signature: joined(&signature),
            dtypes: checked(body),
            opcodes: opcodes(body),
            note: comment_before(&before[..before.trim_end().len() - template.len()]),
        });
    }
    all
}

/// Members of families for which the text asks.
fn members(text: &str, families: &[Family]) -> Vec<Declared> {
    let mut all = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let before = &text[..at];
        at += line.len();
        let asked = line.trim().trim_end_matches(';').strip_suffix(')').and_then(|line| line.split_once('('));
        let Some((name, arguments)) = asked else { continue };
        let Some(family) = families.iter().find(|family| family.name == name) else { continue };
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let place = |parameter: &str| family.parameters.iter().position(|known| known == parameter);
        let dtypes = place("...").and_then(|place| arguments.get(place..)).unwrap_or_default();
        for member in &family.members {
            let put = |text: &str| substituted(text, &family.parameters, &arguments);
            all.push(Declared {
                name: put(&member.name),
                class: member.class.clone(),
                signature: joined(&put(&member.signature)),
                dtypes: dtypes.iter().map(|dtype| (*dtype).to_owned()).collect(),
                opcodes: place("instr")
                    .and_then(|place| arguments.get(place))
                    .map(|name| (*name).to_owned())
                    .into_iter()
                    .collect(),
                note: comment_before(before),
            });
        }
    }
    all
}

/// A text with every parameter of a macro replaced. One that stands for nothing in a text, such as `ASCENDC_NOTHING`, goes.
fn substituted(text: &str, parameters: &[String], arguments: &[&str]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        if end == 0 {
            let next = rest.find(is_letter).unwrap_or(rest.len());
            result.push_str(&rest[..next]);
            rest = &rest[next..];
            continue;
        }
        let word = &rest[..end];
        let place = parameters.iter().position(|parameter| parameter == word);
        let argument = place.and_then(|place| arguments.get(place)).copied().unwrap_or(word);
        result.push_str(if argument.starts_with("ASCENDC_") { "" } else { argument });
        rest = &rest[end..];
    }
    result
}

/// The template head that stands at the end of a text.
fn template_before(text: &str) -> &str {
    let text = text.trim_end();
    let Some(start) = text.rfind("template <") else { return "" };
    let head = &text[start..];
    let balance = head.chars().map(|letter| i32::from(letter == '<') - i32::from(letter == '>')).sum::<i32>();
    if head.ends_with('>') && balance == 0 && !head.contains(['{', ';', '}']) { head } else { "" }
}

/// Length up to the parenthesis that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (place, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}

/// The class whose body is open at the end of a text.
fn class_around(text: &str) -> String {
    let mut scopes: Vec<String> = Vec::new();
    let (mut pending, mut word, mut last) = (String::new(), String::new(), String::new());
    for letter in text.chars().chain([' ']) {
        if is_letter(letter) {
            word.push(letter);
            continue;
        }
        if !word.is_empty() {
            if matches!(last.as_str(), "class" | "struct") {
                pending.clone_from(&word);
            }
            last = std::mem::take(&mut word);
        }
        match letter {
            '{' => scopes.push(std::mem::take(&mut pending)),
            '}' => drop(scopes.pop()),
            // A forward declaration, or a parameter of a template.
            ';' | '>' | ',' => pending.clear(),
            _ => {}
        }
    }
    scopes.into_iter().rfind(|scope| !scope.is_empty()).unwrap_or_default()
}

/// Dtypes that a function's body checks for.
fn checked(body: &str) -> Vec<String> {
    let Some((_, behind)) = body.split_once(CHECK) else { return Vec::new() };
    let list = behind.split(')').next().unwrap_or_default();
    let dtypes = list.split(',').skip(2).map(str::trim).filter(|dtype| !dtype.is_empty() && !dtype.contains("VA_ARGS"));
    dtypes.map(str::to_owned).collect()
}

/// Names of vector instructions that a body calls.
fn opcodes(body: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (place, _) in body.match_indices('(') {
        let word = body[..place].rsplit(|letter| !is_letter(letter)).next().unwrap_or_default();
        if word.starts_with('v') && word.len() > 2 && found.iter().all(|known| known != word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// The comment that ends right before the end of a text, one line.
fn comment_before(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.trim_end_matches([' ', '\t']).trim_end_matches('\n').lines().rev().map(str::trim) {
        let Some(comment) = line.strip_prefix("//") else { break };
        lines.push(comment.trim_start_matches('/').trim());
    }
    lines.reverse();
    lines.join(" ").trim().to_owned()
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")")
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\
namespace AscendC {
namespace detail {
ASC_API void Hidden(int a) {}
}  // namespace detail
/// Waits.
template <Pipe pipe>
ASC_API void Wait(
    uint32_t id = Of(1))
{
    ASCENDC_CHECK_DTYPE(Wait, T, half, float);
    vwait(id);
}
class Queue {
    ASC_API explicit Queue(int n) : n_(n) {}
    ASC_API ~Queue() {}
    ASC_API bool operator==(const Queue& other) const { return true; }
    ASC_API int Size() const { return n_; }
};
#define FAMILY(Name, instr, more, ...) \\
    template <typename T> \\
    ASC_API void Name(T a more) \\
    { \\
        instr(a); \\
    }
#define NOT_ONE 3
// Both are quick.
FAMILY(Up, vup, ASCENDC_NOTHING, half, float)
FAMILY(Down, vdown, bool)
ASC_API void Broken(
";

    #[test]
    fn functions_and_families_are_read_and_what_is_internal_is_not() {
        let all = declared(HEADER);
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["Wait", "Queue", "Size", "Up", "Down"]);
        let wait = &all[0];
        assert_eq!(wait.signature, "template <Pipe pipe> void Wait(uint32_t id = Of(1))");
        assert_eq!((wait.dtypes.join(" "), wait.opcodes.join(" ")), ("half float".to_owned(), "vwait".to_owned()));
        assert_eq!((wait.note.as_str(), wait.class.as_str()), ("Waits.", ""));
        assert_eq!((all[2].class.as_str(), all[2].signature.as_str()), ("Queue", "int Size()"));
        assert_eq!(all[3].signature, "template <typename T> void Up(T a)");
        assert_eq!((all[3].dtypes.len(), all[3].opcodes.join(" ")), (2, "vup".to_owned()));
        assert_eq!(all[3].note, "Both are quick.");
    }
}
