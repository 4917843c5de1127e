/* What outputs mean: the part of hearth/hearth_c.h that corresponds to hearth/results.h. Include hearth/hearth_c.h
 * instead. */
#ifndef HEARTH_C_RESULTS_H_
#define HEARTH_C_RESULTS_H_

#ifndef HEARTH_C_EXPORT
#error "include hearth/hearth_c.h"
#endif

typedef struct hearth_results hearth_results;

/* Since version 3. What the outputs of the session's last run mean (hearth/results.h): a list of results, each an
 * output or several that belong together. `meaning`: NULL to find it, else "classes", "boxes", "keypoints", "mask",
 * "class-map", "image" or "none", or a kind of boxes: "yolov5", "yolov8", "yolov10", "yolox", "yolov8-pose" or
 * "yolov8-obb". `top`: how many classes of scores. Boxes below `min_score` are left out. */
HEARTH_C_EXPORT hearth_status hearth_session_interpret(hearth_session* session, const char* meaning, size_t top,
                                                       float min_score, hearth_results** out);
HEARTH_C_EXPORT void hearth_results_destroy(hearth_results* results);
HEARTH_C_EXPORT size_t hearth_results_count(const hearth_results* results);
/* Since version 3, as all below. "classes", "boxes", ..., and why. */
HEARTH_C_EXPORT const char* hearth_result_meaning(const hearth_results* results, size_t index);
HEARTH_C_EXPORT const char* hearth_result_reason(const hearth_results* results, size_t index);
/* The index of the first of its outputs; -1 when there is no such result. */
HEARTH_C_EXPORT int64_t hearth_result_output(const hearth_results* results, size_t index);
/* Items: classes, highest scores first; boxes, highest first; key points in their order; a class map's classes, those
 * with the largest share of the picture first. */
HEARTH_C_EXPORT size_t hearth_result_item_count(const hearth_results* results, size_t index);
/* -1 for key points. */
HEARTH_C_EXPORT int64_t hearth_result_class(const hearth_results* results, size_t index, size_t item);
/* The label, "" without one; a key point's name or number. */
HEARTH_C_EXPORT const char* hearth_result_label(const hearth_results* results, size_t index, size_t item);
/* The score; a class map's share. */
HEARTH_C_EXPORT float hearth_result_score(const hearth_results* results, size_t index, size_t item);
/* `count` numbers, fractions of the picture's width and height: left, top, right, bottom of a box and then x, y of each
 * point in it (a rotated box's corners); x, y of a key point. NULL and 0 for other items. */
HEARTH_C_EXPORT const float* hearth_result_place(const hearth_results* results, size_t index, size_t item,
                                                 size_t* count);
/* height rows of width numbers: a mask's probabilities, a class map's classes, of boxes with masks 1 + the item that the
 * pixel belongs to, or 0. NULL for other results. */
HEARTH_C_EXPORT const float* hearth_result_map(const hearth_results* results, size_t index, int32_t* height,
                                               int32_t* width);

#endif /* HEARTH_C_RESULTS_H_ */
