//! `docs/motifs.md` is printed from the catalogue; with `BLESS` in the environment it is written anew.

use std::fmt::Write as _;

use super::{Counter, Family, Id, all, by_id};

const HEAD: &str = "# Motifs

Printed from the catalogue in `crates/motif/src/`; a test compares. `BLESS=1 cargo test -p ascend-tune-motif motif_page` writes it anew.

An optimisation that the kernel stage can make (*apply*) and unmake (*rewind*). Each is one file in `crates/motif/src/`. A motif
looks at every place that resembles its pattern and answers with edits or with the reason why it leaves the place alone.
What the source does not prove is stated as a *condition* of the site; the verifier has to check it by running the kernel.
";

const TAIL: &str = "
Marked **rounding**: proposed only when the user allows it. V01, V12 and V14 are marked per site: V01 where a double constant, a
chain in half, or a function such as `exp` stands in the loop, V12, V38 and Y11 for sums. Half loops that compute in float become casts
around a float chain. Expected gains are seeds of ours for the order of proposals, not measurements.

## What has no motif
- Tile length, number of buffers and number of cores are tunables of the host stage, among them the part of the unified buffer that a
  tiling function plans with.
- A tiling key or constants for one shape: that would change what the operator accepts, and is its author's choice.
- What only a device could measure is out, as no backend measures on one: the effect is the compiler's or the launch's, the embedded model gives
  the same time with and without it, and a rewrite that nothing shows to help is noise in the sources. These were the tail folded into
  the loop and the last round peeled off (S01, S02), running counters for remainder and quotient (S04), members in local variables (S08),
  `if constexpr` for known conditions (S09), the number of the core out of the loop (S12), queues of depth 1 (Y06), the vector-only kernel
  type (L06), tiling fields of 32 bits (L07), checks of an unused workspace (L09), tensors without shapes (L11).
- Not written, though they apply to vector kernels: the remainder of a split spread over all cores; tensors that one after the other could share
  a buffer (in place, or with the temporary space of a high-level call); counts in whole repeats; padded blocks moved as what is valid of
  them; small operands of all rounds loaded at once; many short copies out as one; partial sums through atomics in place of a workspace,
  and the other way round; the first load before a barrier of all cores; cores that read the same addresses in different orders
  (the embedded model has no price for that); indices of 32 bits; scans that end early; axes merged.

## Rules for a new motif
- Nothing is changed that no case is known to run, block by block: `crates/motif/src/context/coverage.rs` refuses it for every patch, whoever made it
  (`Context::admit`). Blocks are the arms of branches and directives, bodies of loops, cases, and what follows an early exit.
- Whether something changes in between is asked of `steady` (calls, references and macros followed), not of the text; whether two
  local tensors share memory, of `may_share`; whether two global ones do, of `global_memory`: names tell neither.
- An edit that needs several places changes all of them or none; code in or beside a syntax error is not touched, and a
  patch after which a file has more syntax errors than before is refused.
- Tests: it edits a realistic kernel; it refuses when the precondition does not hold; rewind after apply, and apply after
  rewind, give the text back byte for byte.
- Name it in `crates/motif/src/id.rs` and `crates/motif/src/catalogue/mod.rs`, and print this page anew.

## The run over real kernels
`ASCEND_TUNE_CORPUS=DIR cargo test --lib -- --nocapture finders_over_a_corpus` runs every finder over all operators
below a directory, applies up to four sites per motif and operator, and checks that no patch adds a syntax error and that each
patch can be undone.

## The run over generated kernels
`cargo ascend-tune soundness --pairs 20000 --seed 1` makes kernels, applies every motif to them and unmakes what is unmade already, with
the coverage that the kernels' cases give, and runs both versions: on the cases, and on probes with other lengths, branches, data, numbers of cores, and
the result in the place of the input. Results are compared bit for bit (with a tolerance where a site says that it rounds), and hazards, unwritten bytes and
bounds by kind. A pair is one kernel and one application, each text once. A kernel that is at fault itself does not count, nor does a probe on which it is. Pairs
that fail while the site names a condition are counted apart: those that a case stops, and those that only a probe finds.
Then come the kernels of `crates/studies/src/soundness/refusals/`, each of which violates one precondition of one motif. The exit status is 1 where something is wrong.

