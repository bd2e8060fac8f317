"""The list of studies, read from their files."""

import pytest

from elegans.studies import catalogue

FILE = """
from elegans.studies.study import Scale, Study
NAME = "computed"
STUDY = Study(
    name="new",
    title="A new one",
    summary="In " "two parts",
    source="Nowhere",
    scales={"tiny": Scale(settings(), minutes=0.5), "huge": Scale(HUGE, minutes=1_000)},
)
"""


@pytest.fixture
def room(tmp_path):
    (tmp_path / "chapter").mkdir()
    return tmp_path


def test_a_new_study_is_one_new_file(room):
    (room / "chapter" / "new.py").write_text(FILE)
    (room / "chapter" / "shared.py").write_text("x = 1\n")
    (entry,) = catalogue.entries(room, "mine")
    assert entry == catalogue.Entry(
        name="new",
        title="A new one",
        summary="In two parts",
        source="Nowhere",
        minutes={"tiny": 0.5, "huge": 1000.0},
        module="mine.chapter.new",
    )


@pytest.mark.parametrize(
    "before, after, message",
    [
        ('title="A new one"', "title=NAME", "needs title= as a literal"),
        ('    title="A new one",\n', "", "needs title= as a literal"),
        ('title="A new one"', 'title=" "', "title of the study is text"),
        ("minutes=0.5", "minutes=soon()", "a study has scales="),
        (", minutes=0.5", "", "a study has scales="),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_file(room, before, after, message):
    assert before in FILE
    (room / "chapter" / "new.py").write_text(FILE.replace(before, after))
    with pytest.raises(ValueError, match=rf"new\.py: .*{message}"):
        catalogue.entries(room)


def test_two_studies_of_one_name_are_refused(room):
    for name in ("a", "b"):
        (room / "chapter" / f"{name}.py").write_text(FILE)
    with pytest.raises(ValueError, match=r"b\.py: the study 'new' is in"):
        catalogue.entries(room)


def test_an_unknown_study_is_refused_by_name():
    with pytest.raises(ValueError, match=r"No study is named 'fronteir'; did you mean 'frontier'"):
        catalogue.study("fronteir")
    with pytest.raises(ValueError, match=r"Study 'no_module:STUDY': No module named 'no_module'"):
        catalogue.study("no_module:STUDY")
    with pytest.raises(ValueError, match=r"tests\.studies\.toy has no Study called 'STUD'"):
        catalogue.study("tests.studies.toy:STUD")


def test_a_study_of_ones_own_is_found_by_its_module():
    assert catalogue.study("tests.studies.toy:STUDY").name == "toy"
