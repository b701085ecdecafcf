//! Sessions with the binary. `TRYCMD=overwrite cargo test --test cmd` writes what it says now; read the difference.

#[test]
fn help_and_usage() {
    trycmd::TestCases::new().case("tests/cmd/*.toml");
}
