"""The cache: the functions of `hearth cache`, with dicts of the same keys."""

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

from hearth import _hearth
from hearth._options import Path, native_path, option_texts
from hearth._shapes import Shapes, shape_lists
from hearth._types import SessionOptions

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack


def _each(given: Union[Path, Sequence[Path]]) -> List[Path]:
    """A list from one value or several: a text is one value, not its letters."""
    return [given] if isinstance(given, (str, bytes, os.PathLike)) else list(given)


def _filter(name: str, text: Optional[str]) -> str:
    """Refuses an empty text, which an unset variable gives: as a filter it would select everything."""
    if text == "":
        raise ValueError(f"{name} is empty: leave it out for all entries")
    return text or ""


class Cache:
    """The store of one folder. Making the object touches no file."""

    def __init__(self, folder: Optional[Path] = None):
        """The default folder: $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth."""
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
        """Deletes the entries of a kind ("program", "plan", ...) or of a device; everything by default.

        signed_by: a public key in hex, or its first digits; alone. This revokes the key: running sessions and imports that still
        trust it store nothing that it signed. Remove it from your files of trusted keys first.
        """
        return json.loads(self._native.clear(_filter("kind", kind), _filter("device", device),
                                             _filter("signed_by", signed_by)))

    def lift_quarantine(self) -> Dict[str, Any]:
        """Accepts entries again that three processes in a row died with; `lifted` of the result tells how many."""
        return json.loads(self._native.lift_quarantine())

    def models(self) -> Dict[str, Any]:
        """The models whose sessions used the cache, with their sizes, shared and own."""
        return json.loads(self._native.models())

    def pin(self, model: Path, pinned: bool = True) -> None:
        """Keeps the model's entries from being evicted; pinned=False allows it again.

        `model`: a file, the beginning of the model's fingerprint, or the path that it had. hearth.Error if the cache knows
        no such model.
        """
        self._native.pin(native_path(model), pinned)

    def remove(self, model: Path) -> Dict[str, Any]:
        """Forgets the model, named as for `pin`, and deletes the entries that no other model uses."""
        return json.loads(self._native.remove(native_path(model)))

    def examine(self) -> Dict[str, Any]:
        """Checks the cache: each fault with its cost and the command that repairs it, and what is fine.

        Changes nothing. `hearth cache doctor` prints the same.
        """
        return json.loads(self._native.examine())

    def explain(self, model: Path, *, shapes: Optional[Shapes] = None,
                **options: "Unpack[SessionOptions]") -> Dict[str, Any]:
        """Tells for each entry that a session with these options looks up whether it exists and, if not, what differs."""
        return json.loads(self._native.explain(native_path(model), option_texts(options), shape_lists(shapes)))

    def warm(self, models: Union[Path, Sequence[Path]], devices: Union[str, Sequence[str]] = ("all",),
             **options: "Unpack[SessionOptions]") -> Dict[str, Any]:
        """Starts each model on each device and stores the entries that later starts need."""
        paths = [native_path(model) for model in _each(models)]
        return json.loads(self._native.warm(paths, _each(devices), option_texts(options)))

    def warm_from_cache(self, devices: Union[str, Sequence[str]] = ("all",)) -> Dict[str, Any]:
        """Compiles the programs of the stored plans without their models, after a driver update."""
        return json.loads(self._native.warm_from_cache(_each(devices)))

    def export_to(self, bundle: Path, *, sign_with: Path = "", valid_for_days: float = 0, least_version: str = ""
                  ) -> Dict[str, Any]:
        """Makes a bundle, a file that does not exist and whose name ends in .tar.

        valid_for_days: imports and layers refuse the bundle afterwards; 0: never. least_version: the oldest Hearth that may
        use it."""
        return json.loads(self._native.export_to(native_path(bundle), native_path(sign_with),
                                                 round(valid_for_days * 86_400_000), least_version))

    @staticmethod
    def inspect(bundle: Path, *, trusted_keys: Path = "") -> Dict[str, Any]:
        """The contents and signer of a bundle; `damages` lists entries that differ from its manifest."""
        return json.loads(_hearth.Cache.inspect(native_path(bundle), native_path(trusted_keys)))

    @staticmethod
    def make_signing_key(file: Path) -> str:
        """Makes `file` (secret, mode 0600) and `file`.pub; returns the public key in hex."""
        return _hearth.Cache.make_signing_key(native_path(file))

    def import_from(self, bundle: Path, *, trusted_keys: Path = "", trust: bool = False) -> Dict[str, Any]:
        """Imports a bundle. `trust`: accept entries that no trusted key signed."""
        return json.loads(self._native.import_from(native_path(bundle), native_path(trusted_keys), trust))
