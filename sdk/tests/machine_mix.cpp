// Launches on cores of both kinds: who runs, flags between cores, polling, deadlocks, data of a core's own.
#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "ascendsim/launch.h"
#include "isa_support.h"

using namespace isa_test;
using ascendsim::KernelType;

namespace {

const char* const kTracePath = "machine_mix.trace";

struct Run {
    Trace trace;
    ascendsim::LaunchResult result;
};

Run Launch(KernelType type, uint32_t blocks, Callee<void()> body)
{
    ascendsim::OpenTrace(kTracePath);
    ascendsim::LaunchInfo info;
    info.kernel = "mix";
    info.type = type;
    info.block_dim = blocks;
    Run run;
    run.result = ascendsim::RunLaunch(
        info, [](void* raw) { (*static_cast<Callee<void()>*>(raw))(); }, &body);
    Expect(ascendsim::CloseTrace(), "closing the trace");
    run.trace = ReadTrace(kTracePath);
    return run;
}

bool Aic() { return ascendsim::OnCubeCore(); }
void Set(pipe_t pipe, uint64_t mode, uint64_t id) { ffts_cross_core_sync(pipe, 1 | mode << 4 | id << 8); }

void TestIdentity()
{
    struct Kind {
        KernelType type;
        const char* name;
        std::vector<std::string> cores;
        std::set<uint32_t> numbers;
    };
    const Kind kinds[] = {
        {KernelType::kAiv, "aiv", {"V0.0/1", "V1.0/1"}, {0, 1}},
        {KernelType::kAic, "aic", {"C0.0/1", "C1.0/1"}, {0, 1}},
        {KernelType::kMix10, "mix_1_0", {"C0.0/1", "C1.0/1"}, {0, 3}},
        {KernelType::kMix11, "mix_1_1", {"C0.0/1", "V0.0/1", "C1.0/1", "V1.0/1"}, {0, 1, 3, 4}},
        {KernelType::kMix12, "mix_1_2", {"C0.0/2", "V0.0/2", "V0.1/2", "C1.0/2", "V1.0/2", "V1.1/2"}, {0, 1, 2, 3, 4, 5}},
    };
    for (const Kind& kind : kinds) {
        std::vector<std::string> cores;
        const Run run = Launch(kind.type, 2, [&] {
            Expect(get_block_num() == 2, "blocks of the launch");
            cores.push_back((Aic() ? "C" : "V") + std::to_string(get_block_idx()) + "." + std::to_string(get_subblockid()) +
                            "/" + std::to_string(get_subblockdim()));
        });
        std::set<uint32_t> numbers;
        for (const Record& record : run.trace.records) numbers.insert(record.core);
        Expect(cores == kind.cores && numbers == kind.numbers, std::string("cores of ") + kind.name);
        Expect(run.trace.launch.find(std::string("kernel_type=") + kind.name + "\n") != std::string::npos, kind.name);
    }
}

void TestPairs()
{
    // The cube core hands three tiles to its vector cores; they hand each back; what is read must be what was written.
    auto* memory = static_cast<int32_t*>(ascendsim::AllocateRegion(4096, ascendsim::RegionRole::kWorkspace, 0));
    std::vector<std::string> wrong;
    const Run run = Launch(KernelType::kMix12, 3, [&] {
        int32_t* mine = memory + get_block_idx() * 64;
        for (int tile = 0; tile < 3; ++tile) {
            if (Aic()) {
                if (tile > 0) {
                    wait_flag_dev(4);
                    if (mine[1] != tile || mine[2] != tile) wrong.push_back("AIC went on early");
                }
                mine[0] = 100 + tile;
                Set(PIPE_FIX, 2, 3);
            } else {
                wait_flag_dev(3);
                if (mine[0] != 100 + tile) wrong.push_back("AIV went on early");
                mine[1 + get_subblockid()] = tile + 1;
                // The first vector core is slower: its partner must not be able to stand in for it.
                Set(PIPE_MTE3, 1, 7);
                wait_flag_dev(7);
                if (mine[1] != tile + 1 || mine[2] != tile + 1) wrong.push_back("an AIV left its partner behind");
                Set(PIPE_MTE3, 2, 4);
            }
        }
        if (Aic()) wait_flag_dev(4);
    });
    Expect(run.result.completed && run.result.faults == 0, "pairs: " + run.result.first_fault);
    Expect(wrong.empty(), wrong.empty() ? "" : wrong[0]);
    const Record* set = run.trace.First("set_cross_flag");
    Expect(set != nullptr && set->head.pipe == 6 && set->head.aux0 == 3 && set->head.aux1 == 2 && set->core == 0, "set record");
    ascendsim::ClearRegions();
}

void TestAll()
{
    int vectors = 0;
    int cubes = 0;
    bool early = false;
    const Run kinds = Launch(KernelType::kMix12, 4, [&] {
        (Aic() ? cubes : vectors) += 1;
        Set(Aic() ? PIPE_FIX : PIPE_MTE3, 0, 1);
        wait_flag_dev(1);
        early = early || (Aic() ? cubes != 4 : vectors != 8);
    });
    Expect(kinds.result.completed && !early, "mode 0 waits for all cores of the kind");

    int came = 0;
    early = false;
    const Run both = Launch(KernelType::kMix12, 4, [&] {
        ++came;
        ascendsim::SyncAll(true);
        early = early || came != 12;
    });
    Expect(both.result.completed && !early && both.trace.First("sync_all")->head.aux1 == 1, "SyncAll of both kinds");

    came = 0;
    early = false;
    const Run own = Launch(KernelType::kMix12, 4, [&] {
        if (Aic()) return;
        ++came;
        ascendsim::SyncAll();
        early = early || came != 8;
    });
    Expect(own.result.completed && !early, "SyncAll of the vector cores does not need the cube cores");

    const Run crowd = Launch(KernelType::kMix12, 25, [] { ascendsim::SyncAll(true); });
    Expect(!crowd.result.completed && crowd.result.first_fault.find("25 blocks on 24") != std::string::npos, "crowd");
}

void TestDeadlocks()
{
    const auto fault = [](KernelType type, Callee<void()> body) {
        return Launch(type, 2, body).result.first_fault;
    };
    const std::string nobody = fault(KernelType::kMix12, [] { if (Aic()) wait_flag_dev(2); });
    Expect(nobody == "deadlock: block 0 AIC waits for ever in a wait for cross-core flag 2: no core sets it for this one", nobody);
    const std::string half = fault(KernelType::kMix12, [] {
        if (Aic()) wait_flag_dev(2);
        else if (get_subblockid() == 0) Set(PIPE_MTE3, 2, 2);
    });
    Expect(half.find("block 0 AIV1 has set it 0 times and others 1 (mode 2)") != std::string::npos, half);
    const std::string twice = fault(KernelType::kMix11, [] {
        if (Aic()) { Set(PIPE_FIX, 2, 9); return; }
        wait_flag_dev(9);
        wait_flag_dev(9);
    });
    Expect(twice.find("block 0 AIV0") != std::string::npos && twice.find("has been waited for") != std::string::npos, twice);
    const std::string sync = fault(KernelType::kMix12, [] { if (!Aic() || get_block_idx() == 0) ascendsim::SyncAll(true); });
    Expect(sync.find("block 1 AIC does not reach it") != std::string::npos, sync);
    const std::string many = fault(KernelType::kMix11, [] { for (int i = 0; Aic() && i < 16; ++i) Set(PIPE_FIX, 2, 1); });
    Expect(many.find("flag_misuse") == 0, many);
}

void TestPolling()
{
    auto* memory = static_cast<uint32_t*>(ascendsim::AllocateRegion(512, ascendsim::RegionRole::kWorkspace, 0));
    for (const int way : {0, 1, 2}) {
        std::fill(memory, memory + 128, 0);
        const auto poll = [&] {
            if (way == 0) {
                dcci(memory, SINGLE_CACHE_LINE);
                return *static_cast<volatile uint32_t*>(memory);
            }
            if (way == 1) return ld_dev(memory, 0);
            copy_gm_to_ubuf(ascendsim::UbBase(), memory, 0, 1, 1, 0, 0);
            return *reinterpret_cast<volatile uint32_t*>(ascendsim::UbBase());
        };
        const Run met = Launch(KernelType::kMix11, 3, [&] {
            if (get_block_idx() == 2 && !Aic()) st_dev(uint32_t{5}, memory, 0);
            while (poll() != 5) {}
        });
        Expect(met.result.completed, "polling goes on when the last core writes, way " + std::to_string(way));
        std::fill(memory, memory + 128, 0);
        const Run never = Launch(KernelType::kMix11, 2, [&] { while (poll() != 5) {} });
        Expect(!never.result.completed && never.result.first_fault.find("polls memory") != std::string::npos,
               "polling that nobody ends, way " + std::to_string(way));
    }
    // A loop over two queues, however far apart, is one that polls.
    auto* queues = static_cast<uint32_t*>(ascendsim::AllocateRegion(1 << 15, ascendsim::RegionRole::kWorkspace, 0));
    for (const size_t from : {0x100, 0x200}) {
        for (size_t step = 64; step <= 0x4000; step *= 2) {
            std::fill(queues, queues + (1 << 13), 0);
            uint32_t* const first = queues + from / 4;
            const Run two = Launch(KernelType::kMix11, 1, [&] {
                if (!Aic()) st_dev(uint32_t{5}, first + step / 4, 0);
                while (Aic() && ld_dev(first, 0) != 5 && ld_dev(first + step / 4, 0) != 5) {}
            });
            Expect(two.result.completed, "polling of two places " + std::to_string(step) + " bytes apart");
            const Run neither = Launch(KernelType::kMix11, 1, [&] {
                while (Aic() && ld_dev(first, 0) != 6 && ld_dev(first + step / 4, 0) != 6) {}
            });
            Expect(neither.result.first_fault.find("polls memory") != std::string::npos, "polling of two places");
        }
    }
    // Reading the same bytes often is no deadlock when the loop ends by itself.
    const Run busy = Launch(KernelType::kAiv, 2, [&] { for (int i = 0; i < 60000; ++i) (void)ld_dev(memory, 0); });
    Expect(busy.result.completed, "a long loop of reads");
    ascendsim::ClearRegions();
}

void TestOnChip()
{
    std::set<const uint8_t*> bases;
    const Run run = Launch(KernelType::kMix11, 1, [&] {
        const size_t sizes[] = {0, 0, 524288, 65536, 65536, 131072, 1024, 7168};
        for (uint32_t space = 2; space < 8; ++space) {
            bases.insert(ascendsim::OnChipBase(space));
            Expect(ascendsim::OnChipSize(space) == sizes[space], "size of memory " + std::to_string(space));
        }
        if (!Aic()) return;
        Expect(ascendsim::OnChipBase(5)[131071] == 0xCD, "poison");
        Expect(ascendsim::ScalarRead(ascendsim::OnChipBase(2) + 64, 8), "L1 is there");
        Expect(!ascendsim::ScalarRead(ascendsim::OnChipBase(3) + 65528, 16), "end of L0A");
    });
    Expect(bases.size() == 6 || bases.size() == 12, "each memory has a place of its own");
    const Record* scalar = run.trace.First("scalar");
    Expect(scalar != nullptr && scalar->ops[0].space == 2 && scalar->ops[0].addr == 64, "space of a scalar access");
    Expect(run.result.first_fault.find("out_of_bounds_on_chip") == 0, run.result.first_fault);
}

// A kernel library with globals of its own, built here.
using Bump = int (*)(int);
Bump LoadLibrary()
{
    std::ofstream("machine_mix_kernel.cpp") << R"(
static int counter = 7;
static int zero[300];
struct Holder { int* where = &counter; };
static Holder holder;
static const char* const names[] = {"a", "b"};
extern "C" int bump(int by) { *holder.where += by; zero[by] += by; return counter + zero[by] * 100 + (names[0][0] - 'a'); }
)";
    if (std::system("${CXX:-c++} -std=c++17 -O1 -fPIC -shared machine_mix_kernel.cpp -o machine_mix_kernel.so") != 0) {
        return nullptr;
    }
    void* const library = ::dlopen("./machine_mix_kernel.so", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Bump>(::dlsym(library, "bump"));
}

int g_shared = 0;

void TestLocalData()
{
    const Bump bump = LoadLibrary();
    if (bump == nullptr) {
        Fail("building a library with globals");
        return;
    }
    const auto values = [&](KernelType type, uint32_t blocks, bool pause) {
        std::vector<int> seen;
        Launch(type, blocks, [&] {
            const int by = static_cast<int>(get_block_idx()) + 1;
            bump(by);
            if (pause) ascendsim::SyncAll(true);
            ++g_shared;
            seen.push_back(bump(by));
        });
        std::sort(seen.begin(), seen.end());
        return seen;
    };
    Expect(values(KernelType::kAiv, 2, false) != std::vector<int>({209, 411}), "globals are shared without a registration");
    const int before = bump(0);
    ascendsim::AddKernelModule(reinterpret_cast<const void*>(bump));
    ascendsim::AddKernelModule(reinterpret_cast<const void*>(bump));
    const int base = before - 7;
    const std::vector<int> expected = {209 + base, 411 + base};
    for (const bool pause : {false, true}) {
        std::vector<int> found = values(KernelType::kAiv, 2, pause);
        // What ran before the registration is part of the initial state.
        Expect(found.size() == 2 && found[1] - found[0] == found.back() - found.front(), "two cores");
        const std::vector<int> again = values(KernelType::kAiv, 2, pause);
        Expect(found == again, "every launch begins with the same state");
        Expect(values(KernelType::kMix12, 1, pause) == std::vector<int>({found[0], found[0], found[0]}),
               "cores of a group do not see each other's globals");
    }
    Expect(bump(0) == before, "the state outside launches is kept");
    g_shared = 0;
    values(KernelType::kMix12, 2, true);
    Expect(g_shared == 6, "globals of other modules are shared");
}

int g_own = 3;
int Own(int by) { return g_own += by; }

void TestDirect()
{
    // As the compiler driver gives it to programs with such kernels.
    const char* const kinds = "other=aic;both=mix_1_2;";
    std::vector<std::pair<bool, int>> seen;
    struct Bound {
        std::vector<std::pair<bool, int>>* seen;
    } bound = {&seen};
    const auto kernel = [](void* raw) { static_cast<Bound*>(raw)->seen->push_back({Aic(), Own(1)}); };
    ascendsim::RunBlocks("both", kinds, 2, kernel, &bound);
    const std::vector<std::pair<bool, int>> expected = {{true, 4}, {false, 4}, {false, 4}, {true, 4}, {false, 4}, {false, 4}};
    Expect(seen == expected, "a mixed direct launch runs on cores of both kinds, each with its own globals");
    seen.clear();
    ascendsim::RunBlocks("other", kinds, 1, kernel, &bound);
    ascendsim::RunBlocks("bot", kinds, 1, kernel, &bound);
    Expect(seen == std::vector<std::pair<bool, int>>({{true, 4}, {false, 4}}), "cube kernel, and one that is not named");
    ascendsim::CompiledFor(false);
    seen.clear();
    ascendsim::RunBlocks("both", kinds, 1, kernel, &bound);
    Expect(seen.empty() && ascendsim::LastLaunch().first_fault.find("unsupported: ") == 0, "both kinds from code for one");
    ascendsim::RunBlocks("bot", kinds, 1, kernel, &bound);
    Expect(seen.size() == 1, "the kind that the code is for");
    Expect(g_own == 3, "what kernels do to globals stays on their cores");
}

struct Seen {
    std::vector<const uint8_t*> bases;
};

void TestCallback()
{
    Seen seen;
    static Seen* where = nullptr;
    where = &seen;
    ascend_sim_on_core([](void*) { if (where != nullptr) where->bases.push_back(ascendsim::UbBase()); }, nullptr);
    bool right = true;
    Launch(KernelType::kMix11, 1, [&] {
        right = right && seen.bases.back() == ascendsim::UbBase();
        ascendsim::SyncAll(true);
        right = right && seen.bases.back() == ascendsim::UbBase();
    });
    Expect(right && seen.bases.size() >= 3, "the callback runs on the core that goes on");
    where = nullptr;
}

}  // namespace

int main()
{
    TestIdentity();
    TestPairs();
    TestAll();
    TestDeadlocks();
    TestPolling();
    TestOnChip();
    TestLocalData();
    TestCallback();
    TestDirect();
    for (const char* file : {kTracePath, "machine_mix_kernel.cpp", "machine_mix_kernel.so"}) std::remove(file);
    return Report("machine_mix");
}
