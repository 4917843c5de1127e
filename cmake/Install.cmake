# cmake --install: the library, shared and static, its headers, a CMake package and pkg-config files. Components are those
# of the Debian packages: library, dev, tools.
include(CMakePackageConfigHelpers)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hearthConfig.cmake.in ${PROJECT_BINARY_DIR}/hearthConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# hearth_install(libdir suffix how...): everything whose place depends on the folder for libraries, as components
# library<suffix> and dev<suffix>.
function(hearth_install libdir suffix)
  install(TARGETS hearth EXPORT hearthTargets${suffix}
          LIBRARY DESTINATION ${libdir} COMPONENT library${suffix} NAMELINK_COMPONENT dev${suffix} ${ARGN})
  foreach(opened hearth_spirv hearth_gles)
    if(TARGET ${opened})
      install(TARGETS ${opened} LIBRARY DESTINATION ${libdir} COMPONENT library${suffix} ${ARGN})
    endif()
  endforeach()
  install(TARGETS hearth_tflite_delegate hearth_litert_accelerator LIBRARY DESTINATION ${libdir} COMPONENT library${suffix} ${ARGN})

  set(package_folder ${libdir}/cmake/hearth)
  install(EXPORT hearthTargets${suffix} FILE hearthTargets.cmake NAMESPACE hearth:: DESTINATION ${package_folder}
          COMPONENT dev${suffix} ${ARGN})
  if(HEARTH_STATIC)
    install(TARGETS hearth_static EXPORT hearthStaticTargets${suffix}
            ARCHIVE DESTINATION ${libdir} COMPONENT dev${suffix} ${ARGN})
    install(EXPORT hearthStaticTargets${suffix} FILE hearthStaticTargets.cmake NAMESPACE hearth:: DESTINATION ${package_folder}
            COMPONENT dev${suffix} ${ARGN})
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/hearthConfig.cmake ${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindXNNPACK.cmake
          DESTINATION ${package_folder} COMPONENT dev${suffix} ${ARGN})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hearth ${PROJECT_BINARY_DIR}/include/hearth
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev${suffix} ${ARGN} FILES_MATCHING PATTERN "*.h")

  # The installed tree may be moved: paths in a pkg-config file start where the file lies.
  set(HEARTH_LIBDIR ${libdir})
  file(RELATIVE_PATH HEARTH_PREFIX_FROM_PKGCONFIG /p/${libdir}/pkgconfig /p)
  foreach(name hearth hearth-c)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/pkgconfig${suffix}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/pkgconfig${suffix}/${name}.pc DESTINATION ${libdir}/pkgconfig COMPONENT dev${suffix} ${ARGN})
  endforeach()
endfunction()

hearth_install(${CMAKE_INSTALL_LIBDIR} "")
# Debian's packages have a folder for each architecture, lib/x86_64-linux-gnu, whatever the prefix of this build is.
set(HEARTH_DEB_LIBDIR ${CMAKE_INSTALL_LIBDIR})
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(HEARTH_DEB_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
hearth_install(${HEARTH_DEB_LIBDIR} _deb EXCLUDE_FROM_ALL)
