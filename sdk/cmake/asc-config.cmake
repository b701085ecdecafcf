# find_package(ASC): the language ASC, the packaging functions and the kernel-launch functions.
# It may come before project(), so nothing here makes a target or asks for the system.
include("${CMAKE_CURRENT_LIST_DIR}/ascend_tune_variables.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/ascend_tune_targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/package_functions.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/launch_functions.cmake")

if(NOT ASCEND_TUNE_CMAKE_DIR IN_LIST CMAKE_MODULE_PATH)
  list(APPEND CMAKE_MODULE_PATH "${ASCEND_TUNE_CMAKE_DIR}")
endif()
set(ASC_FOUND TRUE)
set(ASC_VERSION "9.1.0")
