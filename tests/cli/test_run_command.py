"""`adf-format run`: a conversation, one message, the owner's decisions, and every way to end it."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from models.model_server import ModelServer, call, chat

from adf_format import creation, schemas
from adf_format.cli.demo_agent import write
from adf_format.validation.engine import validate_file

REPLIES: list[dict[str, Any]] = [
    {"when": "write", "calls": [{"name": "fs_write", "input": {"path": "a.md", "content": "x"}}]},
    {"when": "delete", "calls": [{"name": "fs_delete", "input": {"path": "soul.md"}}]},
    {"when": "ask me", "calls": [{"name": "ask", "input": {"question": "which \u001b[2J one?"}}]},
    {"when": "say it", "calls": [{"name": "say", "input": {"text": "line one\nline two"}}]},
    {"when": "mail", "calls": [{"name": "msg_send", "input": {"to": "did:b", "content": "hi"}}]},
    {
        "when": "timer",
        "calls": [
            {
                "name": "sys_set_timer",
                "input": {"schedule": {"type": "once", "at": 4070908800000}, "scope": ["agent"], "payload": "tea"},
            }
        ],
    },
    {"when": "which one", "text": "never"},
    {"when": "fail", "error": {"message": "the endpoint is gone"}},
    {"loop": "*", "text": "I \u202e hear you.", "repeat": True},
    {"loop": "*", "purpose": "compaction", "text": "What was said.", "repeat": True},
]


@pytest.fixture
def flora(tmp_path: Path) -> Path:
    """An agent with two loops; fs_delete is enabled."""
    write(tmp_path / "c.json", tmp_path / "unused.json")
    config = json.loads((tmp_path / "c.json").read_text())
    for tool in config["tools"]:
        if tool["name"] == "fs_delete":
            tool |= {"enabled": True, "visible": True}
    creation.new(tmp_path / "flora.adf", name="Flora", config=config)
    (tmp_path / "s.json").write_text(json.dumps({"replies": REPLIES}))
    return tmp_path / "flora.adf"


def model(flora: Path) -> str:
    return f"scripted:{flora.parent / 's.json'}"


def talk(adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch, *lines: str, options: tuple[str, ...] = ()) -> str:
    """Talk to the agent by a pipe; it must end well, and leave a sound file with nothing beside it."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    result = adf("run", flora, "--model", model(flora), *options)
    assert (result.code, result.err) == (0, ""), result
    sound(flora)
    return str(result.out)


def sound(flora: Path) -> None:
    assert [path.name for path in flora.parent.glob("flora.adf*")] == ["flora.adf"]
    assert validate_file(flora).valid


