"""What is checked before a release."""

import sys
import zipfile

import pytest

from release import check


def test_an_interpreter_that_is_missing_is_refused_by_name(capsys):
    with pytest.raises(check.ReleaseError, match=r"No such Python: python9\.9, /no/python\. "):
        check.interpreters([sys.executable, "python9.9", "/no/python"])
    assert check.main(["python9.9"]) == 2
    assert "python9.9" in capsys.readouterr().err


def test_interpreters_tell_their_version():
    (version,) = check.interpreters([sys.executable]).values()
    assert version == ".".join(map(str, sys.version_info[:3]))


def test_a_wheel_that_lacks_a_file_of_the_package_is_noticed(tmp_path):
    path = tmp_path / "elegans-0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("elegans/__init__.py", "")
    files = ["src/elegans/__init__.py", "src/elegans/report/page.html.j2"]
    assert check.missing_files(path, files) == files[1:]


def test_templates_are_among_the_files_that_are_asked_for():
    assert {"src/elegans/report/page.html.j2", "src/elegans/py.typed"} <= set(check.tracked())
