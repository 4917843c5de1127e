# `cpack --preset release` (or the target `package`): libhearth<soname>, libhearth-dev, hearth-tools and, with a JDK,
# libhearth-java as .deb files in build/<preset>/packages. Last of all: CPack looks at what was installed before. Components that end in _deb are
# Install.cmake's with Debian's folder for libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hearth)
set(CPACK_PACKAGE_VENDOR Hearth)
set(CPACK_PACKAGE_CONTACT ${HEARTH_PACKAGE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Neural networks on whatever compute driver a machine has")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library_deb dev_deb tools)
if(TARGET hearth_java)
  list(APPEND CPACK_COMPONENTS_ALL java_deb)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(library_package libhearth${PROJECT_VERSION_MAJOR})
set(opened_at_run_time "libsodium23, libssl3")  # signed bundles, TLS to a shared cache server
set(drivers "ocl-icd-libopencl1, libvulkan1, libegl1, libgles2")

set(CPACK_DEBIAN_LIBRARY_DEB_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_DEB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DEB_PACKAGE_RECOMMENDS ${drivers})
set(CPACK_DEBIAN_LIBRARY_DEB_PACKAGE_SUGGESTS ${opened_at_run_time})
set(CPACK_COMPONENT_LIBRARY_DEB_DESCRIPTION "The shared library. Drivers (OpenCL, Vulkan, OpenGL ES) are opened at run time.")

set(CPACK_DEBIAN_DEV_DEB_PACKAGE_NAME libhearth-dev)
set(CPACK_DEBIAN_DEV_DEB_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DEB_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_DEB_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_DEB_PACKAGE_SUGGESTS "libfmt-dev, libsqlite3-dev, libxxhash-dev, libxnnpack-dev, libpthreadpool-dev, glslang-dev, spirv-tools")  # libhearth.a
set(CPACK_COMPONENT_DEV_DEB_DESCRIPTION "Headers for C and C++, libhearth.a, a CMake package and pkg-config files, pages and examples.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME hearth-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")  # libhearth_spirv, libhearth_gles
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS ${drivers})
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "${opened_at_run_time}, ffmpeg, graphviz")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "The program hearth: devices, inspect, run, bench, cache, conformance.")

set(CPACK_DEBIAN_JAVA_DEB_PACKAGE_NAME libhearth-java)
set(CPACK_DEBIAN_JAVA_DEB_PACKAGE_SECTION java)
set(CPACK_DEBIAN_JAVA_DEB_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")  # and what that depends on
set(CPACK_DEBIAN_JAVA_DEB_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_JAVA_DEB_PACKAGE_SUGGESTS "default-jre-headless")
set(CPACK_COMPONENT_JAVA_DEB_DESCRIPTION "hearth.jar with its native part, for Java 8 and later.")

# Licences in every package; pages for people and examples where developers look.
set(licences ${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES.md ${HEARTH_THIRD_PARTY_LICENCES})
function(hearth_install_pages folder component)
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${folder} COMPONENT ${component} ${ARGN})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${folder} COMPONENT ${component} ${ARGN}
          PATTERN "CMakeLists.txt" EXCLUDE PATTERN "*.cmake" EXCLUDE PATTERN "Doxyfile.in" EXCLUDE PATTERN "*.sed" EXCLUDE
          PATTERN "__pycache__" EXCLUDE PATTERN "expect.sh" EXCLUDE)
endfunction()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  set(folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${licences} DESTINATION ${folder} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
hearth_install_pages(${CMAKE_INSTALL_DATAROOTDIR}/doc/libhearth-dev dev_deb EXCLUDE_FROM_ALL)
# cmake --install has one folder for all of them.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${licences} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
hearth_install_pages(${CMAKE_INSTALL_DOCDIR} dev)
include(CPack)
