"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RootOption = Annotated[
    str, typer.Option(help="Where memories are kept: a folder, or s3://bucket/prefix.", envvar="DAYBOOK_ROOT")
]
DEFAULT_ROOT = "daybook-root"
CorpusOption = Annotated[Path | None, typer.Option(help="Folder in the released EgoLife layout.", show_default=False)]
VideoOption = Annotated[
    Path | None, typer.Option(help="Folder of clips, {wearer}/DAYn/*.mp4, which a model is to describe.")
]
IdentitiesOption = Annotated[
    Path | None, typer.Option(help="Folder of files that say who is seen, {wearer}_DAYn_HHMMSSFF-HHMMSSFF.txt.")
]
WearersOption = Annotated[list[str] | None, typer.Option(help="Only this wearer; may be repeated. All by default.")]
DaysOption = Annotated[
    list[str] | None, typer.Option(help="Only this day (3 or DAY3), and none of the others; may be repeated.")
]
ShardsOption = Annotated[
    list[str] | None,
    typer.Option(help="Only this hour or day (A1_JAKE/DAY3/16, A1_JAKE/DAY3) and what it needs; may be repeated."),
]
LimitOption = Annotated[int | None, typer.Option(help="Only the first so many hours and what they need.", min=1)]
EngineOption = Annotated[str | None, typer.Option(help="What turns captions into atoms: rules or llm.")]
LlmUrlOption = Annotated[
    list[str] | None,
    typer.Option(help="Where the language model answers, such as http://host:8000/v1; may be repeated."),
]
LlmModelOption = Annotated[str | None, typer.Option(help="The language model, as its endpoint names it.")]
ConfigOption = Annotated[Path | None, typer.Option(help="A YAML file with the settings of the build.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
QuestionFilesOption = Annotated[
    list[str],
    typer.Option(
        help="A question file of --wearer, or A1_JAKE=FILE; a folder holds one for each. May be repeated.",
        show_default=False,
    ),
]
AskedWearersOption = Annotated[
    list[str] | None,
    typer.Option(help="Whose memory is asked the files without a name; may be repeated.", show_default=False),
]
BenchmarkOption = Annotated[str, typer.Option(help="The form of the question files: egolifeqa, egor1 or egomem.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="A setting of retrieval, such as rounds=2; may be repeated.")
]
SweepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A setting of retrieval, such as rounds=2; may be repeated, also with other values of the same one.",
    ),
]
MethodOption = Annotated[
    str, typer.Option(help="How questions are answered: egocite, caption-rag, imprint or all-records.")
]
