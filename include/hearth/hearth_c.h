/* Hearth for C and for every language that can call C: the shared library's C interface.
 *
 *   hearth_session* session = NULL;
 *   if (hearth_session_open("mobilenet.tflite", NULL, &session) != HEARTH_OK) puts(hearth_last_error());
 *   hearth_session_set_input(session, 0, pixels, size_bytes);
 *   hearth_session_run(session);
 *   const float* scores = hearth_session_output_data(session, 0, &size_bytes);
 *   hearth_session_destroy(session);
 *
 * ABI. All objects are opaque, and there are no public structs but those of hearth_ops.h. Within one soname
 * (libhearth.so.N) functions are only added; signatures and values of constants never change. A program built against
 * this header runs with every library of the same soname whose hearth_c_api_version() is at least the program's
 * HEARTH_C_API_VERSION.
 *
 * Errors. A function that can fail returns a hearth_status; hearth_last_error() then says what went wrong, where, and
 * what to do. On failure `*out` is set to NULL. A null pointer for a required argument is HEARTH_INVALID_ARGUMENT;
 * running out of memory is HEARTH_RESOURCE_EXHAUSTED. No C++ exception leaves the library. Functions that return a
 * pointer or a number return NULL, 0 or -1 if an argument is null or refers to nothing.
 *
 * Threads. Different objects may be used from different threads at once. Threads may share a model. A session, options,
 * a graph, a cache and a list of devices may be used by only one thread at a time, any thread.
 *
 * Memory. Objects from *_create, *_open, *_list and *_build functions are freed by the *_destroy function of their
 * type, which accepts NULL. A `char**` result is freed by hearth_free_text. Any other returned pointer belongs to
 * the object that it came from and lives as long, unless its function says otherwise. Texts are UTF-8 and end with a
 * zero. */
#ifndef HEARTH_HEARTH_C_H_
#define HEARTH_HEARTH_C_H_

#include <stddef.h>
#include <stdint.h>

#include "hearth/hearth_ops.h"
#include "hearth/version.h" /* this header's HEARTH_VERSION_NUMBER and its parts; hearth_version() is the library's */

/* NOLINTBEGIN(readability-identifier-naming): names as in C */

#define HEARTH_C_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version, errors, log ---- */

#define HEARTH_C_API_VERSION 3u /* grows by one whenever functions are added */

HEARTH_C_EXPORT uint32_t hearth_c_api_version(void); /* of the library */
HEARTH_C_EXPORT const char* hearth_version(void);    /* "0.1.0" */

typedef int32_t hearth_status;
enum {
  HEARTH_OK = 0,
  HEARTH_INVALID_ARGUMENT = 1,   /* the caller's mistake: wrong name, index, size or option */
  HEARTH_MALFORMED_INPUT = 2,    /* a model that breaks its format's rules */
  HEARTH_NOT_FOUND = 3,          /* a file or name that does not exist */
  HEARTH_UNSUPPORTED = 4,        /* well-formed, but nothing here can run it */
  HEARTH_UNAVAILABLE = 5,        /* the requested device or driver is not usable */
  HEARTH_RESOURCE_EXHAUSTED = 6, /* out of memory, disk or a device limit */
  HEARTH_DEVICE_LOST = 7,        /* the driver failed while running */
  HEARTH_IO_ERROR = 8,           /* the operating system refused a read or write */
  HEARTH_INTERNAL = 9            /* an internal error of Hearth */
};

/* "ok", "invalid argument", ...; "unknown" for other numbers. */
HEARTH_C_EXPORT const char* hearth_status_name(hearth_status status);
/* The message of this thread's last call that failed, "" before the first; valid until the next one that fails. */
HEARTH_C_EXPORT const char* hearth_last_error(void);
HEARTH_C_EXPORT void hearth_free_text(char* text);

