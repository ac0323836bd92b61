"""deploy/nightly.yaml: an example that the code takes, and that says the defaults which it comments on."""

from __future__ import annotations

from ray_tasks.config import BuildConfig, load_config
from ray_tasks.scheduling.models import models_of
from tests.deploy.documents import ROOT, load


def test_the_example_is_a_valid_configuration_and_names_every_gate() -> None:
    config = load_config(ROOT / "deploy" / "nightly.yaml")
    assert config.gates == BuildConfig().gates
    assert load("deploy/nightly.yaml")["gates"].keys() == config.gates.model_dump().keys()
    assert config.max_failed_shards == BuildConfig().max_failed_shards


def test_the_example_with_language_models_is_valid_and_starts_what_it_asks() -> None:
    config = load_config(ROOT / "deploy" / "language-models.yaml", environment={})
    assert config.engine == config.translate == "llm"
    models = models_of(config, video=True)
    assert [model.serve is not None and model.serve.gpus for model in models] == [2.0, 2.0]


def test_an_encoder_asks_for_a_gpu_so_that_machines_with_one_start() -> None:
    assert load_config(ROOT / "deploy" / "nightly.yaml").encoder_gpus == 1


def test_question_files_are_taken_from_the_folder_of_the_configuration() -> None:
    config = load_config(ROOT / "deploy" / "nightly.yaml")
    assert config.questions == {"A1_JAKE": str(ROOT / "deploy" / "questions" / "A1_JAKE.json")}
