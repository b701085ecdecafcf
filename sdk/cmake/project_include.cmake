# Given to CMake as CMAKE_PROJECT_INCLUDE by the tuner, so it runs right after project(). Classic operator projects bring
# their own copies of the packaging functions; wrapping include() lets ours come after them and win.
include("${CMAKE_CURRENT_LIST_DIR}/ascend_tune_variables.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/ascend_tune_targets.cmake")

if(NOT COMMAND _ascend_tune_includes_are_wrapped)
  function(_ascend_tune_includes_are_wrapped)
  endfunction()
  macro(include)
    _include(${ARGV})
    if("${ARGV0}" MATCHES "(^|/)cmake/(config|func|intf)\\.cmake$" AND NOT "${ARGV0}" MATCHES "ascendc_kernel_cmake")
      _include("${ASCEND_TUNE_CMAKE_DIR}/ascend_tune_variables.cmake")
      _include("${ASCEND_TUNE_CMAKE_DIR}/msopgen_functions.cmake")
    endif()
  endmacro()
endif()
