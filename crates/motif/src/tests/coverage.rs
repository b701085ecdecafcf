//! Nothing is changed that no case runs.

use super::*;
use crate::{Coverage, VisitedLines};

/// Line of the first text like this, from 1.
fn line(text: &str, wanted: &str) -> (String, u32) {
    let line = text.lines().position(|line| line.contains(wanted)).unwrap();
    ("k.h".to_owned(), line as u32 + 1)
}

fn covered(context: &Context, visited: &[(String, u32)]) -> Context {
    let visited: VisitedLines = visited.iter().cloned().map(|line| (line, 1)).collect();
    context.clone().with_coverage(&Coverage::of(&context.forest, &visited))
}

const SPLIT: &str = "        AscendC::Muls(poly, x, 2.0f, count);\n        AscendC::Add(y, poly, y, count);\n";

#[test]
fn a_function_that_no_case_runs_is_left_alone() {
    let text = computing(SPLIT);
    let context = context(&text);
    let copied = line(&text, "DataCopyPad(xLocal");
    let silent = covered(&context, std::slice::from_ref(&copied));
    let found = motif("V02").find(&silent);
    assert!(found.sites.is_empty() && found.refused[0].reason.contains("no case runs Compute"), "{found:?}");
    let site = &motif("V02").find(&context).sites[0];
    assert!(motif("V02").apply(&silent, site).is_err());

    let run = covered(&context, &[copied, line(&text, "Muls(poly")]);
    assert_eq!(motif("V02").find(&run), motif("V02").find(&context));
    // It holds for what becomes of these sources, whatever moves.
    let moved = silent.after({
        let mut tree = SourceTree::new();
        tree.insert("k.h", format!("\n\n{text}"));
        tree
    });
    assert!(motif("V02").find(&moved).sites.is_empty());
    assert_eq!(motif("V02").find(&covered(&context, &[])).sites.len(), 1, "nothing is known without a run");
}

#[test]
fn a_change_within_what_no_case_runs_is_told_by_what_that_is() {
    let text = computing(SPLIT);
    let context = context(&text);
    let visited: VisitedLines = [(line(&text, "DataCopyPad(xLocal"), 1)].into();
    let coverage = Coverage::of(&context.forest, &visited);
    let tree = |text: &str| {
        let mut tree = SourceTree::new();
        tree.insert("k.h", text);
        tree
    };
    let before = tree(&text);
    let change = |old: &str, new: &str| coverage.silent_change(&before, &tree(&text.replacen(old, new, 1)));
    assert_eq!(change("poly, x, 2.0f", "poly, x, 3.0f").as_deref(), Some("Compute"));
    assert_eq!(change("DataCopyPad(xLocal", "DataCopyPad( xLocal"), None, "a line that ran");
    let both =
        text.replacen("poly, x, 2.0f", "poly, x, 3.0f", 1).replacen("DataCopyPad(xLocal", "DataCopyPad( xLocal", 1);
    assert_eq!(coverage.silent_change(&before, &tree(&both)), None, "not all of it");
    assert_eq!(coverage.silent_change(&before, &before), None);
    assert_eq!(Coverage::default().silent_change(&before, &tree(&text.replace("2.0f", "3.0f"))), None, "nothing known");
}

/// Two variants over one base, whose copies run for both: what only the one that no case runs would have called did not run.
fn variants() -> String {
    let variant = |name: &str, computes: &str| {
        format!(
            "class {name} : public Base {{
public:
    __aicore__ inline void Init();
    __aicore__ inline void Process();
private:
    __aicore__ inline void CopyIn(int64_t index);
    __aicore__ inline void Compute();
}};
__aicore__ inline void {name}::Init()
{{
    pipe.InitBuffer(queue{name}, 1, 256);
}}
__aicore__ inline void {name}::Process()
{{
    for (int64_t i = 0; i < rounds; i++) {{
        CopyIn(i);
        Compute();
    }}
}}
__aicore__ inline void {name}::CopyIn(int64_t index) {{ this->Load(index); }}
__aicore__ inline void {name}::Compute() {{ AscendC::{computes}(y, x, 64); }}
"
        )
    };
    let base = "\
class Base {
protected:
    __aicore__ inline void Load(int64_t index) { AscendC::DataCopy(x, xGm[index], 64); }
    AscendC::TPipe pipe;
};
";
    format!("{base}{}{}", variant("First", "Exp"), variant("Second", "Ln"))
}

