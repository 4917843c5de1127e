"""Models and sessions with numpy arrays."""

import dataclasses
import json
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from hearth import _hearth
from hearth._errors import ErrorCode, opened
from hearth._frame import Frame
from hearth._shapes import Shapes, shape_lists, whole_size

OptionValue = Union[str, int, bool, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]
Inputs = Union[np.ndarray, Frame, Sequence[Any], Mapping[str, Any]]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
NativeText = Union[str, bytes]


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
    """What an input or output is."""

    name: str
    alias: str
    """Its name in the model's signature; empty without one."""
    dtype: np.dtype
    shape: Tuple[int, ...]
    declared_shape: Tuple[int, ...]
    """As the file has it: -1 where the size is chosen when the model is opened."""
    scales: Tuple[float, ...]
    """Of quantized tensors: real = scale * (stored - zero_point)."""
    zero_points: Tuple[int, ...]

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
        )


class Ticket(int):
    """A run that was submitted, for Session.wait; a number."""

    _session: "Session"

    def result(self) -> List[np.ndarray]:
        """Waits for the run; its outputs. Once."""
        return self._session.wait(self)


@dataclasses.dataclass(frozen=True)
class ProfileEntry:
    """A dispatch or host step of a profiled run."""

    node: str
    kernel: str
    milliseconds: float


def native_text(text: NativeText) -> NativeText:
    """A name or path as Hearth takes it: a path's bytes where they are no UTF-8."""
    if (b"\0" if isinstance(text, bytes) else "\0") in text:
        raise ValueError(f"embedded null character in {text!r}")
    try:
        if isinstance(text, str):
            text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def native_path(path: Path) -> NativeText:
    return native_text(os.fspath(path))


def option_texts(options: Mapping[str, OptionValue]) -> Dict[str, NativeText]:
    """Options as Hearth takes them: texts by name."""

    def text(name: str, value: OptionValue) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, (list, tuple)):
            return (":" if name == "cache_layers" else ",").join(os.fspath(part) for part in value)
        return str(value) if isinstance(value, (int, np.integer)) else os.fspath(value)  # type: ignore[arg-type]

    return {name: native_text(text(name, value)) for name, value in options.items() if value is not None}


class Model:
    """A network, read and checked, independent of any device."""

    def __init__(
        self,
        source: Union[str, "os.PathLike[str]", bytes, bytearray, memoryview],
        *,
        signature: str = "",
        shapes: Optional[Shapes] = None,
        top_k: int = 0,
    ):
        """Of a .tflite file (its path) or of its bytes.

        `signature`: which of the model's named functions; `shapes`: of inputs by name, where the file leaves them open
        or instead of the file's; `top_k`: of outputs that are rows of more scores, only the largest and their places.
        """
        if isinstance(source, (bytes, bytearray, memoryview)):
            native = _hearth.Model.from_bytes(source, signature, shape_lists(shapes), top_k)
        else:
            path = native_path(source)
            native = opened(path, lambda: _hearth.Model.from_file(path, signature, shape_lists(shapes), top_k))
        self._native = native

    @classmethod
    def _of(cls, native: "_hearth.Model") -> "Model":
        model = cls.__new__(cls)
        model._native = native
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

    @property
    def fingerprint(self) -> str:
        """32 hex digits over the content."""
        return self._native.fingerprint

    def metadata(self) -> Dict[str, Any]:
        """What the file says about the meaning of its inputs and outputs (TFLite metadata).

        `name`, `description`, `version`, `author`, `license`, `warnings`; `inputs` and `outputs`: a dict each, or none,
        with `name`, `description`, `content` ("image", "boxes", "feature", ""), `mean` and `std` of pixels,
        `axis_labels` of the last dimension and `value_labels` of values.
        """
        return self._native.metadata()


