"""A copy of the library, in which one operator at a time is tuned where it lies: many include what others include too."""

import glob
import os
import subprocess
import sys


class Library:
    def __init__(self, directory, source):
        self.directory = directory
        if not os.path.isdir(os.path.join(directory, ".git")):
            # A clone that is there already may be what others work in.
            self._git(["clone", "--quiet", os.path.abspath(source), directory], directory=None)
        # Of a driver that was ended while it asked git for something; nobody else works in the copy.
        lock = os.path.join(directory, ".git", "index.lock")
        if os.path.exists(lock):
            os.remove(lock)
        self.revision = self._git(["rev-parse", "HEAD"]).strip()

    def operator(self, name):
        """Its directory from the library's root; nothing where there is none."""
        found = sorted(glob.glob(os.path.join(self.directory, "src", "*", name)))
        return os.path.relpath(found[0], self.directory) if found else None

    def restore(self):
        """As it was published, whatever the operator before left here."""
        self._git(["checkout", "--quiet", "--", "."])
        self._git(["clean", "-ffdxq"])

    def changes(self):
        """What differs from the published sources, as a patch."""
        return self._git(["diff", "HEAD"])

    def apply(self, patch):
        if patch:
            self._git(["apply", "-"], given=patch)

    def changed_outside(self, operator):
        """Files of others that were changed or added."""
        lines = self._git(["status", "--porcelain", "--untracked-files=all"]).splitlines()
        return [line[3:] for line in lines if not line[3:].startswith(operator + "/")]

    def _git(self, words, directory="", given=None):
        place = [] if directory is None else ["-C", self.directory]
        done = subprocess.run(["git", *place, *words], input=given, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"git {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout
