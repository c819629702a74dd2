"""Everything that crosses the wire: events, records, subjects, and the bytes of each.

Belongs here: the shapes of messages (`envelope`, `records`, `losses`, `wire_types`), their encoding (`codec`,
`wire_codec`, `templates`, `cloudevents`, `yaml_text`), their `bounds`, and the grammar of subjects (`subjects`);
`errors`, `state_choice`, `value`, `libraries`, `version`. Does not: the rules of kinds (`machines`), anything that runs
(`engine`). Nothing in this package imports those two.
"""