#[test]
fn a_variant_that_shares_its_copies_with_one_that_runs_is_known_not_to_run() {
    let text = variants();
    let context = context(&text);
    let visited: VisitedLines = [(line(&text, "DataCopy(x"), 1), (line(&text, "Exp(y"), 1)].into();
    let coverage = Coverage::of(&context.forest, &visited);
    let tree = |text: &str| {
        let mut tree = SourceTree::new();
        tree.insert("k.h", text);
        tree
    };
    let change = |old: &str, new: &str| coverage.silent_change(&tree(&text), &tree(&text.replace(old, new)));
    assert_eq!(change("queueSecond, 1", "queueSecond, 2").as_deref(), Some("Second"));
    assert_eq!(change("queueFirst, 1", "queueFirst, 2"), None, "it ran");
    assert_eq!(change("DataCopy(x, xGm[index], 64)", "DataCopy(x, xGm[index], 128)"), None, "the base ran");
    // A third that calls the copy of the second keeps it alive, and nothing is known of the class.
    let third = variants() + "__aicore__ inline void Third(Second &op) { op.CopyIn(0); AscendC::Ln(y, x, 8); }\n";
    let context = super::context(&third);
    let visited: VisitedLines =
        [(line(&third, "DataCopy(x"), 1), (line(&third, "Exp(y"), 1), (line(&third, "void Third"), 1)].into();
    let coverage = Coverage::of(&context.forest, &visited);
    let changed = third.replace("queueSecond, 1", "queueSecond, 2");
    assert_eq!(coverage.silent_change(&tree(&third), &tree(&changed)), None);
}

#[test]
fn blocks_that_call_what_others_call_too_are_told_apart_by_marks() {
    let stages = "            CopyIn(0, count);\n            Compute(count);\n            CopyOut(0, count);\n";
    let both = format!(
        "    __aicore__ inline void Both(uint32_t count)\n    {{\n        for (uint32_t at = 0; at < 2; at++) {{\n{stages}        }}\n        if (count > 7) {{\n{stages}        }} else {{ Compute(count); }}\n        if (count > 9)\n            Compute(count);\n    }}\n"
    );
    let mut text = computing(EXP);
    text.insert_str(text.rfind("};").unwrap(), &both);
    let context = context(&text);
    let ran = [line(&text, "DataCopyPad(xLocal"), line(&text, "Exp(y"), line(&text, "DataCopyPad(yGm")];
    let visited: VisitedLines = ran.into_iter().map(|line| (line, 1)).collect();
    let coverage = Coverage::of(&context.forest, &visited);
    assert!(coverage.silent().iter().any(|what| what.contains("the block of Both")), "{:?}", coverage.silent());
    let edits = coverage.marks();
    let mark = "::AscendC::PipeBarrier<PIPE_MTE2>(); ";
    let patch = source::Patch { title: String::new(), motif: String::new(), edits };
    let marked = context.tree.apply(&patch).unwrap();
    let marked = marked.text("k.h").unwrap();
    // A line more would make others of those that are known; an arm without braces cannot have two statements.
    assert_eq!(marked.lines().count(), text.lines().count());
    assert_eq!(marked.matches(&format!("{mark}CopyIn(0, count);")).count(), 2, "{marked}");
    assert!(marked.contains(&format!("else {{ {mark}Compute(count); }}")), "{marked}");
    assert!(marked.contains("if (count > 9)\n            Compute(count);"), "{marked}");

    // One that leaves its line may be changed.
    let mut seen = visited.clone();
    let place = marked.lines().position(|line| line.contains(mark)).unwrap();
    seen.insert(("k.h".to_owned(), place as u32 + 1), 1);
    let known = Coverage::of(&context.forest, &seen);
    assert_eq!(known.silent().len() + 1, coverage.silent().len(), "{:?}", known.silent());
}

