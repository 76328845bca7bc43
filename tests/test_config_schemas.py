"""Laws of the config schemas: their form, their coverage of the documented fields, their severities."""

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

ROOT = Path(__file__).parent.parent / "schemas"
CONFIG = ROOT / "config"
PREFIX = "urn:adf-format:"
FILES = sorted(CONFIG.rglob("*.json"))
IDS = [f"{path.parent.name}:{path.stem}" for path in FILES]
VERSIONS = range(21, 33)
CHILD_MAPS = ("properties", "$defs")
CHILDREN = ("items", "additionalProperties", "if", "then")

every_file = pytest.mark.parametrize("path", FILES, ids=IDS)


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


@cache
def document(urn: str) -> dict[str, Any]:
    return load(ROOT / f"{urn.removeprefix(PREFIX).replace(':', '/')}.json")


@cache
def registry() -> Registry[Any]:
    return Registry(retrieve=lambda uri: Resource(contents=document(uri), specification=DRAFT202012))


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator(schema, registry=registry())


@cache
def fast(urn: str) -> Any:
    everything = [(f"{PREFIX}config:{p.parent.name}:{p.stem}", load(p)) for p in FILES]
    return jsonschema_rs.validator_for({"$ref": urn}, registry=jsonschema_rs.Registry(everything))


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        urn, _, fragment = schema["$ref"].partition("#")
        schema = document(urn)
        for part in fragment.split("/")[1:]:
            schema = schema[part]
    return schema


def newest(thing: str, version: int) -> str:
    found = max(int(p.stem) for p in (CONFIG / thing).iterdir() if int(p.stem) <= version)
    return f"{PREFIX}config:{thing}:{found}"


def subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas inside it; `examples`, `default` and create values are no schemas."""
    yield schema
    inside = [child for key in CHILD_MAPS for child in schema.get(key, {}).values()]
    inside += [schema[key] for key in CHILDREN if isinstance(schema.get(key), dict)]
    for child in [*inside, *schema.get("allOf", [])]:
        yield from subschemas(child)


# --- form ---------------------------------------------------------------------------------------------------


@every_file
def test_the_id_tells_the_path(path: Path) -> None:
    assert load(path)["$id"] == f"{PREFIX}config:{path.parent.name}:{path.stem}"


@every_file
def test_a_schema_keeps_the_2020_12_meta_schema_and_ours(path: Path) -> None:
    schema = load(path)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(schema)
    validator({"$ref": "urn:adf-format:meta:annotations"}).validate(schema)


@every_file
def test_a_schema_says_what_it_is_and_where_it_comes_from(path: Path) -> None:
    schema = load(path)
    assert all(schema[key] for key in ("title", "description", "x-adf-source", "examples"))


@every_file
def test_the_examples_validate_in_both_engines(path: Path) -> None:
    schema = load(path)
    for example in schema["examples"]:
        validator(schema).validate(example)
        assert fast(schema["$id"]).is_valid(example)


@every_file
def test_default_and_create_values_validate(path: Path) -> None:
    """Even the default filter of a tap: it breaks a cross-field rule only, and those are no schema's business."""
    for schema in subschemas(load(path)):
        for keyword in ("default", "x-adf-create"):
            if keyword in schema:
                validator(schema).validate(schema[keyword])


@every_file
def test_no_object_refuses_unknown_keys(path: Path) -> None:
    for schema in subschemas(load(path)):
        assert schema.get("additionalProperties", True) is not False
        assert "unevaluatedProperties" not in schema


@every_file
def test_every_reference_is_a_whole_urn_that_resolves_to_the_newest_version(path: Path) -> None:
    for schema in subschemas(load(path)):
        if "$ref" in schema:
            assert resolve(schema)
            thing = schema["$ref"].partition("#")[0].split(":")[-2]
            newer = [int(p.stem) for p in (CONFIG / thing).iterdir() if int(p.stem) <= int(path.stem)]
            assert schema["$ref"].partition("#")[0] == f"{PREFIX}config:{thing}:{max(newer)}"


@every_file
def test_every_property_is_described_in_one_line(path: Path) -> None:
    for schema in subschemas(load(path)):
        for key, child in schema.get("properties", {}).items():
            if child.keys() == {"const"}:  # a condition
                continue
            text = child.get("description") or resolve(child).get("description", "")
            assert text.endswith((".", "…")), key
            assert "\n" not in text


