# cmake --install: the shared library, its headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
install(TARGETS hearth EXPORT hearthTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/public/hearth ${PROJECT_SOURCE_DIR}/frontends/api/hearth ${PROJECT_BINARY_DIR}/include/hearth
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT hearthTargets NAMESPACE hearth:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
file(WRITE ${PROJECT_BINARY_DIR}/hearthConfig.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/hearthTargets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hearthConfig.cmake ${PROJECT_BINARY_DIR}/hearthConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hearth.pc.in ${PROJECT_BINARY_DIR}/hearth.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hearth.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
