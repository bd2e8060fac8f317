"""The routes of the explorer, and how an answer is made: a page, data, or a refusal that helps."""

import json
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from elegans.explorer import api, networks, pages, runs, studies
from elegans.explorer.guard import Guard
from elegans.explorer.records import NotThere
from elegans.explorer.scripts import vega
from elegans.explorer.sources import Sources
from elegans.report.words import cell, duration

HERE = Path(__file__).parent
STATIC = {path.name: path.read_bytes() for path in sorted(HERE.joinpath("static").iterdir())}
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
STORE, RUN = "/store/{store}", "/store/{store}/run/{experiment}/{seed:int}"
PAGES: dict[str, Callable[..., Any]] = {
    "/": studies.home,
    "/study/{name}": studies.study,
    "/study/{name}/file/{file}": studies.file,
    "/study/{name}/thumbnail": studies.thumbnail,
    STORE: pages.store,
    f"{STORE}/marginals": pages.marginals,
    f"{STORE}/cells.csv": pages.cells_csv,
    f"{STORE}/runs.csv": pages.runs_csv,
    f"{STORE}/cell/{{experiment}}": runs.cell,
    RUN: runs.run,
    f"{RUN}/network": networks.network,
    "/compare": runs.compare,
    **{f"/api/v1/{{store}}/{name}": function for name, function in api.ANSWERS.items()},
}


def application(sources: Sources, hosts: frozenset[str], token: str, cookie: str) -> Guard:
    """The explorer of these sources as an ASGI application."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": cell, "duration": duration, "as_data": as_data}
    routes = [
        Route(path, partial(_answered, function, sources, environment), methods=["GET"])
        for path, function in PAGES.items()
    ]
    missing = partial(_missing, sources, environment)
    return Guard(
        Starlette(
            routes=[*routes, Route("/static/{name}", _static, methods=["GET"])],
            exception_handlers={404: missing},
        ),
        hosts=hosts,
        token=token,
        cookie=cookie,
    )


def as_data(value: Any) -> str:
    """JSON that is safe inside a script element of a type that browsers do not run."""
    import markupsafe

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return markupsafe.Markup(text)


def _answered(
    function: Callable[..., Any],
    sources: Sources,
    environment: jinja2.Environment,
    request: Request,
) -> Response:
    """What a page's function returns, rendered: a template with its values, data, or a response."""
    is_data = request.url.path.startswith("/api/")
    try:
        answer = function(sources, request)
    except (ValueError, OSError) as error:  # what a user can cause; all else is a bug
        status = 404 if isinstance(error, NotThere) else 400
        if is_data:
            return JSONResponse({"error": str(error)}, status)
        return _page(environment, "error.html.j2", status, **refusal(sources, status, str(error)))
    if isinstance(answer, Response):
        return answer
    if is_data:
        return Response(json.dumps(answer, allow_nan=False), media_type="application/json")
    template, values = answer
    return _page(environment, template, 200, **values)


def refusal(sources: Sources, status: int, message: str) -> dict[str, Any]:
    """What a page of an error shows: what is wrong, and what is there."""
    return {
        "title": HTTPStatus(status).phrase,
        "message": message,
        "studies": sorted(sources.studies),
        "stores": sorted(sources.stores),
    }


def _page(
    environment: jinja2.Environment, template: str, status: int, /, **values: Any
) -> Response:
    return HTMLResponse(environment.get_template(template).render(**values), status)


def _missing(
    sources: Sources, environment: jinja2.Environment, request: Request, error: Exception
) -> Response:
    message = f"There is no page {request.url.path}."
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": message}, 404)
    return _page(environment, "error.html.j2", 404, **refusal(sources, 404, message))


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    headers = {"cache-control": "private, max-age=3600"}
    if name == "vega.js":
        return Response(vega(), media_type=TYPES[".js"], headers=headers)
    if name not in STATIC:
        return Response("There is no such file.", 404, media_type="text/plain")
    return Response(STATIC[name], media_type=TYPES[Path(name).suffix], headers=headers)
