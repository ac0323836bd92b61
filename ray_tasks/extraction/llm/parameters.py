"""What the language model's engine does beyond its prompts, as part of its version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LLM_VERSION: Final = "llm-1"
"""To be raised with every change of a validator or a repair, so that no shard of older ones is taken from a cache."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Bounds of the engine; each of them can change what comes out, so all of them are part of its version.

    reasks: corrective questions after a reply that breaks rules. short_reasks: how many of them are spent on statements
    whose only fault is that they are short. context_chars: characters of JSON that the captions
    before may take in a request, the latest lines first. window_chars: the same for a window or a block, shared out
    evenly among its captions. Both take in what was measured on busy days (up to 28,000 and 81,000); lines that do not
    fit are counted. tokens_per_line: what the reply on a caption is expected to take for each line; captions
    for which the settings' longest reply may not do are asked about in parts. block_tokens and sentence_tokens: the
    longest reply on a window's blocks and for a sentence, never more than the settings allow.
    """

    reasks: int = 2
    short_reasks: int = 1
    context_chars: int = 32_000
    window_chars: int = 100_000
    tokens_per_line: int = 32
    block_tokens: int = 1024
    sentence_tokens: int = 512
