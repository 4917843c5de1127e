#!/usr/bin/env python3
"""models.zip holds what models.json lists, and equal models make equal bytes."""

import pathlib
import sys
import tempfile
import unittest

import model_archive


class ModelArchive(unittest.TestCase):
    def test_what_is_read_and_written_again_has_the_same_bytes(self):
        archive, entries = model_archive.Archive(), model_archive.read_manifest()
        files = {entry["file"]: archive[entry["file"]] for entry in reversed(entries)}
        with tempfile.TemporaryDirectory() as folder:
            model_archive.write(pathlib.Path(folder), files, entries[::-1])
            for name in (model_archive.ARCHIVE, model_archive.MANIFEST):
                written, kept = pathlib.Path(folder) / name, model_archive.FOLDER / name
                self.assertTrue(written.read_bytes() == kept.read_bytes(), f"{name}: run make_models.py, commit both files")


if __name__ == "__main__":
    sys.exit(unittest.main())
