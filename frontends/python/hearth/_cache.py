"""The cache: what `hearth cache` does, as dicts with the same keys."""

import json
import os
from typing import Any, Dict, Optional, Sequence, Union

from hearth import _hearth
from hearth._session import OptionValue, Shapes, option_texts, shape_lists

Path = Union[str, "os.PathLike[str]"]


class Cache:
    """The store of one folder. Touches no file until it is asked."""

    def __init__(self, folder: Optional[Path] = None):
        """Without a folder: $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth."""
        self._native = _hearth.Cache("" if folder is None else os.fspath(folder))

    @property
    def folder(self) -> str:
        return self._native.folder

    def list(self) -> Dict[str, Any]:
        return json.loads(self._native.list())

    def stats(self) -> Dict[str, Any]:
        return json.loads(self._native.stats())

    def verify(self, *, repair: bool = False) -> Dict[str, Any]:
        """Reads everything; `repair` deletes damaged entries and moves a damaged file aside."""
        return json.loads(self._native.verify(repair))

    def prune(self, max_bytes: int) -> Dict[str, Any]:
        """Deletes the least recently used entries until the store fits that size."""
        return json.loads(self._native.prune(max_bytes))

    def clear(self, *, kind: str = "", device: str = "", signed_by: str = "") -> Dict[str, Any]:
        """Deletes the entries of a kind ("program", "plan", ...) or made for a device; everything by default.

        signed_by: the hex digits of a public key, all or the first. That revokes it: sessions and imports that run
        meanwhile and still trust it store nothing of it any more. Take it out of your files of trusted keys first.
        """
        return json.loads(self._native.clear(kind, device, signed_by))

    def models(self) -> Dict[str, Any]:
        """The models whose sessions used the cache, with their sizes, shared and own."""
        return json.loads(self._native.models())

    def pin(self, model: Path, pinned: bool = True) -> None:
        """What the model uses is not evicted, or with pinned=False again is.

        A file, the model's fingerprint or the beginning of it, or the path that it had; hearth.Error when the cache knows
        no such model.
        """
        self._native.pin(os.fspath(model), pinned)

    def remove(self, model: Path) -> Dict[str, Any]:
        """Forgets the model, named as for `pin`, and deletes what no other model uses."""
        return json.loads(self._native.remove(os.fspath(model)))

    def examine(self) -> Dict[str, Any]:
        """What is wrong with the cache, what it costs and the command that mends it, and what is well.

        Changes nothing. `hearth cache doctor` prints the same.
        """
        return json.loads(self._native.examine())

    def explain(self, model: Path, *, shapes: Optional[Shapes] = None, **options: OptionValue) -> Dict[str, Any]:
        """For each entry that a session with these options would ask for: is it there, and if not, what differs?"""
        return json.loads(self._native.explain(os.fspath(model), option_texts(options), shape_lists(shapes)))

    def warm(self, models: Sequence[Path], devices: Sequence[str] = ("all",), **options: OptionValue) -> Dict[str, Any]:
        """Starts each model on each device and stores what later starts need."""
        paths = [os.fspath(model) for model in models]
        return json.loads(self._native.warm(paths, list(devices), option_texts(options)))

    def warm_from_cache(self, devices: Sequence[str] = ("all",)) -> Dict[str, Any]:
        """Compiles what the stored plans need, without their models: after an update of a driver."""
        return json.loads(self._native.warm_from_cache(list(devices)))

    def export_to(self, bundle: Path, *, sign_with: Path = "", valid_for_days: float = 0, least_version: str = "",
                  since: Path = "") -> Dict[str, Any]:
        """Makes a bundle: a file where the name ends in .tar, else a folder, which must be missing or empty.

        valid_for_days: imports and layers refuse it afterwards; 0: never. least_version: of Hearth that may use it.
        since: a bundle; what it holds is left out."""
        return json.loads(self._native.export_to(os.fspath(bundle), os.fspath(sign_with),
                                                 round(valid_for_days * 86_400_000), least_version, os.fspath(since)))

    @staticmethod
    def inspect(bundle: Path, *, trusted_keys: Path = "") -> Dict[str, Any]:
        """What a bundle holds and who signed it; `damages` names what is not as its manifest promises."""
        return json.loads(_hearth.Cache.inspect(os.fspath(bundle), os.fspath(trusted_keys)))

    @staticmethod
    def make_signing_key(file: Path) -> str:
        """Makes `file` (secret, mode 0600) and `file`.pub; the public key in hex."""
        return _hearth.Cache.make_signing_key(os.fspath(file))

    def import_from(self, bundle: Path, *, trusted_keys: Path = "", trust: bool = False) -> Dict[str, Any]:
        """`trust`: take entries that none of the trusted keys signed."""
        return json.loads(self._native.import_from(os.fspath(bundle), os.fspath(trusted_keys), trust))
