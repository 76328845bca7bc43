"""Language models behind one port: what is asked, what comes back, and two ways to answer.

`port` has the types, `spec` builds a model from a short text (`scripted:FILE`, `openai:MODEL`), `recovery` says when
a failed call is worth another try, `estimate` guesses sizes. Nothing here knows a file, a loop pool or a terminal.
"""

from adf_format.models.port import Completion, Model, ModelChoice, ModelError, Purpose, StopReason, Usage

__all__ = ["Completion", "Model", "ModelChoice", "ModelError", "Purpose", "StopReason", "Usage"]
