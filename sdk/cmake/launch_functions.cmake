# Functions of kernel-launch projects: libraries of kernels that a program of the project calls.
include_guard(GLOBAL)

function(ascendc_library target kind)
  if(NOT kind MATCHES "^(SHARED|STATIC|OBJECT)$")
    message(FATAL_ERROR "ascendc_library(${target}): ${kind} is not SHARED, STATIC or OBJECT")
  endif()
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE ASC)
  add_library(${target} ${kind} ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE ASC ASCEND_TUNE_ROLE kernel)
  target_include_directories(${target} PUBLIC "${ASCEND_TUNE_SDK}/include" "${CMAKE_BINARY_DIR}/include/${target}")
endfunction()

function(ascendc_fatbin_library target)
  ascendc_library(${target} SHARED ${ARGN})
endfunction()

function(ascendc_compile_definitions target scope)
  target_compile_definitions(${target} ${scope} ${ARGN})
endfunction()

function(ascendc_compile_options target scope)
  set(options ${ARGN})
  list(REMOVE_ITEM options -forward-options-to-host-compiler)
  if(options)
    target_compile_options(${target} ${scope} ${options})
  endif()
endfunction()

function(ascendc_include_directories target scope)
  target_include_directories(${target} ${scope} ${ARGN})
endfunction()