#[test]
fn a_class_of_one_name_in_a_header_that_no_case_runs_is_left_alone() {
    let text = computing(EXP);
    let mut tree = SourceTree::new();
    tree.insert("k.h", text.as_str());
    tree.insert("old/k.h", text.as_str());
    let context = Context::new(tree, KnownValues::default(), None);
    let visited = [line(&text, "DataCopyPad(xLocal"), line(&text, "Exp(y"), line(&text, "DataCopyPad(yGm")];
    let found = motif("Y01").find(&covered(&context, &visited));
    assert!(found.sites.iter().all(|site| site.file == "k.h"), "{found:?}");
    assert!(motif("Y01").find(&context).sites.iter().any(|site| site.file == "old/k.h"));
}

/// Lines of a text with these parts, as what ran.
fn lines(text: &str, wanted: &[&str]) -> Vec<(String, u32)> {
    wanted.iter().map(|wanted| line(text, wanted)).collect()
}

/// Whether a patch that changes the first text like this is admitted where these lines ran.
fn admitted(text: &str, wanted: &[&str], change: &str) -> Result<(), String> {
    let context = covered(&context(text), &lines(text, wanted));
    let at = text.find(change).unwrap();
    let edits = vec![source::Edit {
        file: "k.h".to_owned(),
        span: at..at + change.len(),
        replacement: change.replace("count", "(count)"),
    }];
    let patch = Patch { title: "a change".to_owned(), motif: String::new(), edits };
    context.admit(&patch).map(|_| ()).map_err(|refusal| refusal.to_string())
}

const COPIES: [&str; 2] = ["DataCopyPad(xLocal", "DataCopyPad(yGm"];

#[test]
fn a_branch_that_no_case_runs_is_left_alone() {
    let arms = |head: &str, between: &str, end: &str| {
        computing(&format!(
            "        AscendC::Abs(y, x, count);\n        {head}\n            AscendC::Exp(y, x, count);\n        {between}\n            \
             AscendC::Ln(y, x, count);\n        {end}\n"
        ))
    };
    for text in [
        arms("if (count > 8) {", "} else {", "}"),
        arms("if (count > 8)", "else", ""),
        arms("if constexpr (CUBIC > 8) {", "} else if (count > 4) {", "}"),
        arms("switch (count) { case 8:", "break; default:", "}"),
        arms("if (count > 8) {", "    return;\n        }", ""),
        arms("while (count > 8) {", "    break;\n        }", ""),
        arms("#if WIDE", "#else", "#endif"),
        arms("#ifdef WIDE", "#elif NARROW", "#endif"),
        arms("for (uint32_t i = 0; i < count; i++) {\n            if (i > 8) { continue; }", "}", ""),
        arms("auto wide = [&]() {", "};", ""),
    ] {
        let first = [COPIES[0], COPIES[1], "Abs(y", "Exp(y"];
        assert_eq!(admitted(&text, &first, "Exp(y, x, count)"), Ok(()), "{text}");
        let other = [COPIES[0], COPIES[1], "Abs(y", "Ln(y"];
        let refused = admitted(&text, &other, "Exp(y, x, count)").unwrap_err();
        assert!(refused.contains("a change: no case runs the block of Compute at line"), "{refused}");
        assert_eq!(admitted(&text, &other, "Abs(y, x, count)"), Ok(()), "{text}");
        assert_eq!(admitted(&text, &other, "Ln(y, x, count)"), Ok(()), "{text}");
    }
}

