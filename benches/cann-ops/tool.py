"""Commands of the tool, and what they told."""

import json
import os
import re
import signal
import subprocess
import time

# What a line of the page holds.
LONGEST = 240
# Paths of the machine: of a file there, only its name says something elsewhere.
PATH = re.compile(r"(?<![\w.)\]])/(?:[\w.+@~-]+/)+")


class Told:
    """Events of one command that ended."""

    def __init__(self, command, events, exit_status, wall_s):
        self.command, self.events, self.exit_status, self.wall_s = command, events, exit_status, wall_s

    def last(self, kind):
        return next(iter(self.all(kind)[::-1]), None)

    def all(self, kind):
        return [event for event in self.events if event.get("event") == kind]

    def failure(self):
        """Why it failed, in the tool's own words; nothing where it did not."""
        if self.exit_status == 0:
            return None
        error = self.last("error")
        why = error["message"] if error else "ended without a word"
        if self.exit_status is None:
            why = f"stopped after {self.wall_s:.0f} s; last heard: {heard(self.events)}"
        return {"command": self.command, "exit": self.exit_status, "reason": one_line(why)}


class Tool:
    """`words` start it, in `directory`; answers are kept below `kept`. A command that takes more than `patience_s` is stopped."""

    def __init__(self, words, directory, kept, patience_s):
        self.words, self.directory, self.kept, self.patience_s = words, directory, kept, patience_s

    def tell(self, command, arguments, kept_as=None):
        os.makedirs(self.kept, exist_ok=True)
        path = os.path.join(self.kept, (kept_as or command) + ".jsonl")
        words = [*self.words, command, *arguments, "--message-format", "json"]
        started = time.monotonic()
        with open(path, "w", encoding="utf-8") as out, open(path + ".err", "w", encoding="utf-8") as err:
            # In a session of its own, so that its compilers and runners end with it.
            process = subprocess.Popen(words, cwd=self.directory, stdout=out, stderr=err, start_new_session=True)
            try:
                exit_status = process.wait(self.patience_s)
            except subprocess.TimeoutExpired:
                exit_status = None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        return Told(command, events_of(path), exit_status, time.monotonic() - started)


def events_of(path):
    events = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                events.append(json.loads(line))
            except ValueError:
                # The last line of a command that was stopped.
                continue
    return events


def heard(events):
    steps = [event["step"] for event in events if event.get("event") == "progress"]
    kinds = [event.get("event") for event in events]
    return steps[-1] if steps else f"event {kinds[-1]}" if kinds else "nothing"


def one_line(text):
    line = PATH.sub("", " ".join(text.split()))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
