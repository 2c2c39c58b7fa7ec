"""What stands before judging a library of the scoreboard: installing it, fetching its source, building its adapter."""

import ctypes
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Beside what the caller's Python finds its packages by.
SDK = os.pathsep.join(filter(None, [str(ROOT / "conformance/python"), os.environ.get("PYTHONPATH")]))


class Skip(Exception):
    """Why a library is not judged."""


def call(command, what, limit=540):
    """Runs a command with a time limit, in a process group of its own, and ends that with it."""
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    except OSError as error:
        raise Skip(f"{what}: {error}") from None
    with child:
        try:
            output, _ = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise Skip(f"{what}: not done in {limit} s") from None
    return child.returncode, output


def last_line(output):
    return (output.strip().splitlines() or ["no word"])[-1]


def installed(package):
    return call(["dpkg", "-s", package], "dpkg")[0] == 0


def package_version(package):
    code, output = call(["dpkg-query", "-W", "-f", "${Version}", package], "dpkg-query")
    return "unknown" if code else output


def install(library, work, options):
    """What a library needs, or Skip."""
    missing = [p for p in library.get("apt", []) if not installed(p)]
    if missing and not (options.install and os.geteuid() == 0):
        raise Skip(f"not installed, and not installed here: {' '.join(missing)}")
    if missing:
        code, output = call(["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing], "apt-get")
        if code:
            raise Skip(f"apt-get can't install {' '.join(missing)}: {last_line(output)}")
    if library.get("pip") and options.install:
        code, output = call([str(work / "venv/bin/pip"), "install", "-q", *library["pip"]], "pip")
        if code:
            raise Skip(f"pip can't install {' '.join(library['pip'])}: {last_line(output)}")


def elsewhere(library):
    """Why a library can't be judged on this machine: what `gpu` and `installed` ask for is never installed. Empty where it can."""
    if library.get("gpu") and not shutil.which("nvidia-smi"):
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            return "needs a GPU"
    for module in library.get("installed", []):
        code, output = call([sys.executable, "-c", f"import {module}"], f"import {module}")
        if code:
            return f"not installed, and not installed here: the Python that runs run.py says {last_line(output)}"
    return ""


def flag(text, made):
    """A flag for the compiler with what stands for pkg-config and folders filled in."""
    if text.startswith("pkg:"):
        code, output = call(["pkg-config", "--cflags", "--libs", text[4:]], "pkg-config")
        if code:
            raise Skip(f"pkg-config knows no {text[4:]}")
        return shlex.split(output)

    return [re.sub(r"\{(\w+)(?::([^}]+))?\}", lambda match: str(folder(match[1], match[2], made)), text)]


def folder(kind, name, made):
    """What {lib:NAME}, {wheel:NAME}, {cuda}, {sdist} or {cargo} stands for; `made` has the last two."""
    nvcc = shutil.which("nvcc")
    found = {
        "lib": lambda: [file.parent for file in sorted(pathlib.Path("/usr/lib").rglob(name))],
        "wheel": lambda: [place for at in sys.path if (place := pathlib.Path(at) / name).is_dir()],
        "cuda": lambda: [pathlib.Path(nvcc).resolve().parent.parent] if nvcc else [],
        "sdist": lambda: made["sdist"],
        "cargo": lambda: made["cargo"],
    }[kind]()
    if not found:
        where = {"lib": "under /usr/lib", "wheel": "among the packages of this Python", "cuda": "(no nvcc is found)"}
        raise Skip(f"no {name or kind} {where.get(kind, 'named')}")
    return found[0]


def unpacked(library, work, options):
    """The folder of the source package of PyPI that a library is compiled or imported from; None where it names none."""
    if "sdist" not in library:
        return None
    place, stem = work / "sdist", library["sdist"].replace("==", "-")
    if not (place / f"{stem}.tar.gz").is_file():
        if not options.install:
            raise Skip(f"no {stem}.tar.gz in {place}, and nothing is fetched")
        # Without isolation: what its setup.py imports is what this Python has.
        fetch = ["download", "-q", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", str(place), library["sdist"]]
        code, output = call([sys.executable, "-m", "pip", *fetch], "pip download")
        if code:
            raise Skip(f"pip can't fetch the source of {stem}: {last_line(output)}")
    if not (place / stem).is_dir():
        code, output = call(["tar", "-xzf", str(place / f"{stem}.tar.gz"), "-C", str(place)], "tar")
        if code:
            raise Skip(f"{stem}.tar.gz is not unpacked: {last_line(output)}")
    return place / stem


def cargo_built(library, work, options):
    """The folder of what cargo makes of an adapter's crate, and the library's version in its Cargo.lock. None twice where there is no crate."""
    if "cargo" not in library:
        return None, None
    crate, place = (HERE / library["cargo"]).resolve(), work / "cargo"
    if not shutil.which("cargo"):
        raise Skip("no cargo is found")
    # Crates are fetched from crates.io where anything may be installed.
    build = ["cargo", "build", "--release", "--locked", *([] if options.install else ["--offline"])]
    code, output = call([*build, "--manifest-path", str(crate / "Cargo.toml"), "--target-dir", str(place)], "cargo build")
    if code:
        error = next((line for line in output.splitlines() if line.startswith("error")), last_line(output))
        raise Skip(f"its crate is not built: {error}")
    packages = tomllib.loads((crate / "Cargo.lock").read_text())["package"]
    return place / "release", next((p["version"] for p in packages if p["name"] == library["name"]), "unknown")


def target(library, work, options):
    """The options of `conformance run` that name what is judged."""
    if "backend" in library:
        return ["--backend", library["backend"]]
    source, sdist = (HERE / library["source"]).resolve(), unpacked(library, work, options)
    if source.suffix == ".py":
        if "installed" not in library:
            return ["--exec", shlex.join([str(work / "venv/bin/python"), str(source)])]
        # The Python that runs this has the library, and the SDK comes from the repository.
        sdk = ["--env", f"PYTHONPATH={os.pathsep.join([SDK, *([str(sdist)] if sdist else [])])}"]
        return ["--exec", shlex.join([sys.executable, str(source), *library.get("args", [])]), *sdk]
    plugin = work / f"{library['name']}.so"
    crate, of_crate = cargo_built(library, work, options)
    made = {"sdist": [sdist] if sdist else [], "cargo": [crate] if crate else []}
    flags = [part for text in library.get("flags", []) for part in flag(text, made)]
    include = ["-I", str(ROOT / "conformance/include"), "-I", str(HERE / "adapters")]
    # For headers and archives that say no version themselves: that of the package or crate.
    of_package = library["sdist"].replace("==", " ") if sdist else package_version(library["apt"][0]) if "apt" in library else "unknown"
    version = f'-DSCORE_PACKAGE_VERSION="{of_crate or of_package}"'
    host = ["c++", "-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    compiler = ["nvcc", "-std=c++17", "-O2", "-arch=native", "-shared", "-Xcompiler=-fPIC"] if source.suffix == ".cu" else host
    command = [*compiler, version, *include, str(source), "-o", str(plugin), *flags]
    code, output = call(command, "the compiler")
    if code:
        error = next((line for line in output.splitlines() if "error" in line), "no message")
        raise Skip(f"its adapter is not compiled: {error}")
    return ["--plugin", str(plugin)]
