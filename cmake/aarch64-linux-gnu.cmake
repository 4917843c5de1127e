# Compiles for 64-bit Arm Linux on another machine, with Debian's g++-aarch64-linux-gnu. The libraries lie in a folder that
# tools/arm64_sysroot filled: HEARTH_AARCH64_SYSROOT, an environment variable or a variable of the configuration.
# docs/cross-compiling.md has the steps.
if(NOT HEARTH_AARCH64_SYSROOT)
  set(HEARTH_AARCH64_SYSROOT "$ENV{HEARTH_AARCH64_SYSROOT}" CACHE PATH "Debian's arm64 libraries")
endif()
if(NOT EXISTS "${HEARTH_AARCH64_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "HEARTH_AARCH64_SYSROOT ('${HEARTH_AARCH64_SYSROOT}') holds no arm64 libraries: run tools/arm64_sysroot FOLDER, "
                      "then configure with HEARTH_AARCH64_SYSROOT=FOLDER")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEARTH_AARCH64_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH ${HEARTH_AARCH64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)  # flatc and python run here
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${HEARTH_AARCH64_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${HEARTH_AARCH64_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${HEARTH_AARCH64_SYSROOT})

# The C and C++ libraries come with the compiler; what Debian's libraries need of each other is here, some of it by -l.
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${HEARTH_AARCH64_SYSROOT}/usr/include ${HEARTH_AARCH64_SYSROOT}/usr/include/aarch64-linux-gnu)
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES})
add_link_options(-L${HEARTH_AARCH64_SYSROOT}/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,${HEARTH_AARCH64_SYSROOT}/usr/lib/aarch64-linux-gnu)

# Programs of the build, by Debian's qemu-user where it is installed: the manual page is the program's own output.
find_program(HEARTH_QEMU_AARCH64 qemu-aarch64)
if(HEARTH_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HEARTH_QEMU_AARCH64} -L /usr/aarch64-linux-gnu
      -E LD_LIBRARY_PATH=${HEARTH_AARCH64_SYSROOT}/usr/lib/aarch64-linux-gnu)
endif()