enum { HEARTH_LOG_DEBUG = 0, HEARTH_LOG_INFO = 1, HEARTH_LOG_WARNING = 2, HEARTH_LOG_ERROR = 3 };
typedef void (*hearth_log_sink)(void* user_data, int32_t level, const char* message);
/* Sends the process's log messages to `sink`: the phases of a start (debug), a session's device (info), its
 * warnings. With NULL, the default, warnings and errors go to standard error; the environment variable HEARTH_LOG
 * sets another level (off, error, warning, info, debug). The sink is called on the thread that logs, one call at a
 * time; it must not call Hearth. When this returns, no call of the old sink is running. */
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
/* `name` and `value` are texts; frontends/c/README.md lists the names: "device", "precision", "cache",
 * "cache_folder", "model_token", "threads", "signature", ... HEARTH_INVALID_ARGUMENT for an unknown name (the
 * message lists all) and for a value that does not fit. Functions that take options copy what they need. */
HEARTH_C_EXPORT hearth_status hearth_options_set(hearth_options* options, const char* name, const char* value);
/* The shape of the input with this name or alias: sets open dimensions or replaces the file's shape. */
HEARTH_C_EXPORT hearth_status hearth_options_set_shape(hearth_options* options, const char* input,
                                                       const int32_t* dimensions, size_t rank);
/* Since version 3. What the input with this name or alias holds in every run, fixed while the model is read: a sample
 * rate, and inputs that decide shapes (hearth_tensor_decides_shapes). `data` is dense, in C order, little-endian, and
 * is copied; another `dtype` than the input's is converted, if its integers then stay what they are. `rank` 0: the
 * file's shape, with 1 for what it leaves open. */
HEARTH_C_EXPORT hearth_status hearth_options_set_constant(hearth_options* options, const char* input, const char* dtype,
                                                          const int32_t* dimensions, size_t rank, const void* data,
                                                          size_t size_bytes);

/* Since version 3. An operator of the program's own, for the models that are opened with these options (hearth_ops.h).
 * `op` is copied; its `destroy` is called once these options and all that were opened with them are gone. After an
 * error it is not called. Shared libraries of operators are the option "ops". */
HEARTH_C_EXPORT hearth_status hearth_options_add_op(hearth_options* options, const hearth_op* op);

/* The session works in a context that the program opened; hearth/interop.h has the rules. The pointers are a
 * cl_context, cl_device_id and cl_command_queue (may be NULL); a VkInstance, VkPhysicalDevice, VkDevice and VkQueue;
 * an EGLDisplay and EGLContext. */
HEARTH_C_EXPORT hearth_status hearth_options_share_opencl(hearth_options* options, void* context, void* device,
                                                          void* queue);
HEARTH_C_EXPORT hearth_status hearth_options_share_vulkan(hearth_options* options, void* instance,
                                                          void* physical_device, void* device, void* queue,
                                                          uint32_t queue_family);
HEARTH_C_EXPORT hearth_status hearth_options_share_gl(hearth_options* options, void* display, void* context);

/* ---- Tensors: descriptions of inputs and outputs ---- */

typedef struct hearth_tensor hearth_tensor; /* belongs to its model or session; never destroyed by the caller */

HEARTH_C_EXPORT const char* hearth_tensor_name(const hearth_tensor* tensor);
HEARTH_C_EXPORT const char* hearth_tensor_alias(const hearth_tensor* tensor); /* in the signature; "" without one */
HEARTH_C_EXPORT const char* hearth_tensor_dtype(const hearth_tensor* tensor); /* "float32", "uint8", ... */
HEARTH_C_EXPORT size_t hearth_tensor_rank(const hearth_tensor* tensor);
/* hearth_tensor_rank numbers, outermost first; images are [batch, height, width, channels]. */
HEARTH_C_EXPORT const int32_t* hearth_tensor_shape(const hearth_tensor* tensor);
/* Since version 3. 1 for an input whose content decides shapes: nothing runs until hearth_options_set_constant fixes
 * it. */
