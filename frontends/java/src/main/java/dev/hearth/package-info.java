/**
 * Runs neural networks (.tflite and .onnx files) on whatever compute driver a machine has. A {@link dev.hearth.Session}
 * is a model on a device; {@link dev.hearth.Options} choose the device and the rest.
 *
 * <p>The native library {@code libhearth_java.so} lies beside the jar or in {@code java.library.path}, and finds {@code
 * libhearth.so} beside itself or as the system does. Messages of the library go to standard error; the environment
 * variable {@code HEARTH_LOG} sets their level. A session's warnings are in its report too.
 */
package dev.hearth;
