// The native functions of dev.hearth.Native but for the cache's. Java has checked that objects are open and that no
// other thread uses or frees them; sizes are checked here and below.
#include <dev_hearth_Native.h>

#include <array>

#include "frontends/java/jni_values.h"

namespace hearth::java {
namespace {

// All inputs, or all outputs, of a model or session at this address.
template <typename Owner>
jobjectArray AllTensors(JNIEnv* env, jlong address, size_t (*count)(const Owner*),
                        const hearth_tensor* (*tensor_at)(const Owner*, size_t)) {
  return Guarded(env, [&]() -> jobjectArray {
    const auto* owner = PointerOf<const Owner>(address);
    std::vector<const hearth_tensor*> tensors;
    for (size_t k = 0; k < count(owner); ++k) tensors.push_back(tensor_at(owner, k));
    return TensorsOf(env, tensors);
  });
}

// The addresses and sizes of direct buffers, which `buffers` keeps alive.
struct DirectMemory {
  DirectMemory(JNIEnv* env, jobjectArray buffers) {
    const jsize count = env->GetArrayLength(buffers);
    for (jsize k = 0; k < count; ++k) {
      const jobject buffer = env->GetObjectArrayElement(buffers, k);
      addresses.push_back(buffer == nullptr ? nullptr : env->GetDirectBufferAddress(buffer));
      sizes.push_back(buffer == nullptr ? 0 : static_cast<size_t>(env->GetDirectBufferCapacity(buffer)));
      env->DeleteLocalRef(buffer);
    }
  }
  std::vector<void*> addresses;
  std::vector<size_t> sizes;
};

}  // namespace
}  // namespace hearth::java

using hearth::java::LongOf;
using hearth::java::OptionsOf;
using hearth::java::PointerOf;
using hearth::java::TextOf;
using hearth::java::Throws;

// NOLINTBEGIN(readability-identifier-naming): names that Java makes

jint JNI_OnLoad(JavaVM*, void*) {
  return JNI_VERSION_1_6;
}

jbyteArray Java_dev_hearth_Native_version(JNIEnv* env, jclass) {
  return hearth::java::BytesOf(env, hearth_version());
}

void Java_dev_hearth_Native_checkOption(JNIEnv* env, jclass, jbyteArray name, jbyteArray value) {
  return hearth::java::Guarded(env, [&]() -> void {
    hearth_options* options = nullptr;
    if (Throws(env, hearth_options_create(&options))) return;
    const hearth::java::Owned<hearth_options> owned(options);
    Throws(env, hearth_options_set(options, TextOf(env, name).c_str(), TextOf(env, value).c_str()));
  });
}

jobjectArray Java_dev_hearth_Native_devices(JNIEnv* env, jclass) {
  return hearth::java::Guarded(env, [&]() -> jobjectArray {
    hearth_devices* devices = nullptr;
    if (Throws(env, hearth_devices_list(&devices))) return nullptr;
    const hearth::java::Owned<hearth_devices> owned(devices);
    std::vector<const char*> texts;
    for (size_t k = 0; k < hearth_devices_count(devices); ++k) {
      for (const char* name : {"id", "backend", "name", "driver", "type", "reason"})
        texts.push_back(hearth_device_property(devices, k, name));
      texts.push_back(hearth_device_usable(devices, k) != 0 ? "1" : "");
    }
    return hearth::java::ArrayOf(env, texts);
  });
}

jlong Java_dev_hearth_Native_openModel(JNIEnv* env, jclass, jbyteArray path, jobjectArray texts,
                                       jobjectArray shape_names, jobjectArray shapes) {
  return hearth::java::Guarded(env, [&]() -> jlong {
    const auto options = OptionsOf(env, texts, shape_names, shapes);
    hearth_model* model = nullptr;
    if (options != nullptr) Throws(env, hearth_model_open(TextOf(env, path).c_str(), options.get(), &model));
    return LongOf(model);
  });
}

jlong Java_dev_hearth_Native_readModel(JNIEnv* env, jclass, jobject bytes, jobjectArray texts, jobjectArray shape_names,
                                       jobjectArray shapes) {
  return hearth::java::Guarded(env, [&]() -> jlong {
    const auto options = OptionsOf(env, texts, shape_names, shapes);
    hearth_model* model = nullptr;
    if (options != nullptr) {
      Throws(env,
             hearth_model_from_memory(env->GetDirectBufferAddress(bytes),
                                      static_cast<size_t>(env->GetDirectBufferCapacity(bytes)), options.get(), &model));
    }
    return LongOf(model);
  });
}

void Java_dev_hearth_Native_closeModel(JNIEnv*, jclass, jlong model) {
  hearth_model_destroy(PointerOf<hearth_model>(model));
}

jobjectArray Java_dev_hearth_Native_modelTexts(JNIEnv* env, jclass, jlong address) {
  return hearth::java::Guarded(env, [&]() -> jobjectArray {
    const auto* model = PointerOf<const hearth_model>(address);
    std::vector<const char*> texts = {hearth_model_fingerprint(model)};
    for (size_t k = 0; k < hearth_model_signature_count(model); ++k) texts.push_back(hearth_model_signature(model, k));
    return hearth::java::ArrayOf(env, texts);
  });
}