HEARTH_C_EXPORT int hearth_tensor_decides_shapes(const hearth_tensor* tensor);
/* Of the dense tensor in C order, little-endian. */
HEARTH_C_EXPORT size_t hearth_tensor_size_bytes(const hearth_tensor* tensor);
/* Quantization: real = scale * (stored - zero_point). 0 when not quantized, 1 per tensor, else one per channel. */
HEARTH_C_EXPORT size_t hearth_tensor_scale_count(const hearth_tensor* tensor);
HEARTH_C_EXPORT const float* hearth_tensor_scales(const hearth_tensor* tensor);
HEARTH_C_EXPORT const int64_t* hearth_tensor_zero_points(const hearth_tensor* tensor);

/* ---- Models ---- */

typedef struct hearth_model hearth_model;

/* Maps a .tflite or .onnx file, which must not change while the model lives, and checks all of it. Only the
 * signature, shapes and constants of `options` are used, which may be NULL. */
HEARTH_C_EXPORT hearth_status hearth_model_open(const char* path, const hearth_options* options, hearth_model** out);
/* The same from bytes, which are copied. */
HEARTH_C_EXPORT hearth_status hearth_model_from_memory(const void* bytes, size_t size_bytes,
                                                       const hearth_options* options, hearth_model** out);
/* A model may be destroyed before its sessions: they keep what they need. */
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

/* Reads the model while the device opens. `options` may be NULL for all defaults. Trouble with the cache is a
 * warning. */
HEARTH_C_EXPORT hearth_status hearth_session_open(const char* path, const hearth_options* options,
                                                  hearth_session** out);
/* Signature and shapes were chosen when the model was opened; `options` must not set them. */
HEARTH_C_EXPORT hearth_status hearth_session_create(hearth_model* model, const hearth_options* options,
                                                    hearth_session** out);
/* Stores in the cache what was not stored yet, then frees the session. */
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
/* After a hot start (option "start"): waits until the background device is ready or has answered a run, or was given
 * up, which is an error that says why. Returns at once after another start. */
HEARTH_C_EXPORT hearth_status hearth_session_wait_for_device(hearth_session* session);
/* Resets the model's states to those before the first run. */
HEARTH_C_EXPORT hearth_status hearth_session_reset_state(hearth_session* session);
/* Stores in the cache what this start had to make, and waits for it; without a call a thread of low priority does it
 * soon after the first result, or hearth_session_destroy. */
HEARTH_C_EXPORT hearth_status hearth_session_save_to_cache(hearth_session* session);
/* What the session did and what it cost, as one JSON object; its keys are listed in tools/README.md under `run`. */
HEARTH_C_EXPORT hearth_status hearth_session_report_json(const hearth_session* session, char** json);

typedef struct hearth_sync hearth_sync; /* objects that a submitted run waits for and signals */

HEARTH_C_EXPORT hearth_status hearth_sync_create(hearth_sync** out);
HEARTH_C_EXPORT void hearth_sync_destroy(hearth_sync* sync);
/* The run waits for a GLsync, VkSemaphore or cl_event (`handle`) before it uses lent memory. `value`: for timelines. */
HEARTH_C_EXPORT hearth_status hearth_sync_wait_for(hearth_sync* sync, uint64_t handle, uint64_t value);
/* The run signals a VkSemaphore when it is done with all lent memory. */
HEARTH_C_EXPORT hearth_status hearth_sync_signal(hearth_sync* sync, uint64_t handle, uint64_t value);

/* Starts a run on the device with the current inputs and does not wait for it. `sync` may be NULL. If `fence` is not
 * NULL, it gets a GLsync or cl_event after the run's last command, which the caller destroys.
 * HEARTH_RESOURCE_EXHAUSTED when as many runs as the option "max_in_flight" allows have not been waited for. */
HEARTH_C_EXPORT hearth_status hearth_session_submit(hearth_session* session, const hearth_sync* sync, uint64_t* ticket,
                                                    uint64_t* fence);
