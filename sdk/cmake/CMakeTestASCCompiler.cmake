# The driver belongs to this SDK: there is nothing to find out by compiling.
set(CMAKE_ASC_COMPILER_WORKS 1 CACHE INTERNAL "")
