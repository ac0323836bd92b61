"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

RootOption = Annotated[str, typer.Option(help="Folder in which memories are kept.", envvar="DAYBOOK_ROOT")]
DEFAULT_ROOT = "daybook-root"
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MethodOption = Annotated[str, typer.Option(help="How questions are answered: egocite or caption-rag.")]
