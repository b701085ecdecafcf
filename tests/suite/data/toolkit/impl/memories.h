// On-chip memories as CPU-debug headers keep them: allocated here, freed when the library goes.
#ifndef MEMORIES_H
#define MEMORIES_H

extern int32_t g_coreType;

namespace AscendC {

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF };

class ConstDefiner {
public:
    static ConstDefiner& Instance()
    {
        static ConstDefiner instance;
        return instance;
    }

    uint8_t* cpuUB = new uint8_t[196608];
    uint8_t* cpuL1 = new uint8_t[524288];
    uint8_t* cpuL0A = new uint8_t[65536];
    uint8_t* cpuL0B = new uint8_t[65536];
    uint8_t* cpuL0C = new uint8_t[131072];
    uint8_t* cpuBIAS = new uint8_t[1024];
    uint8_t* cpuFIXBUF = new uint8_t[2048];
    std::map<Hardware, uint8_t*> hardwareCpuBufferMap = {{Hardware::UB, cpuUB}};

private:
    ConstDefiner() = default;
    ~ConstDefiner()
    {
        for (uint8_t* memory : {cpuUB, cpuL1, cpuL0A, cpuL0B, cpuL0C, cpuBIAS, cpuFIXBUF}) {
            delete[] memory;
        }
    }
};

/// The headers of a toolkit fill the memories where a kernel's pipe is made.
__attribute__((noinline)) inline void FillMemories()
{
    auto* words = reinterpret_cast<int32_t*>(ConstDefiner::Instance().hardwareCpuBufferMap.at(Hardware::UB));
    std::default_random_engine random;
    for (uint32_t i = 0; i < 196608 / sizeof(int32_t); i++) {
        words[i] = static_cast<int32_t>(random());
    }
}

}  // namespace AscendC

#endif
