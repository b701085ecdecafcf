// DropOut by bytes and bits, with rows of the mask padded or not.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kBytes = 16384;

template <typename T>
A::LocalTensor<T> At(uint32_t slot, uint32_t bytes = kBytes)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * kBytes, bytes / sizeof(T));
}
template <typename T>
T* Raw(uint32_t slot)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + slot * kBytes);
}

/// `perElement` bits of the mask belong to an element; a row of the mask has `maskRow` bytes.
template <typename T, uint32_t mode>
void Case(const char* what, uint32_t rows, uint32_t columns, uint32_t maskRow, uint32_t perElement, uint32_t temporary)
{
    Random random(rows * columns);
    for (uint32_t i = 0; i < rows * columns; ++i) {
        Raw<T>(1)[i] = static_cast<T>(static_cast<float>(random.Real(-9, 9)));
    }
    Raw<T>(1)[1] = static_cast<T>(NAN);
    std::memset(Raw<uint8_t>(2), 0, kBytes);
    std::vector<bool> kept(rows * columns);
    const bool padded = maskRow * 8 / perElement != columns;
    for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t c = 0; c < columns; ++c) {
            const bool keep = random.Below(3) != 0 && row * columns + c != 1;
            kept[row * columns + c] = keep;
            const uint32_t at = (padded ? row * maskRow * 8 / perElement : row * columns) + c;
            if (perElement == 8) {
                Raw<uint8_t>(2)[at] = keep;
            } else if (keep) {
                Raw<uint8_t>(2)[at / 8] = static_cast<uint8_t>(Raw<uint8_t>(2)[at / 8] | 1u << at % 8);
            }
        }
    }
    std::vector<T> source(Raw<T>(1), Raw<T>(1) + rows * columns);
    const A::DropOutShapeInfo info = {rows, columns, maskRow};
    const auto check = [&](uint32_t slot) {
        for (uint32_t i = 0; i < rows * columns; ++i) {
            const float want = kept[i] ? static_cast<float>(source[i]) * 1.25f : 0.0f;
            const float got = static_cast<float>(Raw<T>(slot)[i]);
            Expect(std::fabs(got - want) <= (sizeof(T) == 2 ? 2e-3f : 1e-6f) * std::fabs(want), std::string(what) + " at " + std::to_string(i));
        }
    };
    A::DropOut<T, false, mode>(At<T>(0), At<T>(1), At<uint8_t>(2), At<uint8_t>(3, temporary), 0.8f, info);
    check(0);
    A::DropOut<T>(At<T>(1), At<T>(1), At<uint8_t>(2), At<uint8_t>(3, temporary), 0.8f, info);
    check(1);
}

template <typename T>
void All()
{
    Case<T, A::DROPOUT_MODE_BYTE_ALIGN>("DropOut by bytes", 5, 64, 64, 8, 512);
    Case<T, A::DROPOUT_MODE_BYTE_MISALIGN>("DropOut by bytes of padded rows", 5, 48, 64, 8, 4096);
    Case<T, A::DROPOUT_MODE_BIT_ALIGN>("DropOut by bits", 3, 256, 32, 1, 512);
    Case<T, A::DROPOUT_MODE_BIT_MISALIGN>("DropOut by bits of padded rows", 7, 80, 32, 1, 512);
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    OnCore([] {
        All<half>();
        All<float>();
    });
    // Padded rows fill whole blocks, those of the mask as well as those of the values.
    const auto refused = [](uint32_t columns, uint32_t maskRow) {
        const auto result = OnCore([&] {
            A::DropOut<half, false, A::DROPOUT_MODE_BYTE_MISALIGN>(At<half>(0), At<half>(1), At<uint8_t>(2), At<uint8_t>(3), 0.8f, {4, columns, maskRow});
        });
        return result.first_fault.rfind("misaligned: DropOut", 0) == 0;
    };
    Expect(refused(48, 48) && refused(40, 64) && !refused(48, 64), "DropOut of rows that do not fill blocks");
    return Report("api_dropout");
}
