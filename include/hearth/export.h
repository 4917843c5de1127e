// Marks what libhearth.so exports; everything else is hidden.
#ifndef HEARTH_EXPORT_H_
#define HEARTH_EXPORT_H_

#define HEARTH_EXPORT __attribute__((visibility("default")))

#endif  // HEARTH_EXPORT_H_
