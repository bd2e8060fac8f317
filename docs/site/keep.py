"""Keeps the small files of bundles for the gallery: `python -m docs.site.keep out`.

Of each study of the catalogue that has a bundle in the given directory, `docs/results/NAME/` (at
another scale than quick, `NAME-SCALE/`) gets `result.json`, small tables and compact pictures. That
is a bundle again; a note in it names the tables that were too large to keep.
`docs/results/README.md` is the gallery for those who read the repository instead of the site.
"""

import argparse
import dataclasses
import io
import shutil
import sys
from pathlib import Path

from PIL import Image

from docs.site import gallery
from elegans.report import bundle
from elegans.report.result import Result
from elegans.report.tables import to_csv
from elegans.studies import catalogue

RESULTS = Path(__file__).parents[1] / "results"
TABLE_BYTES = 50_000
PICTURE_BYTES = 150_000
# Width and colours of a picture, the first that is small enough.
COMPACT = [(1400, 256), (1400, 128), (1400, 64), (1200, 128), (1200, 64), (1000, 64), (800, 32)]


def keep(source: Path, results: Path = RESULTS) -> str:
    """Keeps the small files of one bundle, in place of those that were there; says what it did."""
    result = Result.read(source)
    drawn = gallery.pictures(source)
    if len(drawn) != len(result.figures):
        raise ValueError(
            f"{source} has {len(drawn)} pictures of {len(result.figures)} figures. Run: elegans "
            f"draw {source}"
        )
    sizes = {name: len(to_csv(table).encode()) for name, table in result.tables.items()}
    small = {name: result.tables[name] for name, size in sizes.items() if size <= TABLE_BYTES}
    large = [name for name in result.tables if name not in small]
    left_out = f"Tables that are too large for the gallery: {', '.join(large)}."
    notes = [*result.notes, *([left_out] if large else [])]
    target = results / gallery.key(result)
    if target.exists():
        shutil.rmtree(target)
    shown = [name for name in result.shown if name in small]
    kept = dataclasses.replace(result, tables=small, notes=notes, shown=shown)
    bundle.save(kept, target)
    for picture in drawn:
        (target / picture.name).write_bytes(compact(picture))
    total = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    time = f"took {result.seconds:.0f} s of declared {gallery.declared(result)}"
    return f"{gallery.key(result)}: {result.verdict()}; {time}; {total / 1000:.0f} kB"


def compact(picture: Path) -> bytes:
    """A PNG file as one of few colours, narrow enough to be small; refused if it is not."""
    with Image.open(picture) as file:
        image = Image.alpha_composite(
            Image.new("RGBA", file.size, "white"), file.convert("RGBA")
        ).convert("RGB")
    for width, colours in COMPACT:
        size = (width, round(image.height * width / image.width))
        scaled = image.resize(size, Image.Resampling.LANCZOS) if width < image.width else image
        buffer = io.BytesIO()
        scaled.quantize(colours, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        if buffer.tell() <= PICTURE_BYTES:
            return buffer.getvalue()
    raise ValueError(f"{picture} takes more than {PICTURE_BYTES} bytes at any width.")


def main(arguments: list[str]) -> int:
    """Keeps every bundle of the catalogue; names what was passed over and why."""
    parser = argparse.ArgumentParser(prog="python -m docs.site.keep", description=__doc__)
    parser.add_argument("source", type=Path, help='bundles, as "elegans reproduce --out" has them')
    parser.add_argument("--results", type=Path, default=RESULTS, help="where they are kept")
    options = parser.parse_args(arguments)
    sources = sorted(path.parent for path in options.source.glob("*/result.json"))
    if not sources:
        print(f"{options.source} has no bundle, that is, no */result.json.", file=sys.stderr)
        return 2
    names = [entry.name for entry in catalogue.entries()]
    is_whole = True
    for source in sources:
        try:
            result = Result.read(source)
            if result.study not in names:
                print(f"{source}: passed over, the catalogue has no study {result.study!r}.")
            else:
                print(keep(source, options.results))
        except (bundle.BundleError, OSError, ValueError) as error:
            print(f"{source}: {error}", file=sys.stderr)
            is_whole = False
    for path in sorted(options.results.glob("*/result.json")):
        if bundle.from_json(path.read_text(encoding="utf-8"))["study"] not in names:
            shutil.rmtree(path.parent)
            print(f"{path.parent.name}: removed, the catalogue no longer has it.")
    try:
        overview = gallery.overview(gallery.chapters(options.results))
        (options.results / "README.md").write_text(overview, encoding="utf-8")
    except bundle.BundleError as error:
        print(f"The overview is not written: {error}", file=sys.stderr)
        is_whole = False
    missing = [name for name in names if not (options.results / name / "result.json").exists()]
    print(f"{len(names) - len(missing)} of {len(names)} studies have a result.")
    if missing:
        print(f"Without one: {', '.join(missing)}.")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