class Session:
    """A model on a device, ready to run. A context manager; closing it stores in the cache what is not stored yet."""

    def __init__(
        self,
        model: Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Model],
        *,
        shapes: Optional[Shapes] = None,
        **options: OptionValue,
    ):
        """Of a file (its path), of its bytes or of a Model; a Model's shapes and signature were chosen when it was made.

        Options by name, as hearth.option_names() lists them: device="opencl", precision="fp16", cache=False,
        cache_folder="/tmp/c", model_token="v2", cpu_ops=["softmax"], threads=2, signature="serving_default", ...
        """
        if isinstance(model, (bytes, bytearray, memoryview)):
            signature, top_k = str(options.pop("signature", None) or ""), whole_size(options.pop("top_k", 0), "top_k")
            model, shapes = Model(model, signature=signature, shapes=shapes, top_k=top_k), None
        if isinstance(model, Model):
            if shapes:
                raise ValueError("the model's shapes are chosen already: give them to hearth.Model")
            self._native = _hearth.Session(model._native, option_texts(options))
        else:
            path = native_path(model)
            self._native = opened(path, lambda: _hearth.Session(path, option_texts(options), shape_lists(shapes)))
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._executor: Optional[ThreadPoolExecutor] = None
        self._executor_lock = threading.Lock()
        self._note_tensors()

    def _note_tensors(self) -> None:
        self.inputs: Tuple[Tensor, ...] = tuple(Tensor._of(info) for info in self._native.inputs)
        self.outputs: Tuple[Tensor, ...] = tuple(Tensor._of(info) for info in self._native.outputs)

    def resize(self, shapes: Optional[Shapes] = None, *, batch: Optional[int] = None) -> None:
        """Other shapes of inputs by name or alias, or `batch` as the first dimension of every input.

        Inputs that are not named stay as they are. The plan before stays ready (option kept_shapes, 4), so that going back
        costs next to nothing; weights that lie on the device are not uploaded again. The model's state goes along where it
        keeps its shape, else it becomes zero. A shape that the model cannot take is hearth.Error and leaves the session
        as it is.
        """
        if (shapes is None) == (batch is None):
            raise ValueError("give either shapes or batch")
        if batch is not None:
            self._native.resize_batch(whole_size(batch, "batch"))
        else:
            self._native.resize(shape_lists(shapes))
        self._note_tensors()

    def clone(self) -> "Session":
        """A second session of the same model on the same device, which reads the same copy of the weights there.

        Inputs, outputs, state and shapes are its own. The two may be used from different threads at once and closed in any
        order.
        """
        clone = Session.__new__(Session)
        clone._native = self._native.clone()
        clone._begin()
        return clone

    def run(self, inputs: Inputs) -> List[np.ndarray]:
        """One inference: outputs in the order of self.outputs, each a new array.

        `inputs`: the array of the only input, one array per input, or arrays by name or alias; a Frame in place of an array
        where an input is a picture. An array has its input's
        type and shape, of which it may lack a leading batch of 1, in any order of elements; else ValueError. Lists of
        numbers are taken where the input's type holds them.
        """
        arrays, outputs = self._arrays(inputs), self._new_outputs()
        self._native.run(arrays, outputs)
        return outputs

    def run_named(self, inputs: Inputs) -> Dict[str, np.ndarray]:
        """The same with outputs by name."""
        return {tensor.name: array for tensor, array in zip(self.outputs, self.run(inputs))}

    def submit(self, inputs: Inputs) -> "Ticket":
        """Hands a run to the device without waiting for it; `result()` of what it gives, or `wait`, brings the outputs.

        hearth.Error when as many runs as the option max_in_flight says (2) are not waited for yet.
        """
        ticket = Ticket(self._native.submit(self._arrays(inputs)))
        ticket._session = self
        return ticket

    def run_later(self, inputs: Inputs, *, timeout: Optional[float] = None) -> "Future[List[np.ndarray]]":
        """A run on a thread of the session's own, which takes them one by one; arrays are read when its turn comes.

        Future.cancel() keeps a run that has not begun from beginning; so does `timeout` in seconds, and result() raises
        TimeoutError then. A run that has begun can't be taken back from the device: result(timeout) leaves it there.
        """
        deadline = None if timeout is None else time.monotonic() + timeout

        def run() -> List[np.ndarray]:
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError("the run's time was over before it began")
            return self.run(inputs)

        if os.getpid() != self._process:  # a fork, which has no such thread: the future says what a run says
            future: "Future[List[np.ndarray]]" = Future()
            try:
                future.set_result(run())
            except Exception as error:
                future.set_exception(error)
            return future
        with self._executor_lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(1, "hearth-run")
            return self._executor.submit(run)

    def wait(self, ticket: int) -> List[np.ndarray]:
        """The outputs of a submitted run. Each ticket once, in any order."""
        outputs = self._new_outputs()
        self._native.wait(ticket, outputs)
        return outputs

    def profile(self, inputs: Inputs) -> List[ProfileEntry]:
        """One inference with each dispatch and host step timed."""
        entries = self._native.run_profiled(self._arrays(inputs), [])
        return [ProfileEntry(entry.node, entry.kernel, entry.milliseconds) for entry in entries]

    def wait_for_device(self) -> None:
        """After start="hot": returns when the device behind the CPU is ready, was moved to, or was given up.

        hearth.Error says why it was given up. The next run may be the device's.
        """
        self._native.wait_for_device()

    def reset_state(self) -> None:
        """Sets the model's state to zero again."""
        self._native.reset_state()

    def save_to_cache(self) -> None:
        """Stores what this start had to make; close() does otherwise."""
        self._native.save_to_cache()

    def report(self) -> Dict[str, Any]:
        """What the session did and what it cost: the object of `hearth run --json`."""
        return json.loads(self._native.report_json())

    def __repr__(self) -> str:
        return f"<hearth.Session: {_listed(self.inputs)} -> {_listed(self.outputs)}>"

    def close(self) -> None:
        """Cancels what run_later was given and has not begun, waits for what has, and frees the device."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        self._native.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

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


def _holds_arrays(inputs: Any) -> bool:
    return isinstance(inputs, (list, tuple)) and len(inputs) > 0 and isinstance(inputs[0], (np.ndarray, Frame))


def _fitting(value: Any, info: "_hearth.TensorInfo") -> np.ndarray:
    """The value in C order and of the input's shape, by the rule of CheckArray (hearth/array.h)."""
    wanted = np.dtype(info.dtype)
    array = _of_numbers(value, wanted) if isinstance(value, (bool, int, float, list, tuple)) else np.asarray(value)
    _hearth.check_array(info, array.dtype.name, array.shape)
    return np.ascontiguousarray(array, wanted).reshape(info.shape)


def _of_numbers(value: Any, wanted: np.dtype) -> np.ndarray:
    """Python's numbers, which have no type of their own, in the type wanted where it holds them."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or wanted.kind == "f":
        return array.astype(wanted) if array.dtype.kind in "biuf" else array
    with np.errstate(all="ignore"):
        converted = array.astype(wanted)
    return converted if np.array_equal(converted, array) else array
