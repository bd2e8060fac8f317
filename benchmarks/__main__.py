"""`make bench`: every benchmark, a table each. Exit code 1 if a bar is not met."""

import importlib
import pkgutil
import subprocess
import sys

import benchmarks
from benchmarks.line import table

NOT_BENCHMARKS = ("__main__", "breakdown", "defaults", "line", "short_runs")


def names() -> list[str]:
    """The benchmark modules, by name."""
    return [
        m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in NOT_BENCHMARKS
    ]


def main(arguments: list[str]) -> int:
    """Runs the named benchmarks, or all: each in a process of its own, one after the other."""
    if len(arguments) == 2 and arguments[0] == "--here":
        lines = importlib.import_module(f"benchmarks.{arguments[1]}").lines()
        print(table(lines), flush=True)
        return 0 if all(line.met is None or line.met for line in lines) else 1
    codes = []
    for name in arguments or names():
        print(f"\n{name}", flush=True)
        command = [sys.executable, "-m", "benchmarks", "--here", name]
        codes.append(subprocess.run(command, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
