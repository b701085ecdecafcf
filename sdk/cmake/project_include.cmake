# Given to CMake as CMAKE_PROJECT_INCLUDE by the tuner, so it runs right after project(). Classic operator projects bring
# their own copies of the packaging functions; wrapping include() lets ours come after them and win.
include("${CMAKE_CURRENT_LIST_DIR}/ascend_tune_variables.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/ascend_tune_targets.cmake")

if(NOT COMMAND _ascend_tune_includes_are_wrapped)
  function(_ascend_tune_includes_are_wrapped)
  endfunction()
  macro(include)
    if("${ARGV0}" MATCHES "(^|/)cmake/(config|func|intf)\\.cmake$" AND NOT "${ARGV0}" MATCHES "ascendc_kernel_cmake")
      # The generator of such projects writes these beside the sources, where many a repository does not keep them.
      get_filename_component(_ascend_tune_module "${ARGV0}" ABSOLUTE)
      if(EXISTS "${_ascend_tune_module}")
        _include(${ARGV})
      endif()
      _include("${ASCEND_TUNE_CMAKE_DIR}/ascend_tune_variables.cmake")
      _include("${ASCEND_TUNE_CMAKE_DIR}/msopgen_functions.cmake")
    else()
      _include(${ARGV})
    endif()
  endmacro()
endif()
