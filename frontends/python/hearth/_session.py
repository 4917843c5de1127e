"""Models and sessions with numpy arrays."""

import asyncio
import collections
import dataclasses
import html
import json
import os
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Deque,
    Dict,
    Generator,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
)

import numpy as np

from hearth import _hearth
from hearth._errors import ErrorCode, opened
from hearth._frame import Frame
from hearth._ops import CustomOp, close_at_exit, native_ops
from hearth._options import OF_MODEL, Path, constant_arrays, native_path, of_model, option_texts, whole_count
from hearth._results import Result
from hearth._shapes import Shapes, shape_lists
from hearth._types import Report, SessionOptions

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack

Inputs = Union[np.ndarray, Frame, Sequence[Any], Mapping[str, Any]]


def _numpy_type(info: "_hearth.TensorInfo") -> np.dtype:
    try:
        return np.dtype(info.dtype)
    except TypeError:
        error = _hearth.Error(
            f"'{info.name}' is {info.dtype}, which NumPy has no type for: convert the model with inputs and outputs "
            "of float32 or int8"
        )
        error.code = ErrorCode.UNSUPPORTED
        raise error from None


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Describes an input or output."""

    name: str
    alias: str
    """The name in the model's signature; empty if there is none."""
    dtype: np.dtype
    shape: Tuple[int, ...]
    declared_shape: Tuple[int, ...]
    """The file's shape: -1 where the size is chosen when the model is opened."""
    scales: Tuple[float, ...]
    """Quantized tensors: real = scale * (stored - zero_point)."""
    zero_points: Tuple[int, ...]
    decides_shapes: bool = False
    """An input whose content decides shapes: nothing runs until `constants` fix it when the model is opened."""

    @staticmethod
    def _of(info: "_hearth.TensorInfo") -> "Tensor":
        return Tensor(
            info.name,
            info.alias,
            _numpy_type(info),
            tuple(info.shape),
            tuple(info.declared_shape),
            tuple(info.scales),
            tuple(info.zero_points),
            info.decides_shapes,
        )


class Ticket(int):
    """A run that was submitted, for Session.wait; a number."""

    _session: "Session"
    _place: "_hearth.Place"  # once it is gone, the run's place is taken back when one is needed

    def result(self) -> List[np.ndarray]:
        """Waits for the run and returns its outputs. Call it once."""
        return self._session.wait(self)

    def __await__(self) -> Generator[Any, None, List[np.ndarray]]:
        """The outputs in asyncio, whose loop goes on meanwhile: `outputs = await session.submit(x)`."""
        return asyncio.get_running_loop().run_in_executor(None, self.result).__await__()


@dataclasses.dataclass(frozen=True)
class ProfileEntry:
    """A dispatch or host step of a profiled run."""

    node: str
    kernel: str
    milliseconds: float


