"""Medians, ratios and goals of the samples that models.py takes."""

import statistics

BASELINE = "litert-1"
MIB = 1 << 20


def figure(sample, name):
    """A number of one sample by its common name, or None. Hearth's reports and peers' figures have different forms."""
    figures = sample["figures"]
    if "error" in figures:
        return None
    if "run_ms" not in figures:
        return figures.get(name)
    places = {"ready_ms": ("ready_ms",), "steady_ms": ("run_ms", "median"), "steady_min_ms": ("run_ms", "min"),
              "peak_rss_bytes": ("memory", "peak_rss_bytes"), "arena_bytes": ("memory", "arena_bytes"),
              "lower_bound_bytes": ("memory", "lower_bound_bytes")}  # fmt: skip
    for place in places[name]:
        figures = figures[place]
    return figures


def by_round(samples, model, subject, start, name):
    found = {}
    for sample in samples:
        if (sample["model"], sample["subject"], sample["start"]) == (model, subject, start):
            value = figure(sample, name)
            if value is not None:
                found[sample["round"]] = value
    return found


def median(samples, model, subject, start, name):
    values = by_round(samples, model, subject, start, name).values()
    return statistics.median(values) if values else None


def least(samples, model, subject, start, name):
    return min(by_round(samples, model, subject, start, name).values(), default=None)


def ratio(samples, model, subject, other, name="steady_ms"):
    """The median over rounds of subject / other, each pair from one round."""
    ours, theirs = (by_round(samples, model, who, "warm", name) for who in (subject, other))
    ratios = [ours[k] / theirs[k] for k in ours if k in theirs]
    return statistics.median(ratios) if ratios else None


def summarize(samples):
    rows = []
    for model, subject in dict.fromkeys((s["model"], s["subject"]) for s in samples):
        row = {"model": model, "subject": subject}
        row["cold_ms"] = median(samples, model, subject, "cold", "ready_ms")
        row["warm_ms"] = median(samples, model, subject, "warm", "ready_ms")
        row["cold_least_ms"] = least(samples, model, subject, "cold", "ready_ms")
        row["warm_least_ms"] = least(samples, model, subject, "warm", "ready_ms")
        row["steady_ms"] = median(samples, model, subject, "warm", "steady_ms")
        row["steady_least_ms"] = least(samples, model, subject, "warm", "steady_min_ms")
        row["steady_ratio"] = ratio(samples, model, subject, BASELINE)
        row["warm_peak_bytes"] = median(samples, model, subject, "warm", "peak_rss_bytes")
        row["cold_peak_bytes"] = median(samples, model, subject, "cold", "peak_rss_bytes")
        if subject.startswith("hearth"):
            row["arena_bytes"] = median(samples, model, subject, "warm", "arena_bytes")
            row["lower_bound_bytes"] = median(samples, model, subject, "warm", "lower_bound_bytes")
        rows.append(row)
    return rows


