"""Builds the wheel, installs it into an empty environment of each Python, and tests it there.

    python -m release.check python3.11 python3.12 python3.13

The wheel has to hold every file of `src/elegans` that git knows. An interpreter is a name on the
path or a file; one that is missing is refused before anything is built.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = "import sys; print('.'.join(map(str, sys.version_info[:3])))"


class ReleaseError(Exception):
    """What stands against a release, in a sentence."""


def interpreters(names: Sequence[str]) -> dict[str, str]:
    """The version of each interpreter that is asked for; refuses those that are not there."""
    versions: dict[str, str] = {}
    missing = []
    for name in names:
        path = shutil.which(name)
        done = (
            subprocess.run([path, "-c", VERSION], capture_output=True, text=True) if path else None
        )
        if path and done and done.returncode == 0:
            versions[path] = done.stdout.strip()
        else:
            missing.append(name)
    if missing:
        raise ReleaseError(
            f"No such Python: {', '.join(missing)}. Install it, or name the interpreters: "
            'make dist PYTHONS="/path/to/python3.12 ..."'
        )
    return versions


def build(directory: Path) -> Path:
    """Builds the source distribution, and from it the wheel, alone in a directory."""
    shutil.rmtree(directory, ignore_errors=True)
    step = [sys.executable, "-m", "build", "--outdir", str(directory), str(ROOT)]
    if subprocess.run(step, stdout=subprocess.DEVNULL).returncode:
        raise ReleaseError(f"This failed: {' '.join(step)}")
    wheels = sorted(directory.glob("elegans-*.whl"))
    if len(wheels) != 1:
        raise ReleaseError(f"{directory} has {len(wheels)} wheels of elegans, and should have one.")
    return wheels[0]


def missing_files(path: Path, files: Sequence[str]) -> list[str]:
    """Which of these files, named from `src/` on, a wheel lacks."""
    names = set(zipfile.ZipFile(path).namelist())
    return [file for file in files if file.removeprefix("src/") not in names]


def tracked() -> list[str]:
    """The files of the package that git knows."""
    done = subprocess.run(
        ["git", "ls-files", "src/elegans"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def smoke(python: str, path: Path) -> None:
    """Installs a wheel into an empty environment of its own, and runs the smoke test there."""
    with tempfile.TemporaryDirectory() as directory:
        venv = Path(directory) / "venv"
        empty = Path(directory) / "empty"
        empty.mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"ELEGANS_CACHE": str(Path(directory) / "cache")}
        inside = str(venv / "bin" / "python")
        install = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", str(path)]
        for step in (
            [python, "-m", "venv", str(venv)],
            [inside, *install],
            [inside, str(ROOT / "release" / "smoke.py")],
        ):
            if subprocess.run(step, cwd=empty, env=environment).returncode:
                raise ReleaseError(f"This failed: {' '.join(step)}")


def main(names: Sequence[str]) -> int:
    """Builds into `dist/`, and tests on every interpreter that is named."""
    try:
        versions = interpreters(names)
        path = build(ROOT / "dist")
        lacking = missing_files(path, tracked())
        if lacking:
            raise ReleaseError(f"{path.name} lacks {', '.join(lacking)}.")
        for python in versions:
            smoke(python, path)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{path.name} works on Python {', '.join(versions.values())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
