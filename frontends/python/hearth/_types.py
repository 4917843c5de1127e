"""Types of options, reports and devices. Made by make_types.py: a test compares them with the library."""

import os
from typing import List, Literal, Mapping, Optional, Sequence, Tuple, TypedDict, Union

import numpy as np


class SessionOptions(TypedDict, total=False):
    """Keywords of Session, Cache.explain and Cache.warm; each with the values that it takes."""

    device: Optional[str]
    """auto, cpu, gpu, vulkan, opencl, gles, one of several (opencl:1), a UUID, part of a name"""
    simulate: Optional[str]
    """a device that a software driver simulates: navi21, mali-g78, ..."""
    precision: Optional[Literal["fp32", "fp32_16", "fp16"]]
    """fp32, fp32_16, fp16"""
    preference: Optional[Literal["fast_single_answer", "balanced", "sustained_speed"]]
    """fast_single_answer, balanced, sustained_speed"""
    priority: Optional[Union[str, Sequence[str]]]
    """precision, latency, memory, most important first, separated by ','"""
    model_token: Optional[str]
    """a text"""
    cpu_ops: Optional[Union[str, Sequence[str]]]
    """operations, file indices or 'quantized', separated by ',': softmax,op:7"""
    rules: Optional[str]
    """driver rules forced on or off: +wide_stores,-texel_reads"""
    threads: Optional[int]
    """a number; 0: as many as affinity, cgroup quota and machine allow"""
    tune: Optional[Literal["off", "fast", "full"]]
    """off, fast, full"""
    start: Optional[Literal["ready", "hot"]]
    """ready, hot"""
    memory_limit_bytes: Optional[Union[int, str]]
    """a number, or one with K, M, G or T"""
    wait_limit_ms: Optional[int]
    """a number; 0: without end"""
    next_device: Optional[Union[bool, np.bool_, Literal["on", "off"]]]
    """on, off"""
    max_in_flight: Optional[int]
    """a number"""
    kept_shapes: Optional[int]
    """a number"""
    top_k: Optional[int]
    """a number; 0: all of an output"""
    class_maps: Optional[Union[bool, np.bool_]]
    """on, off"""
    signature: Optional[str]
    """a name of the model's"""
    dimensions: Optional[Mapping[str, int]]
    """sizes of an ONNX file's named dimensions, separated by ',': height=320,width=640"""
    ops: Optional[Union[Union[str, "os.PathLike[str]"], Sequence[Union[str, "os.PathLike[str]"]]]]
    """shared libraries of operators, separated by ':'"""
    cache: Optional[Union[bool, np.bool_, Literal["on", "off"]]]
    """on, off"""
    cache_folder: Optional[Union[str, "os.PathLike[str]"]]
    """a folder"""
    cache_read_only: Optional[Union[bool, np.bool_, Literal["on", "off"]]]
    """on, off"""
    cache_layers: Optional[Union[Union[str, "os.PathLike[str]"], Sequence[Union[str, "os.PathLike[str]"]]]]
    """read-only folders, separated by ':'"""
    cache_layer_keys: Optional[Union[str, "os.PathLike[str]"]]
    """file of public keys"""
    trust_cache_layers: Optional[Union[bool, np.bool_, Literal["on", "off"]]]
    """on, off"""
    cache_max_bytes: Optional[Union[int, str]]
    """a number, or one with K, M, G or T"""
    cache_wait_ms: Optional[int]
    """a number"""
    cache_server: Optional[str]
    """host:port, redis://, rediss://"""
    cache_server_keys: Optional[Union[str, "os.PathLike[str]"]]
    """file of public keys"""
    cache_server_sign: Optional[Union[str, "os.PathLike[str]"]]
    """file of a secret key"""


class OperatorFallback(TypedDict):
    """An operator on the CPU, and why."""

    index: int
    op: str
    reason: str


class ReportModel(TypedDict):
    path: str
    fingerprint: str


class ReportDevice(TypedDict):
    id: str
    backend: str
    name: str
    driver: str
    reason: str
    simulates: str
    keeps_nothing: str


class ReportOps(TypedDict):
    total: int
    on_device: int
    on_cpu: int
    fallbacks: List[OperatorFallback]


class ReportInitMs(TypedDict):
    total: float
    open_device: float
    open_cache: float
    read_model: float
    rewrite: float
    lower: float
    programs: float
    weights: float
    other: float


class ReportRunMs(TypedDict):
    runs: int
    median: float
    min: float
    p90: float
    max: float


class ReportPrograms(TypedDict):
    distinct: int
    compiled: int
    spirv_compiled: int
    loaded: int
    dispatches: int
    storable: bool


class ReportTuning(TypedDict):
    mode: str
    measured: int
    changed: int
    recorded: int
    ms: float


class ReportTransfers(TypedDict):
    to_device_bytes: int
    to_host_bytes: int


class ReportCache(TypedDict):
    path: str
    hits: int
    misses: int
    rejected: int
    put_errors: int
    bytes_read: int
    bytes_written: int
    layer_hits: int
    server_hits: int
    saved_ms: float
    waited_ms: float
    waited_for_makers_ms: float
    model_known_by: str
    model_hash_ms: float


class ReportMemory(TypedDict):
    arena_bytes: int
    naive_bytes: int
    lower_bound_bytes: int
    weights_bytes: int
    peak_rss_bytes: int
    needed_bytes: int
    both_live_bytes: int


class ReportResize(TypedDict):
    made: int
    kept: int
    last_ms: float
    uploaded_weights_bytes: int
    shared_weights_bytes: int


class ReportStart(TypedDict):
    mode: str
    first_by: str
    moved_at_run: Optional[int]
    reason: str
    settled: bool


class Report(TypedDict):
    """What Session.report() returns; times in milliseconds, sizes in bytes."""

    hearth: str
    model: ReportModel
    device: ReportDevice
    precision: str
    ops: ReportOps
    init_ms: ReportInitMs
    first_run_ms: float
    ready_ms: float
    save_ms: float
    run_ms: ReportRunMs
    programs: ReportPrograms
    tuning: ReportTuning
    transfers: ReportTransfers
    cache: ReportCache
    memory: ReportMemory
    resize: ReportResize
    threads: int
    start: ReportStart
    warnings: List[str]


class DeviceLimits(TypedDict):
    """`limits` of a Device: its features that are numbers or switches."""

    buffer_offset_alignment: int
    compute_units: int
    fp16_arithmetic: bool
    fp16_storage: bool
    int64: bool
    local_memory_bytes: int
    matrix_shape: Tuple[int, int, int]
    max_binding_bytes: int
    max_buffer_bytes: int
    max_local_invocations: int
    max_local_size: Tuple[int, int, int]
    max_storage_buffers: int
    max_texel_elements: int
    native_vector_floats: int
    subgroup_size: int
    unified_memory: bool
