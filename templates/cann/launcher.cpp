// Runs kernel objects on one device and times them. Built on the machine that it runs on, against the toolkit's own headers.
//
// One process serves a run: it reads requests on standard input, one JSON object a line, and answers each with one line on
// standard output. Objects are loaded once. What goes wrong on the device is an answer with AscendCL's code; whoever asks decides
// what becomes of the device.
//
//   {"do":"hello"}                      -> {"ok":true,"soc":"..","cube_cores":N,"vector_cores":N,"l2_bytes":N,"launch":".."}
//   {"do":"load","id":"a","object":"/x.o","magic":N,"symbol":"..","tiling_key":N}          -> {"ok":true}
//   {"do":"run","jobs":[JOB..],"order":[0,1,1,0],"warm_up":5,"warm_up_us":1000,"flush_bytes":N,"rotate":2,"timeout_ms":N}
//                                       -> {"ok":true,"times_us":[[..],[..]]}
//   {"do":"unload","id":"a"}            -> {"ok":true}
//   JOB: {"id":"a","blocks":N,"sync_address":false,"inputs":["/in.bin",null,BYTES],"workspace":N,"tiling":"hex","poison":165,
//         "outputs":[{"bytes":N,"file":"/out.bin","in_place":-1,"initial":"hex of an element"},null]}
//   A parameter that is a list of tensors is [{"shape":[..],"tensor":..}, ..] in place of one; null is one that is left out.
//   anything that fails                 -> {"ok":false,"stage":"..","code":N,"message":".."}
//
// Functions that only some versions have are looked up by name, so that one text is right for all of them.

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "json.h"

