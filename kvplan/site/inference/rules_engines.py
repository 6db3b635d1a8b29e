"""Rules about how engines cache: connector, seed, failure policy, hybrid manager, sizes, and what the model asks."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from kvplan.core.sizing.versions import outside, release_key
from kvplan.schema.base import Record
from kvplan.site.inference.stack import GB, KVBM
from kvplan.site.inference.transfer import EXTRA, Transfer
from kvplan.site.reading import yaml_in
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.inference.reading import Rendered, Unit

_OLD_ONLY: Final = ("DYN_STORE_KV",)
_NEW_ONLY: Final = ("DYN_DISCOVERY_BACKEND", "DYN_KVBM_DISK_ALLOCATOR_TYPE", "DYN_KVBM_ENABLE_RECORD")
_SWITCHES: Final = ("DYN_KVBM_METRICS", "DYN_RUNTIME_ENABLED_KVBM", "KVBM_RECORD")
"""Variables of KVBM that are on as soon as they are set; `_DISABLE_` and `_ENABLE` in a name tell others."""
_FALSE: Final = ("", "0", "false", "no", "off")
_PATHS: Final = ("DYN_KVBM_DISK_CACHE_DIR", "DYN_KVBM_REMOTE_DISK_PATH")
_ALIKE: Final = (
    *("--model", "--served-model-name", "--tensor-parallel-size", "--kv-cache-dtype", "--block-size"),
    *("--prefix-caching-hash-algo", "--max-model-len", "--prefix-cache-retention-interval", "--kv-transfer-config"),
)
_HYBRID_OFF, _HYBRID_ON = "--disable-hybrid-kv-cache-manager", "--no-disable-hybrid-kv-cache-manager"


@rule("KV-INF-006", "A transfer configuration is JSON, with the keys that its connector knows and no others.")
def _transfer_form(rendered: Rendered) -> Iterator[Break]:
    for unit in rendered.engines:
        text = unit.argument("--kv-transfer-config")
        if wrong := _form_faults(text, rendered.stack.backend):
            yield Break(unit.path, f"--kv-transfer-config: {wrong}")


@lru_cache(maxsize=64)
def _form_faults(text: str, backend: str) -> str:
    """Say what is wrong with the form of a transfer configuration."""
    try:
        transfer = Transfer.model_validate_json(text)
        record = EXTRA.get((backend, transfer.kv_connector), Record)
        if record is not Record or transfer.kv_connector_extra_config:
            record.model_validate(transfer.kv_connector_extra_config)
    except ValidationError as error:
        return "; ".join(f"{'.'.join(map(str, one['loc']))} {one['msg']}".strip() for one in error.errors())
    return ""


@rule("KV-INF-007", "The connector is that of the back end in this release.")
def _connector(rendered: Rendered) -> Iterator[Break]:
    stack = rendered.stack
    wanted = {name for backend, name in EXTRA if backend == stack.backend}
    if stack.backend == "lmcache-fs":
        wanted = {"LMCacheMPConnector" if stack.lmcache_server else "LMCacheConnectorV1"}
    for unit in rendered.engines:
        data = rendered.transfer(unit)
        name = data.get("kv_connector")
        if data and name not in wanted:
            yield Break(unit.path, f"{name} is not the connector of {stack.backend}", f"Use {', '.join(wanted)}.")
        module = "kvbm.vllm_integration.connector"
        if name == "DynamoConnector" and data.get("kv_connector_module_path") != module:
            yield Break(unit.path, "DynamoConnector without its module", f"Set kv_connector_module_path {module}.")


@rule("KV-INF-008", "No flag or variable is that of the other line of releases.")
def _other_release(rendered: Rendered) -> Iterator[Break]:
    is_old, version = rendered.stack.is_old, rendered.deployment.site.versions.dynamo
    strange = _NEW_ONLY if is_old else _OLD_ONLY
    for unit in rendered.engines:
        for name in strange:
            if name in rendered.environment(unit):
                where = rendered.environment_path(unit)
                yield Break(where, f"Dynamo {version} does not know {name}")
        chosen = unit.arguments.get("--connector")
        if is_old and chosen != ("none",):
            text = f"Dynamo {version} takes its own connector beside --kv-transfer-config, and stops"
            yield Break(unit.path, text, "Set --connector=none.")
        if not is_old and chosen:
            yield Break(unit.path, f"Dynamo {version} refuses --connector", "Leave --connector out.")


@rule("KV-INF-009", "All engines have the same hash seed, else none finds what another wrote.")
def _hash_seed(rendered: Rendered) -> Iterator[Break]:
    wanted = str(rendered.stack.layout.hash_seed)
    for unit in rendered.engines:
        seed = rendered.environment(unit).get("PYTHONHASHSEED", "")
        if seed != wanted:
            where = rendered.environment_path(unit)
            yield Break(where, f"PYTHONHASHSEED is {seed or 'absent'}, elsewhere {wanted}")


@rule("KV-INF-010", "A file that cannot be read is recomputed, and does not fail the request.")
def _failure_policy(rendered: Rendered) -> Iterator[Break]:
    for unit in rendered.engines:
        policy = rendered.transfer(unit).get("kv_load_failure_policy")
        if policy != "recompute":
            text = f"kv_load_failure_policy is {policy or 'absent'}: a deleted file fails the user's request"
            yield Break(unit.path, text, "Set kv_load_failure_policy to recompute.")


@rule("KV-INF-011", "The hybrid manager is told explicitly, as the Plan counts.")
def _hybrid_flag(rendered: Rendered) -> Iterator[Break]:
    planned = rendered.deployment.plan.request.hybrid_manager
    for unit in rendered.engines:
        told = [flag for flag in (_HYBRID_ON, _HYBRID_OFF) if flag in unit.arguments]
        wanted = _HYBRID_ON if planned else _HYBRID_OFF
        if told != [wanted]:
            text = f"the hybrid manager is told by {' and '.join(told) or 'nothing'}, the Plan counts with {wanted}"
            yield Break(unit.path, text, f"Set {wanted} alone.")


@rule("KV-INF-012", "The hybrid manager is on only with a back end that can.")
def _hybrid_support(rendered: Rendered) -> Iterator[Break]:
    backend, vllm = rendered.deployment.backend, rendered.deployment.site.versions.vllm
    can = backend.hybrid_manager and release_key(vllm) >= release_key(backend.hybrid_manager_since_vllm)
    for unit in rendered.engines:
        if _HYBRID_ON in unit.arguments and not can:
            text = f"{backend.id} cannot work with the hybrid manager in vLLM {vllm}"
            yield Break(unit.path, text, "Plan with the hybrid manager off, or choose another back end.")


@rule("KV-INF-013", "The back end can store every kind of layer that the model has.")
def _model_layers(rendered: Rendered) -> Iterator[Break]:
    backend, plan, where = rendered.deployment.backend, rendered.deployment.plan, "inference.cache_backend"
    remedy = "Choose vllm-fs, or another model."
    kinds = {group.kind for group in plan.model.groups}
    if "recurrent" in kinds and not backend.stores_recurrent_state:
        yield Break(where, f"{backend.id} does not store the recurrent state of {plan.model.id}", remedy)
    elif "recurrent" in kinds and not plan.request.hybrid_manager:
        text = f"{plan.model.id} has recurrent layers, which need the hybrid manager"
        yield Break("plan.request.hybrid_manager", text, "Plan with the hybrid manager on.")
    if backend.id in KVBM and (shapes := _shapes(plan.model.groups)) > 1:
        text = f"{backend.id} stores blocks of one shape, {plan.model.id} has {shapes}"
        yield Break(where, text, remedy)


def _shapes(groups: tuple[Any, ...]) -> int:
    """Count the shapes of a token's entry; a window is kept in full where the hybrid manager is off."""
    sizes = {
        tuple(value for name, value in sorted(group.model_dump().items()) if name.endswith(("heads", "dim")))
        for group in groups
        if group.kind not in ("shared", "none", "recurrent", "cross")
    }
    return len(sizes)