@every_file
def test_severities_name_keywords_that_the_schema_has(path: Path) -> None:
    for schema in subschemas(load(path)):
        assert schema.get("x-adf-severity", {}).keys() <= schema.keys()


@every_file
def test_a_property_without_a_type_is_a_reference_or_a_retired_key(path: Path) -> None:
    for schema in subschemas(load(path)):
        for key, child in schema.get("properties", {}).items():
            condition = "const" in child
            assert condition or {"type", "$ref"} & child.keys() or child.get("deprecated"), key


@pytest.mark.parametrize("thing", sorted(p.name for p in CONFIG.iterdir()))
def test_a_file_exists_only_where_something_changed(thing: str) -> None:
    versions = sorted(int(p.stem) for p in (CONFIG / thing).iterdir())
    texts = [(CONFIG / thing / f"{v}.json").read_text("utf-8") for v in versions]
    plain = [re.sub(rf"(config:{thing}):\d+", r"\1", text) for text in texts]
    assert all(a != b for a, b in pairwise(plain))


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_config_refers_to_the_section_versions_of_its_time(version: int) -> None:
    """A section that changes at N needs an agent config at N."""
    reachable, todo = set(), [newest("agent-config", version)]
    while todo:
        urn = todo.pop()
        if urn not in reachable:
            reachable.add(urn)
            todo += [s["$ref"].partition("#")[0] for s in subschemas(document(urn)) if "$ref" in s]
    for urn in reachable:
        assert urn == newest(urn.split(":")[-2], version)


def test_every_schema_is_reachable_from_some_agent_config() -> None:
    seen, todo = set(), [newest("agent-config", v) for v in VERSIONS]
    while todo:
        urn = todo.pop()
        if urn not in seen:
            seen.add(urn)
            todo += [s["$ref"].partition("#")[0] for s in subschemas(document(urn)) if "$ref" in s]
    assert seen == {f"{PREFIX}config:{p.parent.name}:{p.stem}" for p in FILES}


# --- coverage -----------------------------------------------------------------------------------------------

TYPES = (
    "on_startup,on_inbox,on_outbox,on_file_change,on_chat,on_timer,on_tool_call,on_task_create,"
    "on_task_complete,on_logs,on_llm_call"
)
MODEL_21 = (
    "{provider,model_id,temperature,max_tokens,top_p,vision,thinking_budget,compact_threshold} "
    "provider_params params[].{key,value}"
)
REASONING = "reasoning.{enabled,exclude,preserve,effort,max_tokens,summary}"
MULTIMODAL = "multimodal.{image,audio,video}"


def under(prefix: str, paths: str) -> str:
    return " ".join(prefix + path for path in paths.split())


