"""Notices: what people are told of transitions, once, in time and with the reason. Pure.

A notice is a fold over the log: rules and records in, events of notices out, all with the log's times. So the same log
makes the same notices, live, in a dry run on the past and in a test.
Belongs here: `rules` (what a file of rules says), `read_rules` and `read_receivers` (reading and checking one),
`bodies` (what receivers get), `fields` (its fields), `matching` (which entity a rule selects), `grouping` (what is one
notice), `windows` (when no begin is told), `damping` (how often something changed), `groups` (a notice under way) with
`sayings` (what it keeps of records), `due` (which fall due when), `fold` (from records to events), `telling` (what an
event says), `following` (where a program that starts goes on). Does not: reading a log, the live one or the past
(`engine.products.notices`), the command (`products.commands`).
"""
