#!/bin/sh
# package.sh BUILD VENDOR ARCH UNITS RUN SOURCE HOME: lays the installed tree out and makes it a self-extracting file.
set -e
build=$1 vendor=$2 arch=$3 units=$4 run=$5 home=$7
stage=$build/_package
rm -rf "$stage"
tree=$stage/vendors/$vendor
mkdir -p "$tree/framework" "$tree/op_api/include" "$tree/op_api/lib" "$tree/op_proto/inc" "$tree/op_proto/lib/linux/$arch"
impl=$tree/op_impl/ai_core/tbe
mkdir -p "$impl/${vendor}_impl/dynamic" "$impl/op_tiling/lib/linux/$arch"
cp "$build"/autogen/aclnn_*.h "$tree/op_api/include"
cp "$build/op_host/libcust_opapi.so" "$tree/op_api/lib"
cp "$build/autogen/op_proto.h" "$tree/op_proto/inc"
cp "$build/op_host/libcust_opsproto_rt2.0.so" "$tree/op_proto/lib/linux/$arch"
cp "$build/op_host/libcust_opmaster_rt2.0.so" "$impl/op_tiling/lib/linux/$arch"
ln -s "lib/linux/$arch/libcust_opmaster_rt2.0.so" "$impl/op_tiling/liboptiling.so"
cp "$build"/op_kernel/tbe/dynamic/* "$impl/${vendor}_impl/dynamic"
for unit in $(echo "$units" | tr , ' '); do
    mkdir -p "$impl/config/$unit"
    cp "$build/op_kernel/tbe/op_info_cfg/ai_core/$unit/aic-$unit-ops-info.json" "$impl/config/$unit"
    if [ -d "$build/op_kernel/binary/$unit/bin" ]; then
        mkdir -p "$impl/kernel/$unit" "$impl/kernel/config/$unit"
        cp -r "$build/op_kernel/binary/$unit/bin/." "$impl/kernel/$unit"
        if [ -d "$impl/kernel/$unit/config" ]; then
            mv "$impl/kernel/$unit/config"/* "$impl/kernel/config/$unit"
            rmdir "$impl/kernel/$unit/config"
        fi
    fi
done
{
    cat <<END
#!/bin/sh
# A custom operator package: [--install-path=DIR] [--quiet] [--force]
target='$home/opp'
for word; do
    case \$word in
    --install-path=*) target=\${word#--install-path=}; own=yes ;;
    esac
done
mkdir -p "\$target/vendors"
sed '1,/^PAYLOAD\$/d' "\$0" | tar x -C "\$target"
if [ -n "\$own" ]; then
    mkdir -p "\$target/vendors/$vendor/bin"
    echo "export ASCEND_CUSTOM_OPP_PATH=\$target/vendors/$vendor:\\\$ASCEND_CUSTOM_OPP_PATH" > "\$target/vendors/$vendor/bin/set_env.bash"
fi
echo 'SUCCESS'
exit 0
PAYLOAD
END
    tar c -C "$stage" vendors
} > "$build/$run"
chmod 755 "$build/$run"
