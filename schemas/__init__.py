"""WORDS: what crosses the wire. Events, records, subjects and the codec; nothing here imports machines or engine."""