#[test]
fn what_only_probes_run_is_for_those_who_do_not_write_for_them() {
    let text = computing(
        "        if (count > 8) {\n            AscendC::Exp(y, x, count);\n        } else {\n            AscendC::Ln(y, x, count);\n        }\n",
    );
    let of_cases = [COPIES[0], COPIES[1], "Exp(y"];
    let context = context(&text);
    let ran = |wanted: &[&str]| -> VisitedLines { lines(&text, wanted).into_iter().map(|line| (line, 1)).collect() };
    let cases = Coverage::of(&context.forest, &ran(&of_cases));
    let both = cases.widened(&context.forest, &ran(&[&of_cases[..], &["Ln(y"]].concat()));
    let context = context.with_coverage(&both);
    let change = |from: &str, to: &str| {
        let at = text.find(from).unwrap();
        let edit = source::Edit { file: "k.h".to_owned(), span: at..at + from.len(), replacement: to.to_owned() };
        Patch { title: "a change".to_owned(), motif: String::new(), edits: vec![edit] }
    };
    let (of_case, of_probe) = (change("Exp(y", "Abs(y"), change("Ln(y", "Sqrt(y"));
    assert!(context.admit(&of_case).is_ok() && context.admit(&of_probe).is_ok());
    assert!(context.admit_on_cases(&of_case).is_ok());
    let refused = context.admit_on_cases(&of_probe).unwrap_err().to_string();
    assert!(refused.contains("no case runs"), "{refused}");
    let changed = context.after(context.admit(&of_case).unwrap());
    assert!(changed.admit_on_cases(&of_probe).is_err(), "nor when something else has changed");
}

#[test]
fn what_follows_an_early_exit_is_a_block_of_its_own() {
    let text = computing(
        "        AscendC::Abs(y, x, count);\n        if (count == 0) {\n            return;\n        }\n        AscendC::Exp(y, x, count);\n",
    );
    let refused = admitted(&text, &[COPIES[0], "Abs(y"], "Exp(y, x, count)").unwrap_err();
    assert!(refused.contains("no case runs the block of Compute"), "{refused}");
    assert_eq!(admitted(&text, &[COPIES[0], "Abs(y", "Exp(y"], "Exp(y, x, count)"), Ok(()));
}

#[test]
fn a_statement_that_leaves_no_instruction_goes_with_its_block() {
    let text = computing(
        "        if (count > 8) {\n            uint32_t half = count / 2;\n            AscendC::Exp(y, x, half);\n        } else {\n            \
         uint32_t most = count;\n            AscendC::Ln(y, x, most);\n        }\n",
    );
    let ran = [COPIES[0], "Exp(y"];
    assert_eq!(admitted(&text, &ran, "count / 2"), Ok(()));
    assert!(admitted(&text, &ran, "most = count").unwrap_err().contains("no case runs"));
    // Nor does a block without any instruction.
    let text = computing(
        "        uint32_t valid = count;\n        if (count > 8) {\n            valid = count - 8;\n        }\n        AscendC::Exp(y, x, valid);\n",
    );
    assert_eq!(admitted(&text, &[COPIES[0], "Exp(y"], "count - 8"), Ok(()));
}

#[test]
fn a_line_that_two_blocks_share_speaks_for_neither() {
    let text = computing(
        "        if (x.GetValue(0) > 1.0f) { AscendC::Exp(y, x, count); } else { AscendC::Ln(y, x, count); }\n        AscendC::Abs(y, y, count);\n",
    );
    assert!(admitted(&text, &[COPIES[0], "Exp(y", "Abs(y"], "Ln(y, x, count)").is_err());
}

