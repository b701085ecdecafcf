// Compilation at run time: the text becomes an object by the stand-in's own compiler.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl_rt_compile.h"
#include "standin.h"

namespace {
struct Program {
    std::string text;
    std::vector<std::string> expressions;
    std::map<std::string, std::string> lowered;
    std::string log;
    std::string object;
};

std::string Contents(const std::string& path)
{
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
}

// What is launched: `<name>__call` takes pointers to the values, `<name>__arguments` says how many, `<name>__sizes` how large.
std::string Wrapped(const Program& program, const std::map<std::string, std::string>& names)
{
    std::string text = program.text;
    text += "\n#include <cstring>\n#include <tuple>\n#include <type_traits>\nnamespace standin_rtc {\n"
            "template <typename T> T Take(void**& from)\n"
            "{ T value; std::memcpy((void*)&value, *from++, sizeof(T)); return value; }\n"
            "template <typename... P> void Call(void (*entry)(P...), void** values)\n"
            "{ std::tuple<std::decay_t<P>...> all{Take<std::decay_t<P>>(values)...}; std::apply(entry, all); }\n"
            "template <typename... P> constexpr unsigned Count(void (*)(P...)) { return sizeof...(P); }\n"
            "template <typename... P> const unsigned* Sizes(void (*)(P...))\n"
            "{ static const unsigned sizes[] = {sizeof(P)..., 0}; return sizes; }\n}\n";
    for (const auto& [expression, name] : names) {
        text += "extern \"C\" { extern const unsigned " + name + "__arguments; const unsigned " + name +
                "__arguments = standin_rtc::Count(&" + expression + ");\nconst unsigned* " + name +
                "__sizes() { return standin_rtc::Sizes(&" + expression + "); }\nvoid " + name +
                "__call(void** values, unsigned) { standin_rtc::Call(&" + expression + ", values); } }\n";
    }
    return text;
}
} // namespace

extern "C" {
aclError aclrtcCreateProg(aclrtcProg* prog, const char* src, const char*, int numHeaders, const char**, const char**)
{
    if (prog == nullptr || src == nullptr || numHeaders != 0) {
        return ACL_ERROR_RTC_INVALID_INPUT;
    }
    auto* const program = new Program();
    program->text = src;
    *prog = program;
    return ACL_SUCCESS;
}

aclError aclrtcAddNameExpr(aclrtcProg prog, const char* const nameExpression)
{
    static_cast<Program*>(prog)->expressions.emplace_back(nameExpression);
    return ACL_SUCCESS;
}

aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char** options)
{
    auto& program = *static_cast<Program*>(prog);
    bool has_arch = false;
    for (int i = 0; i < numOptions; ++i) {
        has_arch = has_arch || std::string(options[i]).rfind("--npu-arch=dav-", 0) == 0;
    }
    if (!has_arch) {
        program.log = "error: no --npu-arch\n";
        return ACL_ERROR_RTC_INVALID_OPTION;
    }
    std::map<std::string, std::string> names;
    // Mangled names have the function's own in them, with its length.
    for (const std::string& expression : program.expressions) {
        const std::string scoped = expression.substr(0, expression.find('<'));
        const std::string own = scoped.substr(scoped.rfind(':') + 1);
        names.emplace(expression, "_ZN7standin" + std::to_string(own.size()) + own + "I" + std::to_string(names.size()) + "E");
    }
    program.lowered = names;
    // Kernels with C linkage need no expression.
    static const std::regex kPlain("extern\\s+\"C\"\\s[^;{(]*__global__[^;{(]*?(\\w+)\\s*\\(");
    for (std::sregex_iterator found(program.text.begin(), program.text.end(), kPlain), end; found != end; ++found) {
        names[(*found)[1]] = (*found)[1];
    }
    char folder[] = "/tmp/standin-rtc-XXXXXX";
    if (mkdtemp(folder) == nullptr) {
        return ACL_ERROR_RTC_FAILURE;
    }
    const std::string place = folder;
    std::ofstream(place + "/kernel.cpp") << Wrapped(program, names);
    std::string command = "'" + standin::Own("../compiler/ccec_compiler/bin/bisheng") + "' -shared -std=c++17 -w -x asc";
    for (int i = 0; i < numOptions; ++i) {
        command += std::string(" '") + options[i] + "'";
    }
    command += " " + place + "/kernel.cpp -o " + place + "/kernel.o > " + place + "/log 2>&1";
    const int status = std::system(command.c_str());
    program.log = Contents(place + "/log");
    program.object = Contents(place + "/kernel.o");
    (void)std::system(("rm -rf " + place).c_str());
    return status == 0 && !program.object.empty() ? static_cast<aclError>(ACL_SUCCESS) : ACL_ERROR_RTC_COMPILATION;
}

aclError aclrtcGetLoweredName(aclrtcProg prog, const char* nameExpression, const char** loweredName)
{
    const auto& program = *static_cast<Program*>(prog);
    const auto found = program.lowered.find(nameExpression);
    if (found == program.lowered.end()) {
        return ACL_ERROR_RTC_NAME_EXPR_NOT_VALID;
    }
    *loweredName = found->second.c_str();
    return ACL_SUCCESS;
}

aclError aclrtcDestroyProg(aclrtcProg* prog)
{
    delete static_cast<Program*>(*prog);
    *prog = nullptr;
    return ACL_SUCCESS;
}

aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t* binDataSizeRet)
{
    *binDataSizeRet = static_cast<Program*>(prog)->object.size();
    return ACL_SUCCESS;
}

aclError aclrtcGetBinData(aclrtcProg prog, char* binData)
{
    const std::string& object = static_cast<Program*>(prog)->object;
    (void)object.copy(binData, object.size());
    return ACL_SUCCESS;
}

aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t* logSizeRet)
{
    *logSizeRet = static_cast<Program*>(prog)->log.size() + 1;
    return ACL_SUCCESS;
}

aclError aclrtcGetCompileLog(aclrtcProg prog, char* log)
{
    const std::string& text = static_cast<Program*>(prog)->log;
    (void)text.copy(log, text.size());
    log[text.size()] = '\0';
    return ACL_SUCCESS;
}
}
