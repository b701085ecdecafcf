// Kernels that programs compile while they run, and their launches. What is "compiled" is looked up among the kernels that were built
// with the program; an object that a program reads is the place of its text in that list.
#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"
#include "acl_error.h"
#include "ascendsim/run_time_kernel.h"

using ascendsim::RunTimeKernelEntry;
using ascendsim::TextDigest;
using ascendsim::acl::Fail;

namespace {
std::vector<RunTimeKernelEntry>& Known()
{
    static auto* const known = new std::vector<RunTimeKernelEntry>();
    return *known;
}

bool Same(const TextDigest& left, const TextDigest& right)
{
    return left.hash == right.hash && left.bytes == right.bytes;
}

// Without what some systems end lines with: compilers leave it out of literals, and files that are read have it.
TextDigest DigestOf(const char* text)
{
    TextDigest digest{0xCBF29CE484222325ULL, 0};
    for (; *text != '\0'; ++text) {
        if (*text != '\r') {
            digest.hash = (digest.hash ^ static_cast<uint8_t>(*text)) * 0x100000001B3ULL;
            ++digest.bytes;
        }
    }
    return digest;
}

// Name by which the linker knows a kernel; what the program calls it where that is not to be found out.
std::string LoweredName(const RunTimeKernelEntry& entry)
{
    Dl_info found{};
    const bool is_named = dladdr(entry.address, &found) != 0 && found.dli_sname != nullptr && found.dli_saddr == entry.address;
    return is_named ? found.dli_sname : entry.expression;
}

struct Program {
    TextDigest text;
    std::string name;
    std::map<std::string, std::string> lowered; // by name expression; empty before the program is compiled
    std::string log;
    bool compiled = false;
};

// What a program gets as its object.
struct Object {
    char magic[8];
    TextDigest text;
};
constexpr char kMagic[8] = {'A', 'S', 'C', 'S', 'I', 'M', 'R', 'T'};

struct Binary {
    TextDigest text;
    std::map<std::string, RunTimeKernelEntry> functions; // a handle is the place of one
};

struct Arguments {
    std::deque<std::vector<uint8_t>> values;
};

aclError LaunchFunction(const char* api, void* function, uint32_t blocks, void** values)
{
    if (function == nullptr || blocks == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": no function, or no blocks");
    }
    const RunTimeKernelEntry& entry = *static_cast<RunTimeKernelEntry*>(function);
    for (size_t i = 0; i < entry.parameters; ++i) {
        if (values == nullptr || values[i] == nullptr) {
            return Fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": " + entry.kernel + ": parameter " + std::to_string(i) + " is missing");
        }
    }
    ascendsim::RunTimeCall call{entry.address, values};
    ascendsim::RunBlocks(entry.kernel, entry.kinds, blocks, entry.block, &call);
    return ACL_SUCCESS;
}

// The program that a call is about; null, with the reason in `error`, where there is none or `pointer` leads nowhere.
Program* Given(const char* api, aclrtcProg prog, const void* pointer, aclError* error)
{
    if (prog == nullptr) {
        *error = Fail(ACL_ERROR_RTC_INVALID_PROG, std::string(api) + ": no program");
        return nullptr;
    }
    if (pointer == nullptr) {
        *error = Fail(ACL_ERROR_RTC_INVALID_INPUT, std::string(api) + ": a pointer is null");
        return nullptr;
    }
    return static_cast<Program*>(prog);
}

// The same for what there is only once the program is compiled.
Program* Compiled(const char* api, aclrtcProg prog, const void* pointer, aclError* error)
{
    Program* const program = Given(api, prog, pointer, error);
    if (program != nullptr && !program->compiled) {
        *error = Fail(ACL_ERROR_RTC_FAILURE, std::string(api) + ": the program is not compiled");
        return nullptr;
    }
    return program;
}
} // namespace

namespace ascendsim {
void AddRunTimeKernel(const RunTimeKernelEntry& entry)
{
    Known().push_back(entry);
}
} // namespace ascendsim

