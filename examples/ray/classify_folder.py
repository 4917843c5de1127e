"""Classifies a folder of pictures on all machines of a Ray cluster, with one Hearth session per worker.

python3 classify_folder.py PICTURES MODEL.tflite LABELS.txt --workers 2 --device opencl \\
    --cache-server redis://cache.example:6379 --cache-server-keys farm.pub --cache-server-sign farm.key

One worker starts alone and puts what it made (programs, weights, plan) onto the cache server; all others find it there and
compile nothing. Without a server each machine compiles once, into its own cache. A worker takes a CPU of the cluster; one
more at least must be free for reading pictures. Needs `ray[data]`, numpy and Pillow from
PyPI beside hearth, the model and the keys under the same path on every machine, and nothing else of them.
"""

import argparse
import csv
import json
import sys

import hearth
import numpy as np
import ray


class Classifier:
    """What a worker holds for as long as it lives: a session, ready before its first picture."""

    def __init__(self, model, options, cache_folder=None):
        worker = ray.get_runtime_context().get_actor_id()
        if cache_folder:  # of this worker alone, as if it had a machine of its own; else the user's
            options = {**options, "cache_folder": f"{cache_folder}/{worker}"}
        self.session = hearth.Session(model, **options)
        (self.input,) = self.session.inputs
        self.session.run(np.zeros(self.input.shape, self.input.dtype))
        self.session.save_to_cache()  # to the server too, for those who start after this one
        report = self.session.report()
        programs = report["programs"]
        self.worker = {"worker": worker, "compiled": programs["compiled"] + programs["spirv_compiled"],
                       "loaded": programs["loaded"], "ready_ms": report["ready_ms"],
                       "waited_ms": report["cache"]["waited_ms"]}

    def report(self):
        return self.worker

    def __call__(self, batch):
        """Pictures of the model's size, uint8 [n, height, width, 3], to a class and a score each."""
        classes, scores = [], []
        for picture in batch["image"]:
            pixels = picture[np.newaxis]
            if self.input.dtype == np.float32:
                pixels = pixels / np.float32(127.5) - 1
            (output,) = self.session.run(pixels)
            classes.append(int(output.argmax()))
            scores.append(float(output.max()))
        answer = {"path": batch["path"], "class": np.array(classes), "score": np.array(scores)}
        return answer | {key: np.array([value] * len(classes)) for key, value in self.worker.items()}


def classify(pictures, model, options, workers, cache_folder=None):
    """One row per picture, with what its worker had to do to start."""
    (tensor,) = hearth.Model(model).inputs
    _, height, width, _ = tensor.shape
    maker = {"model": model, "options": options, "cache_folder": cache_folder}
    first = ray.remote(num_cpus=1)(Classifier).remote(**maker)
    ray.get(first.report.remote())  # it is warm: what it made is on the server
    ray.kill(first)
    # Many blocks, each a batch, so that a small folder keeps all workers busy too. Reading needs CPUs beside the workers' own.
    images = ray.data.read_images(pictures, size=(height, width), mode="RGB", include_paths=True,
                                  override_num_blocks=8 * workers)
    rows = images.map_batches(Classifier, fn_constructor_kwargs=maker, batch_size=None, num_cpus=1,
                              compute=ray.data.ActorPoolStrategy(size=workers))
    return rows.take_all()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", help="a folder, or what else Ray Data reads (s3://...)")
    parser.add_argument("model")
    parser.add_argument("labels", help="one class name a line")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--cache-server", default="")
    parser.add_argument("--cache-server-keys", default="", help="whose entries are taken: `hearth cache key FILE` makes FILE.pub")
    parser.add_argument("--cache-server-sign", default="", help="what signs ours: FILE")
    asked = parser.parse_args(arguments)
    options = {"device": asked.device}
    for name in ("cache_server", "cache_server_keys", "cache_server_sign"):
        if getattr(asked, name):
            options[name] = getattr(asked, name)
    with open(asked.labels, encoding="utf-8") as file:
        labels = [line.strip() for line in file]

    rows = classify(asked.pictures, asked.model, options, asked.workers)
    out = csv.writer(sys.stdout)
    for row in sorted(rows, key=lambda row: row["path"]):
        out.writerow([row["path"], labels[row["class"]], f"{row['score']:.3f}"])
    for worker in {row["worker"]: row for row in rows}.values():
        told = {key: worker[key].item() for key in ("compiled", "loaded", "ready_ms", "waited_ms")}
        print(worker["worker"][:8], json.dumps(told), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
