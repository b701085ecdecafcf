# Functions of the project: generated code, kernel objects, the package.

# Compiles all host sources into one library and has op_build read their definitions; now, not when building.
function(opbuild)
  cmake_parse_arguments(arg "" "OUT_DIR" "OPS_SRC" ${ARGN})
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -g -fPIC -shared -std=c++17 ${arg_OPS_SRC} -D_GLIBCXX_USE_CXX11_ABI=1
            -I ${ASCEND_CANN_PACKAGE_PATH}/include -L ${ASCEND_CANN_PACKAGE_PATH}/lib64 -lexe_graph -lregister -ltiling_api
            -o ${arg_OUT_DIR}/libascend_all_ops.so
    RESULT_VARIABLE status OUTPUT_VARIABLE info ERROR_VARIABLE error)
  if(status)
    message("build ops lib info: ${info}")
    message("build ops lib error: ${error}")
    message(FATAL_ERROR "opbuild run failed!")
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${ASCEND_CANN_PACKAGE_PATH}/lib64 ${OP_BUILD}
            ${arg_OUT_DIR}/libascend_all_ops.so ${arg_OUT_DIR}
    RESULT_VARIABLE status OUTPUT_VARIABLE info ERROR_VARIABLE error)
  if(status)
    message("opbuild ops info: ${info}")
    message("opbuild ops error: ${error}")
    message(FATAL_ERROR "opbuild run failed!")
  endif()
endfunction()

# Kernel objects of one compute unit: a script and a target for each dtype variant of each operator.
function(add_bin_compile_targets unit)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/binary/${unit})
  set(ini ${ASCEND_AUTOGEN_PATH}/aic-${unit}-ops-info.ini)
  file(MAKE_DIRECTORY ${out}/gen ${out}/src ${out}/bin)
  add_custom_target(ascendc_bin_${unit})
  add_custom_target(ascendc_bin_${unit}_gen_ops_config
    COMMAND ${CMAKE_COMMAND} -E make_directory ${out}/bin/config
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/bin/config/binary_info_config.json)
  if(NOT EXISTS ${ini})
    return()
  endif()
  file(STRINGS ${ini} lines)
  foreach(line IN LISTS lines)
    if(line MATCHES "^\\[(.+)\\]$")
      set(op_type ${CMAKE_MATCH_1})
      set(variants 0)
    elseif(line MATCHES "^input0.dtype=(.*)$")
      string(REPLACE "," ";" dtypes "${CMAKE_MATCH_1}")
      list(LENGTH dtypes variants)
    elseif(line MATCHES "^opFile.value=(.*)$")
      set(op_file ${CMAKE_MATCH_1})
      set(source ${CMAKE_BINARY_DIR}/op_kernel/tbe/dynamic/${op_file}.cpp)
      add_custom_target(ascendc_bin_${unit}_${op_file}_copy
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/op_kernel/tbe/dynamic
        COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_BINARY_DIR}/op_kernel/tbe/dynamic/${op_file}.py ${out}/src/${op_type}.py)
      add_dependencies(ascendc_bin_${unit}_${op_file}_copy ascendc_impl_gen)
      math(EXPR last "${variants} - 1")
      foreach(index RANGE ${last})
        set(script ${out}/gen/${op_type}-${op_file}-${index}.sh)
        file(WRITE ${script} "#!/bin/sh
echo \"[${unit}] Generating ${op_type} variant ${index} ...\"
test -n \"$HI_PYTHON\" || { echo 'HI_PYTHON is not set'; exit 1; }
grep -q '${op_file}.cpp' \"$1\" || { echo \"$1 names no kernel\"; exit 1; }
exec '${OPC}' '${source}' --op='${ASCEND_AUTOGEN_PATH}/${op_file}.op.json' --main_func=${op_file} --index=${index} \\
    --output=\"$2\" ${ARGN}
")
        add_custom_target(ascendc_bin_${unit}_${op_file}_${index}
          COMMAND ${CMAKE_COMMAND} -E env HI_PYTHON=${ASCEND_PYTHON_EXECUTABLE} sh ${script} ${out}/src/${op_type}.py ${out}/bin/${op_file})
        add_dependencies(ascendc_bin_${unit}_${op_file}_${index} ascendc_bin_${unit}_${op_file}_copy)
        add_dependencies(ascendc_bin_${unit} ascendc_bin_${unit}_${op_file}_${index})
      endforeach()
    endif()
  endforeach()
  add_dependencies(ascendc_bin_${unit} ascendc_bin_${unit}_gen_ops_config)
endfunction()

# The self-extracting package.
function(add_package_target)
  set(run custom_opp_${ASCEND_OS}_${ASCEND_ARCH}.run)
  string(REPLACE ";" "," units "${ASCEND_COMPUTE_UNIT}")
  add_custom_target(package
    COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/package.sh ${CMAKE_BINARY_DIR} ${vendor_name} ${ASCEND_ARCH} ${units} ${run}
            ${CMAKE_SOURCE_DIR} ${ASCEND_CANN_PACKAGE_PATH})
  add_dependencies(package cust_optiling optiling_compat cust_op_proto cust_opapi ascendc_impl_gen npu_supported_ops)
  if(TARGET cust_tf_parsers)
    add_dependencies(package cust_tf_parsers)
  endif()
endfunction()
