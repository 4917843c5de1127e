/* Hearth for C and for every language that can call C: the shared library's interface without C++.
 *
 *   hearth_session* session = NULL;
 *   if (hearth_session_open("mobilenet.tflite", NULL, &session) != HEARTH_OK) puts(hearth_last_error());
 *   hearth_session_set_input(session, 0, pixels, size_bytes);
 *   hearth_session_run(session);
 *   const float* scores = hearth_session_output_data(session, 0, &size_bytes);
 *   hearth_session_destroy(session);
 *
 * ABI. All objects are opaque and there are no public structs: within one soname (libhearth.so.N) functions are only
 * added, and signatures and values of constants never change. A program built against this header runs with every
 * library of the same soname whose hearth_c_api_version() is not below its own HEARTH_C_API_VERSION.
 *
 * Errors. A function that can fail returns a hearth_status; then hearth_last_error() says in one sentence what went
 * wrong, where, and what to do. On failure `*out` is set to NULL. A null pointer where something is needed is
 * HEARTH_INVALID_ARGUMENT, running out of memory HEARTH_RESOURCE_EXHAUSTED. No C++ exception leaves the library.
 * Functions that return a pointer or a number give NULL, 0 or -1 where an argument is null or names nothing.
 *
 * Threads. Different objects may be used from different threads at once. A model may be shared by threads; a session,
 * options, a graph, a cache and a list of devices are used by one thread at a time, any thread.
 *
 * Memory. What a *_create, *_open, *_list or *_build function gives is freed by the *_destroy function of its type,
 * which takes NULL too. A `char**` result is freed by hearth_free_text. Any other pointer belongs to the object it was
 * asked of and lives as long, unless its function says less. Texts are UTF-8 and end with a zero.
 */
#ifndef HEARTH_HEARTH_C_H_
#define HEARTH_HEARTH_C_H_

#include <stddef.h>
#include <stdint.h>

#include "hearth/version.h" /* HEARTH_VERSION_NUMBER and its parts: of this header; hearth_version() is the library's */

/* NOLINTBEGIN(readability-identifier-naming): names as in C */

#define HEARTH_C_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version, errors, log ---- */

#define HEARTH_C_API_VERSION 2u /* grows by one whenever functions are added */

HEARTH_C_EXPORT uint32_t hearth_c_api_version(void); /* of the library */
HEARTH_C_EXPORT const char* hearth_version(void);    /* "0.1.0" */

typedef int32_t hearth_status;
enum {
  HEARTH_OK = 0,
  HEARTH_INVALID_ARGUMENT = 1,   /* the caller's mistake: wrong name, index, size or option */
  HEARTH_MALFORMED_INPUT = 2,    /* a model that breaks its format's rules */
  HEARTH_NOT_FOUND = 3,          /* a file or name that does not exist */
  HEARTH_UNSUPPORTED = 4,        /* well-formed, but nothing here can run it */
  HEARTH_UNAVAILABLE = 5,        /* the asked device or driver is not usable */
  HEARTH_RESOURCE_EXHAUSTED = 6, /* out of memory, disk or a device limit */
  HEARTH_DEVICE_LOST = 7,        /* the driver failed while running */
  HEARTH_IO_ERROR = 8,           /* the operating system refused a read or write */
  HEARTH_INTERNAL = 9            /* a broken promise inside Hearth */
};

/* "ok", "invalid argument", ...; "unknown" for other numbers. */
HEARTH_C_EXPORT const char* hearth_status_name(hearth_status status);
/* Of the last call of this thread that failed, "" before the first; valid until this thread's next call that fails. */
HEARTH_C_EXPORT const char* hearth_last_error(void);
HEARTH_C_EXPORT void hearth_free_text(char* text);

enum { HEARTH_LOG_DEBUG = 0, HEARTH_LOG_INFO = 1, HEARTH_LOG_WARNING = 2, HEARTH_LOG_ERROR = 3 };
typedef void (*hearth_log_sink)(void* user_data, int32_t level, const char* message);
/* Takes the process's log messages from now on: how a start went (debug), a session's device (info), each of
 * its warnings. NULL, as at the start: warnings and errors go to standard error, or what the environment variable
 * HEARTH_LOG says (off, error, warning, info, debug). Called from whichever thread it happened on, one call at a time;
 * it must not call Hearth. After the return nothing is in the old sink any more. */
HEARTH_C_EXPORT void hearth_set_log_sink(hearth_log_sink sink, void* user_data);

