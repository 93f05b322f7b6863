"""Builds the wheel of ticopd: what pip calls (PEP 517), with Python's own library alone.

cmake builds in build/release, where `make` builds too, so that nothing is compiled twice. The wheel
holds the package, libticopd.so, the MPI part, the command line, and the libraries they need that
are not on every Linux machine.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional

import elf_names

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
Settings = Optional[Dict[str, Any]]

# Every Linux machine with a C++ program has these, in a version that fits its other programs.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so\.\d+")

METADATA = """\
Metadata-Version: 2.1
Name: ticopd
Version: {version}
Summary: Decentralized optimization with compressed messages
License: Apache-2.0
Keywords: decentralized optimization,distributed training,gradient compression
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
Provides-Extra: plot
Requires-Dist: matplotlib; extra == "plot"
Requires-Dist: pandas; extra == "plot"
License-File: LICENSE
Description-Content-Type: text/markdown

{readme}"""


def version() -> str:
    found = re.search(r"project\(ticopd VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    if found is None:
        fail("CMakeLists.txt: no version of the project found")
    return found.group(1)


def fail(why: str) -> NoReturn:
    """Ends the build with words for the user and no traceback."""
    raise SystemExit(f"\nticopd: {why}\n")


def missing(what: str) -> NoReturn:
    """The same, with the line that installs what a build needs."""
    show = [str(ROOT / "tools" / "install_packages"), "--show", "build"]
    try:
        line = subprocess.run(show, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        line = ""
    fail(f"{what}\nOn Debian 12, type as root:\n  {line}" if line else what)


def cmake(*arguments: str) -> None:
    done = subprocess.run(["cmake", *arguments], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return
    sys.stderr.write("\n".join(done.stdout.splitlines()[-40:]) + "\n")
    package = re.search(r"(?:provided\s+by|Could\s+NOT\s+find)\s+\"?(\w+)", done.stdout)
    if package is not None:
        missing(f"cmake did not find {package.group(1)}, which building from source needs.")
    fail(f"`cmake {' '.join(arguments)}` failed; its last lines are above.")


def build_libraries() -> None:
    if sys.platform != "linux":
        fail(f"it runs on Linux; this is {sys.platform}")
    if shutil.which("cmake") is None:
        missing("cmake was not found. Building from source needs cmake and a C++20 compiler.")
    if not (BUILD / "CMakeCache.txt").exists():
        compilers = [os.environ.get("CXX", "").split(" ")[0], "c++", "g++", "clang++"]
        if not any(name and shutil.which(name) for name in compilers):
            missing("no C++ compiler was found. Building from source needs one for C++20.")
        generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
        try:  # as the preset "release"
            cmake("-S", str(ROOT), "-B", str(BUILD), "-G", generator,
                  "-DCMAKE_BUILD_TYPE=Release", "-DTICOPD_FAST_BUILD=true")
        except SystemExit:
            (BUILD / "CMakeCache.txt").unlink(missing_ok=True)  # ask for everything again
            raise
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
    cmake("--build", str(BUILD), "--parallel", jobs, "--target", "ticopd_c", "ticopd")


def stage(folder: Path) -> None:
    """Puts lib/ and bin/ of the package into a folder."""
    build_libraries()
    cmake("--install", str(BUILD), "--prefix", str(folder), "--component", "python", "--strip")
    ours = [folder / "lib" / "libticopd.so", folder / "bin" / "ticopd"]
    names: Dict[str, str] = {}
    for file in ours:
        listed = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True)
        for name, found in re.findall(r"(\S+) => (.+?)(?: \(0x|$)", listed.stdout, re.MULTILINE):
            if SYSTEM.fullmatch(name) or name in names:
                continue
            if found == "not found":
                missing(f"{name}, which {file.name} needs, was not found.")
            # A name of our own: a process has one library of each name, and Python's ssl or another
            # package may need a newer libcrypto.so.3 than the one that lies here.
            names[name] = "tc_" + name[3:] if name.startswith("lib") else name
            shutil.copy(found, folder / "lib" / names[name])
            copy_licence(Path(found), folder / "licences" / (name.split(".")[0] + ".txt"))
    for file in [*ours, *((folder / "lib" / name) for name in names.values())]:
        file.chmod(0o755)
        elf_names.rename(file, names)
    # A library finds what it needs by the search path of the file that needs it, and those that
    # are not ours have none: all they need must be loaded before them, by ours.
    for name in names.values():
        for needed in elf_names.needed(folder / "lib" / name):
            if needed in names.values() and not all(needed in elf_names.needed(f) for f in ours):
                fail(f"{name} needs {needed}, which our files do not load first")


def copy_licence(library: Path, to: Path) -> None:
    to.parent.mkdir(exist_ok=True)
    for file in (library, library.resolve(), Path("/usr") / library.resolve().relative_to("/")):
        owner = subprocess.run(["dpkg-query", "-S", str(file)], capture_output=True, text=True) \
            if shutil.which("dpkg-query") else None
        if owner is not None and owner.returncode == 0:
            text = Path("/usr/share/doc") / owner.stdout.split(":")[0] / "copyright"
            if text.exists():
                shutil.copy(text, to)
                return


def time_of_files() -> time.struct_time:
    """One time for all files, so that one tree gives one wheel: of the commit, if there is one."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds and (ROOT / ".git").exists() and shutil.which("git"):
        show = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        seconds = subprocess.run(show, capture_output=True, text=True).stdout.strip()
    return time.gmtime(max(int(seconds or 0), 315532800))  # zip begins with 1980


