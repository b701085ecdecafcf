#!/bin/bash
# run.sh -r npu -v Ascend910B2: configures, builds and runs.
while getopts r:v: option; do
    case $option in
    r) mode=$OPTARG ;;
    v) soc=$OPTARG ;;
    *) exit 1 ;;
    esac
done
cd "$(dirname "$0")" || exit 1
rm -rf build
cmake -B build -DRUN_MODE="$mode" -DSOC_VERSION="$soc" -DASCEND_CANN_PACKAGE_PATH="$ASCEND_HOME_PATH" && cmake --build build -j &&
    ./build/ascendc_kernels_bbit
