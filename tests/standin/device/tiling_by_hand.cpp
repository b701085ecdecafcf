// tiling_by_hand REGISTER LIBRARY OPTYPE INPUTS OUTPUTS ATTRS EXTRA: asks a tiling function as the compile tools do, and prints.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

int main(int argc, char** argv)
{
    void* const registered = argc == 8 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : nullptr;
    if (registered == nullptr || dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        std::printf("%s\n", dlerror());
        return 1;
    }
    using Tiling = const char*(const char*, const char*, const char*, const char*, const char*, const char*, char*, size_t,
                               uint64_t*, const char*);
    auto* const tiling = reinterpret_cast<Tiling*>(dlsym(registered, "DoOpTilingForCompile"));
    if (tiling == nullptr) {
        return 1;
    }
    static char info[65536];
    std::printf("%s\n", tiling(argv[3], "{}", "", argv[4], argv[5], argv[6], info, sizeof(info), nullptr, argv[7]));
    std::printf("%s\n", info);
    return 0;
}