class Wheel:
    """A wheel as it is written, and the list of its files."""

    def __init__(self, path: Path) -> None:
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.info = f"ticopd-{version()}.dist-info"
        self.time = time_of_files()[:6]
        self.record: List[str] = []

    def add(self, name: str, content: bytes, executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name, self.time)
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def add_folder(self, folder: Path, below: str, skip: str = "") -> None:
        for file in sorted(folder.rglob("*")):
            relative = file.relative_to(folder).as_posix()
            if file.is_file() and not (skip and re.search(skip, relative)):
                self.add(f"{below}/{relative}", file.read_bytes(), os.access(file, os.X_OK))

    def close(self) -> None:
        for name, text in metadata().items():
            self.add(f"{self.info}/{name}", text.encode())
        name = f"{self.info}/RECORD"
        self.add(name, "\n".join([*self.record, f"{name},,", ""]).encode())
        self.zip.close()


def tag() -> str:
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def metadata() -> Dict[str, str]:
    return {
        "METADATA": METADATA.format(version=version(), readme=(ROOT / "README.md").read_text()),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: ticopd\nRoot-Is-Purelib: false\n"
                 f"Tag: {tag()}\n",
        "entry_points.txt": "[console_scripts]\nticopd = ticopd.__main__:main\n",
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }


# -- What pip calls ----------------------------------------------------------------------------------


def get_requires_for_build_wheel(config_settings: Settings = None) -> List[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel
get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(folder: str, config_settings: Settings = None) -> str:
    info = Path(folder) / f"ticopd-{version()}.dist-info"
    info.mkdir()
    for name, text in metadata().items():
        (info / name).write_text(text)
    return info.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(folder: str, config_settings: Settings = None,
                metadata_directory: Optional[str] = None) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        stage(Path(scratch))
        name = f"ticopd-{version()}-{tag()}.whl"
        wheel = Wheel(Path(folder) / name)
        wheel.add_folder(ROOT / "python" / "ticopd", "ticopd", r"(^|/)(__pycache__|lib|bin)/|\.pyc$")
        for part in ("lib", "bin"):
            wheel.add_folder(Path(scratch) / part, f"ticopd/{part}")
        wheel.add_folder(Path(scratch) / "licences", f"{wheel.info}/licences")
        wheel.close()
    return name


def build_editable(folder: str, config_settings: Settings = None,
                   metadata_directory: Optional[str] = None) -> str:
    """For work on ticopd itself: python/ in place, with links to what build/release holds."""
    build_libraries()
    for link, name in (("lib", "libticopd.so"), ("bin", "ticopd")):
        place = ROOT / "python" / "ticopd" / link / name
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(BUILD / name)
    name = f"ticopd-{version()}-{tag()}.whl"
    wheel = Wheel(Path(folder) / name)
    wheel.add("ticopd.pth", f"{ROOT / 'python'}\n".encode())
    wheel.close()
    return name


def build_sdist(folder: str, config_settings: Settings = None) -> str:
    """What git tracks."""
    name = f"ticopd-{version()}"
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True)
    if listed.returncode != 0:
        fail("a source distribution holds what git tracks, and this tree is no git clone")
    with tarfile.open(Path(folder) / f"{name}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for path in listed.stdout.decode().split("\0"):
            if path and (ROOT / path).exists():
                tar.add(ROOT / path, f"{name}/{path}", recursive=False)
        about = METADATA.format(version=version(), readme=(ROOT / "README.md").read_text()).encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(about)
        tar.addfile(entry, io.BytesIO(about))
    return f"{name}.tar.gz"
