# Place where the operator repositories look for the ASC package.
include("${CMAKE_CURRENT_LIST_DIR}/../../../cmake/asc-config.cmake")
