"""Settings of the flags, which replicas follow while they run. Which request a flag holds for, they do not decide."""

from pydantic import Field

from cluster.flags import DEFAULT_ROLLOUT, FULL_HITS, Flag, FlagPlan
from cluster.settings.values import Percent
from cluster.yaml_model import StrictModel


class RolloutSettings(StrictModel):
    """For which queries a flag holds."""

    progressive_schema_loading: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.PROGRESSIVE_SCHEMA_LOADING],
        description=f"Full schemas for the first {FULL_HITS} hits, summaries after them, the rest by GET "
        "/v1/records/{id} (PROGRESSIVE_SCHEMA_LOADING). This and the next four: percent of queries, by a hash of their "
        "text; 0 is off, 100 is on.",
    )
    adaptive_discovery_k: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.ADAPTIVE_DISCOVERY_K],
        description="An answer ends where its scores fall away, before the request's k (ADAPTIVE_DISCOVERY_K with "
        "ADAPTIVE_K_ROLLOUT_PERCENT).",
    )
    hybrid_tool_discovery: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.HYBRID_TOOL_DISCOVERY],
        description="Vectors, where there are any, have a part in the ranking; else a search goes by words alone "
        "(HYBRID_TOOL_DISCOVERY).",
    )
    vector_candidate_retrieval: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.VECTOR_CANDIDATE_RETRIEVAL],
        description="Vectors, where there are any, find records that share no word with the query; else they only "
        "order what words have found (VECTOR_CANDIDATE_RETRIEVAL).",
    )
    indexed_candidate_retrieval: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.INDEXED_CANDIDATE_RETRIEVAL],
        description="The index cuts before the ranker ranks; else everything authorized that matches is ranked, which "
        "is slow and gives the same answer (INDEXED_CANDIDATE_RETRIEVAL).",
    )


class ShadowSettings(StrictModel):
    """For which requests the other way is tried after the answer was sent."""

    progressive_schema_loading: Percent = Field(
        default=0,
        description="This and the next four: percent of searches after which, where the replica has nothing else to "
        "do, the same search runs once more with this flag the other way round; parity is in /metrics and shortlist "
        "status.",
    )
    adaptive_discovery_k: Percent = Field(default=0, description="As above.")
    hybrid_tool_discovery: Percent = Field(default=0, description="As above.")
    vector_candidate_retrieval: Percent = Field(default=0, description="As above.")
    indexed_candidate_retrieval: Percent = Field(default=0, description="As above.")


class FlagSettings(StrictModel):
    """Ways of answering that can be changed while an instance runs: replicas follow the settings file."""

    rollout_percent: RolloutSettings = RolloutSettings()
    shadow_percent: ShadowSettings = ShadowSettings()

    def plan(self) -> FlagPlan:
        """As the cluster takes them."""
        rollout, shadow = self.rollout_percent.model_dump(), self.shadow_percent.model_dump()
        return FlagPlan(
            rollout_percent={flag: rollout[flag.value] for flag in Flag},
            shadow_percent={flag: shadow[flag.value] for flag in Flag},
        )
