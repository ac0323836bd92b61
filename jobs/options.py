"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

RootOption = Annotated[
    str, typer.Option(help="Where memories are kept: a folder, or s3://bucket/prefix.", envvar="DAYBOOK_ROOT")
]
DEFAULT_ROOT = "daybook-root"
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MethodOption = Annotated[str, typer.Option(help="How questions are answered: egocite or caption-rag.")]
