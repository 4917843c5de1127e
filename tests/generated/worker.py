"""Other processes that answer requests: a crash or a hang in one of them is an answer too, and the next request starts it anew."""

import json
import os
import select
import subprocess
import sys
import time


class Failed(Exception):
    """The request had no good answer: `kind` is "error", "crash" or "hang"."""

    def __init__(self, kind, words):
        super().__init__(words)
        self.kind = kind


class Worker:
    """A process that reads a request a line (JSON) and writes an answer a line."""

    def __init__(self, command, log, environment=None):
        self._command, self._log = [str(part) for part in command], log
        self._environment = dict(os.environ, **(environment or {}))
        self._process, self._pending = None, b""

    def ask(self, request, seconds):
        if self._process is None or self._process.poll() is not None:
            self._start()
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._line(time.monotonic() + seconds)
        except BrokenPipeError:
            answer = None
        if answer is None:
            code = self._process.wait()
            raise Failed("crash", f"the process ended with {code}: {self._last_words()}")
        answer = json.loads(answer)
        if "error" in answer:
            raise Failed("error", answer["error"])
        return answer

    def stop(self):
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _start(self):
        self._pending = b""
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=log, env=self._environment)

    def _line(self, deadline):
        """The next line; None at the end of the process."""
        output = self._process.stdout.fileno()
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([output], [], [], left)[0]:
                self.stop()
                raise Failed("hang", "no answer in time")
            read = os.read(output, 1 << 16)
            if not read:
                return None
            self._pending += read
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _last_words(self):
        with open(self._log, errors="replace") as log:
            words = log.read().strip().splitlines()
        return words[-1][:300] if words else "it said nothing"


def serve(answer):
    """The other side: answers requests until there are no more. Whatever else the process prints goes to its log."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line)) or {}
        except Exception as error:  # whatever goes wrong is told to who asked
            words = str(error).strip().splitlines()
            reply = {"error": f"{type(error).__name__}: {words[0][:500] if words else ''}"}
        print(json.dumps(reply), file=replies, flush=True)
