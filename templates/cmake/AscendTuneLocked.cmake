# Written by `cargo ascend-tune init --cmake`; the preset `ascend-tune` includes it at the first project(). Cache entries that are tunables
# have their locked values from there on, in a project that says nothing of it; what somebody gives with -D stays.
#
#   ASCEND_TUNE_LOCKS   locks, from the top of the sources
#   ASCEND_TUNE_STALE   what a stale lock does: ERROR (the default), WARNING or IGNORE

include_guard(GLOBAL)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_package(AscendTune REQUIRED)
set(_ascend_tune_stale "")
# IGNORE is one of CMake's words for false.
if(NOT "${ASCEND_TUNE_STALE}" STREQUAL "")
    set(_ascend_tune_stale STALE "${ASCEND_TUNE_STALE}")
endif()
foreach(_ascend_tune_lock IN LISTS ASCEND_TUNE_LOCKS)
    get_filename_component(_ascend_tune_lock "${_ascend_tune_lock}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
    if(EXISTS "${_ascend_tune_lock}")
        ascend_tune_entries(LOCK "${_ascend_tune_lock}" ${_ascend_tune_stale})
    else()
        # An operator that nobody has tuned yet is built as it stands.
        message(STATUS "AscendTune: ${_ascend_tune_lock} is not there yet")
    endif()
endforeach()
