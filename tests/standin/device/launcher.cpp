// kernel-launcher -c FILE: runs one kernel object as a flat JSON text says, whose numbers are strings.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "acl/acl_binary.h"
#include "acl/acl_rt.h"
#include "nlohmann/json.hpp"

namespace {
std::string Text(const nlohmann::json& json, const char* key)
{
    return json.contains(key) ? json[key].get<std::string>() : std::string();
}

std::vector<std::string> Split(const std::string& text)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ';');) {
        parts.push_back(part);
    }
    return parts;
}

int Failed(const char* what, const std::string& detail)
{
    std::printf("[ERROR] %s %s\n", what, detail.c_str());
    return 1;
}

void* Memory(size_t bytes)
{
    void* pointer = nullptr;
    return aclrtMalloc(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS ? pointer : nullptr;
}

bool Load(const std::string& file, size_t bytes, void* to)
{
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    return to != nullptr && content.size() == bytes &&
           aclrtMemcpy(to, bytes, content.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS;
}
} // namespace

int main(int argc, char** argv)
{
    if (argc != 3 || std::string(argv[1]) != "-c") {
        return Failed("usage:", "kernel-launcher -c FILE");
    }
    std::ifstream stream(argv[2]);
    std::ostringstream text;
    text << stream.rdbuf();
    const nlohmann::json job = nlohmann::json::parse(text.str());
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(std::atoi(Text(job, "device_id").c_str())) != ACL_SUCCESS) {
        return Failed("cannot use device", Text(job, "device_id"));
    }
    aclrtBinHandle binary = nullptr;
    if (aclrtBinaryLoadFromFile(Text(job, "bin_path").c_str(), nullptr, &binary) != ACL_SUCCESS) {
        return Failed("cannot load", Text(job, "bin_path"));
    }
    aclrtFuncHandle function = nullptr;
    const std::string key = Text(job, "tiling_key");
    const std::string name = Text(job, "kernel_name") + (key.empty() ? "" : "_" + key);
    if (aclrtBinaryGetFunction(binary, name.c_str(), &function) != ACL_SUCCESS) {
        return Failed("cannot find kernel", name);
    }
    std::vector<void*> arguments;
    const auto sizes = Split(Text(job, "input_size"));
    const auto inputs = Split(Text(job, "input_path"));
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i] == "n") {
            arguments.push_back(nullptr);
            continue;
        }
        const size_t bytes = i < sizes.size() ? std::strtoull(sizes[i].c_str(), nullptr, 10) : 0;
        arguments.push_back(Memory(bytes));
        if (!Load(inputs[i], bytes, arguments.back())) {
            return Failed("input is not of its size or cannot be read:", inputs[i]);
        }
    }
    const auto names = Split(Text(job, "output_name"));
    const auto output_sizes = Split(Text(job, "output_size"));
    std::vector<std::pair<void*, size_t>> outputs;
    for (const std::string& size : output_sizes) {
        const size_t bytes = std::strtoull(size.c_str(), nullptr, 10);
        outputs.emplace_back(Memory(bytes), bytes);
        arguments.push_back(outputs.back().first);
    }
    const size_t workspace = std::strtoull(Text(job, "workspace_size").c_str(), nullptr, 10);
    if (job.contains("workspace_size")) {
        arguments.push_back(workspace == 0 ? nullptr : Memory(workspace));
    }
    if (const auto tiling = Split(Text(job, "tiling_data_path")); tiling.size() == 2) {
        const size_t bytes = std::strtoull(tiling[1].c_str(), nullptr, 10);
        arguments.push_back(Memory(bytes));
        if (!Load(tiling[0], bytes, arguments.back())) {
            return Failed("tiling data are not of their size or cannot be read:", tiling[0]);
        }
    }
    const auto blocks = static_cast<uint32_t>(std::atoi(Text(job, "block_dim").c_str()));
    if (aclrtLaunchKernel(function, blocks, arguments.data(), arguments.size() * sizeof(void*), nullptr) != ACL_SUCCESS ||
        aclrtSynchronizeStream(nullptr) != ACL_SUCCESS) {
        return Failed("Aicore Kernel Exec Failed:", name);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        std::vector<char> content(outputs[i].second);
        if (aclrtMemcpy(content.data(), content.size(), outputs[i].first, content.size(), ACL_MEMCPY_DEVICE_TO_HOST) !=
            ACL_SUCCESS) {
            return Failed("cannot read output", names[i]);
        }
        std::ofstream(Text(job, "output_dir") + "/" + names[i] + ".bin", std::ios::binary)
            .write(content.data(), static_cast<std::streamsize>(content.size()));
    }
    return 0;
}
