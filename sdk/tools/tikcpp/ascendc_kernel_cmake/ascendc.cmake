# Place where kernel-launch projects look for the module; the functions live in the SDK's cmake folder.
include("${CMAKE_CURRENT_LIST_DIR}/../../../cmake/ascendc.cmake")