@rule("KV-INF-014", "What a back end writes is inside the cache fileset.")
def _cache_paths(rendered: Rendered) -> Iterator[Break]:
    cache = PurePosixPath(rendered.stack.cache_dir)
    for unit in rendered.engines:
        for name, path in _paths(rendered, unit):
            if not PurePosixPath(path).is_relative_to(cache):
                yield Break(unit.path, f"{name} is {path or 'absent'}, outside {cache}", f"Use {cache}.")


def _paths(rendered: Rendered, unit: Unit) -> Iterator[tuple[str, str]]:
    """Yield every path to which an engine writes blocks."""
    environment = rendered.environment(unit)
    yield from ((name, environment[name]) for name in _PATHS if name in environment)
    extra = rendered.transfer(unit).get("kv_connector_extra_config", {})
    if "shared_storage_path" in extra:
        yield "shared_storage_path", str(extra["shared_storage_path"])
    yield from (("root_dir", str(tier.get("root_dir", ""))) for tier in extra.get("secondary_tiers", ()))
    if "LMCACHE_CONFIG_FILE" in environment:
        settings = _lmcache(rendered.tree.get(f"hosts/{unit.host}{environment['LMCACHE_CONFIG_FILE']}", ""))
        url = str(settings.get("remote_url", "")).removeprefix("fs://localhost:0")
        yield "LMCache's path", str(settings.get("gds_path", url))


