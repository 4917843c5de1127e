"""`hearth run` with several pictures, a folder of them, or a video: a run and a line each.

    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_many_pictures.py
"""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flat_model  # noqa: E402
from cli_case import PROGRAM, CliTest, png, read_npy  # noqa: E402

NEG = 59
# Writes what the program ffmpeg writes for `-f image2pipe -c:v bmp`: a file for each line of the "video".
FFMPEG = """#!{python}
import struct, sys, time
path = sys.argv[sys.argv.index("-i") + 1].removeprefix("file:")
for line in open(path):
    pixels = bytes(int(word) for word in line.split()[:3]) * 16 * 16
    sizes = struct.pack("<IIIIiiHHIIiiII", 54 + len(pixels), 0, 54, 40, 16, 16, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    frame = b"BM" + sizes + pixels
    sys.stdout.buffer.write(frame[:100] if "cut" in line else frame)
    sys.stdout.buffer.flush()
    if "wait" in line:
        time.sleep(60)
sys.exit(0 if path.endswith(".avi") else 1)
"""


class ManyPictures(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.file("negated.tflite", flat_model.chain([NEG], [1, 8, 8, 3]))
        self.pictures = self.folder / "pictures"
        self.pictures.mkdir()
        for name, colour in {"b.png": (10, 20, 30), "a.png": (40, 50, 60)}.items():
            (self.pictures / name).write_bytes(png(8, 8, colour))
        (self.pictures / "notes.txt").write_text("no picture")

    def run_pictures(self, *arguments, variables=None):
        line = ["run", self.model, "--device", "cpu", "--mean", "0", "--std", "1", "--json", "-", *arguments]
        return json.loads(self.run_hearth(*line, variables=variables).stdout)

    def first_pixel(self, run):
        return struct.unpack("<3f", read_npy(run["outputs"][0]["file"])[2][:12])

    def fake_ffmpeg(self):
        programs = self.folder / "bin"
        programs.mkdir()
        program = programs / "ffmpeg"
        program.write_text(FFMPEG.format(python=sys.executable))
        program.chmod(0o755)
        return {"PATH": f"{programs}:{os.environ['PATH']}"}

    def test_a_folder_is_run_picture_by_picture_in_the_order_of_names(self):
        report = self.run_pictures(self.pictures, "--output-dir", self.folder / "out")
        self.assertEqual([pathlib.Path(run["input"]).name for run in report["runs"]], ["a.png", "b.png"])
        self.assertEqual([self.first_pixel(run) for run in report["runs"]], [(-40, -50, -60), (-10, -20, -30)])

    def test_files_of_one_name_get_results_of_their_own(self):
        other = self.folder / "a.png"
        other.write_bytes(png(8, 8, (1, 2, 3)))
        report = self.run_pictures(self.pictures / "a.png", other, "--output-dir", self.folder / "out")
        self.assertEqual([self.first_pixel(run) for run in report["runs"]], [(-40, -50, -60), (-1, -2, -3)])

    def test_a_damaged_picture_does_not_stop_the_others(self):
        (self.pictures / "aa.jpg").write_text("damaged")
        done = self.run_hearth("run", self.model, self.pictures, "--device", "cpu", "--quiet", expect=3)
        self.assertEqual(done.stdout.splitlines()[-1], "3 pictures, 1 failed")
        self.assert_one_error(done, "aa.jpg is not a PNG, JPEG or BMP picture")

    def test_an_open_input_takes_the_size_of_each_picture(self):
        self.model.write_bytes(flat_model.elementwise({"negate": NEG}, [1, 1, 1, 3], [-1, -1, -1, 3]))
        (self.pictures / "b.png").write_bytes(png(5, 4, (1, 2, 3)))
        for chosen, shapes in (((), [[1, 8, 8, 3], [1, 4, 5, 3]]), (("--shape", "x=1x2x2x3"), 2 * [[1, 2, 2, 3]])):
            report = self.run_pictures(self.pictures, *chosen)
            self.assertEqual([run["outputs"][0]["shape"] for run in report["runs"]], shapes)

    def test_a_damaged_first_picture_does_not_stop_the_others_of_an_open_input(self):
        self.model.write_bytes(flat_model.elementwise({"negate": NEG}, [1, 1, 1, 3], [-1, -1, -1, 3]))
        damaged = self.pictures / "a.jpg"
        damaged.write_text("damaged")
        for files in ([self.pictures], [damaged, self.pictures / "b.png"]):
            done = self.run_hearth("run", self.model, *files, "--device", "cpu", "--quiet", expect=3)
            self.assert_one_error(done, "a.jpg is not a PNG, JPEG or BMP picture")
            self.assertIn("b.png: ", done.stdout)

    def test_only_files_of_a_folder_are_pictures(self):
        os.mkfifo(self.pictures / "fifo.png")
        (self.pictures / "folder.png").mkdir()
        (self.pictures / "link.png").symlink_to("b.png")
        runs = self.run_pictures(self.pictures)["runs"]
        self.assertEqual([pathlib.Path(run["input"]).name for run in runs], ["a.png", "b.png", "link.png"])

    def test_results_stay_in_their_folder(self):
        for name in ("..png", "...png"):  # without their endings these are folders
            (self.pictures / "a.png").rename(self.pictures / name)
            report = self.run_pictures(self.pictures / name, self.pictures / "b.png", "--output-dir", self.folder / "out")
            for run in report["runs"]:
                self.assertEqual(pathlib.Path(run["outputs"][0]["file"]).resolve().parents[1], self.folder / "out")
            (self.pictures / name).rename(self.pictures / "a.png")

    def test_one_picture_is_not_drawn_into_a_folder(self):
        done = self.run_hearth("run", self.model, self.pictures / "a.png", "--device", "cpu", "--show", "image",
                               "--picture", self.pictures, expect=1)
        self.assertNotIn("ready after", done.stdout)  # known before the run

    def test_several_pictures_are_not_drawn_into_one_file(self):
        done = self.run_hearth("run", self.model, self.pictures, "--device", "cpu", "--show", "image", "--picture",
                               self.folder / "drawn.png", expect=3)
        self.assert_one_error(done, "several pictures are drawn into a folder")

    def test_each_picture_is_drawn_under_its_name(self):
        self.run_pictures(self.pictures, "--show", "image", "--picture", self.folder / "drawn")
        self.assertEqual(sorted(path.name for path in (self.folder / "drawn").iterdir()), ["a.png", "b.png"])

    def test_the_frames_of_a_video_are_run_one_by_one(self):
        video = self.folder / "red:then blue.avi"
        video.write_text("0 0 200\n100 0 0\n")  # blue, green, red
        report = self.run_pictures("--video", video, "--output-dir", self.folder / "out", variables=self.fake_ffmpeg())
        self.assertEqual([run["input"] for run in report["runs"]], ["frame 1", "frame 2"])
        self.assertEqual([self.first_pixel(run) for run in report["runs"]], [(-200, 0, 0), (0, 0, -100)])

    def fail_after_one_frame(self, video):
        done = self.run_hearth("run", self.model, "--device", "cpu", "--quiet", "--video", video,
                               variables=self.fake_ffmpeg(), expect=3)
        self.assert_one_error(done, f"{video.name}: ffmpeg read 1 frames of it and failed")
        return done

    def test_a_video_that_ends_in_an_error_says_how_far_it_was_read(self):
        video = self.folder / "cut.mp4"
        video.write_text("0 0 200\n")
        done = self.fail_after_one_frame(video)
        self.assertEqual(done.stdout.splitlines()[-1], "1 pictures, 1 failed")

    def test_a_frame_that_is_cut_off_is_told_of(self):
        video = self.folder / "cut.avi"
        video.write_text("0 0 200\n0 0 200 cut\n")
        self.fail_after_one_frame(video)

    def test_an_interrupt_is_no_failure_of_the_video(self):
        video = self.folder / "camera.avi"
        video.write_text("0 0 200 wait\n")
        line = [PROGRAM, "run", self.model, "--device", "cpu", "--quiet", "--video", video]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                              env={**self.environment(), **self.fake_ffmpeg()}) as program:
            for text in program.stdout:
                if text.startswith("frame 1"):
                    break
            os.killpg(program.pid, signal.SIGINT)  # as a terminal does
            out, errors = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 130)
        self.assertEqual(out.splitlines()[-1], "stopped after 1 pictures")
        self.assertNotIn("failed", errors)

    def test_a_video_without_ffmpeg_is_refused_with_its_name(self):
        video = self.folder / "a.avi"
        video.write_text("0 0 0\n")
        done = self.run_hearth("run", self.model, "--device", "cpu", "--video", video, variables={"PATH": str(self.folder)}, expect=4)
        self.assert_one_error(done, "the program ffmpeg, which can't be started")
