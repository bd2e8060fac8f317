"""The smoke test of an installed wheel; run in an empty directory, outside of the repository."""

import json
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

ELEGANS = Path(sysconfig.get_path("scripts")) / "elegans"


def command(*arguments: str) -> str:
    """What `elegans ARGUMENTS` prints; it has to succeed."""
    done = subprocess.run([ELEGANS, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"elegans {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Imports the package, trains a little, lists the studies, makes a bundle and draws it."""
    import elegans as el

    home = Path(el.__file__).parent
    assert "site-packages" in str(home), home
    assert el.__version__ == metadata.version("elegans")
    for room in dir(el):
        assert getattr(el, room) is not None, room

    training = el.Training(samples=300, steps=300, stop=el.Stop(test_error=0.1))
    experiment = el.Experiment(el.tasks.Parity(n=10, k=2), el.models.MLP(width=64), training)
    run = el.run(experiment, seed=0)
    assert run.success, run

    studies = [study["name"] for study in json.loads(command("reproduce", "--list", "--json"))]
    assert "frontier" in studies
    command("reproduce", "sensitivity", "--scale", "quick", "--out", "out", "--workers", "0")
    bundle = Path("out/sensitivity")
    for name in ("figure.png", "page.html"):
        (bundle / name).unlink()
    command("draw", str(bundle))
    assert (bundle / "figure.png").stat().st_size > 10_000
    assert "<html" in (bundle / "page.html").read_text(encoding="utf-8")

    version = ".".join(map(str, sys.version_info[:3]))
    sys.stdout.write(f"Python {version}: {run}; {len(studies)} studies listed; a bundle drawn\n")


if __name__ == "__main__":
    main()
