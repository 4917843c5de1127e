// Values between Java and the C interface: texts, tensors, options, and errors that become exceptions.
#ifndef HEARTH_FRONTENDS_JAVA_JNI_VALUES_H_
#define HEARTH_FRONTENDS_JAVA_JNI_VALUES_H_

#include <jni.h>

#include <memory>
#include <string>
#include <vector>

#include "hearth/hearth_c.h"

namespace hearth::java {

// Makes HearthException with this thread's last error the pending exception; returns whether `status` is an error.
bool Throws(JNIEnv* env, hearth_status status);
// The same for a mistake that only this layer can see.
void ThrowInvalid(JNIEnv* env, const char* message);

// Runs `work`, which may throw std::bad_alloc: then OutOfMemoryError is pending, and the result is zero.
void ThrowNoMemory(JNIEnv* env) noexcept;
template <typename Work>
auto Guarded(JNIEnv* env, const Work& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    ThrowNoMemory(env);
  }
  return decltype(work())();
}

// Java's byte[] with UTF-8. Empty for null.
std::string TextOf(JNIEnv* env, jbyteArray bytes);
std::vector<std::string> TextsOf(JNIEnv* env, jobjectArray texts);
// Null, with a pending exception, if Java has no memory; null for null.
jbyteArray BytesOf(JNIEnv* env, const char* text);
jobjectArray ArrayOf(JNIEnv* env, const std::vector<const char*>& texts);

// The C interface's objects, destroyed with their scope.
struct Destroy {
  void operator()(hearth_options* options) const { hearth_options_destroy(options); }
  void operator()(hearth_devices* devices) const { hearth_devices_destroy(devices); }
  void operator()(hearth_cache* cache) const { hearth_cache_destroy(cache); }
  void operator()(char* text) const { hearth_free_text(text); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

// Names and values by turns, and shapes of inputs, which may be null. Null with a pending exception.
Owned<hearth_options> OptionsOf(JNIEnv* env, jobjectArray texts, jobjectArray shape_names, jobjectArray shapes);

// An object's address in Java's long.
template <typename T>
jlong LongOf(T* object) {
  return static_cast<jlong>(reinterpret_cast<uintptr_t>(object));
}
template <typename T>
T* PointerOf(jlong address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

// TensorInfo[] of these.
jobjectArray TensorsOf(JNIEnv* env, const std::vector<const hearth_tensor*>& tensors);

}  // namespace hearth::java

#endif  // HEARTH_FRONTENDS_JAVA_JNI_VALUES_H_
