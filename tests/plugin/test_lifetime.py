#!/usr/bin/env python3
"""test_lifetime.py DEVICE: delegates and interpreters that go in any order: by reference counts, by the collector, at the
process's end, on threads. Each way is a process of its own that must end well, store what it made for every model, write
its reports and leave no claim files.

The processes are this script with a way and a folder behind the device.
"""

import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np
import plugin

MODELS = ("shapes_f32", "shapes_int8")  # of tools/demo


class Holder:
    """Holds a delegate and its interpreter, and itself: only the collector ends it."""

    def __init__(self, folder, device, name, store="later"):
        options = {"device": device, "cache_dir": folder / "cache", "report": folder / f"{name}.json", "store": store,
                   "cache_wait_ms": 60000}  # on threads they wait for each other, on a busy machine for long
        self.delegate = plugin.load_delegate(plugin.PLUGIN, options)
        model = plugin.ROOT / "tools" / "demo" / f"{name}.tflite"
        self.interpreter = plugin.open_interpreter(model, None, delegate=self.delegate)
        self.itself = self

    def run(self):
        inputs = [np.zeros(details["shape"], details["dtype"]) for details in self.interpreter.get_input_details()]
        plugin.run(self.interpreter, inputs)
        return self

    def open_circle(self):
        self.itself = None


def by_the_collector(open_model):
    for name in MODELS:
        holder = open_model(name).run()
        del holder
        gc.collect()


def by_the_collector_together(open_model):
    holders = [open_model(name).run() for name in MODELS]
    holders[0].other, holders[1].other = holders[1], holders[0]
    del holders
    gc.collect()


def delegate_first(open_model):
    for name in MODELS:
        holder = open_model(name)
        holder.open_circle()
        holder.delegate.__del__()
        holder.run()


def interpreter_first(open_model):
    for name in MODELS:
        holder = open_model(name).run()
        holder.open_circle()
        holder.interpreter = None
        holder.delegate = None


def at_the_end(open_model):
    kept.extend(open_model(name).run() for name in MODELS)


def at_the_end_in_globals(open_model):
    for name in MODELS:
        holder = open_model(name).run()
        holder.open_circle()
        globals()[f"delegate_{name}"], globals()[f"interpreter_{name}"] = holder.delegate, holder.interpreter


def on_threads(open_model):
    threads = [threading.Thread(target=lambda name=name: open_model(name).run()) for name in MODELS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()


def without_an_end(open_model):
    """Nothing runs any more: only the option `store` can help."""
    for name in MODELS:
        open_model(name, store="now").run()
    os._exit(0)


kept = []
WAYS = {
    way.__name__: way
    for way in (
        by_the_collector,
        by_the_collector_together,
        delegate_first,
        interpreter_first,
        at_the_end,
        at_the_end_in_globals,
        on_threads,
        without_an_end,
    )
}


class Lifetime(unittest.TestCase):
    device = None

    def process(self, way, folder):
        result = subprocess.run(
            [sys.executable, __file__, self.device, way, folder], capture_output=True, text=True, timeout=300
        )
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return [json.loads((folder / f"{name}.json").read_text())["partitions"] for name in MODELS]

    def test_each_way_ends_well_and_stores_what_it_made(self):
        for way in WAYS:
            with self.subTest(way), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                for partitions in self.process(way, folder):
                    self.assertEqual([partition["invocations"] for partition in partitions], [1])
                self.assertEqual([path.name for path in (folder / "cache").glob("making-*")], [])
                for (partition,) in self.process(way, folder):  # warm
                    programs, cache = partition["session"]["programs"], partition["session"]["cache"]
                    self.assertEqual((programs["compiled"], programs["spirv_compiled"], cache["misses"]), (0, 0, 0))
                    self.assertEqual(cache["hits"] > 0, self.device != "cpu")  # of whose start nothing is kept


def main():
    device = sys.argv[1]
    if len(sys.argv) > 2:
        folder = pathlib.Path(sys.argv[3])
        WAYS[sys.argv[2]](lambda name, **options: Holder(folder, device, name, **options))
        return 0
    plugin.skip_without(device)
    Lifetime.device = device
    return 0 if unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
