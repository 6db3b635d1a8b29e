"""How long a fetch takes while other engines read from the same tier and prompts are written to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kvplan.core.prediction.storm import storm_knee

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.software import CacheBackend, DataPath

_ROUNDING = 1e-9
"""How far below a whole number a quotient of rates still counts as that number."""


def erlang_c(servers: int, offered: float) -> float:
    r"""Return the probability that who arrives finds all servers busy.

    .. math:: B_0 = 1, \quad B_i = \frac{A B_{i-1}}{i + A B_{i-1}}, \qquad E_C = \frac{k B_k}{k - A (1 - B_k)}

    Parameters
    ----------
    servers
        Servers k [servers], at least 1.
    offered
        Offered load A [erlangs], from 0 on.

    Returns
    -------
    float
        Probability [1]; 1 from k erlangs on, where the queue never empties.

    Notes
    -----
    Poisson arrivals. The recursion is that of Erlang's B, which does not overflow however many servers there are.

    References
    ----------
    A. K. Erlang, 1917; Gross, Harris, Fundamentals of Queueing Theory, section 2.4.

    Examples
    --------
    >>> erlang_c(1, 0.5), round(erlang_c(2, 1.0), 4), round(erlang_c(14, 12.6), 3)
    (0.5, 0.3333, 0.614)
    """
    if offered >= servers:
        return 1.0
    blocked = 1.0
    for busy in range(1, servers + 1):
        blocked = offered * blocked / (busy + offered * blocked)
    return servers * blocked / (servers - offered * (1 - blocked))


def fetch_seconds(fetch_bytes: float, stream_bytes_per_s: float, tier_bytes_per_s: float, utilisation: float) -> float:
    r"""Return the mean time of one fetch while the tier is busy with others.

    .. math:: T = \frac{S}{r} \left( 1 + \frac{E_C(k, k \rho)}{k (1 - \rho)} \right), \quad k = \lfloor C / r \rfloor

    Parameters
    ----------
    fetch_bytes
        What the fetch reads, S [B].
    stream_bytes_per_s
        Most that one fetch can take, r [B/s]; a stream faster than the tier is as fast as the tier.
    tier_bytes_per_s
        Rate C that the tier gives to reads [B/s].
    utilisation
        Share rho of C that is read on average [1].

    Returns
    -------
    float
        Time [s]; infinite from a utilisation of 1 on.

    Notes
    -----
    Fetches start at random moments and share the tier evenly, none faster than r: processor sharing with a cap. The
    mean holds for any mix of sizes, within 1 % of a simulation up to rho = 0.95. Engines that start at the same moment
    are a storm, see `storm_seconds`.

    References
    ----------
    Cohen, The multiple phase service network with generalized processor sharing, Acta Informatica 12, 1979.

    Examples
    --------
    120,000 tokens of gpt-oss-120b over a 200 Gb/s link from eight nodes, half and nine tenths busy:

    >>> [round(fetch_seconds(8.85e9, 22.5e9, 315e9, load), 3) for load in (0.0, 0.5, 0.9)]
    [0.393, 0.394, 0.566]
    """
    if utilisation >= 1:
        return math.inf
    streams = _streams_at_once(stream_bytes_per_s, tier_bytes_per_s)
    slower = erlang_c(streams, streams * utilisation) / (streams * (1 - utilisation))
    return _alone_seconds(fetch_bytes, stream_bytes_per_s, tier_bytes_per_s) * (1 + slower)


def fetch_quantile_seconds(
    fetch_bytes: float,
    stream_bytes_per_s: float,
    tier_bytes_per_s: float,
    utilisation: float,
    quantile: float = 0.99,
) -> float:
    r"""Return the time within which a share of the fetches is done, all of them of one size.

    .. math:: T_q = \frac{S}{r} \left( 1 + \frac{\ln (E_C / (1 - q))}{k (1 - \rho)} \right) \text{ where } E_C > 1 - q

    Parameters
    ----------
    fetch_bytes
        What each fetch reads, S [B].
    stream_bytes_per_s
        Most that one fetch can take, r [B/s].
    tier_bytes_per_s
        Rate C that the tier gives to reads [B/s].
    utilisation
        Share rho of C that is read on average [1].
    quantile
        Share q of the fetches that are done by then [1], below 1.

    Returns
    -------
    float
        Time [s]; S / r where fewer than 1 - q of the fetches meet a busy tier.

    Notes
    -----
    An approximation, within 12 % of a simulation of the 99th percentile up to rho = 0.95, mostly above it. Where
    contexts differ in length the long ones are the tail: take `fetch_seconds` of a long one, which is within 5 % up to
    rho = 0.8 for exponentially distributed sizes, and 20 % too short at 0.95.

    References
    ----------
    As `fetch_seconds`; the exponential tail of the wait in an M/M/k queue, in units of the fetch.

    Examples
    --------
    >>> [round(fetch_quantile_seconds(8.85e9, 22.5e9, 315e9, load), 2) for load in (0.1, 0.7, 0.9)]
    [0.39, 0.65, 1.55]
    """
    if utilisation >= 1:
        return math.inf
    streams = _streams_at_once(stream_bytes_per_s, tier_bytes_per_s)
    waiting = erlang_c(streams, streams * utilisation) / (1 - quantile)
    slower = math.log(waiting) / (streams * (1 - utilisation)) if waiting > 1 else 0.0
    return _alone_seconds(fetch_bytes, stream_bytes_per_s, tier_bytes_per_s) * (1 + slower)


def read_beside_writes(
    read_bytes_per_s: float, write_bytes_per_s: float, write_limit_bytes_per_s: float, interference: float
) -> float:
    r"""Return the read rate that is left while new context is written.

    .. math:: R' = R \, \max(1 - \phi w / W, 0)

    Parameters
    ----------
    read_bytes_per_s
        What the tier reads while nothing is written, R [B/s].
    write_bytes_per_s
        New context written, w [B/s].
    write_limit_bytes_per_s
        What the tier writes while nothing is read, W [B/s].
    interference
        How much of a write's share of the tier is lost to reads, phi [1]: 1 when both share the same time, 0 when they
        pass each other.

    Returns
    -------
    float
        Rate [B/s].

    Notes
    -----
    How reads and writes of erasure-coded flash disturb each other is not published; phi is assumed. Reads are then
    planned at a share of what is left, see `planned_read`.

    References
    ----------
    Time sharing: a tier that writes at w is busy with it for w / W of the time.

    Examples
    --------
    >>> read_beside_writes(315e9, 30e9, 150e9, 1.0) / 1e9, read_beside_writes(315e9, 30e9, 150e9, 0.0) / 1e9
    (252.0, 315.0)
    """
    return read_bytes_per_s * max(1 - interference * write_bytes_per_s / write_limit_bytes_per_s, 0.0)


def data_path(backend: CacheBackend, *, gpudirect: bool) -> DataPath:
    """Say which way data goes from the tier into GPU memory.

    Parameters
    ----------
    backend
        The cache back end.
    gpudirect
        Whether GPUDirect Storage works on the GPU servers and is asked for.

    Returns
    -------
    DataPath
        `gpudirect`, or `bounce` through host memory.

    Notes
    -----
    A back end that can do without GPUDirect falls back to host memory, some without a message.

    References
    ----------
    The back end's row in the catalogue.

    Examples
    --------
    >>> from kvplan.schema.software import CacheBackend
    >>> backend = CacheBackend.model_construct(id="llmd-fs", gpudirect="reads-and-writes-optional")
    >>> data_path(backend, gpudirect=True), data_path(backend, gpudirect=False)
    ('gpudirect', 'bounce')
    """
    return "gpudirect" if gpudirect and backend.gpudirect != "no" else "bounce"


def stream_rate(link_bytes_per_s: float, backend: CacheBackend, path: DataPath, bounce_bytes_per_s: float) -> float:
    r"""Return the most that one engine can read with its back end.

    .. math:: r = \min(e, c, b)

    Parameters
    ----------
    link_bytes_per_s
        What the engine's links carry, e [B/s], as `engine_read` gives it.
    backend
        The cache back end, with the caps c [B/s] that were seen on its paths.
    path
        Which way the data goes.
    bounce_bytes_per_s
        What copying from host memory to the engine's GPUs carries, b [B/s]; no limit on the GPUDirect path.

    Returns
    -------
    float
        Rate [B/s].

    Notes
    -----
    The two hops through host memory overlap. A back end of which nothing is known has no cap of its own.

    References
    ----------
    The back end's row in the catalogue, with a source for each cap.

    Examples
    --------
    >>> from kvplan.schema.software import CacheBackend, Stream
    >>> seen = Stream(path="bounce", bytes_per_s=6.6e9, setup="one root", source="vllm#53126", confidence="measured")
    >>> backend = CacheBackend.model_construct(id="vllm-fs", streams=(seen,))
    >>> stream_rate(57.2e9, backend, "bounce", 50e9), stream_rate(57.2e9, backend, "gpudirect", 50e9)
    (6600000000.0, 57200000000.0)
    """
    caps = [stream.bytes_per_s for stream in backend.streams if stream.path == path]
    if path == "bounce":
        caps.append(bounce_bytes_per_s)
    return min([link_bytes_per_s, *caps])


def host_stream_rate(
    link_bytes_per_s: float, backend: CacheBackend, tp: int, constants: Mapping[str, Constant]
) -> float:
    r"""Return the most that one engine can read through host memory: whether GPUDirect works is proved at the site.

    .. math:: r = \min(e, c, TP \, b)

    Parameters
    ----------
    link_bytes_per_s
        What the engine's links carry, e [B/s].
    backend
        The cache back end, with its caps c [B/s].
    tp
        GPUs TP of the engine [GPUs].
    constants
        The catalogue's constants: `tier.bounce_bytes_per_s` is what copying into one GPU carries, b [B/s].

    Returns
    -------
    float
        Rate [B/s].

    References
    ----------
    As `stream_rate`.

    Examples
    --------
    >>> import kvplan
    >>> tables = kvplan.load_catalogue()
    >>> backend, constants = tables.backend("kvbm-g4"), tables.constants()
    >>> host_stream_rate(57.2e9, backend, 1, constants), host_stream_rate(160e9, backend, 4, constants)
    (50000000000.0, 160000000000.0)
    """
    path = data_path(backend, gpudirect=False)
    return stream_rate(link_bytes_per_s, backend, path, tp * constants["tier.bounce_bytes_per_s"].value)


def _streams_at_once(stream_bytes_per_s: float, tier_bytes_per_s: float) -> int:
    """Return how many fetches run at full speed at once, k, at least 1."""
    return max(math.floor(storm_knee(stream_bytes_per_s, tier_bytes_per_s) * (1 + _ROUNDING)), 1)


def _alone_seconds(fetch_bytes: float, stream_bytes_per_s: float, tier_bytes_per_s: float) -> float:
    """Return the time of a fetch [s] that has the tier to itself."""
    return fetch_bytes / min(stream_bytes_per_s, tier_bytes_per_s)
