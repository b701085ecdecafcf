// File access of the runner.
#ifndef ASCEND_SDK_RUNNER_FILES_H
#define ASCEND_SDK_RUNNER_FILES_H

#include <cstddef>
#include <string>

namespace runner {
// Bytes of a file in memory, read-only, private to the process; or only their addresses.
class MappedFile {
public:
    MappedFile() = default;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    // False when the file cannot be opened or mapped; errno says why.
    bool Open(const std::string& path);
    // Addresses for that many bytes without content: touching them is a fault of the processor. False when there are none.
    bool Reserve(size_t bytes);
    bool Holds(const void* address) const
    {
        const char* const at = static_cast<const char*>(address);
        return at >= static_cast<const char*>(data_) && at < static_cast<const char*>(data_) + size_;
    }
    const void* Data() const
    {
        return data_;
    }
    size_t Size() const
    {
        return size_;
    }

private:
    void* data_ = nullptr;
    size_t size_ = 0;
};

// Writes to a temporary name in the same directory and renames, so that readers see the old file or the whole new one.
// Throws Failure (bad job) when that is not possible.
void WriteFileAtomically(const std::string& path, const void* data, size_t size);

// Reads a small text file. Throws Failure (bad job) when that is not possible.
std::string ReadText(const std::string& path);
} // namespace runner

#endif
