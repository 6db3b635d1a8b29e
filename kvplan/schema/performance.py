"""What a Plan predicts: times to the first token, storms, from when on the tier pays off, and how long flash lasts."""

from __future__ import annotations

from typing import Annotated

from kvplan.schema.base import Confidence, Explained, Record


class Prefill(Record):
    """Which model of a cold prefill the predictions rest on: T(n) = derate x (c0 + a n + b n^2)."""

    c0_s: Annotated[float, Explained("s", "as its source says")]
    a_s_per_token: Annotated[float, Explained("s/token", "as its source says")]
    b_s_per_token2: Annotated[float, Explained("s/token2", "as its source says")]
    derate: Annotated[
        float, Explained("ratio", "how many times as long real software takes", ("constants.prefill.derate",))
    ]
    source: str
    confidence: Confidence


class AmdahlPoint(Record):
    """What the whole fleet gains at a hit share."""

    hit_share: Annotated[float, Explained("ratio", "shares that are shown")]
    speedup: Annotated[float, Explained("ratio", "1 / ((1 - h) + h / speedup)", ("performance.speedup",))]


class Performance(Record):
    """How fast, when nobody else asks, when the tier is as busy as planned, and when everybody asks.

    What needs the time of a cold prefill is absent where no model of it can be had.
    """

    prefill: Prefill | None
    stream_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "the least of the rate into one engine, what was seen of the cache back end, and copying through host "
            "memory",
            ("buys.engine_read_bytes_per_s", "constants.tier.bounce_bytes_per_s"),
        ),
    ]
    hit_s: Annotated[
        float,
        Explained(
            "s",
            "c1 + k x step: what the engine spends on every hit, whatever its length; k is the back end's",
            ("constants.warm.first_s", "constants.warm.step_s"),
        ),
    ]
    cold_ttft_s: Annotated[
        float | None,
        Explained(
            "s",
            "derate x (c0 + a n + b n^2), and the reading of experts' weights again for each short chunk",
            ("performance.prefill.c0_s", "performance.prefill.a_s_per_token", "performance.prefill.b_s_per_token2"),
        ),
    ]
    cold_tokens_per_s: Annotated[
        float | None,
        Explained("token/s", "context / cold_ttft_s: what every gain is a gain over", ("performance.cold_ttft_s",)),
    ]
    warm_ttft_s: Annotated[
        float,
        Explained(
            "s",
            "hit_s + tau n + context_loaded_bytes / stream: the whole context cached, nobody else reading",
            (
                "performance.hit_s",
                "constants.warm.token_s",
                "request.context_tokens",
                "kv.context_loaded_bytes",
                "performance.stream_bytes_per_s",
            ),
        ),
    ]
    warm_ttft_p99_s: Annotated[
        float,
        Explained(
            "s",
            "as warm_ttft_s, with the fetch S/r (1 + ln(Erlang C / 0.01) / (k (1 - rho))) at rho = planned share",
            ("performance.warm_ttft_s", "network.read_bytes_per_s", "constants.guidance.planned_read_share"),
        ),
    ]
    speedup: Annotated[
        float | None,
        Explained("ratio", "cold_ttft_s / warm_ttft_s", ("performance.cold_ttft_s", "performance.warm_ttft_s")),
    ]
    hits_per_s: Annotated[float, Explained("1/s", "as buys.hits_per_s", ("buys.hits_per_s",))]
    storm_s: Annotated[
        float,
        Explained(
            "s",
            "max(S/r, engines x S / planned read): every engine asks for a whole context at the same moment",
            (
                "hbm.engines",
                "kv.context_loaded_bytes",
                "performance.stream_bytes_per_s",
                "buys.planned_read_bytes_per_s",
            ),
        ),
    ]
    break_even_tokens: Annotated[
        float | None,
        Explained(
            "tokens",
            "where cold and warm take equally long, one request alone; absent where reading back never wins",
            ("kv.loaded_bytes_per_token", "performance.stream_bytes_per_s", "performance.prefill.a_s_per_token"),
        ),
    ]
    break_even_gpus: Annotated[
        float | None,
        Explained(
            "GPUs",
            "tp x planned read x (cold - engine's own cost) / context_loaded_bytes: so many may ask at once before "
            "computing is as fast",
            ("request.tp", "buys.planned_read_bytes_per_s", "performance.cold_ttft_s", "kv.context_loaded_bytes"),
        ),
    ]
    break_even_hit_share: Annotated[
        float | None,
        Explained(
            "ratio",
            "planned read / (planned read + engines x cold tokens/s x B/token): beyond it the tier is the limit",
            (
                "buys.planned_read_bytes_per_s",
                "hbm.engines",
                "performance.cold_tokens_per_s",
                "kv.loaded_bytes_per_token",
            ),
        ),
    ]
    amdahl: tuple[AmdahlPoint, ...]


class PlanEndurance(Record):
    """What writes do to the tier: how long context stays, how flash wears, how many files come and go."""

    write_bytes_per_s: Annotated[float, Explained("B/s", "as demanded", ("demand.write_bytes_per_s",))]
    retention_s: Annotated[
        float,
        Explained(
            "s",
            "usable_bytes x low watermark / write rate: the least, right after an eviction",
            ("profile.usable_bytes", "constants.flash.low_watermark", "endurance.write_bytes_per_s"),
        ),
    ]
    drive_writes_per_day: Annotated[
        float,
        Explained(
            "1/day",
            "86,400 s x write rate x (d + p)/d x write amplification / raw_bytes",
            (
                "endurance.write_bytes_per_s",
                "profile.code_efficiency",
                "profile.raw_bytes",
                "constants.endurance.write_amplification",
            ),
        ),
    ]
    rated_drive_writes_per_day: Annotated[
        float, Explained("1/day", "the drive's rating", ("profile.endurance.rated_drive_writes_per_day",))
    ]
    file_bytes: Annotated[
        float,
        Explained(
            "B",
            "chunk x stored bytes per token / tp: each rank writes a file of its own",
            ("request.chunk_tokens", "kv.stored_bytes_per_token", "request.tp"),
        ),
    ]
    files: Annotated[
        int,
        Explained(
            "count",
            "usable_bytes x high watermark / file_bytes: inodes of a full tier",
            ("profile.usable_bytes", "constants.flash.high_watermark", "endurance.file_bytes"),
        ),
    ]
    creates_per_s: Annotated[
        float,
        Explained("1/s", "write rate / file_bytes", ("endurance.write_bytes_per_s", "endurance.file_bytes")),
    ]
    eviction_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "write rate + (high - low watermark) x usable_bytes / time of a purge",
            (
                "endurance.write_bytes_per_s",
                "profile.usable_bytes",
                "constants.flash.high_watermark",
                "constants.flash.low_watermark",
                "constants.flash.purge_s",
            ),
        ),
    ]
