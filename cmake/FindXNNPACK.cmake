# XNNPACK::XNNPACK with the thread pool that its interface needs. Debian's packages (libxnnpack-dev,
# libpthreadpool-dev) bring neither CMake nor pkg-config files.
find_path(XNNPACK_INCLUDE_DIR xnnpack.h)
find_path(PTHREADPOOL_INCLUDE_DIR pthreadpool.h)
find_library(XNNPACK_LIBRARY XNNPACK)
find_library(PTHREADPOOL_LIBRARY pthreadpool)
mark_as_advanced(XNNPACK_INCLUDE_DIR PTHREADPOOL_INCLUDE_DIR XNNPACK_LIBRARY PTHREADPOOL_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XNNPACK
  REQUIRED_VARS XNNPACK_LIBRARY XNNPACK_INCLUDE_DIR PTHREADPOOL_LIBRARY PTHREADPOOL_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libxnnpack-dev and libpthreadpool-dev, or configure with -DHEARTH_WITH_XNNPACK=OFF")

if(XNNPACK_FOUND AND NOT TARGET XNNPACK::XNNPACK)
  add_library(XNNPACK::XNNPACK UNKNOWN IMPORTED)
  set_target_properties(XNNPACK::XNNPACK PROPERTIES
    IMPORTED_LOCATION ${XNNPACK_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${XNNPACK_INCLUDE_DIR};${PTHREADPOOL_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES ${PTHREADPOOL_LIBRARY})
endif()
