// Numbers of the modules that write log lines.
#ifndef LOG_TYPES_H_
#define LOG_TYPES_H_

enum {
    SLOG = 0,
    IDEDD = 1,
    HCCL = 3,
    FMK = 4,
    RUNTIME = 8,
    TS = 10,
    DVPP = 16,
    APP = 33,
    PROFILING = 34,
    GE = 45,
    ASCENDCL = 48,
    TEFUSION = 60,
    OP = 63,
};

#endif
