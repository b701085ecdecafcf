// Part of the library of a build with several faults in it: see selectable.h.
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
int fault_on = -1;
unsigned char* faults_reached = nullptr;
}

// Before all initial values, which faults may be in.
__attribute__((constructor(101))) static void Select()
{
    const size_t most = 1 << 16;
    if (const char* number = getenv("FAULT_ON")) {
        fault_on = atoi(number);
    }
    if (const char* path = getenv("FAULTS_REACHED")) {
        const int file = open(path, O_RDWR | O_CREAT, 0644);
        if (file < 0 || ftruncate(file, most) != 0) {
            abort();
        }
        // Shared, so that what children of a program reach counts.
        faults_reached = static_cast<unsigned char*>(mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        close(file);
    }
}