class Model:
    """A network, read and checked, independent of any device."""

    def __init__(
        self,
        source: Union[str, "os.PathLike[str]", bytes, bytearray, memoryview],
        *,
        signature: Optional[str] = None,
        shapes: Optional[Shapes] = None,
        top_k: Optional[int] = None,
        class_maps: Optional[Union[bool, np.bool_]] = None,
        constants: Optional[Mapping[str, Any]] = None,
        dimensions: Optional[Mapping[str, int]] = None,
        ops: Optional[Union[Path, Sequence[Path]]] = None,
        custom_ops: Optional[Sequence[CustomOp]] = None,
    ):
        """Reads a .tflite or .onnx file (its path) or its bytes.

        `signature`: the named function to read; `shapes`: shapes of inputs by name, which set open dimensions or replace
        the file's; `top_k`: outputs with longer rows of scores give only the largest ones and their indices;
        `class_maps`: outputs with scores for each pixel give the class of each pixel; `constants`: numbers or arrays by
        input name, which the model then no longer has as inputs (a sample rate; paddings and counts that decide shapes).
        `dimensions`: sizes of open dimensions by the name that an ONNX file gives them; `ops`: shared libraries of operators
        that Hearth lacks; `custom_ops`: such operators in Python. None is as if it was not given.
        """
        chosen: Dict[str, Any] = {"signature": "", "top_k": 0, "class_maps": False, "dimensions": [], "ops": []}
        given = {"signature": signature, "top_k": top_k, "class_maps": class_maps, "dimensions": dimensions, "ops": ops}
        chosen.update(of_model(given))
        chosen["constants"] = constant_arrays(constants)
        chosen["custom_ops"] = native_ops(custom_ops)
        self._ops = tuple(custom_ops or ())  # Hearth does not keep them
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._native = _hearth.Model.from_bytes(source, shapes=shape_lists(shapes), **chosen)
        else:
            path = native_path(source)
            self._native = opened(path, lambda: _hearth.Model.from_file(path, shapes=shape_lists(shapes), **chosen))

    @classmethod
    def _of(cls, native: "_hearth.Model") -> "Model":
        model = cls.__new__(cls)
        model._native = native
        model._ops = ()
        return model

    @property
    def inputs(self) -> Tuple[Tensor, ...]:
        return tuple(Tensor._of(info) for info in self._native.inputs)

    @property
    def outputs(self) -> Tuple[Tensor, ...]:
        return tuple(Tensor._of(info) for info in self._native.outputs)

    @property
    def signature(self) -> str:
        return self._native.signature

    @property
    def signatures(self) -> List[str]:
        return self._native.signatures

    @property
    def path(self) -> str:
        return self._native.path

    def __repr__(self) -> str:
        return f"<hearth.Model {self.path!r}: {_listed(self.inputs)} -> {_listed(self.outputs)}>"

    def _repr_html_(self) -> str:
        return _html(f"hearth.Model {self.path}", self.inputs, self.outputs)

    @property
    def fingerprint(self) -> str:
        """32 hex digits over the content."""
        return self._native.fingerprint

    def metadata(self) -> Dict[str, Any]:
        """The file's metadata about inputs and outputs (TFLite metadata), and the recipe beside it.

        `name`, `description`, `version`, `author`, `license`, `warnings`; `inputs` and `outputs`: a dict each, or none,
        with `name`, `description`, `content` ("image", "boxes", "feature", ""), `mean` and `std` of pixels,
        `axis_labels` of the last dimension and `value_labels` of values. `recipe`: what NAME.hearth.json says, with
        `path` (empty: there is none), `mean`, `std`, `labels` and `meaning`; its scaling is in `inputs` too.
        """
        return self._native.metadata()


