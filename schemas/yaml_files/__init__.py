"""Texts of YAML and JSON that people write: reading them, and how deep they are nested.

Belongs here: `yaml_text` (texts to documents), `yaml_depth` (judged before a library sees a text).
"""