FIELDS = {
    21: f"""
        {{adf_version,id,name,description,icon,handle,reply_to,state,start_in_state,autonomous,autostart}}
        {{model,instructions,include_base_prompt,context,tools,triggers,security,limits,messaging,audit}}
        {{code_execution,sandbox,logging,mcp,compute,adapters,serving,ws_connections,stream_bind}}
        {{stream_bindings,umbilical_taps,providers,locked_fields,metadata,card}}
        sandbox.packages[].{{name,version,enabled}}
        card.endpoints.{{inbox,card,health,ws}}
        card.resolution.{{method,endpoint,network,contract,domain,selector,chain_id}}
        {under("model.", MODEL_21)}
        tools[].{{name,enabled,visible,restricted,locked,mcp_tool_hash,mcp_tool_status}}
        triggers.{{{TYPES}}}.{{enabled,targets,locked}}
        triggers.{{{TYPES}}}.targets[].{{scope,lambda,command,warm,filter,debounce_ms,interval_ms}}
        triggers.{{{TYPES}}}.targets[].{{batch_ms,batch_count,locked}}
        triggers.on_inbox.targets[].filter.{{source,sender}}
        triggers.on_outbox.targets[].filter.to
        triggers.on_file_change.targets[].filter.watch
        triggers.{{on_tool_call,on_task_create}}.targets[].filter.tools
        triggers.on_task_complete.targets[].filter.{{tools,status}}
        triggers.on_logs.targets[].filter.{{level,origin,event}}
        triggers.on_llm_call.targets[].filter.{{source,provider}}
        security.{{allow_unsigned,level,require_signature,require_payload_signature,table_protections}}
        security.middleware.{{inbox,outbox}}[].lambda security.fetch_middleware[].lambda
        security.require_middleware_authorization security.table_protections.*
        context.compact_threshold {{context.,}}audit.{{loop,inbox,outbox,files}}
        context.dynamic_instructions.{{inbox_hints,context_warning,idle_reminder,mesh_updates}}
        limits.{{execution_timeout_ms,max_file_read_tokens,max_file_write_bytes,max_tool_result_tokens}}
        limits.{{max_tool_result_preview_chars,max_active_turns,max_image_size_bytes}}
        limits.{{max_audio_size_bytes,max_video_size_bytes,suspend_timeout_ms}}
        limits.hibernate_nudge.{{enabled,interval_ms}}
        messaging.{{receive,mode,visibility,inbox_mode,allow_list,block_list,network}}
        code_execution.{{model_invoke,sys_lambda,task_resolve,loop_inject,get_identity,set_identity}}
        code_execution.{{emit_event,network,restricted_methods}} code_execution.packages[].{{name,version}}
        logging.{{default_level,max_rows}} logging.rules[].{{origin,min_level}}
        mcp.servers[].{{name,transport,command,url,source,npm_package,pypi_package,bearer_token_env_var}}
        mcp.servers[].{{args,env_keys,tool_call_timeout_ms,restricted,run_location,host_requested}}
        mcp.servers[].{{headers,env}}.* mcp.servers[].header_env[].{{header,env,required,credential_ref}}
        mcp.servers[].env_schema[].{{key,scope,required,description,credential_ref}}
        mcp.servers[].available_tools[].{{name,description,input_schema}}
        compute.{{enabled,host_access,target}} compute.packages.{{pip,npm}}
        adapters.{{telegram,email,discord,slack,whatsapp,*}}.{{enabled,config}}
        adapters.{{telegram,email,discord,slack,whatsapp,*}}.policy.{{dm,groups,allow_from}}
        adapters.{{telegram,email,discord,slack,whatsapp,*}}.limits.max_attachment_size
        adapters.email.config.{{address,poll_interval,idle,folders}}
        adapters.email.config.{{imap,smtp}}.{{host,port}}
        adapters.slack.config.reply_in_thread adapters.discord.config.fetch_members
        serving.public.{{enabled,index}} serving.shared.{{enabled,patterns}}
        serving.api[].{{method,path,lambda,warm,cache_ttl_ms,locked,high_water_mark_bytes}}
        serving.api[].middleware[].lambda
        ws_connections[].{{id,url,did,enabled,lambda,auth,auto_reconnect,reconnect_delay_ms}}
        ws_connections[].{{keepalive_interval_ms,high_water_mark_bytes}}
        stream_bind.{{host_process_bind,container_shared_bind,container_isolated_bind,allow_tcp_bind}}
        stream_bind.tcp_allowlist[].{{host,port,ports,min_port,max_port}}
        stream_bindings[].{{id,bidirectional,reconnect}}
        stream_bindings[].{{a,b}}.{{kind,connection_id,isolation,command,image,cwd,host,port}}
        stream_bindings[].{{a,b}}.env.* stream_bindings[].{{a,b}}.filter.{{event_types,when,allow_wildcard}}
        stream_bindings[].options.{{idle_timeout_ms,max_duration_ms,max_bytes,flow_summary_interval_ms}}
        stream_bindings[].options.{{close_a_on_b_close,close_b_on_a_close}}
        umbilical_taps[].{{name,lambda,filter,exclude_own_origin,max_rate_per_sec}}
        umbilical_taps[].filter.{{event_types,when,allow_wildcard}}
        providers[].{{id,type,name,baseUrl,defaultModel,requestDelayMs}} providers[].params[].{{key,value}}
        metadata.{{created_at,updated_at,author,version,tags}}
        """,
    22: under("model.", REASONING),
    23: "card.publish_attestations",
    24: """
        triggers.on_file_change.targets[].filter.include_self compute.{allowed_targets,default_target}
        code_execution.{identity_status,attestation_list,attestation_add,attestation_issue}
        """,
    25: "serving.api[].on_card",
    27: """
        security.allow_local_fetch ws_connections[].connect_timeout_ms
        stream_bindings[].{a,b}.filter.{max_rate_per_sec,exclude_source}
        stream_bindings[].options.{queue_high_water_bytes,drain_timeout_ms}
        umbilical.stream_deltas umbilical.log.{enabled,max_events,exclude_types}
        """,
    28: f"""
        recovery.{{auto_retry,max_attempts,base_delay_ms,max_delay_ms}} {under("model.", MULTIMODAL)}
        compute.browser
        """,
    29: f"""
        loops[].{{name,goal,enabled,autostart,autonomous,model,compact_threshold,tools}}
        {under("loops[].model.", f"{MODEL_21} {REASONING} {MULTIMODAL}")}
        triggers.{{{TYPES}}}.targets[].loop
        """,
}
"""Documented keys by the storage version at which they entered. The keys of NEWER are in none of these."""

