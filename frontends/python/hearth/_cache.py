"""The cache: what `hearth cache` does, as dicts with the same keys."""

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Union

from hearth import _hearth
from hearth._session import OptionValue, Path, native_path, option_texts
from hearth._shapes import Shapes, shape_lists


def _each(given: Union[Path, Sequence[Path]]) -> List[Path]:
    """One, or several: a text is one, not its letters."""
    return [given] if isinstance(given, (str, bytes, os.PathLike)) else list(given)


def _filter(name: str, text: Optional[str]) -> str:
    """An empty text is a variable that nobody set: it would let everything through."""
    if text == "":
        raise ValueError(f"{name} is empty: leave it out for all entries")
    return text or ""


class Cache:
    """The store of one folder. Touches no file until it is asked."""

    def __init__(self, folder: Optional[Path] = None):
        """Without a folder: $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth."""
        if folder is not None and not os.fspath(folder):
            raise ValueError("the cache folder's name is empty: leave it out for the usual one")
        self._native = _hearth.Cache("" if folder is None else native_path(folder))

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
        """Deletes the entries least worth keeping until the store fits that size."""
        if max_bytes < 0:
            raise ValueError(f"max_bytes: {max_bytes} is negative")
        return json.loads(self._native.prune(max_bytes))

    def clear(self, *, kind: Optional[str] = None, device: Optional[str] = None,
              signed_by: Optional[str] = None) -> Dict[str, Any]:
        """Deletes the entries of a kind ("program", "plan", ...) or made for a device; everything by default.

        signed_by: the hex digits of a public key, all or the first. That revokes it: sessions and imports that run
        meanwhile and still trust it store nothing of it any more. Take it out of your files of trusted keys first.
        """
        return json.loads(self._native.clear(_filter("kind", kind), _filter("device", device),
                                             _filter("signed_by", signed_by)))

    def models(self) -> Dict[str, Any]:
        """The models whose sessions used the cache, with their sizes, shared and own."""
        return json.loads(self._native.models())

    def pin(self, model: Path, pinned: bool = True) -> None:
        """What the model uses is not evicted, or with pinned=False again is.

        A file, the model's fingerprint or the beginning of it, or the path that it had; hearth.Error when the cache knows
        no such model.
        """
        self._native.pin(native_path(model), pinned)

    def remove(self, model: Path) -> Dict[str, Any]:
        """Forgets the model, named as for `pin`, and deletes what no other model uses."""
        return json.loads(self._native.remove(native_path(model)))

    def examine(self) -> Dict[str, Any]:
        """What is wrong with the cache, what it costs and the command that mends it, and what is well.

        Changes nothing. `hearth cache doctor` prints the same.
        """
        return json.loads(self._native.examine())

    def explain(self, model: Path, *, shapes: Optional[Shapes] = None, **options: OptionValue) -> Dict[str, Any]:
        """For each entry that a session with these options would ask for: is it there, and if not, what differs?"""
        return json.loads(self._native.explain(native_path(model), option_texts(options), shape_lists(shapes)))

    def warm(self, models: Union[Path, Sequence[Path]], devices: Union[str, Sequence[str]] = ("all",),
             **options: OptionValue) -> Dict[str, Any]:
        """Starts each model on each device and stores what later starts need."""
        paths = [native_path(model) for model in _each(models)]
        return json.loads(self._native.warm(paths, _each(devices), option_texts(options)))

    def warm_from_cache(self, devices: Union[str, Sequence[str]] = ("all",)) -> Dict[str, Any]:
        """Compiles what the stored plans need, without their models: after an update of a driver."""
        return json.loads(self._native.warm_from_cache(_each(devices)))

    def export_to(self, bundle: Path, *, sign_with: Path = "", valid_for_days: float = 0, least_version: str = "",
                  since: Path = "", trusted_keys: Path = "") -> Dict[str, Any]:
        """Makes a bundle: a file where the name ends in .tar, else a folder, which must be missing or empty.

        valid_for_days: imports and layers refuse it afterwards; 0: never. least_version: of Hearth that may use it.
        since: a bundle; what it holds is left out. Where there are keys, the one of sign_with or those in the file
        trusted_keys, one of them must have signed it."""
        return json.loads(self._native.export_to(native_path(bundle), native_path(sign_with),
                                                 round(valid_for_days * 86_400_000), least_version, native_path(since),
                                                 native_path(trusted_keys)))

    @staticmethod
    def inspect(bundle: Path, *, trusted_keys: Path = "") -> Dict[str, Any]:
        """What a bundle holds and who signed it; `damages` names what is not as its manifest promises."""
        return json.loads(_hearth.Cache.inspect(native_path(bundle), native_path(trusted_keys)))

    @staticmethod
    def make_signing_key(file: Path) -> str:
        """Makes `file` (secret, mode 0600) and `file`.pub; the public key in hex."""
        return _hearth.Cache.make_signing_key(native_path(file))

    def import_from(self, bundle: Path, *, trusted_keys: Path = "", trust: bool = False) -> Dict[str, Any]:
        """`trust`: take entries that none of the trusted keys signed."""
        return json.loads(self._native.import_from(native_path(bundle), native_path(trusted_keys), trust))