The figures so far: `cargo ascend-tune soundness --pairs 20000 --seed 24 -j 2` made 20 007 pairs (10 325 applications, 9 682 rewinds) on 772 kernels,
148 567 runs of changed kernels, 0 wrong. Of the pairs whose site names a condition a case stops 744 and only a probe 166, most of them D05's (710 and 87).
The same before it had 1 wrong, mended: Y12 took a tile that is used nowhere behind the EnQue of the result, whose store had no order behind the load then.
Seeds 21 and 22 had 0 wrong. An earlier one with seed 20 (20 029 pairs) had 11 wrong, all mended: a race of D08 with a fill in front of the copy in (2), V14 where what the rounding leaves over is
wanted (1), and sites of V02 and V03 on condition of a float type that do not compile for integers, which now count as stopped (8).
With `--motif` only kernels are run in which that motif has something to do: `--motif Y13 --seed 1`, stopped by the clock, made 365 pairs, 2725 runs of changed kernels, 0 wrong.
What a kernel has no place for is not tested by this (nor are S14, L14 and L15, which need host code, and D24, which needs a kernel without buffers: they came later): never applied were D13, D21, L01, L02, S13, V23, V24, V36; never unmade were D04, D07, D08, D13, D14, D16, D23, D21, L01, L02, L08, S13, V02, V05, V06, V07, V11, V38, V12, V13, V14, V17, V21, V22, V23, V24, V28, V36, V37, Y03, Y07, Y11.
All 176 violations of preconditions are refused for their reason, and without its violation every one of these kernels is taken.
";

fn page() -> String {
    let mut text = HEAD.to_owned();
    for (family, title) in [
        (Family::DataMovement, "Data movement"),
        (Family::Synchronisation, "Synchronisation"),
        (Family::Vector, "Vector instructions"),
        (Family::Scalar, "Scalar unit"),
        (Family::Launch, "Launch and set-up"),
    ] {
        let _ = writeln!(text, "\n## {title}");
        for motif in all().iter().map(|motif| motif.metadata()).filter(|motif| motif.family == family) {
            let counters: Vec<String> =
                motif.relieves.iter().map(|counter: &Counter| format!("`{}`", counter.name())).collect();
            let rounding = if motif.rounding_changes { " (**rounding**)" } else { "" };
            let _ = write!(
                text,
                "\n### {} {}{rounding}\n- Needs: {}\n- Left to the verifier: {}\n- Should fall: {}; expected gain {:.2}x\n- Costs: {}\n- Tunables: {}\n- Rewind: {}\n",
                motif.id,
                motif.title,
                motif.precondition,
                motif.left_to_verifier,
                counters.join(", "),
                motif.prior_gain,
                motif.cost,
                motif.tunables,
                motif.undoing
            );
        }
    }
    text.push_str(TAIL);
    text
}

#[test]
fn motif_page_is_the_catalogue() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/motifs.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, page()).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).expect("the page is there");
    assert_eq!(written, page(), "docs/motifs.md is not the catalogue; BLESS=1 writes it");
}

#[test]
fn every_id_is_one_motif_and_every_motif_names_a_counter() {
    let mut ids: Vec<Id> = all().iter().map(|motif| motif.id()).collect();
    ids.sort_unstable();
    assert_eq!(ids, Id::ALL);
    assert!(Id::ALL.iter().all(|id| by_id(*id).id() == *id));
    let known = all().iter().map(|motif| motif.metadata());
    known.for_each(|motif| assert!(!motif.relieves.is_empty() && motif.prior_gain > 1.0, "{}", motif.id));
}

#[test]
fn ids_are_written_and_read_by_their_names_and_ordered_like_them() {
    let mut names: Vec<String> = Id::ALL.iter().map(Id::to_string).collect();
    assert!(names.iter().zip(Id::ALL).all(|(name, id)| name.parse() == Ok(*id)));
    assert!("V08".parse::<Id>().is_err() && "".parse::<Id>().is_err());
    names.sort_unstable();
    assert!(names.iter().map(String::as_str).eq(Id::ALL.iter().map(|id| id.name())));
}

#[test]
fn a_combination_stands_at_the_motif_that_leads_it() {
    let led = all().iter().flat_map(|motif| motif.metadata().company.leads.iter().map(|led| (motif.id(), led)));
    let mut ranks: Vec<usize> = Vec::new();
    for (leader, combination) in led {
        assert_eq!(combination.motifs.first(), Some(&leader));
        assert!(combination.motifs.len() > 1);
        ranks.push(combination.rank);
    }
    ranks.sort_unstable();
    assert!(ranks.iter().copied().eq(1..=ranks.len()), "{ranks:?}");
}
