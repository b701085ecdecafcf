// The stand-in's devices: where its tree is, what its knobs say, and what a launch does beside computing.
#ifndef STANDIN_H
#define STANDIN_H

#include <cstdint>
#include <string>
#include <vector>

namespace standin {

// A knob of the file `standin/knobs` in the tree; it is read anew each time, as tests turn knobs while programs run.
std::string Knob(const std::string& name, const std::string& fallback);
double Number(const std::string& name, double fallback);
// Path below the folder of the tree that is the stand-in's own.
std::string Own(const std::string& path);

// Physical device that a program's logical one is; -1 where there is none.
int Physical(int32_t logical);
uint32_t Devices();
bool Dead(int physical);
// Bytes appended to a file; what its size was before. Counts across processes.
uint64_t Count(const std::string& file);

struct Launched {
    std::string kernel;
    uint32_t blocks = 0;
    uint64_t key = 0;
    std::string kind;   // aiv, aic, ...
    std::string digest; // of what decides about the time; empty if that is not known
};

// How a launch ended: 0, or the error that waiting for it gives.
struct Outcome {
    int error = 0;
    bool hangs = false;
    double us = 0; // time of the task, where it was wanted
};

// Runs a launch by `run` once, or several times where a profiler asks for it, and finds its time.
Outcome Perform(int physical, const Launched& launched, bool timed, void (*run)(void*), void* argument);

uint64_t Hash(const void* data, size_t bytes, uint64_t seed = 0xCBF29CE484222325ULL);

} // namespace standin

#endif
