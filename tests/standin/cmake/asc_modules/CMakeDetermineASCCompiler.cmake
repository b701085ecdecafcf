# Finds the compiler of the language ASC.
if(NOT EXISTS "${CMAKE_ASC_COMPILER}")
  set(CMAKE_ASC_COMPILER "$ENV{ASCEND_HOME_PATH}/compiler/ccec_compiler/bin/bisheng")
endif()
set(CMAKE_ASC_COMPILER_ENV_VAR ASC)
set(CMAKE_ASC_SOURCE_FILE_EXTENSIONS asc)
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in" "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake" @ONLY)
