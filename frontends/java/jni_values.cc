#include "frontends/java/jni_values.h"

#include <algorithm>
#include <cstring>

namespace hearth::java {
namespace {

void Throw(JNIEnv* env, hearth_status status, const char* message) {
  if (env->ExceptionCheck() == JNI_TRUE) return;
  const jclass type = env->FindClass("dev/hearth/HearthException");
  if (type == nullptr) return;  // NoClassDefFoundError is pending
  const jmethodID constructor = env->GetMethodID(type, "<init>", "(I[B)V");
  const jbyteArray bytes = BytesOf(env, message);
  if (constructor == nullptr || bytes == nullptr) return;
  const auto exception = static_cast<jthrowable>(env->NewObject(type, constructor, status, bytes));
  if (exception != nullptr) env->Throw(exception);
}

template <typename Array, typename Element>
Array NewArray(JNIEnv* env, Array (JNIEnv::*make)(jsize), void (JNIEnv::*set)(Array, jsize, jsize, const Element*),
               const Element* elements, size_t count) {
  const Array array = (env->*make)(static_cast<jsize>(count));
  if (array != nullptr) (env->*set)(array, 0, static_cast<jsize>(count), elements);
  return array;
}

jobject TensorOf(JNIEnv* env, jclass type, jmethodID constructor, const hearth_tensor* tensor) {
  const std::vector<jint> shape(hearth_tensor_shape(tensor), hearth_tensor_shape(tensor) + hearth_tensor_rank(tensor));
  const size_t count = hearth_tensor_scale_count(tensor);
  const std::vector<jlong> zero_points(hearth_tensor_zero_points(tensor), hearth_tensor_zero_points(tensor) + count);
  const jbyteArray name = BytesOf(env, hearth_tensor_name(tensor)), alias = BytesOf(env, hearth_tensor_alias(tensor));
  const jbyteArray dtype = BytesOf(env, hearth_tensor_dtype(tensor));
  const jintArray dims = NewArray(env, &JNIEnv::NewIntArray, &JNIEnv::SetIntArrayRegion, shape.data(), shape.size());
  const jfloatArray scales =
      NewArray(env, &JNIEnv::NewFloatArray, &JNIEnv::SetFloatArrayRegion, hearth_tensor_scales(tensor), count);
  const jlongArray zeros = NewArray(env, &JNIEnv::NewLongArray, &JNIEnv::SetLongArrayRegion, zero_points.data(), count);
  if (env->ExceptionCheck() == JNI_TRUE) return nullptr;
  return env->NewObject(type, constructor, name, alias, dtype, dims,
                        static_cast<jlong>(hearth_tensor_size_bytes(tensor)), scales, zeros);
}

}  // namespace

bool Throws(JNIEnv* env, hearth_status status) {
  if (status == HEARTH_OK) return false;
  Throw(env, status, hearth_last_error());
  return true;
}

void ThrowInvalid(JNIEnv* env, const char* message) {
  Throw(env, HEARTH_INVALID_ARGUMENT, message);
}

void ThrowNoMemory(JNIEnv* env) noexcept {
  if (env->ExceptionCheck() == JNI_TRUE) return;
  const jclass type = env->FindClass("java/lang/OutOfMemoryError");
  if (type != nullptr) env->ThrowNew(type, "native memory ran out");
}

std::string TextOf(JNIEnv* env, jbyteArray bytes) {
  if (bytes == nullptr) return {};
  std::string text(static_cast<size_t>(env->GetArrayLength(bytes)), '\0');
  env->GetByteArrayRegion(bytes, 0, static_cast<jsize>(text.size()), reinterpret_cast<jbyte*>(text.data()));
  return text;
}

std::vector<std::string> TextsOf(JNIEnv* env, jobjectArray texts) {
  std::vector<std::string> all;
  const jsize count = texts == nullptr ? 0 : env->GetArrayLength(texts);
  for (jsize k = 0; k < count; ++k) {
    const auto bytes = static_cast<jbyteArray>(env->GetObjectArrayElement(texts, k));
    all.push_back(TextOf(env, bytes));
    env->DeleteLocalRef(bytes);
  }
  return all;
}

jbyteArray BytesOf(JNIEnv* env, const char* text) {
  if (text == nullptr) return nullptr;
  return NewArray(env, &JNIEnv::NewByteArray, &JNIEnv::SetByteArrayRegion, reinterpret_cast<const jbyte*>(text),
                  std::strlen(text));
}

jobjectArray ArrayOf(JNIEnv* env, const std::vector<const char*>& texts) {
  const jclass type = env->FindClass("[B");
  if (type == nullptr) return nullptr;
  const jobjectArray array = env->NewObjectArray(static_cast<jsize>(texts.size()), type, nullptr);
  for (size_t k = 0; array != nullptr && k < texts.size(); ++k) {
    const jbyteArray bytes = BytesOf(env, texts[k] == nullptr ? "" : texts[k]);
    if (bytes == nullptr) return nullptr;
    env->SetObjectArrayElement(array, static_cast<jsize>(k), bytes);
    env->DeleteLocalRef(bytes);
  }
  return array;
}

Owned<hearth_options> OptionsOf(JNIEnv* env, jobjectArray texts, jobjectArray shape_names, jobjectArray shapes) {
  hearth_options* made = nullptr;
  if (Throws(env, hearth_options_create(&made))) return nullptr;
  Owned<hearth_options> options(made);
  const std::vector<std::string> options_texts = TextsOf(env, texts), names = TextsOf(env, shape_names);
  for (size_t k = 0; k + 1 < options_texts.size(); k += 2) {
    if (Throws(env, hearth_options_set(made, options_texts[k].c_str(), options_texts[k + 1].c_str()))) return nullptr;
  }
  for (size_t k = 0; k < names.size(); ++k) {
    const auto row = static_cast<jintArray>(env->GetObjectArrayElement(shapes, static_cast<jsize>(k)));
    std::vector<jint> shape(static_cast<size_t>(env->GetArrayLength(row)));
    env->GetIntArrayRegion(row, 0, static_cast<jsize>(shape.size()), shape.data());
    env->DeleteLocalRef(row);
    if (Throws(env, hearth_options_set_shape(made, names[k].c_str(), shape.data(), shape.size()))) return nullptr;
  }
  return options;
}

jobjectArray TensorsOf(JNIEnv* env, const std::vector<const hearth_tensor*>& tensors) {
  const jclass type = env->FindClass("dev/hearth/TensorInfo");
  if (type == nullptr) return nullptr;
  const jmethodID constructor = env->GetMethodID(type, "<init>", "([B[B[B[IJ[F[J)V");
  const jobjectArray array =
      constructor == nullptr ? nullptr : env->NewObjectArray(static_cast<jsize>(tensors.size()), type, nullptr);
  for (size_t k = 0; array != nullptr && k < tensors.size(); ++k) {
    if (env->PushLocalFrame(16) != 0) return nullptr;
    const jobject tensor = env->PopLocalFrame(TensorOf(env, type, constructor, tensors[k]));
    if (tensor == nullptr) return nullptr;
    env->SetObjectArrayElement(array, static_cast<jsize>(k), tensor);
    env->DeleteLocalRef(tensor);
  }
  return array;
}

}  // namespace hearth::java
