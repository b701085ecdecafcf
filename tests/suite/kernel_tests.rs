//! `test`: an operator's own kernel unit tests, as repositories of operators write them.

use crate::support::{Ended, Project, require_tools, root, tool};

const TESTS: &str = r#"
#include "gtest/gtest.h"
#include "tikicpulib.h"

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling);

class add_custom_test : public testing::Test {
protected:
    static constexpr uint32_t kLength = 512;
    static constexpr uint32_t kBlocks = 2;

    void SetUp() override
    {
        x = static_cast<half*>(AscendC::GmAlloc(kLength * sizeof(half)));
        y = static_cast<half*>(AscendC::GmAlloc(kLength * sizeof(half)));
        z = static_cast<half*>(AscendC::GmAlloc(kLength * sizeof(half)));
        tiling = static_cast<AddCustomTilingData*>(AscendC::GmAlloc(sizeof(AddCustomTilingData)));
        for (uint32_t i = 0; i < kLength; ++i) {
            x[i] = static_cast<half>(static_cast<float>(i));
            y[i] = static_cast<half>(1.0f);
        }
    }

    void TearDown() override
    {
        AscendC::GmFree(x);
        AscendC::GmFree(y);
        AscendC::GmFree(z);
        AscendC::GmFree(tiling);
    }

    void Launch(uint32_t length)
    {
        tiling->blockLength = length / kBlocks;
        tiling->tileNum = 1;
        AscendC::SetKernelMode(KernelMode::AIV_MODE);
        ICPU_SET_TILING_KEY(0);
        ICPU_RUN_KF(add_custom, kBlocks, (uint8_t*)x, (uint8_t*)y, (uint8_t*)z, nullptr, (uint8_t*)tiling);
    }

    half* x;
    half* y;
    half* z;
    AddCustomTilingData* tiling;
};

TEST_F(add_custom_test, adds)
{
    Launch(kLength);
    for (uint32_t i = 0; i < kLength; ++i) {
        ASSERT_EQ(static_cast<float>(z[i]), static_cast<float>(i) + 1.0f);
    }
}

TEST_F(add_custom_test, expects_what_is_not_so)
{
    Launch(kLength);
    EXPECT_EQ(static_cast<float>(z[0]), 7.0f) << "seven";
}

TEST_F(add_custom_test, looks_at_nothing)
{
    Launch(kLength);
}

TEST_F(add_custom_test, goes_too_far)
{
    Launch(4 * kLength);
}

TEST_F(add_custom_test, needs_a_script)
{
    system("python3-that-nobody-has gen_data.py");
    Launch(kLength);
}
"#;

#[test]
fn every_test_gets_the_verdict_that_its_checks_allow() {
    require_tools!();
    let fixtures = Project::copy_of(&root().join("fixtures"));
    let operator = fixtures.path().join("add_custom");
    let folder = operator.join("tests/ut/op_kernel");
    fs_err::create_dir_all(&folder).expect("a folder");
    fs_err::write(folder.join("test_add_custom.cpp"), TESTS).expect("a file");
    let cmake = "AddOpTestCase(add_custom \"ascend950\" \"-DWRONG\" \"\")\nAddOpTestCase(add_custom \"ascend910B1\" \"\" \"\")\n";
    fs_err::write(folder.join("CMakeLists.txt"), cmake).expect("a file");
    let run = |arguments: &[&str]| {
        let mut command = tool();
        command.arg("test").args(arguments).arg("--project").arg(&operator).args(["--message-format", "json"]);
        Ended::new(&command.output().expect("the tool runs"))
    };

    let ended = run(&[]).expect(5);
    let state = |name: &str| {
        let tests = ended.named("kernel-test");
        let test = tests.iter().find(|test| test["name"] == format!("add_custom_test.{name}")).expect("the test ran");
        (test["verdict"]["state"].as_str().expect("a state").to_owned(), (*test).clone())
    };
    assert_eq!(state("adds").0, "right");
    assert!(state("adds").1["hazards"].as_array().expect("a list").is_empty());
    let (wrong, said) = state("expects_what_is_not_so");
    assert_eq!(wrong, "wrong");
    assert!(said["verdict"]["what"].as_str().expect("text").contains("1 and 7: seven"), "{said}");
    assert_eq!(state("looks_at_nothing").0, "ran-only");
    assert_eq!(state("needs_a_script").0, "not-runnable");
    let (_, far) = state("goes_too_far");
    assert!(far["hazards"].to_string().contains("out-of-bounds-gm"), "{far}");
    let summary = ended.named("kernel-test-summary")[0].clone();
    assert_eq!((&summary["right"], &summary["wrong"]), (&1.into(), &1.into()), "{summary}");

    // One that is right alone is a success.
    run(&["adds"]).expect(0);
    run(&["no-such-test"]).expect(2);
}

#[test]
fn an_operator_without_tests_says_so() {
    require_tools!();
    let project = Project::fixture("add_custom");
    let ended = project.run(&["test"]).expect(2);
    assert!(ended.events.iter().any(|event| event.to_string().contains("no kernel unit tests")), "{:?}", ended.events);
}
