set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(HEARTH_CCACHE ccache)
if(HEARTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEARTH_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HEARTH_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)
add_compile_options(-ffunction-sections -fdata-sections)  # so that a linker can leave out what nobody calls
add_link_options(-Wl,--gc-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # false positive on std::string operator+ (GCC bug 105651)
endif()
if(HEARTH_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()
if(HEARTH_SANITIZE)
  # -g1: the lines of a stack are all that a sanitizer prints.
  add_compile_options(-fsanitize=${HEARTH_SANITIZE} -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEARTH_SANITIZE})
  find_program(HEARTH_LLD ld.lld)
  if(HEARTH_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=lld)  # 5 s of processor time for all unit tests, where GNU ld takes 34
  endif()
  if(HEARTH_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(HEARTH_WITH_FUZZERS ON)
    add_compile_options(-fsanitize=fuzzer-no-link)  # counts which ways the code takes: what libFuzzer is led by
    add_link_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

# hearth_library(name sources...): an internal static library that sees the repository's root. Optimised builds compile
# it for size: time goes into kernels and into loops over tensors, whose files ask for -O3 (hearth_hot_sources).
function(hearth_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
endfunction()

# hearth_without_cleanup(name files...): an exception, which only memory that runs out throws, passes through the library's
# functions without destroying what they hold. These make nodes of a graph, or results, from many small values, whose
# destruction made a sixth of their code. The files listed clean up: they hold what is read, or catch. By GCC alone:
# clang refuses every template that catches, used or not. Sanitizer builds, which are clang's, so look for leaks with all
# clean-up.
function(hearth_without_cleanup name)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HEARTH_SANITIZE)
    target_compile_options(${name} PRIVATE -fno-exceptions -funwind-tables)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fexceptions)
  endif()
endfunction()

# hearth_calculates(name): sanitizer builds leave out optimisations, for half of the time to compile, but not in a
# library that takes longer to calculate then than it saved.
function(hearth_calculates name)
  if(HEARTH_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()

if(HEARTH_SMALL)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  # One copy of functions with the same instructions, whose addresses nobody compares: 5 % of libhearth.so. Not where the
  # caller's flags ask GCC for link-time optimisation, whose objects lld can't read.
  include(CheckLinkerFlag)
  set(CMAKE_TRY_COMPILE_CONFIGURATION Release)
  check_linker_flag(CXX "-fuse-ld=lld;-Wl,--icf=all" HEARTH_LINKS_BY_LLD)
  unset(CMAKE_TRY_COMPILE_CONFIGURATION)
  if(HEARTH_LINKS_BY_LLD)
    add_link_options(-fuse-ld=lld -Wl,--icf=all -Wl,-O2)  # -O2: a text that ends another one lies in it
  endif()
endif()

# hearth_hot_sources(source...): compiles files of the calling folder for speed.
function(hearth_hot_sources)
  if(HEARTH_SMALL)
    return()
  endif()
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
endfunction()
