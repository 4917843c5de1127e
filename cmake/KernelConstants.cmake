# hearth_kernel_constants(target file...): writes core/emit/kernel_constants.h, a type for each .kernel file with the
# names in its header, and lists of all of them: the compiler then knows the names that lowering may write.
function(hearth_kernel_constants target)
  set(output ${PROJECT_BINARY_DIR}/include/core/emit/kernel_constants.h)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/WriteKernelConstants.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/WriteKernelConstants.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