extern "C" {
aclError aclrtcCreateProg(aclrtcProg* prog, const char* src, const char* name, int numHeaders, const char**, const char**)
{
    if (prog == nullptr || src == nullptr || numHeaders < 0) {
        return Fail(ACL_ERROR_RTC_INVALID_INPUT, "aclrtcCreateProg: no program, no text, or a negative number of headers");
    }
    if (numHeaders > 0) {
        return Fail(ACL_ERROR_RTC_PROG_CREATION_FAILURE,
                    "aclrtcCreateProg: headers as texts are not known to the simulator; include them as files");
    }
    auto program = std::make_unique<Program>();
    program->text = DigestOf(src);
    program->name = name == nullptr ? "default_program" : name;
    *prog = program.release();
    return ACL_SUCCESS;
}

aclError aclrtcAddNameExpr(aclrtcProg prog, const char* const nameExpression)
{
    aclError error = ACL_SUCCESS;
    Program* const program = Given("aclrtcAddNameExpr", prog, nameExpression, &error);
    if (program == nullptr) {
        return error;
    }
    if (program->compiled) {
        return Fail(ACL_ERROR_RTC_NO_NAME_EXPR_AFTER_COMPILATION, "aclrtcAddNameExpr: the program is compiled already");
    }
    program->lowered.emplace(nameExpression, "");
    return ACL_SUCCESS;
}

aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char** options)
{
    if (numOptions < 0 || (numOptions > 0 && options == nullptr)) {
        return Fail(ACL_ERROR_RTC_INVALID_INPUT, "aclrtcCompileProg: no options where there should be some");
    }
    aclError error = ACL_SUCCESS;
    Program* const given = Given("aclrtcCompileProg", prog, prog, &error);
    if (given == nullptr) {
        return error;
    }
    Program& program = *given;
    const auto refuse = [&program](aclError code, const std::string& message) {
        program.log = message + "\n";
        return Fail(code, "aclrtcCompileProg: " + program.name + ": " + message);
    };
    bool is_known = false;
    for (const RunTimeKernelEntry& entry : Known()) {
        if (!Same(entry.text, program.text)) {
            continue;
        }
        is_known = true;
        const auto wanted = program.lowered.find(entry.expression);
        if (wanted != program.lowered.end()) {
            wanted->second = LoweredName(entry);
        }
    }
    if (!is_known) {
        return refuse(ACL_ERROR_RTC_COMPILATION,
                      "the simulator knows no kernel with this text: it has to be a raw literal with the whole kernel, or a file of the "
                      "project");
    }
    for (const auto& [expression, lowered] : program.lowered) {
        if (lowered.empty()) {
            return refuse(ACL_ERROR_RTC_NAME_EXPR_NOT_VALID,
                          "no kernel is named " + expression + ", or the name is no literal in the program's sources");
        }
    }
    program.compiled = true;
    return ACL_SUCCESS;
}

aclError aclrtcGetLoweredName(aclrtcProg prog, const char* nameExpression, const char** loweredName)
{
    aclError error = ACL_SUCCESS;
    const void* const both = nameExpression == nullptr ? nullptr : loweredName;
    const Program* const program = Given("aclrtcGetLoweredName", prog, both, &error);
    if (program == nullptr) {
        return error;
    }
    if (!program->compiled) {
        return Fail(ACL_ERROR_RTC_NO_LOWERED_NAMES_BEFORE_COMPILATION, "aclrtcGetLoweredName: the program is not compiled yet");
    }
    const auto found = program->lowered.find(nameExpression);
    if (found == program->lowered.end()) {
        return Fail(ACL_ERROR_RTC_NAME_EXPR_NOT_VALID,
                    std::string("aclrtcGetLoweredName: ") + nameExpression + " was not added before the program was compiled");
    }
    *loweredName = found->second.c_str();
    return ACL_SUCCESS;
}

aclError aclrtcDestroyProg(aclrtcProg* prog)
{
    if (prog == nullptr || *prog == nullptr) {
        return Fail(ACL_ERROR_RTC_INVALID_PROG, "aclrtcDestroyProg: no program");
    }
    delete static_cast<Program*>(*prog);
    *prog = nullptr;
    return ACL_SUCCESS;
}

aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t* binDataSizeRet)
{
    aclError error = ACL_SUCCESS;
    if (Compiled("aclrtcGetBinDataSize", prog, binDataSizeRet, &error) != nullptr) {
        *binDataSizeRet = sizeof(Object);
    }
    return error;
}

