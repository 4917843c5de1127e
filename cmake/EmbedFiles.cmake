# hearth_embed_files(target variable file...): compiles the files' contents into `target` as
#   const EmbeddedFile <variable>[]; const size_t <variable>Count;
# (declared in core/base/text.h), each named by its file name without the ending.
function(hearth_embed_files target variable)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DVARIABLE=${variable} "-DFILES=${ARGN}"
            -P ${PROJECT_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