@lru_cache(maxsize=64)
def _lmcache(text: str) -> dict[str, Any]:
    """Read the configuration of LMCache; what is none is empty."""
    try:
        data = yaml_in(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


@rule("KV-INF-024", "The back end works with this Dynamo and this vLLM.")
def _release_range(rendered: Rendered) -> Iterator[Break]:
    backend, versions = rendered.deployment.backend, rendered.deployment.site.versions
    judged = (("Dynamo", versions.dynamo, backend.dynamo), ("vLLM", versions.vllm, backend.vllm))
    for name, version, allowed in judged:
        if missed := outside(version, allowed.first, allowed.last):
            text = f"{backend.id} needs {name} {missed}; this is {version}"
            yield Break(f"versions.{name.lower()}", text, "Choose another back end, or another release.")


@rule("KV-INF-029", "A back end that was never released is pointed out.", "warning")
def _unreleased(rendered: Rendered) -> Iterator[Break]:
    if not rendered.deployment.backend.released:
        text = f"{rendered.stack.backend} is in no released image"
        remedy = f"See that {rendered.stack.layout.image} comes from NVIDIA or IBM with it, or choose another back end."
        yield Break("inference.engines.image", text, remedy)


@rule("KV-INF-026", "A back end that needs host memory has some, and as much as the GPUs hold.")
def _cpu_tier(rendered: Rendered) -> Iterator[Break]:
    stack = rendered.stack
    for unit in rendered.engines:
        held = _cpu_gb(rendered, unit)
        if rendered.deployment.backend.needs_cpu_tier and held <= 0:
            text = f"{stack.backend} passes data through host memory, and has none"
            yield Break(unit.path, text, "Set inference.engines.cpu_cache_gb.")
        elif 0 < held < stack.gpu_cache_gb:
            text = f"{held} GB of host memory are less than the {stack.gpu_cache_gb} GB that the GPUs hold"
            remedy = "Set inference.engines.cpu_cache_gb higher: blocks are pushed out before they are used again."
            yield Break(unit.path, text, remedy, "warning")


def _cpu_gb(rendered: Rendered, unit: Unit) -> int:
    """Read the host memory of an engine's cache [GB]; 0 where there is none."""
    environment = rendered.environment(unit)
    extra = rendered.transfer(unit).get("kv_connector_extra_config", {})
    if "cpu_bytes_to_use" in extra:
        return int(extra["cpu_bytes_to_use"]) // GB
    if "LMCACHE_CONFIG_FILE" in environment:
        settings = _lmcache(rendered.tree.get(f"hosts/{unit.host}{environment['LMCACHE_CONFIG_FILE']}", ""))
        return int(settings.get("max_local_cpu_size", 0)) if settings.get("local_cpu") else 0
    if server := rendered.by_name.get((unit.host, "kv-lmcache")):
        return int(server.argument("--l1-size-gb") or 0) // max(rendered.stack.fits, 1)
    return int(environment.get("DYN_KVBM_CPU_CACHE_GB", "0"))


@rule("KV-INF-027", "Private disk caches exist, and together stay within the quota of the cache.")
def _disk_cache(rendered: Rendered) -> Iterator[Break]:
    if rendered.stack.backend != "kvbm-disk":
        return
    sizes = {unit.path: rendered.environment(unit).get("DYN_KVBM_DISK_CACHE_GB", "0") for unit in rendered.engines}
    for path, size in sizes.items():
        if not size.isdecimal() or int(size) == 0:
            yield Break(path, "the engine has no disk cache", "Set inference.engines.disk_cache_gb.")
    total = sum(int(size) for size in sizes.values() if size.isdecimal())
    if total * GB > rendered.stack.tier_bytes:
        text = f"{len(sizes)} engines reserve {total} GB, the quota is {rendered.stack.tier_bytes // GB} GB"
        remedy = f"Set it to {rendered.stack.tier_bytes // GB // len(sizes)} GB at most."
        yield Break("inference.engines.disk_cache_gb", text, remedy)


@rule("KV-INF-028", "Engines agree in everything that decides where a block is looked for.")
def _engines_alike(rendered: Rendered) -> Iterator[Break]:
    signs = {unit.path: _signs(unit) for unit in rendered.engines}
    counted = Counter(tuple(sign.items()) for sign in signs.values())
    usual: dict[str, object] = dict(*(sign for sign, _ in counted.most_common(1)))
    for path, sign in signs.items():
        if strange := [name for name, value in sign.items() if value != usual[name]]:
            text = f"{', '.join(strange)} differ from the other engines"
            yield Break(path, text, "Let all engines be alike: differing ones share nothing.")


def _signs(unit: Unit) -> dict[str, object]:
    """Gather what must be alike."""
    flags: dict[str, object] = {flag: unit.arguments.get(flag) for flag in _ALIKE}
    return flags | {"image": unit.image}


@rule("KV-INF-031", "Block and chunk are those that the Plan counts files with.")
def _block_sizes(rendered: Rendered) -> Iterator[Break]:
    request = rendered.deployment.plan.request
    for unit in rendered.engines:
        told = {"--block-size": (unit.argument("--block-size"), request.block_tokens)}
        extra = rendered.transfer(unit).get("kv_connector_extra_config", {})
        if "block_size" in extra:
            told["block_size"] = (str(extra["block_size"]), request.chunk_tokens)
        if "LMCACHE_CONFIG_FILE" in (environment := rendered.environment(unit)):
            settings = _lmcache(rendered.tree.get(f"hosts/{unit.host}{environment['LMCACHE_CONFIG_FILE']}", ""))
            told["chunk_size"] = (str(settings.get("chunk_size", "")), request.chunk_tokens)
        for name, (value, planned) in told.items():
            if value != str(planned):
                yield Break(unit.path, f"{name} is {value or 'absent'}, planned are {planned} tokens")


@rule("KV-INF-033", "A switch of KVBM that is off is not set at all, for any value turns it on.")
def _switches_off(rendered: Rendered) -> Iterator[Break]:
    for unit in rendered.engines:
        for name, value in rendered.environment(unit).items():
            is_switch = name in _SWITCHES or (name.startswith("DYN_KVBM") and ("_DISABLE" in name or "_ENABLE" in name))
            if is_switch and value.lower() in _FALSE:
                where = rendered.environment_path(unit)
                yield Break(where, f"{name}={value} turns it on", f"Leave {name} out.")
