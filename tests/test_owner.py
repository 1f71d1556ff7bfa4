"""What the owner of a host sets: read in one place, told in one table, and never taken for something else."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from attention.serving.settings import PREFIX, READ, Settings, SettingsError, settings, there, variable

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| `(ATTENTION_\w+)` \| (.*?) \|", re.MULTILINE)
NAMES = {variable(field.name): field for field in fields(Settings)}


def settings_of(**named: str) -> Settings:
    return settings({variable(name): text for name, text in named.items()} | {"HOME": "/", "PATH": ""})


def test_nothing_said_is_what_the_table_says():
    assert settings_of() == settings_of(measure=" ", hosts="") == Settings()
    assert READ.keys() == {field.name for field in fields(Settings)}


def test_the_table_names_every_setting_with_its_default():
    rows = dict(ROW.findall((ROOT / "docs" / "HOSTING.md").read_text()))
    assert list(rows) == list(NAMES)
    for name, text in rows.items():
        default = NAMES[name].default
        word = text.strip("`")
        assert (
            settings({name: "" if word in ("any", "no other", "no cluster", "no file", "what there is") else word})
            == Settings()
        ), (
            name,
            default,
        )


def test_nothing_else_is_read_from_the_environment():
    """Names of ours stand in one file; a variable that somebody reads elsewhere is no setting of an owner."""
    files = [*(ROOT / "attention").rglob("*.py"), ROOT / "app.py"]
    readers = {file.name for file in files for node in ast.walk(ast.parse(file.read_text())) if reads(node)}
    assert readers == {"settings.py", "mapped_file.py"}  # the second one reads where a user's caches are


def reads(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb")


@pytest.mark.parametrize("text", [" on ", "1", "Yes", "TRUE", "enabled"])
def test_on_is_on(text):
    assert settings_of(measure=text).measure and settings_of(metrics=text).metrics


@pytest.mark.parametrize("text", ["off", "0", "No", "FALSE", "disabled", " never "])
def test_off_is_off(text):
    assert not settings_of(measure=text).measure and settings_of(uploads=text).uploads == 0


@pytest.mark.parametrize(("text", "seconds"), [("20", 20), (" 7.5 ", 7.5), ("30s", 30), ("30 S", 30)])
def test_a_bound_is_seconds(text, seconds):
    assert settings_of(measure_seconds=text).measure_seconds == seconds


def test_names_stand_between_spaces_or_commas():
    sites = settings_of(frames="self, https://*.School.example:8443", origins="http://localhost:3000")
    assert sites.frames == ("self", "https://*.school.example:8443") and sites.origins == ("http://localhost:3000",)
    assert settings_of(frames="none").frames == ()
    assert settings_of(hosts="lab.example *.School.example").hosts == ("lab.example", "*.school.example")
    assert settings_of(hosts="any").hosts == settings_of().hosts == ()


def test_models_have_a_name_for_people_and_a_place():
    listed = "BERT base = google-bert/bert-base-uncased; /srv/models/Ours; gpt2\nLong = Org/Name.v2"
    assert settings_of(models=listed).models == (
        ("BERT base", "google-bert/bert-base-uncased"),
        ("Ours", "/srv/models/Ours"),
        ("gpt2", "gpt2"),
        ("Long", "Org/Name.v2"),
    )
    assert settings_of(models="OFF").models is None and settings_of(models="installed").models == ()
    assert (settings_of(models_free="on").models_free, settings_of(models_free="local").models_free) == (True, None)


WRONG = {
    "measure": ["perhaps", "²"],
    "measure_seconds": ["²", "soon", "2 min", "0", "-5", "1", "1e9", "nan", "inf"],
    "frames": ["https://school.example:65536", "school.example", "https://a.example; script-src *", "*", "'self'"],
    "hosts": ["https://lab.example", "a b/c", "*"],
    "origins": ["lab.example", "self", "http://lab.example:99999"],
    "originless": ["maybe"],
    "uploads": ["-1", "many", "1e9", "nan"],
    "metrics": ["public"],
    "models": ["a b", "x = ../up", "=", "bert = c/d/e", "a--b"],
    "models_free": ["perhaps"],
    "models_size": ["0", "much"],
    "dask": ["host", "file:///etc/passwd"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_what_can_not_be_is_refused_in_a_sentence(name, text):
    with pytest.raises(SettingsError) as told:
        settings_of(**{name: text})
    assert str(told.value) == f"{PREFIX}{name.upper()}={text!r} is not {READ[name][1]}."


@pytest.mark.parametrize(
    ("name", "path", "what"),
    [("models", "/nowhere/models", "folder"), ("open", "/nowhere/heads.npz", "file"), ("open", "/", "file")],
)
def test_what_a_setting_names_has_to_be_there_at_the_start(name, path, what):
    with pytest.raises(SettingsError) as told:
        there(settings_of(**{name: path}))
    assert str(told.value) == f"ATTENTION_{name.upper()} names {path!r}, which is not an existing {what}."
    assert there(settings_of(models="gpt2", open=__file__)).open == (__file__,)


def test_a_setting_that_there_is_not_is_named_with_the_one_that_was_meant():
    with pytest.raises(SettingsError, match=r"no setting ATTENTION_MESURE\. Did you mean ATTENTION_MEASURE\?"):
        settings_of(mesure="off")


def test_a_server_does_not_start_with_what_can_not_be():
    environment = {"PATH": "", "ATTENTION_HOSTS": "https://lab.example"}
    done = subprocess.run(
        [sys.executable, "-c", "import app"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == (
        "ATTENTION_HOSTS='https://lab.example' is not any or names of hosts, like lab.school.example or *.school.example. "
        "docs/HOSTING.md has the table of settings."
    )