/* ---- Devices ---- */

typedef struct hearth_devices hearth_devices;

/* Every device of every backend in this build, usable or not. Opens each driver: slow (up to a second). */
HEARTH_C_EXPORT hearth_status hearth_devices_list(hearth_devices** out);
HEARTH_C_EXPORT void hearth_devices_destroy(hearth_devices* devices);
HEARTH_C_EXPORT size_t hearth_devices_count(const hearth_devices* devices);
/* 1 or 0. */
HEARTH_C_EXPORT int32_t hearth_device_usable(const hearth_devices* devices, size_t index);
/* `name`: "id", "backend", "name", "driver", "type", "reason" (why it is not usable), or a feature that the driver
 * reports ("fp16_storage", "max_buffer_bytes", ...). NULL when there is no such property. */
HEARTH_C_EXPORT const char* hearth_device_property(const hearth_devices* devices, size_t index, const char* name);

/* ---- Options ---- */

typedef struct hearth_options hearth_options;

HEARTH_C_EXPORT hearth_status hearth_options_create(hearth_options** out);
HEARTH_C_EXPORT void hearth_options_destroy(hearth_options* options);
/* Both as text; hearth/session_option.h and frontends/c/README.md list the names: "device", "precision", "cache",
 * "cache_folder", "model_token", "threads", "signature", ... HEARTH_INVALID_ARGUMENT for a name that there is not (the
 * message lists all) and for a value that does not fit. Functions that take options copy what they need. */
HEARTH_C_EXPORT hearth_status hearth_options_set(hearth_options* options, const char* name, const char* value);
/* The shape of the input with this name or alias, of a dimension that the file leaves open or instead of the file's. */
HEARTH_C_EXPORT hearth_status hearth_options_set_shape(hearth_options* options, const char* input,
                                                       const int32_t* dimensions, size_t rank);

/* The session works with what the program opened itself; hearth/interop.h has the rules. The pointers are a cl_context,
 * cl_device_id and cl_command_queue (may be NULL); a VkInstance, VkPhysicalDevice, VkDevice and VkQueue; an EGLDisplay
 * and EGLContext. */
HEARTH_C_EXPORT hearth_status hearth_options_share_opencl(hearth_options* options, void* context, void* device,
                                                          void* queue);
HEARTH_C_EXPORT hearth_status hearth_options_share_vulkan(hearth_options* options, void* instance,
                                                          void* physical_device, void* device, void* queue,
                                                          uint32_t queue_family);
HEARTH_C_EXPORT hearth_status hearth_options_share_gl(hearth_options* options, void* display, void* context);

/* ---- Tensors: what an input or output is ---- */

typedef struct hearth_tensor hearth_tensor; /* belongs to its model or session; never destroyed by the caller */

HEARTH_C_EXPORT const char* hearth_tensor_name(const hearth_tensor* tensor);
HEARTH_C_EXPORT const char* hearth_tensor_alias(const hearth_tensor* tensor); /* in the signature; "" without one */
HEARTH_C_EXPORT const char* hearth_tensor_dtype(const hearth_tensor* tensor); /* "float32", "uint8", ... */
HEARTH_C_EXPORT size_t hearth_tensor_rank(const hearth_tensor* tensor);
/* hearth_tensor_rank numbers, outermost first; images are [batch, height, width, channels]. */
HEARTH_C_EXPORT const int32_t* hearth_tensor_shape(const hearth_tensor* tensor);
/* Of the dense tensor in C order, little-endian. */
HEARTH_C_EXPORT size_t hearth_tensor_size_bytes(const hearth_tensor* tensor);
/* Quantization: real = scale * (stored - zero_point). 0 when not quantized, 1 per tensor, else one per channel. */
HEARTH_C_EXPORT size_t hearth_tensor_scale_count(const hearth_tensor* tensor);
HEARTH_C_EXPORT const float* hearth_tensor_scales(const hearth_tensor* tensor);
HEARTH_C_EXPORT const int64_t* hearth_tensor_zero_points(const hearth_tensor* tensor);

/* ---- Models ---- */

typedef struct hearth_model hearth_model;

/* Maps a .tflite file, which must not change while the model lives, and checks all of it. Of `options`, which may be
 * NULL, counts the signature and the shapes. */
HEARTH_C_EXPORT hearth_status hearth_model_open(const char* path, const hearth_options* options, hearth_model** out);
/* The same from bytes, which are copied. */
HEARTH_C_EXPORT hearth_status hearth_model_from_memory(const void* bytes, size_t size_bytes,
                                                       const hearth_options* options, hearth_model** out);
