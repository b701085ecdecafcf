# Module of kernel-launch projects: ascendc_library and its helpers, on top of the language ASC.
include("${CMAKE_CURRENT_LIST_DIR}/asc-config.cmake")
get_property(_ascend_tune_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT "ASC" IN_LIST _ascend_tune_languages)
  enable_language(ASC)
endif()
