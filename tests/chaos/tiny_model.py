"""A sentence encoder that is made in a moment: the mean of random but fixed vectors of a text's words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

DIMENSION: Final = 64
LONGEST: Final = 2048
"""Words; longer than any text, so that no two texts look the same for having the same beginning."""


def make_tiny_model(folder: Path, corpus: Path) -> Path:
    """Writes a model that knows the words of a corpus, for sentence-transformers to load; gives its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    parts = folder / "parts"
    pieces = BertWordPieceTokenizer({word: number for number, word in enumerate(_words(corpus))})
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=pieces._tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    tokenizer.save_pretrained(parts)
    torch.manual_seed(0)
    shape = BertConfig(
        vocab_size=pieces.get_vocab_size(),
        hidden_size=DIMENSION,
        num_hidden_layers=0,
        num_attention_heads=2,
        max_position_embeddings=LONGEST,
    )
    BertModel(shape).save_pretrained(parts)
    modules = [Transformer(str(parts), max_seq_length=LONGEST), Pooling(DIMENSION)]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"))
    return folder / "model"


def _words(corpus: Path) -> list[str]:
    text = " ".join(
        path.read_text(encoding="utf-8", errors="ignore").lower() for path in corpus.rglob("*") if path.is_file()
    )
    letters = sorted(set(re.findall(r"\S", text)))
    words = set(re.findall(r"[^\W\d_]+", text)) - set(letters)
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{each}" for each in letters), *sorted(words)]