NEWER = """
    bare_prompt pre_llm_hook.{source,scope,loops,include_main,timeout_ms} mcp.new_tools_restricted
    mcp.servers[].oauth mcp.servers[].credential_files[].{path,required,write_back} providers[].preset
    """
"""Keys of builds after v0.4.2, legal from 28 on whatever the storage version."""

REMOVED = {
    23: "model.max_loop_messages context.max_loop_messages limits.{max_loop_rows,max_daily_budget_usd}",
    20: "security.require_authorized tools[].require_approval mcp.servers[].require_approval",
}
"""Keys that the migration to a version takes away."""

RETIRED = {
    21: """
        reply_to sandbox model.compact_threshold compute.packages.npm mcp.servers[].host_requested
        security.allow_protected_writes limits.compaction_threshold_tokens context.{document_mode,mind_mode}
        triggers.{document,agent}
        """,
    23: "model.thinking_budget",
    24: "compute.target",
    28: "model.vision",
    29: "metadata.loop_name",
}
"""Keys that are still read, or never had an effect, by the version from which they are deprecated."""


def expand(text: str) -> list[str]:
    """Expand braces as a shell does: `a.{b,c}` is `a.b` and `a.c`."""
    done, todo = [], text.split()
    while todo:
        head, brace, rest = todo.pop(0).partition("{")
        if not brace:
            done.append(head)
            continue
        choices, _, tail = rest.partition("}")
        todo = [head + choice + tail for choice in choices.split(",")] + todo
    return done


def lookup(version: int, path: str) -> dict[str, Any] | None:
    """Return the schema of a dotted path in the agent config of a version; `[]` is an item, `*` any key."""
    schema = document(newest("agent-config", version))
    for part in re.findall(r"[^.\[\]]+|\[\]", path):
        target = resolve(schema)
        if part == "[]":
            found = target.get("items")
        elif part == "*":
            found = target.get("additionalProperties")
        else:
            found = target.get("properties", {}).get(part)
        if not isinstance(found, dict):
            return None
        schema = found
    return schema


ENTERED = [(v, path) for v, text in FIELDS.items() for path in expand(text)]
ENTERED += [(28, path) for path in expand(NEWER)]


@pytest.mark.parametrize(("since", "path"), ENTERED)
def test_a_documented_key_is_known_from_the_version_at_which_it_entered(since: int, path: str) -> None:
    assert all(lookup(version, path) is not None for version in range(since, 33))
    assert since == 21 or all(lookup(version, path) is None for version in range(21, since))


@pytest.mark.parametrize("path", expand(NEWER))
def test_a_key_without_a_storage_version_of_its_own_says_so(path: str) -> None:
    """The key itself, or the section that came with it."""
    parts = path.split(".")
    marks = [(lookup(28, ".".join(parts[: n + 1])) or {}).get("x-adf-since") for n in range(len(parts))]
    parents = [(lookup(28, ".".join(parts[: n + 1]).removesuffix("[]")) or {}) for n in range(len(parts))]
    assert ">28" in marks + [parent.get("x-adf-since") for parent in parents]


