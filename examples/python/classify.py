"""Classifies a photograph on every device, twice, and shows what the cache saves. Runs as a script and cell by cell.

python3 classify.py MODEL.tflite PICTURE LABELS.txt [DEVICE]...     (needs numpy and Pillow beside hearth)
"""

# %% What there is to compute with
import sys
import tempfile

import hearth
import numpy as np
from PIL import Image

model_path, picture_path, labels_path, *wanted = sys.argv[1:]
for device in hearth.devices():
    print(f"{device['id']:10} {device['name'] if device['usable'] else device['reason']}")
    if device["usable"] and len(sys.argv) == 4:
        wanted.append(device["id"])

# %% The model, and the photograph as its input
model = hearth.Model(model_path, top_k=5)
picture = np.asarray(Image.open(picture_path).convert("RGB"))
# The device resizes it to the model's size and makes numbers of it, for float models from -1 to 1.
frame = hearth.Frame(picture, mean=127.5, std=127.5)

# %% Each device with an empty cache, then as every later start: nothing is compiled
cache = hearth.Cache(tempfile.mkdtemp(prefix="hearth-example-"))
for device in wanted:
    for start in ("cold", "warm"):
        with hearth.Session(model, device=device, cache_folder=cache.folder) as session:
            scores, indices = session.run(frame)
            report = session.report()
        print(f"{device:10} {start}: ready in {report['ready_ms']:6.0f} ms, {report['programs']['compiled']} compiled")

# %% The answer, and where its time goes
labels = [line.strip() for line in open(labels_path, encoding="utf-8")]
for score, index in zip(scores.ravel(), indices.ravel()):
    print(f"{score:.2f} {labels[index]}")
with hearth.Session(model, device=wanted[-1], cache=False) as session:
    profile = sorted(session.profile(frame), key=lambda entry: -entry.milliseconds)
for entry in profile[:5]:
    print(f"{entry.milliseconds:8.3f} ms {entry.node} ({entry.kernel})")
