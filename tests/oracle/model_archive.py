"""models.zip, the single-operator models, and models.json, its manifest.

Nothing in the archive is compressed: Hearth's reader of model metadata (frontends/tflite/zip_entry) reads such archives,
so that the tests in C++ need no library for them. Equal models give equal bytes: entries are sorted and have one date.
"""

import json
import pathlib
import zipfile
import zlib

FOLDER = pathlib.Path(__file__).parent
ARCHIVE, MANIFEST = "models.zip", "models.json"
DATE = (1980, 1, 1, 0, 0, 0)  # the first that the format knows


def write(folder, files, entries):
    """`files`: contents by name. `entries`: what the manifest says of each; the checksum is added here."""
    with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, DATE)
            info.create_system, info.external_attr = 3, 0o644 << 16  # not this machine's
            archive.writestr(info, files[name])
    rows = [entry | {"crc32": f"{zlib.crc32(files[entry['file']]):08x}"} for entry in entries]
    lines = ",\n".join("  " + json.dumps(row) for row in sorted(rows, key=lambda row: row["file"]))
    (folder / MANIFEST).write_text(f'{{"models": [\n{lines}\n]}}\n')


def read_manifest(folder=FOLDER):
    return json.loads((folder / MANIFEST).read_text())["models"]


class Archive:
    """Contents by name, each checked against its checksum."""

    def __init__(self, folder=FOLDER):
        self._zip = zipfile.ZipFile(folder / ARCHIVE)

    def __getitem__(self, name):
        return self._zip.read(name)
