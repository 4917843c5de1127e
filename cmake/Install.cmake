# cmake --install: the shared library, its headers, a CMake package and a pkg-config file. Components are those of the
# Debian packages: library, dev, tools.
include(CMakePackageConfigHelpers)
install(TARGETS hearth EXPORT hearthTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
if(TARGET hearth_spirv)
  install(TARGETS hearth_spirv LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endif()
install(TARGETS hearth_tflite_delegate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hearth ${PROJECT_BINARY_DIR}/include/hearth
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
install(EXPORT hearthTargets NAMESPACE hearth:: DESTINATION ${package_folder} COMPONENT dev)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hearthConfig.cmake.in ${PROJECT_BINARY_DIR}/hearthConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hearthConfig.cmake ${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT dev)

# The installed tree may be moved: paths in the pkg-config file start where the file lies.
file(RELATIVE_PATH HEARTH_PREFIX_FROM_PKGCONFIG /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hearth.pc.in ${PROJECT_BINARY_DIR}/hearth.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hearth.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