/* Waits for a run and makes its outputs those of hearth_session_output_data. Each ticket may be waited for once, in
 * any order. */
HEARTH_C_EXPORT hearth_status hearth_session_wait(hearth_session* session, uint64_t ticket);

typedef struct hearth_profile hearth_profile;

/* Runs once and times each dispatch and host step. */
HEARTH_C_EXPORT hearth_status hearth_session_run_profiled(hearth_session* session, hearth_profile** out);
HEARTH_C_EXPORT void hearth_profile_destroy(hearth_profile* profile);
HEARTH_C_EXPORT size_t hearth_profile_count(const hearth_profile* profile);
HEARTH_C_EXPORT const char* hearth_profile_node(const hearth_profile* profile, size_t index);
HEARTH_C_EXPORT const char* hearth_profile_kernel(const hearth_profile* profile, size_t index);
HEARTH_C_EXPORT double hearth_profile_milliseconds(const hearth_profile* profile, size_t index);

/* Since version 2. Changes the inputs' shapes to those of hearth_options_set_shape; other options in `shapes` are
 * ignored. Inputs must be set again; the session's hearth_tensor pointers stay valid and have the new shapes. The
 * earlier plan stays ready (option "kept_shapes"), and weights that are packed the same way are not uploaded again.
 * On an error the session keeps its shapes. See hearth/session.h. */
HEARTH_C_EXPORT hearth_status hearth_session_resize(hearth_session* session, const hearth_options* shapes);
/* Since version 2. Changes the first dimension of every input. */
HEARTH_C_EXPORT hearth_status hearth_session_resize_batch(hearth_session* session, int32_t batch);
/* Since version 2. A second session of the same model on the same device, which shares the weights. The two may be
 * used from different threads at once and destroyed in any order. */
HEARTH_C_EXPORT hearth_status hearth_session_clone(hearth_session* session, hearth_session** out);
/* Since version 2. Runs once and waits, on the caller's memory: all inputs and outputs in their order, dense, in their
 * own types, with their sizes in bytes. Those of hearth_session_set_input and hearth_session_output_data stay as they
 * are. An input and an output may share memory. HEARTH_INVALID_ARGUMENT for a wrong count or size. */
HEARTH_C_EXPORT hearth_status hearth_session_run_on(hearth_session* session, const void* const* inputs,
                                                    const size_t* input_bytes, size_t input_count, void* const* outputs,
                                                    const size_t* output_bytes, size_t output_count);

/* ---- Memory that the program lends, and pictures ---- */

#include "hearth/hearth_c_lending.h"

/* ---- Results: what outputs mean ---- */

#include "hearth/hearth_c_results.h"

/* ---- Graphs: networks from code ---- */

typedef struct hearth_graph hearth_graph;

/* Functions that add something return the new tensor's number, or -1 after a mistake, which hearth_graph_build
 * reports. Numbers are valid only in their graph: another graph's number means the tensor that has this number here,
 * or is a mistake if there is none. -1 as `bias` means none. All tensors are float32; shapes and semantics are
 * TFLite's. */
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
/* A value that the network remembers: zeros in the first run, later `next` of hearth_graph_update in the previous
 * run. */
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
/* Says for each entry that a session with these options would look up whether it is there and, if not, what differs. */
HEARTH_C_EXPORT hearth_status hearth_cache_explain(const hearth_cache* cache, const char* model_path,
                                                   const hearth_options* options, char** json);
/* Starts each model on each device (or on "all") and stores what later starts need. The JSON text reports failures. */
HEARTH_C_EXPORT hearth_status hearth_cache_warm(const hearth_cache* cache, const char* const* model_paths,
                                                size_t model_count, const char* const* devices, size_t device_count,
                                                const hearth_options* options, char** json);
/* A bundle of all entries: a file NAME.tar that does not exist; `sign_with`: file of a secret key, or NULL. */
HEARTH_C_EXPORT hearth_status hearth_cache_export(const hearth_cache* cache, const char* bundle, const char* sign_with,
                                                  char** json);