@pytest.mark.parametrize(("version", "path"), [(v, p) for v, text in REMOVED.items() for p in expand(text)])
def test_a_removed_key_is_marked_from_its_migration_on(version: int, path: str) -> None:
    for at in VERSIONS:
        found = lookup(at, path)
        assert found is not None
        assert found.get("x-adf-removed") == (version if at >= version else None)
        assert found.get("deprecated", False) is (at >= version)
        assert at < version or found.keys() == {"description", "deprecated", "x-adf-removed"}


@pytest.mark.parametrize(("version", "path"), [(v, p) for v, text in RETIRED.items() for p in expand(text)])
def test_a_retired_key_is_deprecated_from_its_version_on(version: int, path: str) -> None:
    for at in VERSIONS:
        assert (lookup(at, path) or {}).get("deprecated", False) is (at >= version)


def walk(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every path below a schema, following references."""
    target = resolve(schema)
    for key, child in target.get("properties", {}).items():
        here = f"{path}.{key}" if path else key
        yield here, child
        yield from walk(child, here)
    if isinstance(target.get("items"), dict):
        yield from walk(target["items"], f"{path}[]")
    if isinstance(target.get("additionalProperties"), dict):
        yield f"{path}.*", target["additionalProperties"]
        yield from walk(target["additionalProperties"], f"{path}.*")


@pytest.mark.parametrize("version", VERSIONS)
def test_no_key_is_known_that_is_not_documented(version: int) -> None:
    leaves = set(expand(NEWER)) | {path for _, path in ENTERED}
    for table in (REMOVED, RETIRED):
        leaves |= {path for text in table.values() for path in expand(text)}
    documented = set(leaves)
    for leaf in leaves:
        pieces = leaf.split(".")
        documented |= {".".join(pieces[:n]).removesuffix("[]") for n in range(1, len(pieces) + 1)}
    known = {path for path, _ in walk(document(newest("agent-config", version)))}
    # the override of a loop shares the shape of `model`, its removed key included
    undocumented = {path for path in known if path.replace("loops[].model.", "model.") not in documented}
    assert undocumented == set()


def test_the_event_types_are_the_documented_ones() -> None:
    known = document(newest("umbilical-event-type", 32))["x-adf-known"]
    assert len(known) == len(set(known)) == 59 + 6


# --- severities ---------------------------------------------------------------------------------------------


def severities(version: int, config: Any) -> set[tuple[str, str]]:
    """Return (keyword, severity) of every violation."""
    found = set()
    for error in validator({"$ref": newest("agent-config", version)}).iter_errors(config):
        declared = error.schema.get("x-adf-severity", {}).get(error.validator, "error")
        if isinstance(declared, dict):
            declared = declared.get(error.message.split("'")[1], "error")
        found.add((str(error.validator), declared))
    return found


def example(version: int = 32) -> dict[str, Any]:
    return copy.deepcopy(document(newest("agent-config", version))["examples"][0])


def put(config: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Set a dotted path, making objects on the way."""
    target: Any = config
    *parents, last = path.split(".")
    for part in parents:
        target = target[int(part)] if part.isdigit() else target.setdefault(part, {})
    target[last] = value
    return config


LONG = "x" * 5000
VIOLATIONS = [
    ("adf_version", "0.3", {("const", "error")}),
    ("id", "", {("minLength", "error"), ("pattern", "warning")}),
    ("id", "short", {("pattern", "warning")}),
    ("name", "x" * 101, {("maxLength", "warning")}),
    ("name", "a/b", {("pattern", "info")}),
    ("name", "ends.", {("pattern", "info")}),
    ("name", "bell\u0007", {("pattern", "info")}),
    ("description", LONG, {("maxLength", "warning")}),
    ("handle", "x" * 65, {("maxLength", "warning")}),
    ("handle", "Über", {("pattern", "error"), ("pattern", "warning")}),
    ("handle", "-x", {("pattern", "warning")}),
    ("state", "thinking", {("enum", "error")}),
    ("start_in_state", "suspended", {("enum", "error")}),
    ("autostart", "yes", {("type", "error")}),
    ("card.endpoints.inbox", "not a url", {("pattern", "warning")}),
    ("card.endpoints.ws", "nowhere", {("pattern", "warning")}),
    ("card.resolution", {}, {("required", "error")}),
    ("model.temperature", 2.5, {("maximum", "warning")}),
    ("model.top_p", -1, {("minimum", "warning")}),
    ("model.max_tokens", 0, {("minimum", "warning")}),
    ("model.reasoning", {"effort": "extreme"}, {("enum", "error")}),
    ("model.params", [{"key": "a"}], {("required", "error")}),
    ("tools", {}, {("type", "error")}),
    ("tools", [{"enabled": True}], {("required", "error")}),
    ("tools.0.name", "", {("minLength", "warning")}),
    ("tools.0.mcp_tool_status", "odd", {("enum", "error")}),
    ("tools.0.locked", 1, {("type", "error")}),
    ("triggers.on_chat", {}, {("required", "error")}),
    ("triggers.on_chat.targets.0.scope", "document", {("enum", "error")}),
    ("triggers.on_chat.targets.0.debounce_ms", 0, {("minimum", "warning")}),
    ("triggers.on_timer.targets.0.loop", "Not A Loop", {("pattern", "warning")}),
    ("triggers.on_inbox", {"enabled": True, "targets": [{"scope": "agent", "filter": {"source": ["mesh"]}}]},
     {("type", "warning")}),
    ("triggers.on_llm_call", {"enabled": True, "targets": [{"scope": "agent", "filter": {"source": "turn"}}]},
     {("type", "warning")}),
    ("triggers.on_logs", {"enabled": True, "targets": [{"scope": "agent", "filter": {"level": ["loud"]}}]},
     {("enum", "error")}),
    ("loops.0.name", "No Name", {("pattern", "error")}),
    ("loops.0.goal", "", {("minLength", "warning")}),
    ("loops.0.goal", LONG, {("maxLength", "error")}),
    ("loops.0.tools", ["t"] * 65, {("maxItems", "error")}),
    ("loops.0.compact_threshold", 0, {("minimum", "warning")}),
    ("loops.0.model", {}, {("required", "error")}),
    ("security.level", 4, {("enum", "error")}),
    ("security.fetch_middleware", [{"lambda": ""}], {("minLength", "warning")}),
    ("security.table_protections", {"local_a": "frozen"}, {("enum", "error")}),
    ("limits.execution_timeout_ms", 0, {("minimum", "warning")}),
    ("limits.hibernate_nudge", {"enabled": True}, {("required", "error")}),
    ("recovery.max_attempts", 101, {("maximum", "warning")}),
    ("recovery.base_delay_ms", 3600001, {("maximum", "warning")}),
    ("recovery.max_delay_ms", 0, {("minimum", "warning")}),
    ("pre_llm_hook.source", "  ", {("pattern", "warning")}),
    ("pre_llm_hook.timeout_ms", 999, {("minimum", "error")}),
    ("pre_llm_hook.timeout_ms", 300001, {("maximum", "error")}),
    ("pre_llm_hook.scope", "some", {("enum", "error")}),
    ("pre_llm_hook.loops", [f"l{n}" for n in range(65)], {("maxItems", "warning")}),
    ("messaging.mode", "loud", {("enum", "error")}),
    ("code_execution", {"packages": [{"name": "a", "version": "1"}] * 51}, {("maxItems", "error")}),
    ("code_execution", {"packages": [{"name": "a"}]}, {("required", "error")}),
    ("logging", {"default_level": "loud"}, {("enum", "error")}),
    ("logging", {"max_rows": 0}, {("minimum", "warning")}),
    ("mcp", {}, {("required", "error")}),
    ("mcp", {"servers": [{"name": "a_b", "transport": "stdio"}]}, {("pattern", "warning")}),
    ("mcp", {"servers": [{"name": "", "transport": "http"}]}, {("pattern", "warning")}),
    ("mcp", {"servers": [{"name": "a", "transport": "http", "tool_call_timeout_ms": 0}]},
     {("exclusiveMinimum", "warning")}),
    ("compute", {"allowed_targets": ["x"] * 21}, {("maxItems", "warning")}),
    ("compute", {"packages": {"pip": ["x"] * 101}}, {("maxItems", "warning")}),
    ("adapters", {"own": {}}, {("required", "error")}),
    ("adapters", {"slack": {"enabled": True, "policy": {"dm": "mention"}}}, {("enum", "error")}),
    ("adapters", {"email": {"enabled": True, "config": {"imap": {"port": "993"}}}}, {("type", "warning")}),
    ("serving", {"api": [{"method": "GET", "path": "/a", "lambda": ""}]},
     {("minLength", "error"), ("pattern", "info")}),
    ("serving", {"api": [{"method": "WS", "path": "a", "lambda": "f.ts:g"}]}, {("pattern", "info")}),
    ("serving", {"shared": {}}, {("required", "error")}),
    ("ws_connections", [{"id": "a", "url": "https://x", "enabled": True}], {("pattern", "warning")}),
    ("stream_bind", {"tcp_allowlist": [{"host": "a", "port": 70000}]}, {("maximum", "warning")}),
    ("stream_bindings", [{"id": "a", "a": {"kind": "ws"}, "b": {"kind": "tcp", "host": "h", "port": 1}}],
     {("required", "error")}),
    ("umbilical_taps", [{"name": "a"}], {("required", "error")}),
    ("providers.0.type", "grok-subscription", {("enum", "warning")}),
    ("providers.0.type", "other", {("enum", "error"), ("enum", "warning")}),
    ("providers.0.baseUrl", None, {("type", "error")}),
    ("metadata.created_at", "yesterday", {("pattern", "warning")}),
    ("metadata", [], {("type", "error")}),
    ("locked_fields", [1], {("type", "error")}),
]  # fmt: skip

LEGAL = [
    ("instructions", ""),
    ("model.provider", ""),
    ("model.temperature", None),
    ("model.max_tokens", None),
    ("limits.execution_timeout_ms", 30000.0),
    ("limits.max_active_turns", None),
    ("limits.max_file_read_tokens", 10**40),
    ("logging.max_rows", None),
    ("some_future_section", {"key": [1]}),
    ("triggers.on_full_moon", 7),
    ("triggers.on_chat.targets.0.filter", {"sender": "x"}),
    ("providers.0.baseUrl", ""),
    ("card.resolution", {"method": "own-method", "chain_id": -1}),
    ("loops.0.tools", []),
    ("loops.0.compact_threshold", None),
    ("locked_fields", ["loops", "no.such.path"]),
    ("umbilical_taps", [{"name": "a", "lambda": "f.ts:g", "filter": {"event_types": ["custom.x"]}}]),
    ("metadata.created_at", "2026-01-31T08:00:00+01:00"),
    ("adapters", {"own": {"enabled": True, "config": {"any": 1}}}),
]


@pytest.mark.parametrize(("path", "value", "expected"), VIOLATIONS)
def test_a_violation_has_the_documented_severity(path: str, value: Any, expected: set[tuple[str, str]]) -> None:
    assert severities(32, put(example(), path, value)) == expected


@pytest.mark.parametrize(("path", "value"), LEGAL)
def test_what_the_format_allows_passes(path: str, value: Any) -> None:
    config = put(example(), path, value)
    assert severities(32, config) == set()
    assert fast(newest("agent-config", 32)).is_valid(config) or value == 10**40


@pytest.mark.parametrize("key", ["adf_version", "id", "name", "model", "instructions", "tools", "metadata"])
def test_a_missing_mandatory_key_is_an_error(key: str) -> None:
    config = example()
    del config[key]
    assert severities(32, config) == {("required", "error")}


@pytest.mark.parametrize("key", ["context", "triggers", "security", "limits", "messaging"])
def test_a_missing_section_that_runtimes_replace_is_a_warning(key: str) -> None:
    config = example()
    del config[key]
    assert severities(32, config) == {("required", "warning")}


@pytest.mark.parametrize(("version", "expected"), [(30, set()), (31, {("required", "info")})])
def test_an_icon_is_expected_from_31_on(version: int, expected: set[tuple[str, str]]) -> None:
    config = example(version)
    del config["icon"]
    assert severities(version, config) == expected


@pytest.mark.parametrize(("version", "expected"), [(21, {("enum", "warning")}), (22, set())])
def test_openrouter_is_a_provider_type_from_22_on(version: int, expected: set[tuple[str, str]]) -> None:
    config = put(example(version), "providers.0.type", "openrouter")
    assert severities(version, config) == expected


def test_the_switch_that_every_fresh_file_holds_is_no_reason_for_a_warning() -> None:
    vision = lookup(32, "model.vision")
    assert vision is not None
    assert (vision["x-adf-create"], vision["x-adf-severity"]) == (False, {"deprecated": "info"})
