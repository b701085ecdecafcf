#include "files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "failure.h"

namespace runner {
namespace {
char g_nothing = 0; // address of the bytes of an empty file
} // namespace

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
{}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept
{
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile()
{
    if (data_ != nullptr && size_ > 0) {
        (void)::munmap(data_, size_);
    }
}

bool MappedFile::Open(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    struct stat info {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        const int error = errno == 0 ? EINVAL : errno;
        (void)::close(fd);
        errno = error;
        return false;
    }
    size_ = static_cast<size_t>(info.st_size);
    // Writable copy on write: tiling functions get non-const pointers and some use them.
    data_ = size_ == 0 ? &g_nothing : ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    const int error = errno;
    (void)::close(fd);
    if (data_ == MAP_FAILED) {
        data_ = nullptr;
        size_ = 0;
        errno = error;
        return false;
    }
    return true;
}

bool MappedFile::Reserve(size_t bytes)
{
    void* const data = bytes == 0 ? &g_nothing :
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        return false;
    }
    data_ = data;
    size_ = bytes;
    return true;
}

void WriteFileAtomically(const std::string& path, const void* data, size_t size)
{
    const std::string temporary = path + ".tmp" + std::to_string(::getpid());
    const auto fail = [&](const char* what) {
        const int error = errno;
        (void)::unlink(temporary.c_str());
        throw Failure(kExitMachine, std::string("cannot ") + what + " " + path + ": " + std::strerror(error));
    };
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        fail("create");
    }
    const char* next = static_cast<const char*>(data);
    size_t left = size;
    while (left > 0) {
        const ssize_t written = ::write(fd, next, left);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            (void)::close(fd);
            fail("write");
        }
        next += written;
        left -= static_cast<size_t>(written);
    }
    if (::close(fd) != 0) {
        fail("write");
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        fail("rename to");
    }
}

std::string ReadText(const std::string& path)
{
    MappedFile file;
    if (!file.Open(path)) {
        throw Failure(kExitBadJob, "cannot read job file " + path + ": " + std::strerror(errno));
    }
    return std::string(static_cast<const char*>(file.Data()), file.Size());
}
} // namespace runner
