"""Topology facts of one program, as the jar prints them with Kafka Streams 4.3.1."""

COUNTED = """\
facts: 1
library: "4.3.1"
topology: |
  Topologies:
     Sub-topology: 0
      Source: readings-source (topics: [readings])
        --> count-readings
      Processor: count-readings (stores: [readings-store])
        --> closed
        <-- readings-source
      Processor: closed (stores: [closed-store])
        --> out
        <-- count-readings
      Sink: out (topic: reading-counts)
        <-- closed

config:
  "application.id": "app"
default_key_serde: {name: "string", schema_version: null}
default_value_serde: null
stores:
  "readings-store":
    aggregate: "count"
    aggregation: "count"
    caching: true
    global: false
    history_retention_ms: null
    join: null
    key_of: ["readings"]
    key_serde: {name: "string", schema_version: null}
    kind: "window"
    logging: true
    logging_config: {}
    retention_ms: 3900000
    source_table: false
    supplier: null
    value_serde: {name: "long", schema_version: null}
    window: {advance_ms: null, emit: "on_window_update", grace_given: true, grace_ms: 300000, kind: "tumbling", size_ms: 3600000}
suppressions:
  closed:
    key_serde: {name: "TimeWindowed(inner=string)", schema_version: null}
    logging: true
    logging_config: {}
    max_bytes: null
    max_records: 1000
    mode: "until_window_closes"
    store: "closed-store"
    time_limit_ms: null
    value_serde: {name: "FullChange(inner=long)", schema_version: null}
    when_full: "shut_down"
topics:
  "reading-counts":
    internal: false
    joined_with: []
    key_of: ["readings (windowed)"]
    value_serde: {name: "long", schema_version: null}
  readings:
    internal: false
    joined_with: []
    key_serde: {name: "string", schema_version: null}
    value_serde: {name: "com.acme.Reading"}
operators:
  "count-readings":
    aggregation: {kind: "count", initializer: "a", aggregator: "b"}
  out: {dynamic: false, partitioner: null, topic: "reading-counts", topic_extractor: null}
  "readings-source": {offset_reset: "latest", pattern: null, timestamp_extractor: "com.acme.EventTime"}
not_read:
  - {fact: ["topics", "readings", "value_serde.schema_version"], reason: "class com.acme.Reading does not show the version of the schema that it writes; declare it"}
  - {fact: ["topics", "reading-counts", "key_serde"], reason: "the format is a lambda of App (lambda), which has another name in each run; declare the serde"}
  - {fact: ["config", "sasl.jaas.config"], reason: "setting sasl.jaas.config is a password, which no fact shows"}
"""  # noqa: E501 - as the jar prints them


def with_code(facts: str, code: str) -> str:
    """A document with the part `code`, which the command prints before what was not read."""
    return facts.replace("not_read:", f"{code}not_read:")
