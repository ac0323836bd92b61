"""The configuration of a build: defaults, files, overrides, and mistakes in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ray_tasks.config import BuildConfig, GateBounds, load_config
from ray_tasks.errors import UsageError


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "build.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold() -> None:
    assert load_config(None) == BuildConfig()
    assert load_config(None, engine=None) == BuildConfig()


def test_a_file_changes_defaults_and_an_override_changes_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "max_failed_shards: 2\nembedding_model: some/folder\n")
    assert load_config(path).max_failed_shards == 2
    assert load_config(path, max_failed_shards=5) == BuildConfig(embedding_model="some/folder", max_failed_shards=5)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, "# nothing yet\n")) == BuildConfig()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("engine: magic\n", "engine"),
        ("max_failed_shards: -1\n", "max_failed_shards"),
        ("max_failed_shards: many\n", "max_failed_shards"),
        ("max_failed_shard: 1\n", "max_failed_shard"),
        ("- engine\n", "names and values"),
        ("engine: [rules\n", "not a YAML file"),
    ],
)
def test_a_mistake_is_told_with_file_and_field(tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        load_config(path)
    assert str(path) in str(raised.value)
    assert says in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.yaml: cannot be read"):
        load_config(tmp_path / "absent.yaml")
    (tmp_path / "build.yaml").write_bytes(b"engine: \xff\n")
    with pytest.raises(UsageError, match="not a YAML file"):
        load_config(tmp_path / "build.yaml")


def test_question_files_are_taken_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "nightly.yaml"
    path.parent.mkdir()
    path.write_text(
        "questions: {B1_MARA: questions/mara.json, B2_TOBI: /elsewhere/tobi.json}\ncanary: {B1_MARA: few.json}\n",
        encoding="utf-8",
    )
    config = load_config(path)
    folder = path.parent
    assert config.questions == {"B1_MARA": str(folder / "questions/mara.json"), "B2_TOBI": "/elsewhere/tobi.json"}
    assert config.canary == {"B1_MARA": str(folder / "few.json")}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("questions: [a.json]", "questions"),
        ("gates: {max_error_rate: 101}", "gates.max_error_rate"),
        ("gates: {atoms_per_hour: [1]}", "gates.atoms_per_hour"),
        ("gates: {max_erorr_rate: 1}", "gates.max_erorr_rate"),
    ],
)
def test_mistakes_in_gates_and_questions_are_named(tmp_path: Path, text: str, field: str) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=field.replace(".", r"\.")):
        load_config(path)


@pytest.mark.parametrize(
    "text",
    [
        "llm: {timeout_s: .inf}",
        "llm: {outage_s: .inf}",
        "llm: {serve: {gpus: .inf}}",
        "llm: {prices: {input: .inf}}",
        "video: {stall_s: .inf}",
        "gates: {max_fallback_rate: .inf}",
        "prices: {cpu_hour: .inf}",
    ],
)
def test_a_number_that_no_record_can_hold_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="finite"):
        load_config(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("urls: ['http://mara:hush-hush@host/v1']", "api_key_env"),
        ("urls: ['ftp://mara:hush-hush@host/v1']", "api_key_env"),
        ("urls: ['mara:hush-hush@host:8000/v1']", "api_key_env"),
        ("urls: ['http://host/v1?api_key=hush-hush']", "api_key_env"),
        ("urls: ['http://host/v1#hush-hush']", "api_key_env"),
        ("api_key_env: hush-hush", "api_key_env"),
    ],
)
def test_a_secret_is_neither_taken_nor_repeated(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text(f"llm: {{{text}}}", encoding="utf-8")
    with pytest.raises(UsageError, match=says) as caught:
        load_config(path)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "host:8000/v1", "http://", "http://ho st/v1", "http://host:99999/v1", "http://[::1/v1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"llm\.urls"):
        load_config(None, environment={}, llm={"urls": [url]})


def test_a_configuration_survives_its_way_through_a_run_record() -> None:
    config = BuildConfig(gates=GateBounds(atoms_per_hour=(0.1, 9.0)), questions={"B1_MARA": "x.json"})
    assert BuildConfig(**json.loads(json.dumps(config.model_dump()))) == config


@pytest.mark.parametrize(
    "text",
    [
        "when: 2020-13-45",
        "max_failed_shards: " + "9" * 5000,
        "engine: !!timestamp x",
        "engine: !!int x",
        "1: 2",
        "[" * 3000,
        "\0",
        "a: &a [*a]",
        "<<: 3",
        "max_failed_shards: .nan",
    ],
)
def test_yaml_that_is_malformed_in_any_way_is_a_named_mistake(tmp_path: Path, text: str) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"nightly\.yaml"):
        load_config(path)


def test_the_environment_keeps_the_case_of_names_that_are_no_settings() -> None:
    environment = {"DAYBOOK_QUESTIONS__A1_MARA": "q.json", "DAYBOOK_LLM__SERVE__ENV__OMP_NUM_THREADS": "'4'"}
    config = load_config(None, environment=environment)
    assert config.questions == {"A1_MARA": "q.json"}
    assert config.llm.serve is not None
    assert config.llm.serve.env == {"OMP_NUM_THREADS": "4"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("compression: {histroy: 3}", r"compression\.histroy: there is no such setting; did you mean history\?"),
        ("vlm: {modle: x}", r"vlm\.modle: there is no such setting; did you mean model\?"),
        ("zzz: 1", r"zzz: there is no such setting; choose one of engine, llm"),
    ],
)
def test_an_unknown_name_is_told_with_the_names_there_are(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        load_config(path)
