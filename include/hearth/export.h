// Marks what libhearth.so exports; everything else is hidden.
#ifndef HEARTH_EXPORT_H_
#define HEARTH_EXPORT_H_

#if __cplusplus <= 201703L
#error "Hearth's C++ interface needs C++20 (-std=c++20); hearth/hearth_c.h is for C and for older C++"
#endif

#define HEARTH_EXPORT __attribute__((visibility("default")))

#endif  // HEARTH_EXPORT_H_