def goals(samples, mobilenet_path):
    """[(what, limit, measured, holds)]; measured is None if this run has no samples for it."""
    rows = []

    def add(what, limit, measured, holds=None):
        verdict = None if measured is None else (holds if holds is not None else measured <= limit)
        rows.append({"what": what, "limit": limit, "measured": measured, "holds": verdict})

    for model, limit in (("mobilenet_v1", 0.75), ("posenet", 0.9), ("deeplab", 1.2)):
        add(f"OpenCL steady / XNNPACK 1 thread: {model}", limit, ratio(samples, model, "hearth-opencl", BASELINE))
    for device in ("vulkan", "gles"):
        for model, limit in (("mobilenet_v1", 4), ("deeplab", 5)):
            share = ratio(samples, model, f"hearth-{device}", BASELINE)
            add(f"{device} steady / XNNPACK 1 thread: {model}", limit, share)
    for model in ("mobilenet_v1", "mobilenet_v2"):
        times = ratio(samples, model, "ncnn-vulkan", "hearth-vulkan")
        add(f"ncnn Vulkan / Vulkan steady: {model} (at least)", 20, times, times is not None and times >= 20)
    for model, cold_limit, warm_limit in (("mobilenet_v1", 1500, 110), ("deeplab", 2700, 120)):
        cold = median(samples, model, "hearth-opencl", "cold", "ready_ms")
        warm = median(samples, model, "hearth-opencl", "warm", "ready_ms")
        add(f"OpenCL cold, ms: {model}", cold_limit, cold)
        add(f"OpenCL warm, ms: {model}", warm_limit, warm)
    for device in ("vulkan", "gles"):
        for model in dict.fromkeys(s["model"] for s in samples):
            add(f"{device} warm, driver's disk cache warm, ms: {model}", 300,
                median(samples, model, f"hearth-{device}", "warm", "ready_ms"))  # fmt: skip
    starts = {}
    for model, subject in dict.fromkeys((s["model"], s["subject"]) for s in samples):
        cold, warm = (least(samples, model, subject, start, "ready_ms") for start in ("cold", "warm"))
        if subject.startswith("hearth") and subject != "hearth-cpu" and cold and warm:  # nothing of the CPU's is kept
            starts[f"{model}, {subject[7:]}"] = warm / cold
    if starts:
        worst = max(starts, key=starts.get)
        add(f"warm / cold, least of each, the worst of {len(starts)}: {worst}", 1, starts[worst])
    for model, subject in dict.fromkeys((s["model"], s["subject"]) for s in samples):
        bound = median(samples, model, subject, "warm", "lower_bound_bytes") if subject.startswith("hearth") else None
        if bound:
            add(f"arena / lower bound: {model}, {subject[7:]}", 1.02,
                median(samples, model, subject, "warm", "arena_bytes") / bound)  # fmt: skip
    peaks = [median(samples, model, "hearth-opencl", "warm", "peak_rss_bytes") for model in ("mobilenet_v1", "demo")]
    share = (peaks[0] - peaks[1]) / mobilenet_path.stat().st_size if None not in peaks else None
    add("(peak resident of a warm MobileNet v1 start - demo's) / model file, OpenCL", 1.5, share)
    return rows


def cell(value, form="{:.1f}"):
    return "" if value is None else form.format(value)


def text(result):
    lines = [f"{result['machine']['processor']}, {result['machine']['cores']} cores, load "
             f"{result['machine']['load_at_begin']:.1f} to {result['machine']['load_at_end']:.1f}"]  # fmt: skip
    lines += [f"{key}: {value}" for key, value in result["machine"]["devices"].items()]
    lines += [f"{key}: {result['settings'][key]}" for key in ("cold", "warm", "rounds", "runs", "precision")]
    lines += ["", "Medians over the rounds; (least) in brackets; milliseconds, MiB.", ""]
    lines += [f"| model | subject | ready cold | ready warm | steady | / {BASELINE} | peak warm | peak cold |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for row in result["summary"]:
        lines.append(
            f"| {row['model']} | {row['subject']}"
            f" | {cell(row['cold_ms'], '{:.0f}')} ({cell(row['cold_least_ms'], '{:.0f}')})"
            f" | {cell(row['warm_ms'], '{:.0f}')} ({cell(row['warm_least_ms'], '{:.0f}')})"
            f" | {cell(row['steady_ms'])} ({cell(row['steady_least_ms'])}) | {cell(row['steady_ratio'], '{:.2f}')}"
            f" | {cell(row['warm_peak_bytes'] and row['warm_peak_bytes'] / MIB)}"
            f" | {cell(row['cold_peak_bytes'] and row['cold_peak_bytes'] / MIB)} |"
        )
    lines += ["", "| goal | limit | measured | holds |", "|---|---|---|---|"]
    for row in result["goals"]:
        if row["measured"] is not None:
            verdict = "yes" if row["holds"] else "no"
            lines.append(f"| {row['what']} | {row['limit']} | {row['measured']:.4g} | {verdict} |")
    return "\n".join(lines) + "\n"