/* Sessions that were made of the model keep what they need of it: it may be destroyed before them. */
HEARTH_C_EXPORT void hearth_model_destroy(hearth_model* model);
HEARTH_C_EXPORT const char* hearth_model_fingerprint(const hearth_model* model); /* 32 hex digits */
HEARTH_C_EXPORT size_t hearth_model_signature_count(const hearth_model* model);
HEARTH_C_EXPORT const char* hearth_model_signature(const hearth_model* model, size_t index);
HEARTH_C_EXPORT size_t hearth_model_input_count(const hearth_model* model);
HEARTH_C_EXPORT size_t hearth_model_output_count(const hearth_model* model);
HEARTH_C_EXPORT const hearth_tensor* hearth_model_input(const hearth_model* model, size_t index);
HEARTH_C_EXPORT const hearth_tensor* hearth_model_output(const hearth_model* model, size_t index);

/* ---- Sessions: a model on a device, ready to run ---- */

typedef struct hearth_session hearth_session;

/* Reads the model while the device opens. `options` may be NULL: all defaults. Trouble with the cache is a warning. */
HEARTH_C_EXPORT hearth_status hearth_session_open(const char* path, const hearth_options* options,
                                                  hearth_session** out);
/* Signature and shapes were chosen when the model was made; in `options` they are a mistake. */
HEARTH_C_EXPORT hearth_status hearth_session_create(hearth_model* model, const hearth_options* options,
                                                    hearth_session** out);
/* Stores in the cache what was not stored yet. */
HEARTH_C_EXPORT void hearth_session_destroy(hearth_session* session);

HEARTH_C_EXPORT size_t hearth_session_input_count(const hearth_session* session);
HEARTH_C_EXPORT size_t hearth_session_output_count(const hearth_session* session);
HEARTH_C_EXPORT const hearth_tensor* hearth_session_input(const hearth_session* session, size_t index);
HEARTH_C_EXPORT const hearth_tensor* hearth_session_output(const hearth_session* session, size_t index);
/* The index of the input or output with this name or alias; -1 when there is none. */
HEARTH_C_EXPORT int64_t hearth_session_find_input(const hearth_session* session, const char* name);
HEARTH_C_EXPORT int64_t hearth_session_find_output(const hearth_session* session, const char* name);

/* Copies a dense tensor in the input's own type. */
HEARTH_C_EXPORT hearth_status hearth_session_set_input(hearth_session* session, size_t index, const void* data,
                                                       size_t size_bytes);
/* Runs once and waits. HEARTH_INVALID_ARGUMENT when an input was never set. */
HEARTH_C_EXPORT hearth_status hearth_session_run(hearth_session* session);
/* The result of the last run, valid until the next one; `size_bytes` may be NULL. NULL when there is no such output. */
HEARTH_C_EXPORT const void* hearth_session_output_data(const hearth_session* session, size_t index, size_t* size_bytes);
/* After a hot start (option "start"): returns when the device behind is ready, was moved to, or was given up, and then
 * says why. At once after another start. */
HEARTH_C_EXPORT hearth_status hearth_session_wait_for_device(hearth_session* session);
/* What the model remembers between runs becomes zero again. */
HEARTH_C_EXPORT hearth_status hearth_session_reset_state(hearth_session* session);
/* Stores what this start had to make. Call it after the first result was used; hearth_session_destroy does otherwise.
 */
HEARTH_C_EXPORT hearth_status hearth_session_save_to_cache(hearth_session* session);
/* What the session did and what it cost, as one JSON object; its keys are listed in tools/README.md under `run`. */
HEARTH_C_EXPORT hearth_status hearth_session_report_json(const hearth_session* session, char** json);

typedef struct hearth_sync hearth_sync; /* what a submitted run waits for and signals */

HEARTH_C_EXPORT hearth_status hearth_sync_create(hearth_sync** out);
HEARTH_C_EXPORT void hearth_sync_destroy(hearth_sync* sync);
/* A GLsync, VkSemaphore or cl_event as a number, before the run reads or writes lent memory. `value`: of timelines. */
HEARTH_C_EXPORT hearth_status hearth_sync_wait_for(hearth_sync* sync, uint64_t handle, uint64_t value);
/* A VkSemaphore, when the run is done with all lent memory. */
HEARTH_C_EXPORT hearth_status hearth_sync_signal(hearth_sync* sync, uint64_t handle, uint64_t value);

