#!/bin/sh
# Written by `cargo ascend-tune init --hook`; yours to edit. Digests of ascend.lock against the working tree, of the operators for which something
# has changed since the last commit; nothing is built or run. `git commit --no-verify` goes past it.
top=$(git rev-parse --show-toplevel) || exit 1
cd "$top" || exit 1
command -v cargo-ascend-tune >/dev/null || {
    echo "pre-commit: cargo-ascend-tune is not installed, operators are not checked" >&2
    exit 0
}
# Before the first commit there is nothing to compare with: all operators are looked at.
if git rev-parse --verify --quiet HEAD >/dev/null; then
    exec cargo-ascend-tune check --workspace --drift --quiet --changed-since HEAD
fi
exec cargo-ascend-tune check --workspace --drift --quiet
