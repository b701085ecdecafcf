//! Writes that nobody reads.

use super::*;

#[test]
fn d15_drops_what_is_overwritten() {
    let slow =
        computing("        AscendC::Duplicate(y, static_cast<float>(0), count);\n        AscendC::Exp(y, x, count);\n");
    let fast = round_trip("D15", &slow);
    assert!(!fast.contains("Duplicate") && fast.contains("AscendC::Exp(y, x, count);"), "{fast}");
    // Read, not all of it, and read later.
    assert!(reasons("D15", &slow.replace("Exp(y, x", "Add(y, y, x")).is_empty());
    assert!(reasons("D15", &slow.replace("Exp(y, x, count)", "Exp(y, x, 64)")).is_empty());
    assert!(reasons("D15", &slow.replace("        AscendC::Exp(y, x, count);\n", "")).is_empty());
}