/* `trusted_keys`: file of public keys, or NULL. `is_trusted` other than 0: accept entries that none of them signed. */
HEARTH_C_EXPORT hearth_status hearth_cache_import(const hearth_cache* cache, const char* bundle,
                                                  const char* trusted_keys, int32_t is_trusted, char** json);
/* Since version 2. The models whose sessions used the cache, with their sizes: `hearth cache ls --by-model`. */
HEARTH_C_EXPORT hearth_status hearth_cache_models(const hearth_cache* cache, char** json);
/* Since version 2. The model's entries are not evicted; with `is_pinned` 0 they may be again. `model`: a file, the
 * beginning of a fingerprint, or the path that the model had. HEARTH_NOT_FOUND: the cache knows no such model. */
HEARTH_C_EXPORT hearth_status hearth_cache_pin(const hearth_cache* cache, const char* model, int32_t is_pinned);
/* Since version 2. Forgets the model and deletes the entries that no other model uses; `json` as in
 * hearth_cache_clear. */
HEARTH_C_EXPORT hearth_status hearth_cache_remove(const hearth_cache* cache, const char* model, char** json);
/* Since version 2. Checks the folder, the file, the disk and the environment's server, as `hearth cache doctor`:
 * what is fine, what is wrong, what that costs, and which command repairs it. Changes nothing. */
HEARTH_C_EXPORT hearth_status hearth_cache_examine(const hearth_cache* cache, char** json);
/* Since version 2. After a driver update, makes programs again without the models: compiles those of the stored
 * plans that fit each device (or "all") and runs them once on zeros. The JSON text lists what needs a model's file. */
HEARTH_C_EXPORT hearth_status hearth_cache_warm_from_cache(const hearth_cache* cache, const char* const* devices,
                                                           size_t device_count, char** json);
/* Since version 2. Deletes what this public key has signed (all or the first of its hex digits;
 * HEARTH_INVALID_ARGUMENT if they begin several keys here, or none and are fewer than 8). Sessions that are running
 * and still trust it store nothing more of it. Take the key out of your files of trusted keys first. `json` as in
 * hearth_cache_clear, with "revoked_key", and "other_formats_bytes" of stores of other versions, which keep theirs. */
HEARTH_C_EXPORT hearth_status hearth_cache_revoke(const hearth_cache* cache, const char* key, char** json);
/* Since version 2. Accepts entries again that three processes in a row died with; no entries are deleted. `json` as in
 * hearth_cache_clear, with "lifted": how many there were. */
HEARTH_C_EXPORT hearth_status hearth_cache_lift_quarantine(const hearth_cache* cache, char** json);
/* Since version 2. hearth_cache_export with options as texts: "sign_with" (file of a secret key), "kind", "device",
 * "valid_for_ms" (imports and layers refuse the bundle afterwards), "least_version" (of a Hearth that may use it).
 * `names` and `values` have `count` texts each. `bundle` ends in ".tar", as in hearth_cache_export; equal entries make
 * equal bytes. */
HEARTH_C_EXPORT hearth_status hearth_cache_export_with(const hearth_cache* cache, const char* bundle,
                                                       const char* const* names, const char* const* values,
                                                       size_t count, char** json);
/* Since version 2. Reads and checks all of a bundle: what it holds, for which devices, who signed it.
 * `trusted_keys`: file of public keys, or NULL. Needs no cache. */
HEARTH_C_EXPORT hearth_status hearth_bundle_inspect(const char* bundle, const char* trusted_keys, char** json);
/* Since version 2. Makes `file` (a secret key for signing bundles, mode 0600) and `file`.pub. `key` gets the public
 * key in hex and may be NULL. */
HEARTH_C_EXPORT hearth_status hearth_make_signing_key(const char* file, char** key);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */
#endif /* HEARTH_HEARTH_C_H_ */