namespace {

// What AscendCL said no to.
struct Refusal {
    std::string stage;
    int code;
    std::string message;
};

void Check(int code, const std::string& stage)
{
    if (code != 0) {
        const char* message = aclGetRecentErrMsg();
        throw Refusal{stage, code, message == nullptr ? "" : message};
    }
}

template <typename Function>
Function Named(const char* name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Structures of AscendCL that older headers lack, laid out as the newer ones do.
struct LoadOption {
    int type;
    uint32_t value[4];
};
struct LoadOptions {
    LoadOption* options;
    size_t count;
};
constexpr int kMagicOption = 2;

using CreateBinary = void* (*)(const void*, size_t);
using LoadBinary = int (*)(void*, void**);
using LoadFile = int (*)(const char*, LoadOptions*, void**);
using Unload = int (*)(void*);
using ByName = int (*)(void*, const char*, void**);
using ByEntry = int (*)(void*, uint64_t, void**);
using LaunchArray = int (*)(void*, uint32_t, aclrtStream, void*, void**);
using ArgsInit = int (*)(void*, void**);
using ArgsAppend = int (*)(void*, void*, size_t, void**);
using ArgsFinalize = int (*)(void*);
using LaunchConfig = int (*)(void*, uint32_t, aclrtStream, void*, void*, void*);
using LaunchPlain = int (*)(void*, uint32_t, const void*, size_t, aclrtStream);
using SyncAddress = int (*)(void**);
using ControlAddress = int (*)(uint64_t*, uint32_t*);
using DeviceInfo = int (*)(uint32_t, int, int64_t*);
using SyncFor = int (*)(aclrtStream, int32_t);

// Memory of the device that frees itself.
class Memory {
public:
    explicit Memory(size_t bytes) : bytes_(bytes)
    {
        // Kernels move whole blocks of 32 bytes.
        Check(aclrtMalloc(&address_, std::max<size_t>((bytes + 63) / 32 * 32, 64), ACL_MEM_MALLOC_HUGE_FIRST),
              "allocating " + std::to_string(bytes) + " bytes");
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { aclrtFree(address_); }
    void* Address() const { return address_; }
    size_t Bytes() const { return bytes_; }
    void Write(const void* data, size_t bytes)
    {
        if (bytes > 0) {
            Check(aclrtMemcpy(address_, bytes_, data, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "copying to the device");
        }
    }
    std::vector<char> Read() const
    {
        std::vector<char> data(bytes_);
        if (bytes_ > 0) {
            Check(aclrtMemcpy(data.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST),
                  "copying from the device");
        }
        return data;
    }

private:
    void* address_ = nullptr;
    size_t bytes_;
};
using Shared = std::shared_ptr<Memory>;

std::vector<char> Slurp(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    return std::vector<char>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::vector<char> Bytes(const std::string& hex)
{
    std::vector<char> bytes;
    for (size_t at = 0; at + 1 < hex.size(); at += 2) {
        bytes.push_back(static_cast<char>(std::strtoul(hex.substr(at, 2).c_str(), nullptr, 16)));
    }
    return bytes;
}

// A parameter's tensors.
std::vector<const Value*> TensorsOf(const Value& parameter)
{
    std::vector<const Value*> tensors;
    if (parameter.kind == Value::kArray) {
        for (const Value& listed : parameter.items) {
            tensors.push_back(&listed["tensor"]);
        }
    } else if (parameter.kind != Value::kNull) {
        tensors.push_back(&parameter);
    }
    return tensors;
}

// What a kernel reads where a parameter is a list of tensors: the distance in bytes to the table of addresses, for each tensor its place
// (high half) and rank (low half) and then its dimensions, and the table.
std::vector<uint64_t> ListOf(const Value& parameter, const std::vector<uint64_t>& addresses)
{
    std::vector<uint64_t> words(1);
    for (size_t place = 0; place < parameter.items.size(); ++place) {
        const std::vector<Value>& shape = parameter.items[place]["shape"].items;
        words.push_back(static_cast<uint64_t>(place) << 32 | shape.size());
        for (const Value& dimension : shape) {
            words.push_back(dimension.Unsigned());
        }
    }
    words[0] = words.size() * sizeof(uint64_t);
    words.insert(words.end(), addresses.begin(), addresses.end());
    return words;
}

struct Kernel {
    void* binary = nullptr;
    void* function = nullptr;
};

// A job with its tensors on the device, in as many copies as launches take turns through.
struct Prepared {
    void* function = nullptr;
    uint32_t blocks = 0;
    std::vector<std::vector<uint64_t>> arguments;
    std::vector<Shared> owned;
    struct Output {
        Shared memory;
        std::string file;
    };
    std::vector<Output> outputs;
    size_t turn = 0;
};

class Server {
public:
    Server()
    {
        Check(aclInit(nullptr), "aclInit");
        // The device is chosen by ASCEND_RT_VISIBLE_DEVICES: what is visible is counted from 0.
        Check(aclrtSetDevice(0), "aclrtSetDevice");
        Check(aclrtCreateStream(&stream_), "aclrtCreateStream");
        Check(aclrtCreateEvent(&begin_), "aclrtCreateEvent");
        Check(aclrtCreateEvent(&end_), "aclrtCreateEvent");
    }

    std::string Answer(const Value& request)
    {
        const std::string& what = request["do"].text;
        if (what == "hello") {
            return Hello();
        }
        if (what == "load") {
            Load(request);
            return "";
        }
        if (what == "unload") {
            const auto found = kernels_.find(request["id"].text);
            if (found != kernels_.end()) {
                if (const auto unload = Named<Unload>("aclrtBinaryUnLoad")) {
                    unload(found->second.binary);
                }
                kernels_.erase(found);
            }
            return "";
        }
        if (what == "run") {
            return Run(request);
        }
        throw std::runtime_error("a request asks for \"" + what + "\"");
    }

private:
    static int64_t Info(int attribute)
    {
        int64_t value = 0;
        const auto info = Named<DeviceInfo>("aclrtGetDeviceInfo");
        return info != nullptr && info(0, attribute, &value) == 0 ? value : 0;
    }

    static const char* Way()
    {
        return Named<LaunchArray>("aclrtLaunchKernelWithArgsArray") != nullptr ? "aclrtLaunchKernelWithArgsArray" :
               Named<LaunchConfig>("aclrtLaunchKernelWithConfig") != nullptr   ? "aclrtLaunchKernelWithConfig" :
               Named<LaunchPlain>("aclrtLaunchKernel") != nullptr              ? "aclrtLaunchKernel" :
                                                                                 "";
    }

    std::string Hello() const
    {
        if (*Way() == '\0') {
            throw Refusal{"looking for a function that launches kernels", 0, "this AscendCL has none"};
        }
        const char* soc = aclrtGetSocName();
        return ",\"soc\":\"" + Escaped(soc == nullptr ? "" : soc) + "\",\"cube_cores\":" + std::to_string(Info(102)) +
               ",\"vector_cores\":" + std::to_string(Info(201)) + ",\"l2_bytes\":" + std::to_string(Info(302)) +
               ",\"launch\":\"" + Way() + "\"";
    }

    void Load(const Value& request)
    {
        const std::string& object = request["object"].text;
        Kernel kernel;
        if (const auto load = Named<LoadFile>("aclrtBinaryLoadFromFile")) {
            LoadOption option{kMagicOption, {static_cast<uint32_t>(request["magic"].Unsigned()), 0, 0, 0}};
            LoadOptions options{&option, 1};
            if (load(object.c_str(), &options, &kernel.binary) != 0) {
                Check(load(object.c_str(), nullptr, &kernel.binary), "loading " + object);
            }
        } else {
            const auto create = Named<CreateBinary>("aclrtCreateBinary");
            const auto load_binary = Named<LoadBinary>("aclrtBinaryLoad");
            if (create == nullptr || load_binary == nullptr) {
                throw Refusal{"looking for a function that loads objects", 0, "this AscendCL has none"};
            }
            texts_.push_back(Slurp(object));
            Check(load_binary(create(texts_.back().data(), texts_.back().size()), &kernel.binary), "loading " + object);
        }
        const std::string& symbol = request["symbol"].text;
        const auto by_name = Named<ByName>("aclrtBinaryGetFunction");
        int code = by_name == nullptr ? -1 : by_name(kernel.binary, symbol.c_str(), &kernel.function);
        if (code != 0) {
            const auto by_entry = Named<ByEntry>("aclrtBinaryGetFunctionByEntry");
            code = by_entry == nullptr ? code : by_entry(kernel.binary, request["tiling_key"].Unsigned(), &kernel.function);
        }
        Check(code, "looking for kernel " + symbol + " in " + object);
        kernels_[request["id"].text] = kernel;
    }

    // Waits; a limit of 0 is none.
    void Wait(int32_t limit_ms) const
    {
        const auto limited = Named<SyncFor>("aclrtSynchronizeStreamWithTimeout");
        const bool has_limit = limited != nullptr && limit_ms > 0;
        Check(has_limit ? limited(stream_, limit_ms) : aclrtSynchronizeStream(stream_), "running the kernel");
    }

    Prepared Prepare(const Value& job, size_t copies)
    {
        Prepared prepared;
        const auto found = kernels_.find(job["id"].text);
        if (found == kernels_.end()) {
            throw std::runtime_error("no object \"" + job["id"].text + "\" is loaded");
        }
        prepared.function = found->second.function;
        prepared.blocks = static_cast<uint32_t>(job["blocks"].Unsigned(1));
        const uint8_t poison = static_cast<uint8_t>(job["poison"].Unsigned());
        const auto own = [&](size_t bytes) {
            prepared.owned.push_back(std::make_shared<Memory>(bytes));
            return prepared.owned.back();
        };
        const auto poisoned = [&](size_t bytes) {
            Shared memory = own(bytes);
            const std::vector<char> garbage(bytes, static_cast<char>(poison));
            memory->Write(garbage.data(), garbage.size());
            return memory;
        };
        std::vector<std::vector<char>> data;
        for (const Value& parameter : job["inputs"].items) {
            for (const Value* input : TensorsOf(parameter)) {
                // A number is the size of an input whose values nobody looks at.
                data.push_back(input->kind == Value::kNumber ?
                                   std::vector<char>(input->Unsigned(), static_cast<char>(poison)) :
                                   Slurp(input->text));
            }
        }
        const Shared workspace = poisoned(job["workspace"].Unsigned());
        const std::vector<char> tiling_bytes = Bytes(job["tiling"].text);
        const Shared tiling = own(tiling_bytes.size());
        tiling->Write(tiling_bytes.data(), tiling_bytes.size());
        for (size_t copy = 0; copy < copies; ++copy) {
            std::vector<uint64_t> arguments;
            const auto address = [](const Shared& memory) { return reinterpret_cast<uint64_t>(memory->Address()); };
            if (job["sync_address"].truth) {
                arguments.push_back(SynchronisationAddress());
            }
            const auto pass = [&](const Value& parameter, const auto& place) {
                std::vector<uint64_t> addresses;
                for (const Value* tensor : TensorsOf(parameter)) {
                    addresses.push_back(address(place(*tensor)));
                }
                if (parameter.kind == Value::kArray) {
                    const std::vector<uint64_t> words = ListOf(parameter, addresses);
                    addresses = {address(own(words.size() * sizeof(uint64_t)))};
                    prepared.owned.back()->Write(words.data(), words.size() * sizeof(uint64_t));
                }
                arguments.push_back(addresses.empty() ? 0 : addresses[0]);
            };
            std::vector<Shared> inputs;
            for (const Value& parameter : job["inputs"].items) {
                pass(parameter, [&](const Value&) {
                    const std::vector<char>& bytes = data[inputs.size()];
                    inputs.push_back(own(bytes.size()));
                    inputs.back()->Write(bytes.data(), bytes.size());
                    return inputs.back();
                });
            }
            for (const Value& parameter : job["outputs"].items) {
                pass(parameter, [&](const Value& output) {
                    const int64_t shared = output["in_place"].Signed(-1);
                    const bool in_place = shared >= 0 && static_cast<size_t>(shared) < inputs.size();
                    const Shared memory = in_place ? inputs[shared] : poisoned(output["bytes"].Unsigned());
                    Fill(*memory, output["bytes"].Unsigned(), Bytes(output["initial"].text));
                    if (copy == 0) {
                        prepared.outputs.push_back({memory, output["file"].text});
                    }
                    return memory;
                });
            }
            arguments.push_back(address(workspace));
            arguments.push_back(address(tiling));
            prepared.arguments.push_back(arguments);
        }
        return prepared;
    }

    // Fills memory with an element over and over; one of no bytes leaves it as it is.
    static void Fill(Memory& memory, size_t bytes, const std::vector<char>& element)
    {
        if (element.empty()) {
            return;
        }
        std::vector<char> filled(bytes);
        for (size_t at = 0; at < filled.size(); ++at) {
            filled[at] = element[at % element.size()];
        }
        memory.Write(filled.data(), filled.size());
    }

    static uint64_t SynchronisationAddress()
    {
        void* address = nullptr;
        if (const auto ask = Named<SyncAddress>("aclrtGetHardwareSyncAddr")) {
            Check(ask(&address), "asking for the address of the cores' flags");
            return reinterpret_cast<uint64_t>(address);
        }
        uint64_t control = 0;
        uint32_t length = 0;
        const auto ask = Named<ControlAddress>("rtGetC2cCtrlAddr");
        if (ask == nullptr || ask(&control, &length) != 0) {
            throw Refusal{"asking for the address of the cores' flags", 0, "this AscendCL does not tell it"};
        }
        return control;
    }

    void Launch(Prepared& job)
    {
        std::vector<uint64_t>& arguments = job.arguments[job.turn++ % job.arguments.size()];
        if (const auto launch = Named<LaunchArray>("aclrtLaunchKernelWithArgsArray")) {
            std::vector<void*> places;
            for (uint64_t& argument : arguments) {
                places.push_back(&argument);
            }
            Check(launch(job.function, job.blocks, stream_, nullptr, places.data()), "launching");
            return;
        }
        if (const auto launch = Named<LaunchConfig>("aclrtLaunchKernelWithConfig")) {
            void* list = nullptr;
            Check(Named<ArgsInit>("aclrtKernelArgsInit")(job.function, &list), "launching");
            for (uint64_t& argument : arguments) {
                void* parameter = nullptr;
                Check(Named<ArgsAppend>("aclrtKernelArgsAppend")(list, &argument, sizeof(argument), &parameter),
                      "launching");
            }
            Check(Named<ArgsFinalize>("aclrtKernelArgsFinalize")(list), "launching");
            Check(launch(job.function, job.blocks, stream_, nullptr, list, nullptr), "launching");
            return;
        }
        const size_t bytes = arguments.size() * sizeof(uint64_t);
        job.owned.push_back(std::make_shared<Memory>(bytes));
        job.owned.back()->Write(arguments.data(), bytes);
        Check(Named<LaunchPlain>("aclrtLaunchKernel")(job.function, job.blocks, job.owned.back()->Address(), bytes, stream_),
              "launching");
    }

    double Timed(Prepared& job, Memory* flushed, int32_t limit_ms)
    {
        if (flushed != nullptr) {
            Check(aclrtMemsetAsync(flushed->Address(), flushed->Bytes(), 0, flushed->Bytes(), stream_), "flushing the L2 cache");
        }
        Check(aclrtRecordEvent(begin_, stream_), "recording an event");
        Launch(job);
        Check(aclrtRecordEvent(end_, stream_), "recording an event");
        Wait(limit_ms);
        float elapsed_ms = 0;
        Check(aclrtEventElapsedTime(&elapsed_ms, begin_, end_), "reading events");
        return static_cast<double>(elapsed_ms) * 1e3;
    }

    std::string Run(const Value& request)
    {
        const int32_t limit_ms = static_cast<int32_t>(request["timeout_ms"].Unsigned());
        const size_t copies = std::max<size_t>(request["rotate"].Unsigned(1), 1);
        std::vector<Prepared> jobs;
        for (const Value& job : request["jobs"].items) {
            jobs.push_back(Prepare(job, copies));
        }
        // Outputs are those of the first launch: a kernel that works in place computes on its own results in the next one.
        for (Prepared& job : jobs) {
            Launch(job);
            Wait(limit_ms);
            for (const Prepared::Output& output : job.outputs) {
                if (!output.file.empty()) {
                    const std::vector<char> data = output.memory->Read();
                    std::ofstream file(output.file, std::ios::binary);
                    file.write(data.data(), static_cast<std::streamsize>(data.size()));
                    if (!file.flush()) {
                        throw std::runtime_error("cannot write " + output.file);
                    }
                }
            }
        }
        std::unique_ptr<Memory> flushed;
        if (const uint64_t bytes = request["flush_bytes"].Unsigned()) {
            flushed = std::make_unique<Memory>(bytes);
        }
        if (!request["order"].items.empty()) {
            WarmUp(jobs, request, limit_ms);
        }
        std::vector<std::string> times(jobs.size());
        for (const Value& place : request["order"].items) {
            const size_t job = place.Unsigned();
            if (job >= jobs.size()) {
                throw std::runtime_error("the order names a job that is not there");
            }
            char text[32];
            std::snprintf(text, sizeof(text), "%.4f", Timed(jobs[job], flushed.get(), limit_ms));
            times[job] += (times[job].empty() ? "" : ",") + std::string(text);
        }
        std::string answer = ",\"times_us\":[";
        for (size_t job = 0; job < times.size(); ++job) {
            answer += (job == 0 ? "[" : ",[") + times[job] + "]";
        }
        return answer + "]";
    }

    // At least so many launches, and at least so long: the clock of an idle chip is low.
    void WarmUp(std::vector<Prepared>& jobs, const Value& request, int32_t limit_ms)
    {
        const uint64_t launches = request["warm_up"].Unsigned();
        const auto from = std::chrono::steady_clock::now();
        const auto least = std::chrono::microseconds(request["warm_up_us"].Unsigned());
        for (uint64_t launch = 0; launch < launches || std::chrono::steady_clock::now() - from < least; ++launch) {
            Launch(jobs[launch % jobs.size()]);
            Wait(limit_ms);
        }
    }

    aclrtStream stream_ = nullptr;
    aclrtEvent begin_ = nullptr;
    aclrtEvent end_ = nullptr;
    std::map<std::string, Kernel> kernels_;
    std::vector<std::vector<char>> texts_;
};

void Say(const std::string& line)
{
    std::fputs((line + "\n").c_str(), stdout);
    std::fflush(stdout);
}

void SayRefusal(const std::string& stage, int code, const std::string& message)
{
    Say("{\"ok\":false,\"stage\":\"" + Escaped(stage) + "\",\"code\":" + std::to_string(code) + ",\"message\":\"" +
        Escaped(message) + "\"}");
}

}  // namespace

int main()
{
    std::unique_ptr<Server> server;
    std::string line;
    while (std::getline(std::cin, line)) {
        try {
            const Value request = Parser(line).Parse();
            if (!server) {
                server = std::make_unique<Server>();
            }
            Say("{\"ok\":true" + server->Answer(request) + "}");
        } catch (const Refusal& refusal) {
            SayRefusal(refusal.stage, refusal.code, refusal.message);
        } catch (const std::exception& error) {
            SayRefusal(error.what(), 0, "");
        }
    }
    // A device that hangs would keep destructors waiting; the runtime frees what a process held when it ends.
    std::_Exit(0);
}
