#!/bin/bash
# build.sh --pkg --soc=ascend910b --ops=a,b [--vendor_name=custom] [--ophost] [--opkernel] [-jN] [-O3]
cd "$(dirname "$0")" || exit 1
soc=ascend910b ops='' vendor=custom jobs=-j1 targets='' package=''
for word; do
    case $word in
    --pkg) package=yes targets='ophost opkernel' ;;
    --soc=*) soc=${word#--soc=} ;;
    --ops=*) ops=${word#--ops=} ;;
    --vendor_name=*) vendor=${word#--vendor_name=} ;;
    --ophost) targets="$targets ophost" ;;
    --opkernel) targets="$targets opkernel" ;;
    -j*) jobs=$word ;;
    -O*) ;;
    *)
        echo "[ERROR] Invalid option: $word"
        exit 1
        ;;
    esac
done
test -n "$ASCEND_HOME_PATH" || { echo '[ERROR] Please set ASCEND_HOME_PATH'; exit 1; }
mkdir -p build build_out
cmake -S . -B build "-DSOC=$soc" "-DOPS=${ops//,/;}" && cmake --build build "$jobs" --target $targets || exit 1
if [ -n "$package" ]; then
    # Whether kernels are there nobody asks here.
    arch=$(uname -m)
    tree=build/_package/vendors/$vendor/op_impl/ai_core/tbe
    rm -rf build/_package
    mkdir -p "$tree/op_tiling/lib/linux/$arch" "$tree/kernel/$soc" "$tree/kernel/config/$soc"
    cp build/libcust_opmaster_rt2.0.so "$tree/op_tiling/lib/linux/$arch"
    ln -s "lib/linux/$arch/libcust_opmaster_rt2.0.so" "$tree/op_tiling/liboptiling.so"
    cp -r "build/binary/$soc/bin/." "$tree/kernel/$soc" 2>/dev/null
    run=build_out/cann-ops-nn-${vendor}_linux-$arch.run
    {
        cat <<END
#!/bin/sh
target=\$ASCEND_HOME_PATH/opp
for word; do
    case \$word in
    --install-path=*) target=\${word#--install-path=} ;;
    esac
done
mkdir -p "\$target"
sed '1,/^PAYLOAD\$/d' "\$0" | tar x -C "\$target"
exit 0
PAYLOAD
END
        tar c -C build/_package vendors
    } > "$run"
    chmod 755 "$run"
fi