class Session:
    """A model on a device, ready to run. A context manager; closing it stores entries that the cache lacks."""

    def __init__(
        self,
        model: Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Model],
        *,
        shapes: Optional[Shapes] = None,
        constants: Optional[Mapping[str, Any]] = None,
        custom_ops: Optional[Sequence[CustomOp]] = None,
        **options: "Unpack[SessionOptions]",
    ):
        """Opens a file (its path), its bytes or a Model, whose shapes and signature were chosen when it was made.
        `shapes`, `constants` and `custom_ops` are those of hearth.Model.

        Options by name; hearth.option_names() lists them: device="opencl", precision="fp16", cache=False,
        cache_folder="/tmp/c", model_token="v2", cpu_ops=["softmax"], threads=2, signature="serving_default", ...
        An option that is None is as if it was not given.
        """
        given: Dict[str, Any] = dict(options)
        self._ops: Tuple[CustomOp, ...] = ()
        of_file = constants or custom_ops
        if isinstance(model, (bytes, bytearray, memoryview)) or (of_file and not isinstance(model, Model)):
            chosen: Dict[str, Any] = {name: given.pop(name, None) for name in OF_MODEL}
            model = Model(model, shapes=shapes, constants=constants, custom_ops=custom_ops, **chosen)
            shapes = of_file = None
        if isinstance(model, Model):
            if shapes or of_file:
                raise ValueError(
                    "the model's shapes, constants and custom_ops are chosen already: give them to hearth.Model"
                )
            self._native = _hearth.Session(model._native, option_texts(given))
            self._ops = model._ops
        else:
            path = native_path(model)
            self._native = opened(path, lambda: _hearth.Session(path, option_texts(given), shape_lists(shapes)))
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._executor: Optional[ThreadPoolExecutor] = None
        self._executor_lock = threading.Lock()
        self._is_closed = False
        close_at_exit(self)
        self._runner = 0  # the executor's thread, once it runs
        self._note_tensors()
        path, device = self._native.opened_as
        self._title = f"{path!r}, opened on {device}"

    def _note_tensors(self) -> None:
        self.inputs: Tuple[Tensor, ...] = tuple(Tensor._of(info) for info in self._native.inputs)
        self.outputs: Tuple[Tensor, ...] = tuple(Tensor._of(info) for info in self._native.outputs)

    def resize(self, shapes: Optional[Shapes] = None, *, batch: Optional[int] = None) -> None:
        """Changes shapes of inputs by name or alias, or with `batch` the first dimension of every input.

        Other inputs keep their shapes. Earlier shapes stay ready (option kept_shapes, 4), so that going back costs next to
        nothing. Weights on the device are not uploaded again. The states are kept if all keep their shapes, else they become
        zero. hearth.Error for a shape that the model cannot take; the session then keeps its shapes.
        """
        if (shapes is None) == (batch is None):
            raise ValueError("give either shapes or batch")
        if batch is not None:
            size = whole_count(batch, "batch")
            self._in_a_free_place(lambda: self._native.resize_batch(size))
        else:
            self._in_a_free_place(lambda: self._native.resize(shape_lists(shapes)))
        self._note_tensors()

    def clone(self) -> "Session":
        """A second session of the same model on the same device; both share one copy of the weights.

        It has its own inputs, outputs, state and shapes. Both may be used from different threads at once and closed in any
        order.
        """
        clone = Session.__new__(Session)
        clone._native = self._native.clone()
        clone._ops = self._ops
        clone._begin()
        return clone

    def run(self, inputs: Inputs, *feeds: Any) -> List[np.ndarray]:
        """Runs once. Returns the outputs in the order of self.outputs, each a new array.

        `inputs`: the array of the only input, one array per input, or arrays by name or alias. A Frame can replace the
        array of a picture. ValueError unless an array has its input's type and shape; a leading batch of 1 may be missing,
        and the elements may have any order in memory. Lists of numbers are accepted if the input's type holds them. A
        list with fractions is rounded to a type of real numbers, but no number may become infinite.
        """
        if feeds or inputs is None:  # onnxruntime's way
            raise TypeError("run takes the inputs alone and returns all outputs: session.run({name: array})")
        arrays, outputs = self._arrays(inputs), self._new_outputs()
        self._in_a_free_place(lambda: self._native.run(arrays, outputs))
        return outputs

    def run_named(self, inputs: Inputs) -> Dict[str, np.ndarray]:
        """The same with outputs by name."""
        return {tensor.name: array for tensor, array in zip(self.outputs, self.run(inputs))}

    def submit(self, inputs: Inputs) -> "Ticket":
        """Starts a run on the device without waiting. `result()` of the ticket, or `wait`, returns the outputs.

        hearth.Error if max_in_flight (an option, 2) runs have not been waited for and their tickets are alive.
        """
        arrays = self._arrays(inputs)
        place = self._in_a_free_place(lambda: self._native.submit(arrays))
        ticket = Ticket(place.number)
        ticket._session, ticket._place = self, place
        return ticket

    def map(self, batches: Iterable[Inputs], *, in_flight: int = 2) -> Iterator[List[np.ndarray]]:
        """Runs each of `batches` and gives their outputs in order, with `in_flight` runs under way at once.

        `in_flight` is at most the option max_in_flight (2).
        """
        if in_flight < 1:
            raise ValueError(f"in_flight is {in_flight}, at least one run must be under way")
        tickets: Deque[Ticket] = collections.deque()
        try:
            for inputs in batches:
                if len(tickets) == in_flight:
                    yield tickets.popleft().result()
                tickets.append(self.submit(inputs))
            while tickets:
                yield tickets.popleft().result()
        finally:
            while tickets:  # of a caller that stopped: nobody else can wait for them
                tickets.popleft().result()

    def run_later(self, inputs: Inputs, *, timeout: Optional[float] = None) -> "Future[List[np.ndarray]]":
        """Returns a Future of a run on the session's own thread, which does one run at a time and reads the arrays then.

        Future.cancel() prevents a run that has not begun. So does `timeout`, in seconds; result() then raises TimeoutError.
        A run that has begun can't be stopped on the device: result(timeout) leaves it there.
        """
        deadline = None if timeout is None else time.monotonic() + timeout

        def run() -> List[np.ndarray]:
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError("the run's time was over before it began")
            return self.run(inputs)

        def run_here() -> List[np.ndarray]:
            self._runner = threading.get_ident()
            return run()

        if os.getpid() == self._process:
            with self._executor_lock:
                if not self._is_closed:
                    if self._executor is None:
                        self._executor = ThreadPoolExecutor(1, "hearth-run")
                    return self._executor.submit(run_here)
        # Closed, or a fork, which has no such thread: the future says what a run says.
        future: "Future[List[np.ndarray]]" = Future()
        try:
            future.set_result(run())
        except Exception as error:
            future.set_exception(error)
        return future

    def wait(self, ticket: int) -> List[np.ndarray]:
        """Waits for a submitted run and returns its outputs. Each ticket once, in any order."""
        outputs = self._new_outputs()
        self._native.wait(ticket, outputs, ticket._place if isinstance(ticket, Ticket) else None)
        return outputs

    def profile(self, inputs: Inputs) -> List[ProfileEntry]:
        """Runs once and measures each dispatch and host step."""
        arrays = self._arrays(inputs)
        entries = self._in_a_free_place(lambda: self._native.run_profiled(arrays, []))
        return [ProfileEntry(entry.node, entry.kernel, entry.milliseconds) for entry in entries]

    def interpret(
        self,
        *,
        meaning: Optional[str] = None,
        labels: Sequence[str] = (),
        top: int = 5,
        min_score: float = 0.5,
    ) -> List[Result]:
        """What the outputs of the last run mean: classes, boxes, key points, masks, pictures.

        `meaning`: "classes", "boxes", "keypoints", "mask", "class-map", "image" or "none" instead of what is found, or a
        kind of boxes ("yolov5", "yolov8", "yolov10", "yolox", "yolov8-pose", "yolov8-obb");
        `labels`: names of classes instead of the file's; `top`: how many classes; boxes below `min_score` are left out.
        hearth.Error if no output can have the meaning.
        """
        if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
            raise TypeError(f"labels: {labels!r} is no list of str")
        if meaning is not None and not isinstance(meaning, str):
            raise TypeError(f"meaning: {meaning!r} is no str")
        count = whole_count(top, "top")
        if count < 0:
            raise ValueError(f"top: {count} is below 0")
        names = [label.encode(errors="replace").decode() for label in labels]
        found = self._native.interpret(meaning or "", names, count, float(min_score))
        return [Result(native) for native in found]

    def wait_for_device(self) -> None:
        """After start="hot": waits until the background device is ready or has answered a run, or was given up.

        hearth.Error says why it was given up. The next run may be on the device.
        """
        self._native.wait_for_device()

    def reset_state(self) -> None:
        """Sets the model's state to zero again."""
        self._native.reset_state()

    def save_to_cache(self) -> None:
        """Stores in the cache what this start had to make. close() does it too."""
        self._native.save_to_cache()

    def report(self) -> Report:
        """What the session did, with times and memory: the object of `hearth run --json`."""
        return cast(Report, json.loads(self._native.report_json()))

    def __repr__(self) -> str:
        return f"<hearth.Session {self._title}: {_listed(self.inputs)} -> {_listed(self.outputs)}>"

    def _repr_html_(self) -> str:
        return _html(f"hearth.Session {self._title}", self.inputs, self.outputs)

    def __copy__(self) -> "Session":
        return self.clone()

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Session":
        return self.clone()

    def close(self) -> None:
        """Cancels runs of run_later that have not begun, waits for the others, and frees the device."""
        if os.getpid() == self._process:  # a fork has no such thread, and its lock may be held by one that is not there
            with self._executor_lock:
                self._is_closed = True
            if self._executor is not None:
                # A callback of a future may close the session on the thread that ran it, which cannot wait for itself.
                self._executor.shutdown(wait=self._runner != threading.get_ident(), cancel_futures=True)
        self._native.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _in_a_free_place(self, call: Callable[[], Any]) -> Any:
        """The call; if too many runs are in flight, again after those that nobody can wait for."""
        try:
            return call()
        except _hearth.Error as error:
            if error.code != ErrorCode.RESOURCE_EXHAUSTED or not self._native.free_places():
                raise
        return call()

    def _new_outputs(self) -> List[np.ndarray]:
        return [np.empty(tensor.shape, tensor.dtype) for tensor in self.outputs]

    def _arrays(self, inputs: Inputs) -> List[Any]:
        if isinstance(inputs, Mapping):
            given = self._by_name(inputs)
        elif isinstance(inputs, (np.ndarray, Frame)) or len(self.inputs) == 1 and not _holds_arrays(inputs):
            given = [inputs]
        else:
            given = list(inputs)
        if len(given) != len(self.inputs):
            names = ", ".join(repr(tensor.name) for tensor in self.inputs)
            raise ValueError(f"{len(given)} inputs were given, the model has {len(self.inputs)}: {names}")
        return [
            value._native if isinstance(value, Frame) else _fitting(value, info)
            for value, info in zip(given, self._native.inputs)
        ]

    def _by_name(self, inputs: Mapping[str, Any]) -> List[Any]:
        index = {tensor.alias: k for k, tensor in enumerate(self.inputs) if tensor.alias}
        index.update({tensor.name: k for k, tensor in enumerate(self.inputs)})
        unknown = [name for name in inputs if name not in index]
        if unknown:
            raise ValueError(f"the model has no input named {unknown[0]!r}; it has {', '.join(map(repr, index))}")
        by_index = {index[name]: value for name, value in inputs.items()}
        missing = [tensor.name for k, tensor in enumerate(self.inputs) if k not in by_index]
        if missing:
            raise ValueError(f"input {missing[0]!r} was not given")
        return [by_index[k] for k in range(len(self.inputs))]


