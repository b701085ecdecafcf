//! Counters that run along, and counts in place of repeats with a rest.

use super::*;

#[test]
fn s04_lets_counters_run_along() {
    let slow = kernel(
        "    uint32_t columns;\n",
        "        this->columns = length;\n",
        "        for (uint32_t i = 0; i < count; i++) {\n            AscendC::Adds(y[i % this->columns], x[i / this->columns * 8], CUBIC, 8);\n        }\n",
    );
    let fast = round_trip("S04", &slow);
    for part in [
        "        auto iRest = static_cast<uint32_t>(0) % this->columns;\n        auto iQuotient = static_cast<uint32_t>(0) / this->columns;\n        for (",
        "            AscendC::Adds(y[iRest], x[iQuotient * 8], CUBIC, 8);\n            if (++iRest == this->columns) {\n                iRest = 0;\n                ++iQuotient;\n            }\n        }\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    assert_eq!(apply("S04", &slow).0.conditions, ["this->columns is positive"]);
    // From another start, with a sign, and the remainder alone.
    let other =
        slow.replace("uint32_t i = 0", "int64_t i = AscendC::GetBlockIdx()").replace("x[i / this->columns * 8]", "x");
    let fast = round_trip("S04", &other);
    assert!(
        fast.contains(
            "        auto iRest = static_cast<int64_t>(AscendC::GetBlockIdx()) % this->columns;\n        for ("
        )
    );
    assert!(!fast.contains("Quotient"), "{fast}");
    assert_eq!(apply("S04", &other).0.conditions.len(), 2);
    // The compiler divides by constants itself.
    assert!(
        reasons("S04", &slow.replace("this->columns]", "BUFFER_NUM]").replace("this->columns *", "16 *")).is_empty()
    );
    refuses("S04", &slow.replace("CUBIC, 8);\n", "CUBIC, 8);\n            this->columns += 1;\n"), "may change");
    refuses(
        "S04",
        &slow.replace("CUBIC, 8);\n", "CUBIC, 8);\n            Init(nullptr, nullptr, 1);\n"),
        "may change columns",
    );
    refuses(
        "S04",
        &slow.replace(
            "CUBIC, 8);\n",
            "CUBIC, 8);\n            if (i > 3) {\n                continue;\n            }\n",
        ),
        "continue",
    );
    refuses("S04", &slow.replace("CUBIC, 8);\n", "CUBIC, 8);\n            i += 2;\n"), "is changed in the loop");
    // Only a factor of what is divided.
    assert!(
        reasons(
            "S04",
            &slow.replace("i % this->columns", "3 * i % this->columns").replace("i / this->columns * 8", "0")
        )
        .is_empty()
    );
}

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