#[test]
fn a_block_of_calls_ran_if_what_it_calls_is_called_nowhere_else() {
    let ran = [COPIES[0], COPIES[1], "Exp(y"];
    let text = computing(EXP);
    let barrier = |text: &str| motif("Y01").find(&covered(&context(text), &lines(text, &ran)));
    assert_eq!(barrier(&text).sites.len(), 1);
    // All of it is called for what is left over too: the loop may have had no round.
    let tail = "        }\n        CopyIn(tiles * TILE, 8);\n        Compute(8);\n        CopyOut(tiles * TILE, 8);\n    }\n\nprivate:";
    let text = text.replace("        }\n    }\n\nprivate:", tail);
    let found = barrier(&text);
    assert!(found.refused.iter().any(|refused| refused.reason.contains("the block of Process at line")), "{found:?}");
    assert!(found.sites.is_empty());
    // Copies that ran more often than the one call behind the loop has made are the loop's.
    let often: VisitedLines = lines(&text, &ran).into_iter().map(|line| (line, 3)).collect();
    let plain = context(&text);
    let often = plain.clone().with_coverage(&Coverage::of(&plain.forest, &often));
    assert_eq!(motif("Y01").find(&often).sites.len(), 1);
    // A branch that calls what never ran did not run either.
    let text = computing(&format!(
        "{EXP}        if (count < 8) {{\n            AscendC::PipeBarrier<PIPE_ALL>();\n            Rest(count);\n        }}\n"
    ));
    let rest = "    __aicore__ inline void Rest(uint32_t count)\n    {\n        AscendC::Duplicate(spare, 1.0f, count);\n    }\n\n    AscendC::TPipe pipe;";
    let text = text.replace("    AscendC::TPipe pipe;", rest);
    let found = barrier(&text);
    assert!(
        found.refused.iter().any(|refused| refused.reason.contains("no case runs the block of Compute")),
        "{found:?}"
    );
}

#[test]
fn blocks_are_known_again_wherever_edits_move_them() {
    let text = computing(
        "        AscendC::Abs(y, x, count);\n        if (count > 8) {\n            AscendC::Exp(y, x, count);\n        }\n        AscendC::Ln(y, y, count);\n",
    );
    let context = covered(&context(&text), &lines(&text, &[COPIES[0], "Abs(y", "Ln(y"]));
    let longer = text.replace(
        "        AscendC::Abs(y, x, count);\n",
        "        AscendC::Abs(y, x, count);\n        uint32_t more = 1;\n        (void)more;\n",
    );
    let mut tree = SourceTree::new();
    tree.insert("k.h", longer.as_str());
    let after = context.after(tree);
    let change = |wanted: &str| {
        let at = longer.find(wanted).unwrap();
        let edit = source::Edit { file: "k.h".to_owned(), span: at..at + 2, replacement: "Ab".to_owned() };
        after.admit(&Patch { edits: vec![edit], ..Patch::default() }).is_ok()
    };
    assert!(!change("Exp(y") && change("Ln(y") && change("Abs(y"));
    // A patch that only indents the block anew leaves it as it was; one that takes it along does not.
    let replaced = |from: &str, to: &str| {
        let at = longer.find(from).unwrap();
        let edit = source::Edit { file: "k.h".to_owned(), span: at..at + from.len(), replacement: to.to_owned() };
        after.admit(&Patch { edits: vec![edit], ..Patch::default() }).is_ok()
    };
    let block = "        if (count > 8) {\n            AscendC::Exp(y, x, count);\n        }\n        AscendC::Ln(y, y, count);\n";
    assert!(replaced(block, &block.replace("        ", "    ").replace("Ln(", "Abs(")));
    assert!(!replaced(block, &block.replace("Exp(", "Abs(")));
}

#[test]
fn a_patch_may_touch_a_macro_that_is_no_cpp_and_leave_it_so() {
    let text = computing("        CHECK(count, , return);\n        AscendC::Abs(y, x, count);\n");
    assert_eq!(admitted(&text, &["Abs(y"], "CHECK(count, , return)"), Ok(()));
    assert_eq!(admitted(&text, &["Abs(y"], "Abs(y, x, count);"), Ok(()));
    let context = context(&text);
    let at = text.find("CHECK(").unwrap();
    let edits = vec![source::Edit { file: "k.h".to_owned(), span: at..at, replacement: "x = ;".to_owned() }];
    let refused = context.admit(&Patch { edits, ..Patch::default() }).unwrap_err().to_string();
    assert!(refused.contains("would leave code that does not parse"), "{refused}");
}
