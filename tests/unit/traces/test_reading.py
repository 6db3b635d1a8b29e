"""Every form is told by its content and read to the same requests; what cannot be used is counted and named."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from generated_traces import generated_trace

from kvplan.errors import InputError
from kvplan.traces.reading import read_trace

if TYPE_CHECKING:
    from kvplan.traces.records import Trace

REAL = Path(__file__).parents[4] / "shared" / "data" / "traces"


def written(tmp_path: Path, rows: list[Any], name: str = "t.jsonl") -> Path:
    """Write rows as JSONL; texts as they are."""
    path = tmp_path / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(tmp_path: Path, rows: list[Any], **options: Any) -> Trace:
    return read_trace(written(tmp_path, rows), **options)


def mooncake(time_ms: float, tokens: int, ids: list[Any], **more: Any) -> dict[str, Any]:
    return {"timestamp": time_ms, "input_length": tokens, "output_length": 5, "hash_ids": ids, **more}


def test_mooncake(tmp_path: Path) -> None:
    trace = read(tmp_path, [mooncake(1000, 600, [1, 2]), mooncake(3500, 512, [1])])
    assert (trace.kind, trace.block_tokens, trace.timed, trace.malformed) == ("mooncake", 512, True, 0)
    assert trace.requests == [(0.0, 600, 5, (1, 2), None), (2.5, 512, 5, (1,), None)]


@pytest.mark.parametrize("block_tokens", [16, 64, 256, 512])
def test_block_sizes(tmp_path: Path, block_tokens: int) -> None:
    rows = generated_trace(200, seed=3, block_tokens=block_tokens)
    trace = read(tmp_path, rows, block_tokens=block_tokens)
    assert trace.malformed == 0
    assert [request.blocks for request in trace.requests] == [tuple(row["hash_ids"]) for row in rows]
    assert [request.input_tokens for request in trace.requests] == [row["input_length"] for row in rows]


@pytest.mark.parametrize("ending", ["gz", "xz", "zst"])
def test_packed(tmp_path: Path, ending: str) -> None:
    plain = written(tmp_path, generated_trace(300))
    if ending == "zst":
        zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")
        packed = zstd.compress(plain.read_bytes())
    else:
        packed = {"gz": gzip, "xz": lzma}[ending].compress(plain.read_bytes())
    # The name does not decide, the content does.
    path = tmp_path / "packed"
    path.write_bytes(packed)
    assert read_trace(path).requests == read_trace(plain).requests


@pytest.mark.parametrize("ending", ["gz", "xz"])
def test_packed_but_cut(tmp_path: Path, ending: str) -> None:
    packed = {"gz": gzip, "xz": lzma}[ending].compress(written(tmp_path, generated_trace(300)).read_bytes())
    path = tmp_path / f"t.{ending}"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match="ends in the middle; is the file complete"):
        read_trace(path)


def test_packed_and_damaged(tmp_path: Path) -> None:
    packed = bytearray(lzma.compress(written(tmp_path, generated_trace(300)).read_bytes()))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "t.xz").write_bytes(packed)
    with pytest.raises(InputError, match="packed data is damaged"):
        read_trace(tmp_path / "t.xz")


def test_zstd_without_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression", "compression.zstd", "backports", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "t.zst").write_bytes(b"\x28\xb5\x2f\xfd rest")
    with pytest.raises(InputError, match=r"kvplan\[zstd\]"):
        read_trace(tmp_path / "t.zst")


def test_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = written(tmp_path, generated_trace(50))
    packed = io.TextIOWrapper(io.BytesIO(gzip.compress(plain.read_bytes())))
    monkeypatch.setattr(sys, "stdin", packed)
    trace = read_trace("-")
    assert (trace.name, trace.requests) == ("stdin", read_trace(plain).requests)


def test_bailian(tmp_path: Path) -> None:
    def row(chat: int, parent: int, time_s: float, turn: int, ids: list[int]) -> dict[str, Any]:
        lengths = {"input_length": 16 * len(ids), "output_length": 1, "type": "text", "turn": turn}
        return {"chat_id": chat, "parent_chat_id": parent, "timestamp": time_s, **lengths, "hash_ids": ids}

    rows = [row(1, -1, 1.5, 1, [7]), row(2, 1, 61.5, 2, [7, 8]), row(3, 2, 62, 3, [7, 8, 9]), row(9, 5, 70, 4, [4])]
    trace = read(tmp_path, rows)
    assert (trace.kind, trace.block_tokens) == ("bailian", 16)
    assert [request.session for request in trace.requests] == ["1", "1", "1", "5"]
    assert [request.time_s for request in trace.requests] == [0.0, 60.0, 60.5, 68.5]


def test_hashes_beyond_64_bits(tmp_path: Path) -> None:
    trace = read(tmp_path, [mooncake(0, 1024, [2**64, 2**70]), mooncake(1, 1024, [2**64, 2**71])])
    one, other = (request.blocks or () for request in trace.requests)
    assert one[0] == other[0] != one[1] != other[1]
    assert max(map(abs, one + other)) < 2**63


def test_hashes_written_as_text(tmp_path: Path) -> None:
    trace = read(tmp_path, [mooncake(0, 1024, ["0xa", "0xb"]), mooncake(1, 1024, ["0xa", "0xc"])])
    one, other = (request.blocks or () for request in trace.requests)
    assert one[0] == other[0] != one[1] != other[1]


def test_full_blocks_only(tmp_path: Path) -> None:
    trace = read(tmp_path, [mooncake(0, 600, [1]), mooncake(1, 600, [1])])
    one, other = (request.blocks or () for request in trace.requests)
    assert one[0] == other[0] == 1
    assert one[1] != other[1], "a tail without an id is nobody else's"
    assert "2 requests without an id for the last, partial block" in trace.notes[0]


def test_sessions_grow(tmp_path: Path) -> None:
    rows = [
        {"session_id": "a", "timestamp": 1000, "input_length": 600, "output_length": 100, "hash_ids": [1, 2]},
        {"session_id": "a", "delay": 500, "input_length": 400, "output_length": 10, "hash_ids": [90]},
        {"session_id": "a", "delay": 500, "input_length": 10, "output_length": 10, "hash_ids": [91]},
        {"session_id": "b", "timestamp": 1200, "input_length": 600, "output_length": 10, "hash_ids": [1, 2]},
    ]
    trace = read(tmp_path, rows)
    assert trace.kind == "aiperf-sessions"
    assert [request.time_s for request in trace.requests] == pytest.approx([0.0, 0.2, 0.5, 1.0])
    first, other, second, third = (request.blocks or () for request in trace.requests)
    assert [request.input_tokens for request in trace.requests] == [600, 600, 600 + 100 + 400, 1100 + 10 + 10]
    assert first == other == (1, 2)
    assert second[0] == 1, "a full block is the same block in the next turn"
    assert second[1] != 2, "a partial block is another one once it is full"
    assert third[:2] == second[:2]
    assert third[2] != second[2]
    assert [len(blocks) for blocks in (second, third)] == [3, 3]


def test_sessions_that_repeat_the_conversation(tmp_path: Path) -> None:
    rows = [
        {"session_id": "a", "timestamp": 0, "input_length": 600, "output_length": 100, "hash_ids": [1, 2]},
        {"session_id": "a", "delay": 500, "input_length": 1100, "output_length": 10, "hash_ids": [1, 3, 4]},
    ]
    trace = read(tmp_path, rows)
    assert trace.requests[1].input_tokens == 1100
    assert trace.requests[1].blocks == (1, 3, 4)


def test_sessions_without_ids(tmp_path: Path) -> None:
    rows = [
        {"session_id": "abc-123", "input_length": 600, "output_length": 40},
        {"session_id": "abc-123", "delay": 2, "input_length": 500, "output_length": 20},
    ]
    one, other = (request.blocks or () for request in read(tmp_path, rows).requests)
    assert one[0] == other[0]
    assert (len(one), len(other)) == (2, 3)


def test_lengths_only(tmp_path: Path) -> None:
    trace = read(
        tmp_path, [{"timestamp": 0, "input_length": 10, "output_length": 4}, {"timestamp": 9, "input_length": 1}]
    )
    assert (trace.kind, trace.block_tokens) == ("lengths", None)
    assert all(request.blocks is None for request in trace.requests)
    assert "no block ids" in trace.unknown[0]


def test_no_times(tmp_path: Path) -> None:
    trace = read(tmp_path, [{"input_length": 10, "hash_ids": [123]}, {"input_length": 10, "hash_ids": [123]}])
    assert not trace.timed
    assert any("no arrival times" in text for text in trace.unknown)


@pytest.mark.parametrize("indent", [None, 2])
def test_inputs_json(tmp_path: Path, indent: int | None) -> None:
    system, turn = "s" * 8000, "u" * 300

    def payload(*messages: tuple[str, str]) -> dict[str, Any]:
        return {"max_tokens": 7, "messages": [{"role": role, "content": content} for role, content in messages]}

    sessions = [
        {"session_id": "a", "payloads": [payload(("system", system), ("user", turn))]},
        {"session_id": "b", "payloads": [payload(("system", system), ("user", "other"))]},
        {"session_id": "c", "payloads": [{"prompt": system}]},
    ]
    path = tmp_path / "inputs.json"
    path.write_text(json.dumps({"data": sessions}, indent=indent), encoding="utf-8")
    trace = read_trace(path)
    assert (trace.kind, trace.timed, len(trace.requests)) == ("aiperf-inputs", False, 3)
    one, other, third = (request.blocks or () for request in trace.requests)
    assert one[:3] == other[:3]
    assert one[3:] != other[3:]
    assert third[0] not in one
    assert [request.output_tokens for request in trace.requests] == [7, 7, 0]
    assert "4 characters (assumed)" in trace.notes[0]


def test_texts(tmp_path: Path) -> None:
    rows = [
        {"timestamp": 0, "text_input": "x" * 4096, "output_length": 4},
        {"timestamp": 10, "messages": [{"role": "user", "content": [{"type": "text", "text": "x" * 4096}]}]},
        {"timestamp": 20, "payload": {"prompt": "x" * 4096, "max_tokens": 50}},
    ]
    trace = read(tmp_path, rows)
    assert trace.kind == "aiperf-text"
    assert trace.requests[0].blocks == trace.requests[2].blocks != trace.requests[1].blocks
    assert [request.input_tokens for request in trace.requests] == [1024, 1026, 1024]


def test_azure(tmp_path: Path) -> None:
    rows = ["TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:15:46.6805900,374,44"]
    trace = read(tmp_path, [*rows, "2023-11-16 18:15:50.9951690,396,109"])
    assert trace.kind == "azure"
    assert trace.requests[1].time_s == pytest.approx(4.314579)
    assert trace.requests[1][1:4] == (396, 109, None)


def test_burstgpt(tmp_path: Path) -> None:
    rows = [
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
        "5,ChatGPT,472,18,490,Conversation log",
    ]
    trace = read(tmp_path, [*rows, "45,GPT-4,1087,230,1317,API log"])
    assert trace.kind == "burstgpt"
    assert trace.requests == [(0.0, 472, 18, None, None), (40.0, 1087, 230, None, None)]


def test_late_requests_are_put_in_order(tmp_path: Path) -> None:
    trace = read(tmp_path, [mooncake(5, 1, [1]), mooncake(2, 2, [1]), mooncake(9, 3, [1])])
    assert [request.input_tokens for request in trace.requests] == [2, 1, 3]
    assert trace.notes[0].startswith("1 request stood before an earlier one")


BAD_ROWS: list[tuple[Any, str]] = [
    ('{"timestamp": 0, "input_le', "t.jsonl:2:18: ends in the middle"),
    ("{'timestamp': 0}", "t.jsonl:2:2: is not JSON"),
    ("[1, 2]", "must be an object in braces"),
    ("[" * 100_000, "nested too deeply"),
    ('{"timestamp": NaN}', "holds a number that JSON does not allow"),
    ({"timestamp": 0, "output_length": 1, "hash_ids": [1]}, "t.jsonl:2: input_length: is missing"),
    (mooncake(0, 0, [1]), "input_length: must be at least 1, not 0; 1 to 1,000,000,000"),
    (mooncake(0, 10**12, [1]), "input_length: 1,000,000,000,000 tokens are no request"),
    ({**mooncake(0, 1, [1]), "input_length": True}, "input_length: must be a whole number, not true"),
    (mooncake(0, 1.5, [1]), "input_length: must be a whole number, not 1.5"),  # type: ignore[arg-type]
    (mooncake(-1, 5, [1]), "timestamp: must be 0 or more, not -1"),
    (mooncake("0", 5, [1]), "timestamp: must be a number, not '0'"),  # type: ignore[arg-type]
    ({"input_length": 5, "hash_ids": [1]}, "timestamp: is missing"),
    ({"timestamp": 0, "input_length": 5}, "hash_ids: is missing"),
    (mooncake(0, 5, "1"), "hash_ids: must be a list, not '1'"),  # type: ignore[arg-type]
    (mooncake(0, 5, [None]), "hash_ids: an id must be a whole number or text, not an empty value"),
    (mooncake(0, 5, [-4]), "hash_ids: an id must be 0 or more, not -4"),
    (mooncake(0, 5000, [1, 2]), "hash_ids: has 2 ids, but 5,000 tokens make 10 blocks of 512"),
]


@pytest.mark.parametrize(("row", "said"), BAD_ROWS, ids=[said for _, said in BAD_ROWS])
def test_malformed_rows(tmp_path: Path, row: Any, said: str) -> None:
    trace = read(tmp_path, [mooncake(0, 5, [1]), row, mooncake(7, 5, [1])])
    assert len(trace.requests) == 2
    assert trace.malformed == 1
    assert said in str(trace.problems[0])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("2023-11-16 18:15:46,374", "t.jsonl:3: has 2 cells, the header has 3"),
        ("yesterday,374,44", "TIMESTAMP: must be a date and a time, not 'yesterday'"),
        ("2023-11-16 18:15:46,many,44", "ContextTokens: must be a whole number, not 'many'"),
        ("2023-11-16 18:15:46,0,44", "ContextTokens: must be at least 1, not 0"),
    ],
)
def test_malformed_cells(tmp_path: Path, row: str, said: str) -> None:
    good = "2023-11-16 18:15:46.6805900,374,44"
    trace = read(tmp_path, ["TIMESTAMP,ContextTokens,GeneratedTokens", good, row, good])
    assert (len(trace.requests), trace.malformed) == (2, 1)
    assert said in str(trace.problems[0])


def test_first_ten_are_kept(tmp_path: Path) -> None:
    trace = read(tmp_path, [mooncake(0, 5, [1]), *["{"] * 25])
    assert trace.malformed == 25
    assert [problem.where for problem in trace.problems][::9] == [
        f"{tmp_path / 't.jsonl'}:2:2",
        f"{tmp_path / 't.jsonl'}:11:2",
    ]


def test_a_broken_first_line_does_not_hide_the_form(tmp_path: Path) -> None:
    trace = read(tmp_path, ["garbage", "", mooncake(0, 5, [1]), mooncake(1, 5, [1])])
    assert (trace.kind, trace.malformed) == ("mooncake", 1)


def test_other_block_size(tmp_path: Path) -> None:
    rows = generated_trace(200, block_tokens=16)
    with pytest.raises(InputError, match=r"not of blocks of 512 tokens.*--block-tokens 16"):
        read(tmp_path, rows)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"hello\n", "is no trace that kvplan knows; Mooncake JSONL"),
        (b'{"a": 1}\n', "is no trace that kvplan knows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is no trace that kvplan knows"),
        (b'{"timestamp": 0, "input_length": 0, "hash_ids": []}', "must be at least 1"),
        (b"TIMESTAMP,ContextTokens,GeneratedTokens\n", "holds no request"),
    ],
)
def test_nothing_to_use(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_trace(path)


def test_no_such_file(tmp_path: Path) -> None:
    written(tmp_path, [])
    with pytest.raises(InputError, match=r"does not exist; did you mean 't\.jsonl'"):
        read_trace(tmp_path / "t.json")
    with pytest.raises(InputError, match="is a directory"):
        read_trace(tmp_path)


def test_progress(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    path = written(tmp_path, generated_trace(2_000))
    read_trace(path, progress=lambda done, total: calls.append((done, total)))
    assert calls
    assert calls == sorted(calls)
    assert {total for _, total in calls} == {path.stat().st_size}


@pytest.mark.skipif(not REAL.is_dir(), reason="the real traces are not here")
@pytest.mark.parametrize(
    ("name", "requests", "accesses", "unique"),
    [("conversation", 12_031, 288_500, 182_790), ("synthetic", 3_993, 121_877, 43_924)],
)
def test_real_traces(name: str, requests: int, accesses: int, unique: int) -> None:
    trace = read_trace(REAL / f"mooncake_{name}_trace.jsonl.xz")
    blocks = [request.blocks or () for request in trace.requests]
    assert (len(blocks), trace.malformed) == (requests, 0)
    assert sum(map(len, blocks)) == accesses
    assert len(set().union(*blocks)) == unique
