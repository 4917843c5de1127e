"""What a network of the generator is: a function that builds it, its inputs, and how it is converted."""

import dataclasses
import importlib
import zlib
from typing import Any, Callable, Dict, List

FAMILIES = ("vision", "dense_prediction", "recurrent", "transformers", "audio", "research", "small_parts", "stateful", "weights")


@dataclasses.dataclass
class Input:
    """`shape` with its batch dimension, which may be None; `rule` as numbers_of_models.real_values takes it."""

    name: str
    shape: List[Any]
    rule: Any = "normal"
    dtype: str = "float32"


@dataclasses.dataclass
class Network:
    name: str
    family: str
    build: Callable  # the inputs' symbolic tensors to outputs, or a tf.Module's function
    inputs: List[Input]
    kind: str = "keras"  # "function": build() gives a function of tensors; "module": a tf.Module with __call__
    runs: int = 2
    quantizations: List[str] = dataclasses.field(default_factory=list)  # empty: the five of the converter


REGISTERED: Dict[str, Network] = {}


def network(*inputs, kind="keras", runs=2, quantizations=()):
    """Registers the function below it as a network with these inputs."""

    def register(build):
        name, family = build.__name__, build.__module__.removeprefix("family_")
        REGISTERED[name] = Network(name, family, build, list(inputs), kind, runs, list(quantizations))
        return build

    return register


def image(size=32, channels=3, batch=1, rule=(-1.0, 1.0), name="image"):
    return Input(name, [batch, size, size, channels], list(rule))


def sequence(length=8, features=6, batch=1, name="sequence"):
    return Input(name, [batch, length, features])


def tokens(length=12, vocabulary=50, batch=1, name="tokens"):
    return Input(name, [batch, length], {"int": [0, vocabulary - 1]}, "int32")


def load_all():
    for family in FAMILIES:
        importlib.import_module(f"family_{family}")
    return REGISTERED


def seed_of(name):
    return zlib.crc32(name.encode()) & 0x7FFFFFFF