def test_what_is_said_is_answered_and_what_the_model_wrote_cannot_touch_the_terminal(
    adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = talk(adf, flora, monkeypatch, "hello", "", "@gardener dig")
    assert "main: I \\u{202e} hear you.\n" in out
    assert "gardener: I \\u{202e} hear you.\n" in out
    assert "\x1b" not in out


def test_tools_messages_timers_and_words_of_the_agent_are_shown(
    adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = talk(adf, flora, monkeypatch, "write", "say it", "mail", "timer", "/timers", "/inbox")
    assert 'main calls fs_write {"path":"a.md","content":"x"}' in out
    assert "main: fs_write gave a.md: 1 bytes written" in out
    assert "main says: line one\n  line two\n" in out
    assert "-- main wrote to did:b: hi --" in out
    assert "2099-01-01 00:00:00 UTC  main  tea" in out
    assert "the inbox is empty" in out


@pytest.mark.parametrize(("answer", "gone"), [("y", True), ("", False), ("n", False)])
def test_the_owner_is_asked_before_something_protected_is_deleted(
    adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch, answer: str, gone: bool
) -> None:
    out = talk(adf, flora, monkeypatch, "delete", answer)
    assert '? main wants to call fs_delete {"path":"soul.md"} (protection: soul.md is no_delete' in out
    assert ("fs_delete failed" in out) is not gone


def test_who_has_left_approves_nothing_and_yes_approves_everything(
    adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "fs_delete failed" in talk(adf, flora, monkeypatch, "delete")
    assert "soul.md is deleted" in talk(adf, flora, monkeypatch, "delete", options=("--yes",))


def test_a_question_of_the_agent_gets_the_next_line(adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = talk(adf, flora, monkeypatch, "ask me", "the red one")
    assert "? main: which \\u{1b}[2J one?" in out
    assert "main: ask gave the red one" in out


def test_commands_of_a_conversation(adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["hello", "/loops", "/compact", "/compact gardener", "/clear", "/state", "/state hibernate", "/state x"]
    out = talk(adf, flora, monkeypatch, *lines, "/help", "/what", "/clear a", "@nobody x", "/quit", "never said")
    for text in (
        "gardener  idle",
        "-- main compacted:",
        "gardener: nothing was compacted",
        "-- main cleared:",
        "the agent is active",
        "-- the agent is hibernate --",
        "! a state is one of",
        "/quit",
        "! no command /what",
        "is not a slice",
        '! no loop named "nobody" on this agent',
    ):
        assert text in out, text
    assert "never said" not in out


def test_a_history_that_nothing_archives_is_cleared_only_on_purpose(
    adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import apsw

    connection = apsw.Connection(str(flora))
    sql = "UPDATE adf_config SET config_json = json_set(config_json, '$.context.audit.loop', json('false'))"
    connection.execute(sql)
    connection.close()
    out = talk(adf, flora, monkeypatch, "hello", "/clear", "/clear! main :1")
    assert "gone for good" in out
    assert "-- main cleared: 1 rows (not archived) --" in out


def test_a_turn_that_fails_says_so_and_the_conversation_goes_on(
    adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = talk(adf, flora, monkeypatch, "fail", "hello")
    assert "! the turn of main was failed" in out
    assert "hear you" in out


def test_names_in_a_hostile_file_cannot_touch_the_terminal(
    adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import apsw

    hostile = json.dumps({"name": "\x1b[2J", "goal": "\x1b]0;x\x07 \u202e", "enabled": False})
    connection = apsw.Connection(str(flora))
    sql = "UPDATE adf_config SET config_json = json_insert(config_json, '$.loops[#]', json(?), '$.name', ?)"
    connection.execute(sql, (hostile, "\x1b[31mMallory"))
    connection.execute("UPDATE adf_config SET config_json = json_set(config_json, '$.name', ?)", ("\x1b[31mMallory",))
    connection.close()
    monkeypatch.setattr(sys, "stdin", io.StringIO("/loops\nhello\n@\x1b[2J x\n"))
    result = adf("run", flora, "--model", model(flora))
    assert result.code == 0
    assert "Mallory" in result.out
    assert not set(result.out + result.err) & set("\x1b\x07\u202e")


# --- one message


def test_one_message_gives_the_answer_on_stdout_and_the_rest_on_stderr(adf: Any, flora: Path) -> None:
    result = adf("run", flora, "--model", model(flora), "-m", "write")
    assert (result.code, result.out) == (0, "I \\u{202e} hear you.\n")
    assert "main calls fs_write" in result.err
    sound(flora)
    assert adf("run", flora, "--model", model(flora), "-m", "write", "--quiet").err == ""


def test_its_result_as_json_keeps_its_schema(adf: Any, flora: Path) -> None:
    result = adf("run", flora, "--model", model(flora), "-m", "write", "--format", "json", "--loop", "main")
    document = json.loads(result.out)
    assert list(schemas.checker("urn:adf-format:output:run:1").problems(document)) == []
    assert document["tools"] == [{"loop": "main", "tool": "fs_write", "failed": False}]
    assert document["usage"]["input"] > 0


def test_nobody_approves_for_an_owner_who_is_not_there(adf: Any, flora: Path) -> None:
    result = adf("run", flora, "--model", model(flora), "-m", "delete and ask me and say it")
    assert "denied: nobody is there to ask" in result.err
    assert "fs_delete" in adf("run", flora, "--model", model(flora), "-m", "delete", "--yes").err
    assert "not there" in adf("run", flora, "--model", model(flora), "-m", "ask me").err
    assert "main says: line one" in adf("run", flora, "--model", model(flora), "-m", "say it").err


def test_an_answer_that_failed_ends_with_3_and_one_line(adf: Any, flora: Path) -> None:
    result = adf("run", flora, "--model", model(flora), "-m", "fail", "-q")
    assert (result.code, result.out) == (3, "")
    assert result.err == "adf-format: the turn of main was failed: main: the endpoint is gone\n"
    sound(flora)


@pytest.mark.parametrize(
    ("options", "code", "fragment"),
    [
        (("--model", "gpt"), 2, "is not a model"),
        ((), 2, "--model"),
        (("--model", "scripted:none.json"), 3, "no such script"),
        (("--model", "openai:x", "--base-url", "ftp://x"), 2, "not an address"),
        (("--model", "MODEL", "-m", "x", "--loop", "nobody"), 2, 'no loop named "nobody"'),
        (("--model", "MODEL", "--format", "json"), 2, "go with --message"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    adf: Any, flora: Path, options: tuple[str, ...], code: int, fragment: str
) -> None:
    result = adf("run", flora, *(model(flora) if option == "MODEL" else option for option in options))
    assert (result.code, result.err.count("\n"), fragment in result.err) == (code, 1, True), result


def test_files_that_cannot_be_run_are_refused_untouched(adf: Any, flora: Path, tmp_path: Path) -> None:
    creation.new(tmp_path / "old.adf", name="Old", schema_version=28)
    before = (tmp_path / "old.adf").read_bytes()
    (tmp_path / "text.adf").write_text("no")
    for name, fragment in (("old.adf", "migrate it first"), ("text.adf", "not"), ("none.adf", "no such")):
        result = adf("run", tmp_path / name, "--model", model(flora), "-m", "x")
        assert (result.code, result.err.count("\n")) == (3, 1), result
        assert fragment in result.err.lower()
    assert (tmp_path / "old.adf").read_bytes() == before


def test_an_agent_that_runs_already_is_not_run_twice(adf: Any, flora: Path) -> None:
    from adf_format.container import open_live

    live = open_live(flora)
    result = adf("run", flora, "--model", model(flora), "-m", "x")
    live.close("2026-01-01T00:00:00.000Z")
    assert (result.code, "running already" in result.err) == (3, True)


def test_a_key_for_openai_goes_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from adf_format.cli.run import _endpoint

    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    assert _endpoint(None, 5).api_key == "sk-openai"
    assert _endpoint("http://elsewhere/v1", 5).api_key is None
    monkeypatch.setenv("ADF_FORMAT_API_KEY", "other")
    assert _endpoint("http://elsewhere/v1", 5).api_key == "other"
    assert _endpoint(None, 5).api_key == "other"


def test_a_real_endpoint_answers_and_its_usage_is_kept(adf: Any, flora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = chat({"content": None, "tool_calls": [call("fs_write", '{"path": "b.md", "content": "y"}')]}, "tool_calls")
    monkeypatch.setenv("ADF_FORMAT_API_KEY", "k-7")
    with ModelServer([tool, chat({"content": "Written."})]).running() as server:
        monkeypatch.setenv("ADF_FORMAT_BASE_URL", server.url)
        result = adf("run", flora, "--model", "openai:m-2", "-m", "please", "--format", "json", "-q")
    document = json.loads(result.out)
    assert (document["status"], document["answers"]) == ("completed", ["Written."])
    assert document["usage"] == {"input": 22, "output": 14}
    first, second = server.seen
    assert {name.lower(): value for name, value in first.headers.items()}["authorization"] == "Bearer k-7"
    assert first.body["model"] == "m-2"
    assert second.body["messages"][-2]["role"] == "tool" or second.body["messages"][-1]["role"] == "tool"
    sound(flora)


# --- a terminal


def spawn(flora: Path, terminal: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "adf_format", "run", str(flora), "--model", model(flora)]
    return subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_ctrl_c_stops_the_agent_cleanly(flora: Path) -> None:
    ours, theirs = pty.openpty()
    process = spawn(flora, theirs)
    assert process.stdout is not None
    assert b"Flora is active" in process.stdout.readline()
    os.write(ours, b"hello\n")
    assert b"hear you" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    os.close(ours)
    os.close(theirs)
    assert (process.returncode, err) == (130, b"adf-format: interrupted\n")
    sound(flora)


def test_the_end_of_a_pipe_ends_the_conversation_also_without_a_line_feed(flora: Path) -> None:
    process = spawn(flora, subprocess.PIPE)
    out, err = process.communicate(b"hello\n@gardener hi\xff", timeout=30)
    assert (process.returncode, err) == (0, b"")
    assert out.count(b"hear you") == 2
    sound(flora)
