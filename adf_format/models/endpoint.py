"""A model behind an OpenAI-compatible endpoint, through the maintained `openai` client (extra `models`).

Where it is and which key it gets are said by whoever starts the program, never by a file: a hostile `.adf` could
otherwise send the owner's key wherever it likes.
"""

from __future__ import annotations

import dataclasses
import email.utils
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adf_format.errors import UsageError
from adf_format.models import chat
from adf_format.models.port import Completion, ModelChoice, ModelError, Purpose

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
TRANSIENT = {408, 409, 425, 429}
MAX_DETAIL = 300


@dataclass(frozen=True)
class Endpoint:
    """Where a model is.

    :ivar base_url: address up to and including the version, such as `http://localhost:11434/v1`
    :ivar api_key: secret of the account; local servers need none
    :ivar timeout_s: longest time of one call, in seconds
    """

    base_url: str = OPENAI_URL
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 300.0


class EndpointModel:
    """Asks an endpoint; one call is one request, repeating it is up to the caller (`RecoveryPolicy`).

    :param model_id: asked instead of the model that the configuration names; "" to keep that one
    :raises UsageError: the `openai` package is not installed
    """

    def __init__(self, endpoint: Endpoint, model_id: str = "") -> None:
        try:
            import openai
        except ImportError as error:
            raise UsageError("a real model needs the openai package", hint="pip install adf-format[models]") from error
        self._openai = openai
        self._endpoint = endpoint
        self._model_id = model_id

    async def complete(
        self,
        *,
        purpose: Purpose,  # noqa: ARG002
        loop: str,  # noqa: ARG002
        system: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        model: ModelChoice,
    ) -> Completion:
        """Ask the endpoint once.

        :raises ModelError: no answer, or none that is a chat completion
        """
        choice = dataclasses.replace(model, model_id=self._model_id) if self._model_id else model
        if not choice.model_id:
            raise ModelError("no model is named, neither by the agent nor by the command", transient=False)
        body = chat.request(choice, system, messages, tools)
        async with self._client() as client:
            return chat.response(await self._post(client, body))

    def _client(self) -> AsyncOpenAI:
        """Make a client for one call: its connections belong to one event loop, and none stays open."""
        return self._openai.AsyncOpenAI(
            base_url=self._endpoint.base_url,
            api_key=self._endpoint.api_key or "none",
            timeout=self._endpoint.timeout_s,
            max_retries=0,
        )

    async def _post(self, client: AsyncOpenAI, body: dict[str, Any]) -> bytes:
        rest = {key: value for key, value in body.items() if key not in {"model", "messages"}}
        completions = client.chat.completions.with_raw_response
        try:
            raw = await completions.create(model=body["model"], messages=body["messages"], extra_body=rest)
        except self._openai.APITimeoutError as error:
            seconds = f"{self._endpoint.timeout_s:g}"
            raise ModelError(f"the endpoint did not answer within {seconds} s", transient=True) from error
        except self._openai.APIStatusError as error:
            raise _refused(error) from error
        except self._openai.APIConnectionError as error:
            reason = str(error.__cause__ or error)
            raise ModelError(f"the endpoint cannot be reached: {reason[:MAX_DETAIL]}", transient=True) from error
        except self._openai.OpenAIError as error:
            raise ModelError(f"the endpoint cannot be asked: {str(error)[:MAX_DETAIL]}", transient=False) from error
        return raw.http_response.content


def _refused(error: APIStatusError) -> ModelError:
    """Tell a status that may pass from one that will not; an exhausted account is a 429 that will not."""
    status = error.status_code
    transient = (status in TRANSIENT or status >= 500) and error.code != "insufficient_quota"
    return ModelError(
        f"the endpoint answered {status}: {_detail(error)}",
        transient=transient,
        retry_after_ms=_retry_after(error.response.headers),
    )


def _detail(error: APIStatusError) -> str:
    body = error.body
    told = body.get("message") if isinstance(body, dict) else body
    text = told if isinstance(told, str) and told else error.message
    return text[:MAX_DETAIL]


def _retry_after(headers: Mapping[str, str]) -> int | None:
    """Read how long to wait, in milliseconds: a number of ms, of seconds, or a date."""
    value = headers.get("retry-after-ms")
    unit = 1.0
    if value is None:
        value, unit = headers.get("retry-after"), 1000.0
    try:
        return max(0, int(float(value or "") * unit))
    except (ValueError, OverflowError):
        pass
    try:
        moment = email.utils.parsedate_to_datetime(value or "").timestamp()
    except (TypeError, ValueError):
        return None
    return max(0, int((moment - time.time()) * 1000))
