//! Counts in place of repeats with a rest.

use super::*;

#[test]
fn v10_counts_elements() {
    let plain = computing("        AscendC::Add(y, x, poly, count);\n");
    let context = context(&plain);
    let site = &motif("V10").rewind_sites(&context).sites[0];
    let slow = patched(&context, &motif("V10").rewind(&context, site).unwrap()).tree.text("k.h").unwrap().to_owned();
    assert!(
        slow.contains("        AscendC::Add(y, x, poly, 64, count / 64, {1, 1, 1, 8, 8, 8});\n        if (count % 64 > 0) {\n            AscendC::Add(y[count / 64 * 64], x[count / 64 * 64], poly[count / 64 * 64], count % 64, 1, {1, 1, 1, 8, 8, 8});\n        }\n"),
        "{slow}"
    );
    assert_eq!(round_trip("V10", &slow), plain);
}

#[test]
fn v10_takes_repeats_and_loops() {
    let slow = computing(
        "        uint32_t repeats = count / 64;\n        uint32_t rest = count % 64;\n        if (repeats > 0) {\n            AscendC::Muls(y, x, CUBIC, 64, repeats, {1, 1, 8, 8});\n        }\n        if (likely(rest != 0)) {\n            AscendC::Muls(y[repeats * 64], x[repeats * 64], CUBIC, rest, 1, {1, 1, 0, 0});\n        }\n",
    );
    let (site, fast) = apply("V10", &slow);
    assert!(fast.contains("        AscendC::Muls(y, x, CUBIC, repeats * 64 + rest);\n        outQueue"), "{fast}");
    assert_eq!(site.conditions, ["repeats * 64 + rest is at least 1"]);
    // A mask and a type that only the caller knows.
    let unknown = slow
        .replace("CUBIC, 64, repeats", "CUBIC, mask, repeats")
        .replace("LocalTensor<float> x =", "LocalTensor<T> x =");
    let wanted = ["mask elements of T are 256 bytes", "mask is 64", "repeats * 64 is repeats * mask"];
    let conditions = apply("V10", &unknown).0.conditions;
    assert!(wanted.iter().all(|wanted| conditions.iter().any(|own| own == wanted)), "{conditions:?}");
    let looped = computing(
        "        for (uint32_t i = 0; i < loops; i++) {\n            AscendC::Exp(y[i * 64], x[i * 64], 64);\n        }\n        if (rest > 0) {\n            AscendC::Exp(y[former], x[former], rest);\n        }\n",
    );
    let (site, fast) = apply("V10", &looped);
    assert!(fast.contains("        AscendC::Exp(y, x, former + rest);\n"), "{fast}");
    assert_eq!(site.conditions, ["former is loops * 64", "former + rest is at least 1"]);
    // Gaps, another scalar, another place, an operand that all share, and a condition that asks something else.
    refuses("V10", &slow.replace("{1, 1, 8, 8}", "{1, 1, 16, 16}"), "do not lie close together");
    refuses("V10", &slow.replace("CUBIC, rest", "2.0f, rest"), "scalar operands differ");
    refuses("V10", &slow.replace("x[repeats * 64], CUBIC", "x[64], CUBIC"), "by different numbers");
    refuses("V10", &slow.replace("if (repeats > 0)", "if (count > 99)"), "only if count > 99");
    assert!(reasons("V10", &slow.replace("rest != 0", "count != 0")).is_empty());
    assert!(reasons("V10", &looped.replace("Exp(y[i * 64]", "Exp(y")).is_empty());
}
