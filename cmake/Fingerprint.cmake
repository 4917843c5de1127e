# hearth_fingerprint(target variable file...): compiles a fingerprint of the files' contents into `target` as
#   const std::string_view <variable>;  (32 hex digits; declared in a header of the target's own)
# Taken at build time, whenever one of the files changes. It holds the files' names within the repository and what is in
# them, in the order of the names: equal sources give equal fingerprints on every machine and in every preset.
function(hearth_fingerprint target variable)
  set(files ${ARGN})
  list(SORT files)
  list(REMOVE_DUPLICATES files)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DVARIABLE=${variable} -DROOT=${PROJECT_SOURCE_DIR} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/WriteFingerprint.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/WriteFingerprint.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
