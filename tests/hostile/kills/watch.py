"""Sees files being created, written and renamed below a folder (inotify, by ctypes)."""
import ctypes
import os
import select
import struct
import time

MODIFY, CLOSE, RENAMED, CREATED = 0x2, 0x8, 0x80, 0x100
FOLDER = 0x40000000
STAGES = {"created": CREATED, "written": MODIFY, "closed": CLOSE, "renamed": RENAMED}

_libc = ctypes.CDLL(None, use_errno=True)


class Watch:
    def __init__(self, top):
        self.fd = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        self.folders = {}
        self.early = []  # files that were in a new folder before it was watched
        self._add(top)

    def _add(self, folder):
        mask = MODIFY | CLOSE | RENAMED | CREATED
        number = _libc.inotify_add_watch(self.fd, os.fsencode(folder), mask)
        if number < 0:
            return  # it has gone already
        self.folders[number] = folder
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self._add(entry.path)
            else:
                self.early.append((CREATED, entry.name))

    def forget_early(self):
        """What was there before the program started is no event."""
        self.early = []

    def events(self, seconds):
        """The next (stage, name) pairs; none after so many seconds."""
        if self.early:
            found, self.early = self.early, []
            return found
        if not select.select([self.fd], [], [], seconds)[0]:
            return []
        data = os.read(self.fd, 1 << 16)
        found = []
        while data:
            number, mask, _, length = struct.unpack_from("iIII", data)
            name = os.fsdecode(data[16:16 + length].rstrip(b"\0"))
            data = data[16 + length:]
            if mask & FOLDER and mask & (CREATED | RENAMED) and number in self.folders:
                self._add(os.path.join(self.folders[number], name))
            else:
                found.append((mask, name))
        return found

    def close(self):
        os.close(self.fd)


def wait_for_event(watch, wanted, stage, ended, limit):
    """True as soon as a file whose name contains `wanted` gets to the stage; False if it never does."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        for mask, name in watch.events(0.01):
            if mask & STAGES[stage] and wanted in name:
                return True
        if ended():
            return False
    return False
