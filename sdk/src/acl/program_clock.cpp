// The clock of simulated programs begins at the same time in every run: data that a program draws by it are the same, so that what two
// runs compute can be compared.
#include <chrono>
#include <ctime>

extern "C" time_t time(time_t* out) noexcept
{
    constexpr time_t kFirst = 1767225600; // the first second of 2026
    static const auto start = std::chrono::steady_clock::now();
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    const time_t now = kFirst + static_cast<time_t>(passed.count());
    if (out != nullptr) {
        *out = now;
    }
    return now;
}