/* Hands a run with the inputs set so far to the device and does not wait for it. `sync` may be NULL. With `fence` not
 * NULL a GLsync or cl_event behind the run's last command is made, which the caller destroys.
 * HEARTH_RESOURCE_EXHAUSTED when as many runs as the option "max_in_flight" says are not waited for yet. */
HEARTH_C_EXPORT hearth_status hearth_session_submit(hearth_session* session, const hearth_sync* sync, uint64_t* ticket,
                                                    uint64_t* fence);
/* Waits for a run and makes its outputs those of hearth_session_output_data. Each ticket once, in any order. */
HEARTH_C_EXPORT hearth_status hearth_session_wait(hearth_session* session, uint64_t ticket);

typedef struct hearth_profile hearth_profile;

/* Runs once and times each dispatch and host step. */
HEARTH_C_EXPORT hearth_status hearth_session_run_profiled(hearth_session* session, hearth_profile** out);
HEARTH_C_EXPORT void hearth_profile_destroy(hearth_profile* profile);
HEARTH_C_EXPORT size_t hearth_profile_count(const hearth_profile* profile);
HEARTH_C_EXPORT const char* hearth_profile_node(const hearth_profile* profile, size_t index);
HEARTH_C_EXPORT const char* hearth_profile_kernel(const hearth_profile* profile, size_t index);
HEARTH_C_EXPORT double hearth_profile_milliseconds(const hearth_profile* profile, size_t index);

/* Since version 2. Other shapes of inputs: those that hearth_options_set_shape was called for, which is all that counts
 * of `shapes`. Inputs must be set anew; hearth_tensor pointers of the session stay and say the new shapes. The plan
 * before stays ready (option "kept_shapes"), weights that are packed alike are not uploaded again. On an error the
 * session goes on with the shapes that it has. hearth/session.h says more. */
HEARTH_C_EXPORT hearth_status hearth_session_resize(hearth_session* session, const hearth_options* shapes);
/* Since version 2. The first dimension of every input. */
HEARTH_C_EXPORT hearth_status hearth_session_resize_batch(hearth_session* session, int32_t batch);
/* Since version 2. A second session of the same model on the same device, which reads the same copy of the weights
 * there. The two may be used from different threads at once and destroyed in any order. */
HEARTH_C_EXPORT hearth_status hearth_session_clone(hearth_session* session, hearth_session** out);

/* ---- Memory that the program lends, and pictures ---- */

#include "hearth/hearth_c_lending.h"

/* ---- Graphs: networks from code ---- */

typedef struct hearth_graph hearth_graph;

/* Functions that add something give the new tensor's number, and -1 after a mistake, which hearth_graph_build reports.
 * A number counts within its graph: another graph's number is taken for the tensor that has it here, or is a mistake
 * where none has. -1 as `bias` means: none. All tensors are float32; shapes and semantics are TFLite's. */
enum { HEARTH_PADDING_SAME = 0, HEARTH_PADDING_VALID = 1 };
enum {
  HEARTH_ACTIVATION_NONE = 0,
  HEARTH_ACTIVATION_RELU = 1,
  HEARTH_ACTIVATION_RELU6 = 2,
  HEARTH_ACTIVATION_RELU_N1_TO_1 = 3,
  HEARTH_ACTIVATION_TANH = 4,
  HEARTH_ACTIVATION_SIGMOID = 5
};

HEARTH_C_EXPORT hearth_status hearth_graph_create(const char* name, hearth_graph** out);
HEARTH_C_EXPORT void hearth_graph_destroy(hearth_graph* graph);
HEARTH_C_EXPORT int32_t hearth_graph_input(hearth_graph* graph, const char* name, const int32_t* shape, size_t rank);
/* `values` are copied. */
HEARTH_C_EXPORT int32_t hearth_graph_constant(hearth_graph* graph, const char* name, const int32_t* shape, size_t rank,
                                              const float* values, size_t value_count);
HEARTH_C_EXPORT void hearth_graph_output(hearth_graph* graph, int32_t tensor, const char* name);
/* What the network remembers: zeros in the first run, later what `next` of hearth_graph_update was in the run before.
 */