jobjectArray Java_dev_hearth_Native_modelTensors(JNIEnv* env, jclass, jlong address, jboolean outputs) {
  if (outputs == JNI_TRUE)
    return hearth::java::AllTensors(env, address, hearth_model_output_count, hearth_model_output);
  return hearth::java::AllTensors(env, address, hearth_model_input_count, hearth_model_input);
}

jlong Java_dev_hearth_Native_openSession(JNIEnv* env, jclass, jbyteArray path, jobjectArray texts,
                                         jobjectArray shape_names, jobjectArray shapes) {
  return hearth::java::Guarded(env, [&]() -> jlong {
    const auto options = OptionsOf(env, texts, shape_names, shapes);
    hearth_session* session = nullptr;
    if (options != nullptr) Throws(env, hearth_session_open(TextOf(env, path).c_str(), options.get(), &session));
    return LongOf(session);
  });
}

jlong Java_dev_hearth_Native_createSession(JNIEnv* env, jclass, jlong model, jobjectArray texts,
                                           jobjectArray shape_names, jobjectArray shapes) {
  return hearth::java::Guarded(env, [&]() -> jlong {
    const auto options = OptionsOf(env, texts, shape_names, shapes);
    hearth_session* session = nullptr;
    if (options != nullptr) Throws(env, hearth_session_create(PointerOf<hearth_model>(model), options.get(), &session));
    return LongOf(session);
  });
}

jlong Java_dev_hearth_Native_cloneSession(JNIEnv* env, jclass, jlong session) {
  return hearth::java::Guarded(env, [&]() -> jlong {
    hearth_session* clone = nullptr;
    Throws(env, hearth_session_clone(PointerOf<hearth_session>(session), &clone));
    return LongOf(clone);
  });
}

void Java_dev_hearth_Native_closeSession(JNIEnv* env, jclass, jlong session) {
  hearth::java::Guarded(env, [&] { hearth_session_destroy(PointerOf<hearth_session>(session)); });
}

jobjectArray Java_dev_hearth_Native_sessionTensors(JNIEnv* env, jclass, jlong address, jboolean outputs) {
  if (outputs == JNI_TRUE)
    return hearth::java::AllTensors(env, address, hearth_session_output_count, hearth_session_output);
  return hearth::java::AllTensors(env, address, hearth_session_input_count, hearth_session_input);
}

void Java_dev_hearth_Native_run(JNIEnv* env, jclass, jlong session, jobjectArray inputs, jobjectArray outputs) {
  return hearth::java::Guarded(env, [&]() -> void {
    const hearth::java::DirectMemory from(env, inputs), to(env, outputs);
    Throws(env, hearth_session_run_on(PointerOf<hearth_session>(session), from.addresses.data(), from.sizes.data(),
                                      from.sizes.size(), to.addresses.data(), to.sizes.data(), to.sizes.size()));
  });
}

void Java_dev_hearth_Native_resize(JNIEnv* env, jclass, jlong session, jobjectArray shape_names, jobjectArray shapes) {
  return hearth::java::Guarded(env, [&]() -> void {
    const auto options = OptionsOf(env, nullptr, shape_names, shapes);
    if (options != nullptr) Throws(env, hearth_session_resize(PointerOf<hearth_session>(session), options.get()));
  });
}

void Java_dev_hearth_Native_resizeBatch(JNIEnv* env, jclass, jlong session, jint batch) {
  hearth::java::Guarded(env,
                        [&] { Throws(env, hearth_session_resize_batch(PointerOf<hearth_session>(session), batch)); });
}

void Java_dev_hearth_Native_resetState(JNIEnv* env, jclass, jlong session) {
  hearth::java::Guarded(env, [&] { Throws(env, hearth_session_reset_state(PointerOf<hearth_session>(session))); });
}

void Java_dev_hearth_Native_waitForDevice(JNIEnv* env, jclass, jlong session) {
  hearth::java::Guarded(env, [&] { Throws(env, hearth_session_wait_for_device(PointerOf<hearth_session>(session))); });
}

void Java_dev_hearth_Native_saveToCache(JNIEnv* env, jclass, jlong session) {
  hearth::java::Guarded(env, [&] { Throws(env, hearth_session_save_to_cache(PointerOf<hearth_session>(session))); });
}

jbyteArray Java_dev_hearth_Native_report(JNIEnv* env, jclass, jlong session) {
  return hearth::java::Guarded(env, [&]() -> jbyteArray {
    char* json = nullptr;
    if (Throws(env, hearth_session_report_json(PointerOf<const hearth_session>(session), &json))) return nullptr;
    return hearth::java::BytesOf(env, hearth::java::Owned<char>(json).get());
  });
}

// NOLINTEND(readability-identifier-naming)
