# The interpreter's C headers, where a machine has them: the delegate plugin's tests compare its own declarations with them.
set(HEARTH_TFLITE_HEADERS "" CACHE PATH "Folder below which tflite/core/c/common.h or tensorflow/lite/core/c/common.h lies")

# hearth_add_tflite_headers(source...): lets these files find them.
function(hearth_add_tflite_headers)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  set(packages)
  if(Python3_FOUND)
    foreach(folder ${Python3_SITEARCH} ${Python3_SITELIB})
      list(APPEND packages ${folder}/tensorflow/include)
    endforeach()
  endif()
  find_path(HEARTH_TFLITE_INCLUDE NAMES tflite/core/c/common.h tensorflow/lite/core/c/common.h
            HINTS ${HEARTH_TFLITE_HEADERS} ${packages})
  if(HEARTH_TFLITE_INCLUDE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-isystem;${HEARTH_TFLITE_INCLUDE}")
  endif()
endfunction()
