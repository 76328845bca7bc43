"""The scripted model, the recovery policy, the estimate and the choice of a model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import schemas
from adf_format.errors import MissingFileError, UnreadableError, UsageError
from adf_format.models import Completion, ModelChoice, ModelError, Usage, estimate
from adf_format.models.endpoint import Endpoint, EndpointModel
from adf_format.models.recovery import RecoveryPolicy
from adf_format.models.scripted import SCHEMA, Scripted, load
from adf_format.models.spec import build


def ask(model: Scripted, loop: str = "main", purpose: Any = "turn", text: str = "hello") -> Completion:
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    request = {"system": "s", "messages": messages, "tools": (), "model": ModelChoice()}
    return asyncio.run(model.complete(purpose=purpose, loop=loop, **request))


def text(found: Completion) -> str:
    return str(found.content[0]["text"])


def test_replies_are_kept_apart_by_loop_and_purpose_and_used_once() -> None:
    model = Scripted(
        [
            {"text": "one"},
            {"loop": "gardener", "text": "g"},
            {"purpose": "compaction", "text": "sum"},
            {"text": "two"},
        ]
    )
    assert [text(ask(model)), text(ask(model, purpose="compaction"))] == ["one", "sum"]
    assert [text(ask(model, "gardener")), text(ask(model))] == ["g", "two"]
    assert model.left == 0


def test_a_reply_may_wait_for_a_call_or_for_a_text_and_may_repeat() -> None:
    model = Scripted(
        [
            {"turn": 2, "text": "second"},
            {"when": "rain", "text": "umbrella"},
            {"loop": "*", "text": "always", "repeat": True},
        ]
    )
    assert text(ask(model)) == "always"
    assert text(ask(model)) == "second"
    assert text(ask(model, text="it will rain")) == "umbrella"
    assert text(ask(model, "x", text="it will rain")) == "always"
    assert model.left == 0


def test_a_script_that_has_run_out_names_the_call_that_it_has_nothing_for() -> None:
    model = Scripted([{"text": "one"}], name="demo.json")
    ask(model)
    with pytest.raises(ModelError, match=r"demo\.json has no reply for call 2 of loop main \(purpose turn\)") as caught:
        ask(model)
    assert not caught.value.transient


def test_calls_get_ids_of_their_own_and_make_it_a_tool_use() -> None:
    model = Scripted([{"text": "t", "thinking": "h", "calls": [{"name": "a", "input": {"x": 1}}, {"name": "b"}]}])
    found = ask(model)
    assert found.stop_reason == "tool_use"
    assert list(found.content) == [
        {"type": "thinking", "thinking": "h"},
        {"type": "text", "text": "t"},
        {"type": "tool_use", "id": "call_1", "name": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": "call_2", "name": "b", "input": {}},
    ]


def test_usage_and_stop_reason_may_be_given_and_errors_are_raised_as_they_say() -> None:
    model = Scripted(
        [
            {"text": "t", "usage": {"input": 5, "output": 6}, "stop_reason": "max_tokens"},
            {"error": {"message": "busy", "transient": True}},
        ]
    )
    found = ask(model)
    assert (found.usage, found.stop_reason) == (Usage(5, 6), "max_tokens")
    with pytest.raises(ModelError, match="busy") as caught:
        ask(model)
    assert caught.value.transient


def test_usage_is_estimated_from_what_was_sent_and_answered() -> None:
    model = Scripted([{"text": "x" * 35, "repeat": True}])
    short, long = ask(model, text="a"), ask(model, text="a" * 350)
    assert long.usage.input - short.usage.input in {99, 100}
    assert short.usage.output == 15  # (35 + 16 characters) / 3.5


def test_the_examples_of_the_schema_load(tmp_path: Path) -> None:
    for number, example in enumerate(schemas.document(SCHEMA)["examples"]):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(example), encoding="utf-8")
        assert load(path).left


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ("[]", "/"),
        ('{"replies": {}}', "/replies"),
        ('{"replies": [{}]}', "/replies/0"),
        ('{"replies": [{"text": "a", "looop": "x"}]}', "/replies/0"),
        ('{"replies": [{"calls": [{}]}]}', "/replies/0/calls/0"),
        ("{", None),
        ("\ud800", None),
    ],
)
def test_what_is_no_script_is_refused_with_its_place(tmp_path: Path, document: str, place: str | None) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(document.encode("utf-8", "surrogatepass"))
    with pytest.raises(UnreadableError) as caught:
        load(path)
    assert caught.value.place == place


def test_a_model_is_named_by_a_short_text(tmp_path: Path) -> None:
    script = tmp_path / "s.json"
    script.write_text('{"replies": [{"text": "a"}]}', encoding="utf-8")
    assert isinstance(build(f"scripted:{script}", Endpoint()), Scripted)
    assert isinstance(build("openai:gpt", Endpoint()), EndpointModel)
    assert isinstance(build("openai:", Endpoint()), EndpointModel)
    with pytest.raises(MissingFileError):
        build(f"scripted:{tmp_path}/none.json", Endpoint())


@pytest.mark.parametrize("spec", ["", "gpt", "openai", "scripted:", "other:x"])
def test_anything_else_is_no_model(spec: str) -> None:
    with pytest.raises(UsageError, match="is not a model"):
        build(spec, Endpoint())


def test_the_key_is_not_shown() -> None:
    assert "secret" not in repr(Endpoint(api_key="secret"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.integers(1, 200), st.integers(0, 10**7) | st.none())
def test_recovery_read_from_any_configuration_waits_within_its_limits(
    section: Any, failed: int, wished: int | None
) -> None:
    policy = RecoveryPolicy.from_config({"recovery": section})
    delay = policy.delay_ms(failed, ModelError("x", transient=True, retry_after_ms=wished))
    if failed >= policy.max_attempts or not policy.auto_retry:
        assert delay is None
    else:
        assert delay is not None
        assert policy.base_delay_ms <= delay <= max(policy.max_delay_ms, policy.base_delay_ms)
    assert policy.delay_ms(failed, ModelError("x", transient=False)) is None


def test_recovery_takes_what_the_configuration_says() -> None:
    section = {"auto_retry": True, "max_attempts": 4, "base_delay_ms": 10, "max_delay_ms": 25}
    policy = RecoveryPolicy.from_config({"recovery": section})
    error = ModelError("x", transient=True)
    assert [policy.delay_ms(failed, error) for failed in (1, 2, 3, 4)] == [10, 20, 25, None]
    assert RecoveryPolicy.from_config(None) == RecoveryPolicy()
    assert RecoveryPolicy.from_config({"recovery": {"auto_retry": False}}).delay_ms(1, error) is None


@given(JSON)
def test_a_model_choice_is_read_from_any_configuration(config: Any) -> None:
    choice = ModelChoice.from_config(config)
    assert isinstance(choice.model_id, str)
    assert choice.max_tokens is None or choice.max_tokens >= 1


def test_a_model_choice_takes_the_defaults_of_the_format() -> None:
    assert ModelChoice.from_config({}) == ModelChoice("", "", 0.7, 4096, None)


def test_the_estimate_counts_utf16_units_tools_and_media_cmp_003() -> None:
    def size(*blocks: dict[str, Any]) -> int:
        return estimate.messages([{"role": "user", "content": blocks}])

    assert size({"type": "text", "text": "é" * 19}) == 10
    assert size({"type": "text", "text": "😀" * 19}) == 16  # (16 + 38) / 3.5
    assert size({"type": "tool_use", "id": "x", "name": "abc", "input": {"a": 1}}) == 8
    assert size({"type": "tool_result", "tool_use_id": "x", "content": "a" * 19}) == 10
    assert size({"type": "thinking", "thinking": "a" * 17, "reasoning_details": []}) == 10
    assert size({"type": "image_url", "image_url": {"url": "a" * 1000}}) == 15
    assert size({"type": "image_url", "image_url": 3}) == 5
    assert size({"type": "new", "b": 1}) > 5
    assert estimate.text("a" * 35) == 10
