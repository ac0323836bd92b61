"""How Ray Serve LLM gets its weights: this is called on each machine of a replica before the engine starts there."""

from __future__ import annotations

import asyncio

from ray.llm._internal.common.callbacks.base import CallbackBase  # has no public name; LLMConfig documents it
from ray.util.placement_group import placement_group_table

from ray_tasks.engines.weights import fetch_weights


class FetchWeights(CallbackBase):
    """Fetches the weights (an argument of this name) to where the model's configuration says that they are.

    A replica on one machine fetches them itself, which saves a process of Ray's own that would import all of vLLM
    first. Ray starts such processes, and asks this class in each, only for a replica that spans several machines.
    """

    async def on_before_node_init(self) -> None:
        """See CallbackBase."""
        machines = placement_group_table(self.ctx.placement_group)["bundles_to_node_id"].values()
        if len(set(machines)) == 1:
            await asyncio.to_thread(fetch_weights, self.kwargs["weights"])
            self.ctx.run_init_node = False

    def on_before_download_model_files_distributed(self) -> None:
        """See CallbackBase; what is raised here ends the start of the replica, with its message."""
        fetch_weights(self.kwargs["weights"])