HEARTH_C_EXPORT int32_t hearth_graph_state(hearth_graph* graph, const char* name, const int32_t* shape, size_t rank);
HEARTH_C_EXPORT void hearth_graph_update(hearth_graph* graph, int32_t state, int32_t next);
/* filter [O,kh,kw,I], bias [O] */
HEARTH_C_EXPORT int32_t hearth_graph_conv_2d(hearth_graph* graph, int32_t x, int32_t filter, int32_t bias,
                                             int32_t stride_h, int32_t stride_w, int32_t dilation_h, int32_t dilation_w,
                                             int32_t padding, int32_t activation);
/* filter [1,kh,kw,C*multiplier] */
HEARTH_C_EXPORT int32_t hearth_graph_depthwise_conv_2d(hearth_graph* graph, int32_t x, int32_t filter, int32_t bias,
                                                       int32_t stride_h, int32_t stride_w, int32_t dilation_h,
                                                       int32_t dilation_w, int32_t padding, int32_t activation);
HEARTH_C_EXPORT int32_t hearth_graph_average_pool_2d(hearth_graph* graph, int32_t x, int32_t kernel_h, int32_t kernel_w,
                                                     int32_t stride_h, int32_t stride_w, int32_t padding,
                                                     int32_t activation);
HEARTH_C_EXPORT int32_t hearth_graph_max_pool_2d(hearth_graph* graph, int32_t x, int32_t kernel_h, int32_t kernel_w,
                                                 int32_t stride_h, int32_t stride_w, int32_t padding,
                                                 int32_t activation);
/* filter [O,I], bias [O] */
HEARTH_C_EXPORT int32_t hearth_graph_fully_connected(hearth_graph* graph, int32_t x, int32_t filter, int32_t bias,
                                                     int32_t activation);
/* "add", "sub", "mul", "div", "maximum", "minimum", ... */
HEARTH_C_EXPORT int32_t hearth_graph_binary(hearth_graph* graph, const char* op, int32_t a, int32_t b,
                                            int32_t activation);
/* "relu", "relu6", "tanh", "logistic", "exp", ... */
HEARTH_C_EXPORT int32_t hearth_graph_unary(hearth_graph* graph, const char* op, int32_t x);
HEARTH_C_EXPORT int32_t hearth_graph_concat(hearth_graph* graph, const int32_t* tensors, size_t count, int32_t axis);
HEARTH_C_EXPORT int32_t hearth_graph_resize_bilinear(hearth_graph* graph, int32_t x, int32_t height, int32_t width,
                                                     int32_t align_corners, int32_t half_pixel_centers);
HEARTH_C_EXPORT int32_t hearth_graph_reshape(hearth_graph* graph, int32_t x, const int32_t* shape, size_t rank);
HEARTH_C_EXPORT int32_t hearth_graph_softmax(hearth_graph* graph, int32_t x, float beta);
/* The finished model, or the first mistake. The graph is used up either way; it still must be destroyed. */
HEARTH_C_EXPORT hearth_status hearth_graph_build(hearth_graph* graph, hearth_model** out);

/* ---- The cache ---- */

typedef struct hearth_cache hearth_cache;

/* `folder` NULL or "": $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth. Touches no file. The JSON texts
 * are those of `hearth cache`; tools/README.md lists their keys. */
HEARTH_C_EXPORT hearth_status hearth_cache_open(const char* folder, hearth_cache** out);
HEARTH_C_EXPORT void hearth_cache_destroy(hearth_cache* cache);
HEARTH_C_EXPORT const char* hearth_cache_folder(const hearth_cache* cache);
HEARTH_C_EXPORT hearth_status hearth_cache_list(const hearth_cache* cache, char** json);
HEARTH_C_EXPORT hearth_status hearth_cache_stats(const hearth_cache* cache, char** json);
/* Reads everything. `repair` other than 0: deletes damaged entries and moves a damaged file aside. */
HEARTH_C_EXPORT hearth_status hearth_cache_verify(const hearth_cache* cache, int32_t repair, char** json);
/* Deletes the longest unused entries until the store is not larger than `max_bytes`. `json` may be NULL here and in
 * hearth_cache_clear: {"folder", "removed_entries", "removed_bytes"}. */
HEARTH_C_EXPORT hearth_status hearth_cache_prune(const hearth_cache* cache, uint64_t max_bytes, char** json);
/* Deletes the entries of this kind ("program", "plan", ...) that were made for this device (a part of its name or
 * backend). NULL or "" restricts nothing. */
HEARTH_C_EXPORT hearth_status hearth_cache_clear(const hearth_cache* cache, const char* kind, const char* device,
                                                 char** json);
