"""Reading text files: every way in which a path can disappoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.errors import ExitCode, InputError
from kvplan.inputs.files import read_json, read_text, read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _make_bad_files(root: Path) -> None:
    contents = {
        "latin1.yaml": "name: caf\xe9\n".encode("latin-1"),
        "utf16.json": '{"a": 1}'.encode("utf-16"),
        "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "truncated-utf8.yaml": "name: \N{SNOWMAN}".encode()[:-1],
        "empty.yaml": b"",
        "blank.json": b" \n\t\n",
        "comments.yaml": b"# nothing here yet\n",
        "big.json": b"[" + b"1," * 100,
    }
    for name, content in contents.items():
        (root / name).write_bytes(content)
    (root / "folder").mkdir()
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("nowhere")


CASES: dict[str, tuple[Callable[[str], object], str]] = {
    "missing, with a close name": (read_text, "emtpy.yaml"),
    "missing, nothing alike": (read_text, "zzzzzzzz"),
    "missing directory": (read_text, "no/such/file.yaml"),
    "below a file": (read_text, "empty.yaml/deeper.yaml"),
    "directory": (read_yaml, "folder"),
    "link to itself": (read_text, "loop"),
    "link to nothing": (read_text, "dangling"),
    "NUL in the path": (read_text, "a\0b"),
    "not UTF-8": (read_yaml, "latin1.yaml"),
    "UTF-8 cut short": (read_yaml, "truncated-utf8.yaml"),
    "UTF-16": (read_json, "utf16.json"),
    "binary": (read_text, "picture.png"),
    "empty YAML": (read_yaml, "empty.yaml"),
    "comments only": (read_yaml, "comments.yaml"),
    "blank JSON": (read_json, "blank.json"),
    "too big": (lambda path: read_json(path, max_bytes=100), "big.json"),
}


def test_every_bad_file_has_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    _make_bad_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = []
    for case, (read, name) in CASES.items():
        with pytest.raises(InputError) as raised:
            read(name)
        assert raised.value.exit_code is ExitCode.INVALID_INPUT
        lines.append(f"# {case}\n{raised.value}\n")
    golden("inputs/files.txt", "\n".join(lines).replace("\0", "<NUL>"))


def test_a_100_mb_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(InputError, match=r"huge\.json: is too big; at most 16 MiB"):
        read_json(path)


def test_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match=r"secret\.yaml: cannot be read: permission denied"):
        read_text(tmp_path / "secret.yaml")


def test_an_unlistable_directory_gives_no_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.iterdir", refuse)
    with pytest.raises(InputError) as raised:
        read_text(tmp_path / "absent.yaml")
    assert raised.value.problems[0].hint == ""


@pytest.mark.parametrize("content", [b"gpus: 8\n", b"\xef\xbb\xbfgpus: 8\n", b"gpus: 8\r\n"])
def test_byte_order_mark_and_line_ends_do_not_matter(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "request.yaml"
    path.write_bytes(content)
    assert read_yaml(path).data == {"gpus": 8}


def test_json_is_read_with_its_places(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{\n  "layers": 36\n}\n', encoding="utf-8")
    document = read_json(path)
    assert document.data == {"layers": 36}
    assert document.where(("layers",)) == f"{path}:2:13"


def test_text_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("x" * 10, encoding="utf-8")
    assert read_text(path, max_bytes=10) == "x" * 10
