"""An OpenAI-compatible server with scripted replies and faults on demand, and a scripted Chat without HTTP."""

from tests.chat_server.faults import FAULTS, Fault, FaultPlan
from tests.chat_server.replies import Reply, schema_of, text_of
from tests.chat_server.scripted import ScriptedChat
from tests.chat_server.server import ChatServer

__all__ = ["FAULTS", "ChatServer", "Fault", "FaultPlan", "Reply", "ScriptedChat", "schema_of", "text_of"]