aclError aclrtcGetBinData(aclrtcProg prog, char* binData)
{
    aclError error = ACL_SUCCESS;
    if (const Program* const program = Compiled("aclrtcGetBinData", prog, binData, &error); program != nullptr) {
        Object object{};
        (void)std::memcpy(object.magic, kMagic, sizeof(kMagic));
        object.text = program->text;
        (void)std::memcpy(binData, &object, sizeof(object));
    }
    return error;
}

aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t* logSizeRet)
{
    aclError error = ACL_SUCCESS;
    if (const Program* const program = Given("aclrtcGetCompileLogSize", prog, logSizeRet, &error); program != nullptr) {
        *logSizeRet = program->log.size() + 1;
    }
    return error;
}

aclError aclrtcGetCompileLog(aclrtcProg prog, char* log)
{
    aclError error = ACL_SUCCESS;
    if (const Program* const program = Given("aclrtcGetCompileLog", prog, log, &error); program != nullptr) {
        (void)std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    }
    return error;
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions*, aclrtBinHandle* binHandle)
{
    Object object{};
    const bool is_as_large = data != nullptr && length == sizeof(object);
    if (is_as_large) {
        (void)std::memcpy(&object, data, sizeof(object));
    }
    if (binHandle == nullptr || !is_as_large || std::memcmp(object.magic, kMagic, sizeof(kMagic)) != 0) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    "aclrtBinaryLoadFromData: this is no object of aclrtcGetBinData, and the simulator knows no others");
    }
    *binHandle = new Binary{object.text, {}};
    return ACL_SUCCESS;
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    if (binHandle == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtBinaryUnLoad: no handle");
    }
    delete static_cast<Binary*>(binHandle);
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle)
{
    if (binHandle == nullptr || kernelName == nullptr || funcHandle == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtBinaryGetFunction: a pointer is null");
    }
    auto& binary = *static_cast<Binary*>(binHandle);
    for (const RunTimeKernelEntry& entry : Known()) {
        if (Same(entry.text, binary.text) && LoweredName(entry) == kernelName) {
            *funcHandle = &binary.functions.emplace(kernelName, entry).first->second;
            return ACL_SUCCESS;
        }
    }
    return Fail(ACL_ERROR_INVALID_PARAM, std::string("aclrtBinaryGetFunction: the object has no kernel ") + kernelName +
                                             "; one that is a template or stands in a namespace is known by its lowered name");
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream, aclrtLaunchKernelCfg*, void** args)
{
    return LaunchFunction("aclrtLaunchKernelWithArgsArray", func, numBlocks, args);
}

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle)
{
    if (funcHandle == nullptr || argsHandle == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtKernelArgsInit: a pointer is null");
    }
    *argsHandle = new Arguments();
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize, aclrtParamHandle* paramHandle)
{
    if (argsHandle == nullptr || param == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtKernelArgsAppend: a pointer is null");
    }
    const auto* const bytes = static_cast<const uint8_t*>(param);
    std::vector<uint8_t>& value = static_cast<Arguments*>(argsHandle)->values.emplace_back(bytes, bytes + paramSize);
    if (paramHandle != nullptr) {
        *paramHandle = value.data();
    }
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle)
{
    return argsHandle != nullptr ? static_cast<aclError>(ACL_SUCCESS) :
                                   Fail(ACL_ERROR_INVALID_PARAM, "aclrtKernelArgsFinalize: no arguments");
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream, aclrtLaunchKernelCfg*,
                                     aclrtArgsHandle argsHandle, void*)
{
    if (funcHandle == nullptr || argsHandle == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchKernelWithConfig: a pointer is null");
    }
    const RunTimeKernelEntry& entry = *static_cast<RunTimeKernelEntry*>(funcHandle);
    std::vector<void*> values;
    for (std::vector<uint8_t>& value : static_cast<Arguments*>(argsHandle)->values) {
        const size_t place = values.size();
        if (place >= entry.parameters || value.size() != entry.sizes[place]) {
            return Fail(ACL_ERROR_INVALID_PARAM, std::string("aclrtLaunchKernelWithConfig: ") + entry.kernel + ": parameter " +
                                                     std::to_string(place) + " has another size or is one too many");
        }
        values.push_back(value.data());
    }
    values.resize(entry.parameters, nullptr);
    return LaunchFunction("aclrtLaunchKernelWithConfig", funcHandle, numBlocks, values.data());
}
}