/* For each entry that a session with these options would ask for: is it there, and if not, what differs? */
HEARTH_C_EXPORT hearth_status hearth_cache_explain(const hearth_cache* cache, const char* model_path,
                                                   const hearth_options* options, char** json);
/* Starts each model on each device (or on "all") and stores what later starts need. A pair that fails is told in the
 * JSON text. */
HEARTH_C_EXPORT hearth_status hearth_cache_warm(const hearth_cache* cache, const char* const* model_paths,
                                                size_t model_count, const char* const* devices, size_t device_count,
                                                const hearth_options* options, char** json);
/* A bundle of all entries: a file NAME.tar, or a folder that must be missing or empty; `sign_with`: file of a secret
 * key, or NULL. */
HEARTH_C_EXPORT hearth_status hearth_cache_export(const hearth_cache* cache, const char* bundle, const char* sign_with,
                                                  char** json);
/* `trusted_keys`: file of public keys, or NULL. `is_trusted` other than 0: take entries that none of them signed.
 */
HEARTH_C_EXPORT hearth_status hearth_cache_import(const hearth_cache* cache, const char* bundle,
                                                  const char* trusted_keys, int32_t is_trusted, char** json);
/* Since version 2. The models whose sessions used the cache, with their sizes: `hearth cache ls --by-model`. */
HEARTH_C_EXPORT hearth_status hearth_cache_models(const hearth_cache* cache, char** json);
/* Since version 2. What the model uses is not evicted, or with `is_pinned` 0 again is. `model`: a file, its fingerprint
 * or the beginning of it, or the path that it had. HEARTH_NOT_FOUND: the cache knows no such model. */
HEARTH_C_EXPORT hearth_status hearth_cache_pin(const hearth_cache* cache, const char* model, int32_t is_pinned);
/* Since version 2. Forgets the model and deletes what no other model uses; `json` as of hearth_cache_clear. */
HEARTH_C_EXPORT hearth_status hearth_cache_remove(const hearth_cache* cache, const char* model, char** json);
/* Since version 2. What is wrong with the folder, the file, the disk or the server of the environment, what it costs,
 * and the command that mends it; also what is well: `hearth cache doctor`. Changes nothing. */
HEARTH_C_EXPORT hearth_status hearth_cache_examine(const hearth_cache* cache, char** json);
/* Since version 2. Compiles the programs of the stored plans that fit each device (or "all") and runs them once on
 * zeros: what is needed after an update of a driver, without the models. What needs a model's file is told in the JSON
 * text. */
HEARTH_C_EXPORT hearth_status hearth_cache_warm_from_cache(const hearth_cache* cache, const char* const* devices,
                                                           size_t device_count, char** json);
/* Since version 2. Deletes what this public key has signed (its hex digits, all or the first); what runs meanwhile and
 * still trusts it stores nothing of it any more. Take the key out of your files of trusted keys first. `json` as of
 * hearth_cache_clear. */
HEARTH_C_EXPORT hearth_status hearth_cache_revoke(const hearth_cache* cache, const char* key, char** json);
/* Since version 2. hearth_cache_export with choices, by name, all as text: "sign_with" (file of a secret key), "since"
 * (a bundle: what it holds is left out), "trusted_keys" (file of the keys of which one, or that of "sign_with", must
 * have signed that bundle), "kind", "device", "valid_for_ms" (imports and layers refuse it afterwards),
 * "least_version" (of the Hearth that may use it). `names` and `values` have `count` texts each. A `bundle` that ends
 * in ".tar" becomes one file, of which equal entries make equal bytes; hearth_cache_export does the same. */
HEARTH_C_EXPORT hearth_status hearth_cache_export_with(const hearth_cache* cache, const char* bundle,
                                                       const char* const* names, const char* const* values,
                                                       size_t count, char** json);
/* Since version 2. What a bundle holds, for which devices, who signed it, and whether that is so; reads all of it.
 * `trusted_keys`: file of public keys, or NULL. Needs no cache. */
HEARTH_C_EXPORT hearth_status hearth_bundle_inspect(const char* bundle, const char* trusted_keys, char** json);
/* Since version 2. Makes `file` (a secret key to sign bundles with; mode 0600) and `file`.pub; `key` is the public one
 * in hex, and may be NULL. */
HEARTH_C_EXPORT hearth_status hearth_make_signing_key(const char* file, char** key);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */
#endif /* HEARTH_HEARTH_C_H_ */
