//! What a model is told.

use super::*;

fn state(tried: &[String]) -> State {
    let (context, bank, history) = (context(KERNEL_TEXT), Bank::new(), History::default());
    State::of(&subject(), &asked(&context, &bank, &history, 0), tried)
}

fn prompt(role: Role, state: &State) -> Prompt {
    Prompt::build(&Templates::default(), role, state, 100_000).unwrap()
}

#[test]
fn a_prompt_says_what_is_known_and_shows_the_sources_as_they_are() {
    let prompt = prompt(Role::Diagnose, &state(&[]));
    for said in [
        "Operator Add.",
        "48 vector cores",
        "- large: x float32 4096x4096",
        "20.50 us on 40 cores, at least 8.25 us by memory; reads 4096 bytes and writes 2048",
        "vector 7.50 us, MTE2 3.00 us.",
        "- v waits 5.00 us for barrier all",
        "- 9.00 us: instruction of vadds on v, 8 times",
        "- 50 % op_kernel/add.cpp:7: AscendC::PipeBarrier<PIPE_ALL>();",
        "- race at add.cpp:6",
        "- Adds(w, r, value, value): for half, float, int16_t, int32_t; cost: 25 cycles",
        KERNEL_TEXT,
        HOST_TEXT,
    ] {
        assert!(prompt.user.contains(said), "{said}\n{}", prompt.user);
    }
    assert!(!prompt.user.contains("/home/me"), "folders stay here");
    assert!(!prompt.user.contains("Tried in this run") && prompt.system.contains("Say what limits"));
}

#[test]
fn every_role_is_told_what_it_needs() {
    let failed =
        Failed { title: "less".to_owned(), diff: "-a\n+b".to_owned(), message: "/tmp/x/k.cpp:3: no b".to_owned() };
    let state = state(&["less: refused".to_owned()]).diagnosed("the barrier\n").with_idea("drop it").failed(&failed);
    let plan = prompt(Role::Plan, &state);
    assert!(plan.system.contains("at most 3 ideas") && plan.user.contains("Diagnosis:\nthe barrier\n"));
    assert!(plan.user.contains("Tried in this run:\n- less: refused"), "{}", plan.user);
    let propose = prompt(Role::Propose, &state);
    assert!(propose.system.contains("<<<<<<< SEARCH path/of/the/file") && propose.user.ends_with("The idea: drop it"));
    let repair = prompt(Role::Repair, &state);
    assert!(repair.user.contains("```diff\n-a\n+b\n```\nIt was refused: k.cpp:3: no b"), "{}", repair.user);
    assert_eq!(repair, prompt(Role::Repair, &state), "it is a function of the state");
    let evolve = prompt(Role::Evolve, &state.clone().with_tiling_of(&sources()));
    assert!(evolve.user.contains("which stands in op_host/add.cpp:\n```cpp\nconstexpr uint32_t TILE = 128;"));
    assert!(evolve.system.contains("<<<<<<< TILING"), "{}", evolve.system);
    let structured = prompt(Role::Evolve, &state.structured(true));
    assert!(!structured.system.contains("<<<<<<< TILING") && structured.system.contains("JSON object"));
}

#[test]
fn what_tells_least_is_left_out_where_room_is_short() {
    let state = state(&(0..20).map(|number| format!("attempt {number:02}: refused for a reason")).collect::<Vec<_>>());
    let whole = prompt(Role::Diagnose, &state);
    assert!(!whole.user.contains("attempt 07") && whole.user.contains("attempt 08"), "a dozen are remembered");
    let within = |limit| Prompt::build(&Templates::default(), Role::Diagnose, &state, limit);
    let smaller = within(whole.tokens() - 20).unwrap();
    assert!(smaller.tokens() <= whole.tokens() - 20 && !smaller.user.contains("Adds(w, r"), "{}", smaller.user);
    let mut limit = whole.tokens();
    let least = loop {
        match within(limit) {
            Ok(_) => limit -= 1,
            Err(error) => break error.to_string(),
        }
    };
    let last = within(limit + 1).unwrap();
    assert!(last.user.contains(KERNEL_TEXT) && last.user.contains("attempt 19") && !last.user.contains("attempt 08"));
    assert!(last.user.contains("Not shown for want of room, and not to be changed: op_host/add.cpp."));
    assert!(least.contains("`prompt-tokens` is"), "{least}");
}

#[test]
fn a_user_can_put_templates_in_the_place_of_the_tools_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs_err::write(folder.path().join(name), text).unwrap();
    write("README.txt", "not a template");
    write("plan.md", "Plan.\n=== user ===\n{{ operator }}: {{ diagnosis }}");
    let templates = Templates::with(folder.path()).unwrap();
    let plan = Prompt::build(&templates, Role::Plan, &state(&[]).diagnosed("slow"), 1000).unwrap();
    assert_eq!((plan.system.as_str(), plan.user.as_str()), ("Plan.", "Add: slow"));
    assert_ne!(templates.digest(), Templates::default().digest());
    let error = |text: &str| {
        write("plan.md", text);
        let templates = Templates::with(folder.path()).unwrap();
        Prompt::build(&templates, Role::Plan, &state(&[]), 1000).unwrap_err().to_string()
    };
    let undefined = error("Plan.\n=== user ===\n{{ operater }}");
    assert!(undefined.starts_with("template plan, line 3: "), "{undefined}");
    assert!(error("Plan.\n{% if %}").starts_with("template plan, line 2: "));
    assert!(error("Plan.").contains("no line is \"=== user ===\""));
    write("judge.md", "x");
    let unknown = Templates::with(folder.path()).unwrap_err().to_string();
    assert!(unknown.contains("judge.md: no template has this name; there are diagnose.md, plan.md"), "{unknown}");
    assert!(Templates::with(&folder.path().join("absent")).is_err());
}
