"""What CloudEvents and its NATS binding add to the envelope: content types, attributes in headers, extensions.

| module | holds |
|---|---|
| `content_types` | the header that says in which format a body is |
| `binary_mode` | events whose attributes stand in headers |
| `actors` | the attribute that names an actor |
| `extensions` | the attributes that CloudEvents does not define, which records keep |
| `readable` | what can be read of an event that as a whole cannot be |

Does not: the envelope's own attributes and rules (`schemas.envelope`).
"""
