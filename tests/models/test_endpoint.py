"""The model behind an OpenAI-compatible endpoint, against a local server that speaks the protocol."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from model_server import Answer, ModelServer, call, chat

from adf_format.errors import UsageError
from adf_format.models import Completion, ModelChoice, ModelError, Usage
from adf_format.models.endpoint import Endpoint, EndpointModel, _retry_after
from adf_format.models.recovery import RecoveryPolicy, Retrying

READ = {"name": "fs_read", "description": "Read a file.", "input_schema": {"type": "object"}}
HELLO = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]


def ask(model: Any, messages: Any = HELLO, tools: Any = (), choice: ModelChoice | None = None) -> Completion:
    return asyncio.run(
        model.complete(
            purpose="turn",
            loop="main",
            system="You are Ada.",
            messages=messages,
            tools=tools,
            model=choice or ModelChoice("p", "m-1", 0.5, 100, None),
        )
    )


def answered(*answers: Answer, **options: Any) -> tuple[Completion | ModelError, ModelServer]:
    server = ModelServer(list(answers))
    with server.running():
        model = EndpointModel(Endpoint(server.url, "k-1", timeout_s=options.pop("timeout_s", 10)))
        try:
            return ask(model, **options), server
        except ModelError as error:
            return error, server


def test_a_call_carries_settings_system_messages_tools_and_the_key() -> None:
    found, server = answered(chat({"content": "Hi."}), tools=[READ])
    assert found == Completion([{"type": "text", "text": "Hi."}], "end_turn", Usage(11, 7))
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization" if "authorization" in seen.headers else "Authorization"] == "Bearer k-1"
    assert seen.body == {
        "model": "m-1",
        "temperature": 0.5,
        "max_tokens": 100,
        "messages": [{"role": "system", "content": "You are Ada."}, {"role": "user", "content": "hello"}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "fs_read", "description": "Read a file.", "parameters": {"type": "object"}},
            }
        ],
    }


def test_calls_of_tools_come_back_and_their_results_go_out_directly_after_them() -> None:
    found, _ = answered(chat({"content": None, "tool_calls": [call("fs_read", '{"path":"a"}')]}, "tool_calls"))
    assert isinstance(found, Completion)
    assert (found.stop_reason, found.content) == (
        "tool_use",
        [{"type": "tool_use", "id": "c1", "name": "fs_read", "input": {"path": "a"}}],
    )
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "no such file", "is_error": True}
    late = {"type": "text", "text": "[from loop:gardener] wait"}
    messages = [*HELLO, {"role": "assistant", "content": found.content}, {"role": "user", "content": [late, result]}]
    _, server = answered(chat({"content": "ok"}), messages=messages)
    assert server.seen[0].body["messages"][2:] == [
        {"role": "assistant", "content": None, "tool_calls": [call("fs_read", '{"path": "a"}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: no such file"},
        {"role": "user", "content": "[from loop:gardener] wait"},
    ]


def test_usage_tells_cached_and_reasoning_tokens_and_thoughts_become_a_thinking_block() -> None:
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    found, _ = answered(chat({"content": "a", "reasoning_content": "hm"}, usage=usage))
    assert isinstance(found, Completion)
    assert found.usage.as_tokens() == {"input": 50, "output": 9, "cache_read": 40, "reasoning": 4}
    assert list(found.content) == [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]


@pytest.mark.parametrize(
    ("answer", "transient", "fragment"),
    [
        (Answer({"error": {"message": "slow down"}}, 429), True, "429: slow down"),
        (Answer({"error": {"message": "pay", "code": "insufficient_quota"}}, 429), False, "429: pay"),
        (Answer({"error": {"message": "oops"}}, 500), True, "500: oops"),
        (Answer({"error": {"message": "busy"}}, 503), True, "503: busy"),
        (Answer(b"<html>gateway</html>", 502, {"content-type": "text/html"}), True, "502"),
        (Answer({"error": {"message": "bad key"}}, 401), False, "401: bad key"),
        (Answer({"error": {"message": "no such model"}}, 404), False, "404: no such model"),
        (Answer(b"<html>welcome</html>", 200, {"content-type": "text/html"}), True, "not answer with a chat"),
        (Answer({"choices": []}), True, "not answer with a chat"),
        (Answer({"choices": [{"message": "x"}]}), True, "not answer with a chat"),
        (Answer(b'{"choices": [{"mess'), True, "not answer with a chat"),
        (Answer(status=0), True, "cannot be reached"),
        (chat({"tool_calls": [call("fs_read", '{"path":')]}), True, "not a JSON object"),
        (chat({"tool_calls": [call("fs_read", "[1]")]}), True, "not a JSON object"),
        (chat({"content": None}, "content_filter"), False, "content filter"),
    ],
)
def test_every_failure_is_a_model_error_that_says_whether_to_try_again(
    answer: Answer, transient: bool, fragment: str
) -> None:
    found, server = answered(answer)
    assert isinstance(found, ModelError)
    assert (found.transient, fragment in found.message) == (transient, True), found.message
    assert "k-1" not in found.message
    assert len(server.seen) == 1, "repeating a call is the caller's business"


def test_an_answer_that_takes_too_long_is_a_transient_error() -> None:
    found, _ = answered(Answer(hold=True), timeout_s=0.2)
    assert isinstance(found, ModelError)
    assert (found.transient, found.message) == (True, "the endpoint did not answer within 0.2 s")


def test_a_port_where_nobody_listens_is_a_transient_error() -> None:
    server = ModelServer([])
    url = server.url
    server._http.server_close()
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        ask(EndpointModel(Endpoint(url)))
    assert caught.value.transient


def test_a_cancelled_call_stops_at_once() -> None:
    server = ModelServer([Answer(hold=True)])

    async def scenario() -> None:
        model = EndpointModel(Endpoint(server.url))
        arguments: Any = {"purpose": "turn", "loop": "main", "system": "", "messages": HELLO, "tools": ()}
        task = asyncio.create_task(model.complete(**arguments, model=ModelChoice("p", "m")))
        while not server.seen:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with server.running():
        asyncio.run(scenario())


def test_an_answer_cut_at_the_limit_keeps_whole_calls_and_drops_the_torn_one() -> None:
    calls = [call("fs_read", '{"path":"a"}'), call("fs_read", '{"pa', "c2")]
    found, _ = answered(chat({"content": "I", "tool_calls": calls}, "length"))
    assert isinstance(found, Completion)
    assert found.stop_reason == "max_tokens"
    assert [block["type"] for block in found.content] == ["text", "tool_use"]


def test_calls_without_an_id_get_one_each_bug_18() -> None:
    calls = [call("a", "{}", ""), {"type": "function", "function": {"name": "b", "arguments": ""}}]
    found, _ = answered(chat({"tool_calls": calls}))
    assert isinstance(found, Completion)
    ids = [block["id"] for block in found.content]
    assert len(set(ids)) == 2
    assert all(ids)


def test_what_utf8_cannot_carry_is_replaced_and_media_go_out_as_parts() -> None:
    content = [
        {"type": "text", "text": "cut \ud83d"},
        {"type": "image_url", "image_url": {"url": "data:x"}},
        {"type": "odd", "a": 1},
    ]
    _, server = answered(chat({"content": "ok"}), messages=[{"role": "user", "content": content}])
    parts = server.seen[0].body["messages"][1]["content"]
    assert parts[0] == {"type": "text", "text": "cut \ufffd"}
    assert parts[1] == {"type": "image_url", "image_url": {"url": "data:x"}}
    assert "odd" in parts[2]["text"]


def test_parameters_of_the_configuration_are_sent_and_null_settings_are_not() -> None:
    choice = ModelChoice.from_config(
        {
            "provider": "p",
            "model_id": "m",
            "temperature": None,
            "max_tokens": None,
            "params": [{"key": "seed", "value": "7"}, {"key": "user", "value": "ada"}, {"key": 3}],
        }
    )
    _, server = answered(chat({"content": "ok"}), choice=choice)
    body = server.seen[0].body
    assert (body["seed"], body["user"]) == (7, "ada")
    assert not {"temperature", "max_tokens", "top_p", "tools"} & set(body)


def test_the_command_may_name_another_model_and_no_model_at_all_is_an_error() -> None:
    with ModelServer([chat({"content": "ok"})]).running() as server:
        ask(EndpointModel(Endpoint(server.url), "other"))
        assert server.seen[0].body["model"] == "other"
        with pytest.raises(ModelError, match="no model is named"):
            ask(EndpointModel(Endpoint(server.url)), choice=ModelChoice())


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UsageError, match=r"adf-format\[models\]"):
        EndpointModel(Endpoint())


def test_retries_follow_the_recovery_section_and_end_with_the_answer() -> None:
    busy = Answer({"error": {"message": "busy"}}, 503, {"retry-after": "20"})
    waits: list[int] = []

    async def wait(delay: int) -> None:
        waits.append(delay)

    with ModelServer([busy, busy, chat({"content": "ok"})]).running() as server:
        policy = RecoveryPolicy(max_attempts=3, base_delay_ms=15_000)
        found = ask(Retrying(EndpointModel(Endpoint(server.url)), policy, wait))
    assert found.content == [{"type": "text", "text": "ok"}]
    assert waits == [20_000, 30_000], "the provider's wish, then our own longer delay"


def test_retries_give_up_after_max_attempts_with_the_last_error() -> None:
    waits: list[int] = []

    async def wait(delay: int) -> None:
        waits.append(delay)

    with ModelServer([Answer({"error": {"message": "busy"}}, 503)]).running() as server:
        model = Retrying(EndpointModel(Endpoint(server.url)), RecoveryPolicy(max_attempts=2), wait)
        with pytest.raises(ModelError, match="503"):
            ask(model)
        assert len(server.seen) == 2
    assert waits == [15_000]


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2000),
        ({"retry-after": "0.5"}, 500),
        ({"retry-after-ms": "70", "retry-after": "9"}, 70),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
    ],
)
def test_how_long_to_wait_is_read_from_the_headers(headers: dict[str, str], wait: int | None) -> None:
    assert _retry_after(headers) == wait
