// libregister.so of the stand-in: DoOpTilingForCompile runs the tiling function of a library that the caller has loaded before, in
// a process of its own on the embedded SDK.
#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "nlohmann/json.hpp"

namespace {
int Take(dl_phdr_info* info, size_t, void* found)
{
    const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (name.find("optiling") != std::string::npos || name.find("opmaster") != std::string::npos) {
        *static_cast<std::string*>(found) = name;
    }
    return 0;
}

std::string Own(const std::string& file)
{
    Dl_info info;
    char path[PATH_MAX];
    if (dladdr(reinterpret_cast<void*>(&Take), &info) == 0 || realpath(info.dli_fname, path) == nullptr) {
        return file;
    }
    std::string folder = path;
    while (!folder.empty()) {
        folder.erase(folder.find_last_of('/'));
        if (access((folder + "/standin/knobs").c_str(), F_OK) == 0) {
            return folder + "/standin/" + file;
        }
    }
    return file;
}

std::string Knob(const std::string& name, const std::string& fallback)
{
    std::ifstream stream(Own("knobs"));
    std::string value = fallback;
    for (std::string line; std::getline(stream, line);) {
        if (line.compare(0, name.size() + 1, name + "=") == 0) {
            value = line.substr(name.size() + 1);
        }
    }
    return value;
}

std::string Text(const nlohmann::json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

nlohmann::json Tensors(const nlohmann::json& tensors)
{
    nlohmann::json found = nlohmann::json::array();
    for (const auto& tensor : tensors) {
        nlohmann::json one;
        for (const char* key : {"name", "dtype", "format"}) {
            one[key] = Text(tensor[key]);
        }
        one["shape"] = tensor["shape"];
        one["file"] = "none";
        found.push_back(one);
    }
    return found;
}

const char* Answer(int code, const std::string& message)
{
    static std::string text;
    nlohmann::json answer;
    answer["ret_code"] = code;
    answer["error_messages"] = nlohmann::json::parse("[]");
    if (code != 0) {
        nlohmann::json one;
        one["errorcode"] = "E90003";
        one["reason"] = message;
        answer["error_messages"].push_back(one);
    }
    text = answer.dump();
    return text.c_str();
}
} // namespace

extern "C" const char* DoOpTilingForCompile(const char* optype, const char*, const char*, const char* inputs, const char* outputs,
                                            const char* attrs, char* run_info, size_t size, uint64_t*, const char* extra)
{
    std::string library;
    (void)dl_iterate_phdr(Take, &library);
    if (library.empty()) {
        return Answer(1, "no tiling library is loaded");
    }
    char folder[] = "/tmp/standin-tiling-XXXXXX";
    if (mkdtemp(folder) == nullptr) {
        return Answer(1, "no folder");
    }
    const std::string job = std::string(folder) + "/job";
    const std::string result = std::string(folder) + "/result";
    const nlohmann::json more = nlohmann::json::parse(extra == nullptr || *extra == '\0' ? "{}" : extra);
    const auto cores = [&](const char* key, const char* knob, const char* fallback) {
        return static_cast<uint64_t>(std::stoull(more.contains(key) ? Text(more[key]) : Knob(knob, fallback)));
    };
    char path[PATH_MAX];
    nlohmann::json asked;
    asked["mode"] = "tile";
    asked["host"] = std::string(realpath(library.c_str(), path) == nullptr ? library.c_str() : path);
    asked["operator"] = std::string(optype);
    asked["machine"]["soc"] = Knob("soc", "Ascend910B2");
    asked["machine"]["cores_aiv"] = cores("_op_vectorcore_num", "vector_cores", "48");
    asked["machine"]["cores_aic"] = cores("_op_aicore_num", "cube_cores", "24");
    asked["inputs"] = Tensors(nlohmann::json::parse(inputs));
    asked["outputs"] = Tensors(nlohmann::json::parse(outputs));
    asked["attributes"] = nlohmann::json::array();
    for (const auto& attr : nlohmann::json::parse(attrs == nullptr || *attrs == '\0' ? "[]" : attrs)) {
        nlohmann::json one;
        one["name"] = Text(attr["name"]);
        one["type"] = Text(attr["dtype"]);
        one["value"] = Text(attr["value"]);
        asked["attributes"].push_back(one);
    }
    asked["result"] = result;
    std::ofstream(job) << asked.dump();
    const std::string command = "'" + Own("ascend_sim_runner") + "' '" + job + "' >/dev/null 2>&1";
    (void)!std::system(command.c_str());
    std::ifstream stream(result);
    std::ostringstream content;
    content << stream.rdbuf();
    (void)!std::system(("rm -r '" + std::string(folder) + "'").c_str());
    if (content.str().empty()) {
        return Answer(1, "the tiling function left nothing");
    }
    const nlohmann::json said = nlohmann::json::parse(content.str());
    if (Text(said["status"]) != "ok") {
        return Answer(1, "do tiling failed, ret is -1: " + Text(said["message"]));
    }
    nlohmann::json info;
    info["block_dim"] = said["block_dim"];
    info["tiling_key"] = said["tiling_key"];
    info["tiling_data"] = said["tiling_hex"];
    info["workspaces"] = said["workspace"];
    info["clear_atomic"] = false;
    info["schedule_mode"] = said["schedule_mode"];
    info["tiling_cond"] = 0;
    const std::string written = info.dump();
    if (written.size() + 1 > size) {
        return Answer(1, "the buffer is too small");
    }
    (void)std::memcpy(run_info, written.c_str(), written.size() + 1);
    return Answer(0, "");
}
