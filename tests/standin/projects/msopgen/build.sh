#!/bin/bash
# The project's own build. It empties build_out and installs into the toolkit: not for a loop.
cd "$(dirname "$0")" || exit 1
mkdir -p build_out
rm -rf build_out/*
cd build_out || exit 1
cmake .. --preset=default && cmake --build . --target package -j16 || exit 1
if [ -d op_kernel/binary ]; then
    ./cust*.run
    cmake --build . --target binary -j16 && cmake --build . --target package -j16
fi
