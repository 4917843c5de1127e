# The zero-copy examples: they use the public headers and the shared library, nothing else.
add_library(hearth_example_picture STATIC segmentation_picture.cc ${PROJECT_SOURCE_DIR}/tools/hearth/pictures/stb_implementation.cc)
target_include_directories(hearth_example_picture SYSTEM PRIVATE ${HEARTH_STB_INCLUDE})

# hearth_example_test(test program flag...): a test that lets the program compare its picture with the copying way's.
# Exit code 77: no shared model, or no driver.
function(hearth_example_test test program)
  if(NOT HEARTH_BUILD_TESTS)
    return()
  endif()
  add_test(NAME Examples.${test}
           COMMAND ${program} ${shared}/models/deeplabv3_257_mv_gpu.tflite ${shared}/images/dogs.jpg
                   ${CMAKE_CURRENT_BINARY_DIR}/${test}.png --check ${ARGN})
  set_tests_properties(Examples.${test} PROPERTIES LABELS examples SKIP_RETURN_CODE 77 TIMEOUT 300
                       ENVIRONMENT HEARTH_CACHE_DIR=${CMAKE_CURRENT_BINARY_DIR}/cache)
endfunction()

function(hearth_example_program name)
  file(GLOB sources CONFIGURE_DEPENDS ${name}/*.cc)
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE hearth hearth_example_picture ${ARGN})
endfunction()

# hearth_example(name library...): a program and its test.
function(hearth_example name)
  hearth_example_program(${name} ${ARGN})
  hearth_example_test(${name} ${name})
endfunction()

find_library(HEARTH_EGL_LIBRARY EGL)
find_library(HEARTH_GLES_LIBRARY GLESv2)
if(HEARTH_WITH_GLES AND HEARTH_EGL_LIBRARY AND HEARTH_GLES_LIBRARY)
  hearth_example(zero_copy_gl ${HEARTH_EGL_LIBRARY} ${HEARTH_GLES_LIBRARY})
endif()
find_library(HEARTH_VULKAN_LIBRARY vulkan)
if(HEARTH_WITH_VULKAN AND HEARTH_VULKAN_LIBRARY)
  hearth_example(zero_copy_vulkan ${HEARTH_VULKAN_LIBRARY})
  hearth_example_test(zero_copy_vulkan_images zero_copy_vulkan --images)
endif()
# The loader comes without a link for linkers where only drivers need it.
find_library(HEARTH_OPENCL_LIBRARY NAMES OpenCL libOpenCL.so.1)
find_path(HEARTH_OPENCL_INCLUDE CL/cl.h)
if(HEARTH_WITH_OPENCL AND HEARTH_OPENCL_LIBRARY AND HEARTH_OPENCL_INCLUDE)
  hearth_example_program(zero_copy_opencl ${HEARTH_OPENCL_LIBRARY})
  target_include_directories(zero_copy_opencl SYSTEM PRIVATE ${HEARTH_OPENCL_INCLUDE})
  if(HEARTH_BUILD_TESTS)
    add_test(NAME Examples.zero_copy_opencl
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/expect.sh "military uniform" $<TARGET_FILE:zero_copy_opencl>
                     ${shared}/models/mobilenet_v1_1.0_224_f32_dequant.tflite ${shared}/images/grace_hopper.jpg
                     ${shared}/labels/imagenet_labels_1001.txt --check)
    set_tests_properties(Examples.zero_copy_opencl PROPERTIES LABELS examples SKIP_RETURN_CODE 77 TIMEOUT 300
                         ENVIRONMENT HEARTH_CACHE_DIR=${CMAKE_CURRENT_BINARY_DIR}/cache)
  endif()
endif()