def _listed(tensors: Sequence[Tensor]) -> str:
    return ", ".join(f"{tensor.name!r} {tensor.dtype}{list(tensor.shape)}" for tensor in tensors)


def _html(title: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> str:
    """A table for notebooks."""
    rows = [(role, tensor) for role, tensors in (("input", inputs), ("output", outputs)) for tensor in tensors]
    lines = (
        f"<tr><td>{role}</td><td>{html.escape(tensor.name)}</td><td>{tensor.dtype}</td><td>{list(tensor.shape)}</td></tr>"
        for role, tensor in rows
    )
    return f"<table><caption>{html.escape(title)}</caption>{''.join(lines)}</table>"


def _holds_arrays(inputs: Any) -> bool:
    return isinstance(inputs, (list, tuple)) and len(inputs) > 0 and isinstance(inputs[0], (np.ndarray, Frame))


def _fitting(value: Any, info: "_hearth.TensorInfo") -> np.ndarray:
    """The value in C order with the input's shape, by the rule of CheckArray (hearth/array.h)."""
    if isinstance(value, (str, os.PathLike)):
        raise TypeError(
            f"input {info.name!r}: {os.fspath(value)!r} is a path; give its numbers: numpy.load(path), or a picture's pixels "
            "as hearth.Frame(numpy.asarray(PIL.Image.open(path).convert('RGB')))"
        )
    wanted = np.dtype(info.dtype)
    array = _of_numbers(value, wanted) if isinstance(value, (bool, int, float, list, tuple)) else np.asarray(value)
    _hearth.check_array(info, array.dtype.name, array.shape)
    return np.ascontiguousarray(array, wanted).reshape(info.shape)


def _of_numbers(value: Any, wanted: np.dtype) -> np.ndarray:
    """Converts Python numbers to the wanted type if it holds them. Fractions are rounded to a type of real numbers."""
    array = numbers = np.asarray(value)
    if array.dtype.kind not in "biuf":
        return array
    is_real = array.dtype.kind == "f"
    if is_real and wanted.kind != "f" and (np.abs(array) >= 2.0**53).any():
        numbers = np.asarray(value, object)  # NumPy has rounded integers that stand among floats
    try:
        with np.errstate(all="ignore"):
            converted = numbers.astype(wanted)
    except (OverflowError, ValueError):
        return array
    if is_real and wanted.kind == "f":
        is_held = not (np.isinf(converted) & np.isfinite(array)).any()
    else:  # Python compares integers and floats exactly; NumPy makes both floats first
        is_held = np.array_equal(converted.astype(object), numbers.astype(object))
    return converted if is_held else array
