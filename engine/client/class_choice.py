"""The choice of classes, by the name under which surfaces import it.

Belongs here: nothing else. Does not: the choice itself (`engine.questions.class_choice`).
"""

from phaseline.engine.questions.class_choice import ClassChoice as ClassChoice  # noqa: PLC0414  # for importers
