"""The number of examples that Hypothesis draws: one number for each law, scaled by the profile of the run.

Belongs here: profiles and their scales. Does not: strategies (`strategies`), laws.

`default` and `quick` draw the same examples in each run; `slow` draws others each time, and many more of them:
`pytest --hypothesis-profile slow`.
"""

from fractions import Fraction

from hypothesis import HealthCheck, settings

SCALE = {"quick": Fraction(1, 6), "default": Fraction(1, 4), "slow": Fraction(20)}
EXAMPLES = 60
"""What a law without a number of its own draws, times the scale."""
DEAR = 24
"""The same for laws of which an example takes long."""
REACH, FAR = 60, 120
"""What a test draws that says which states random histories reach, and the same for states that few of them reach: in
no profile it may be fewer."""
LONG = 3000
"""What a law marked `slow` draws."""


def register() -> None:
    """Make the profiles known to Hypothesis and load `default`; the option `--hypothesis-profile` loads another."""
    for name, scale in SCALE.items():
        steady = name != "slow"
        settings.register_profile(
            name,
            deadline=None,
            derandomize=steady,
            database=None,
            max_examples=int(EXAMPLES * scale),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
    settings.load_profile("default")


def examples(count: int) -> settings:
    """The settings of a law that draws `count` examples, times the scale of the profile."""
    return settings(max_examples=max(6, int(count * SCALE[settings.get_current_profile_name()])))


def many_examples() -> settings:
    """The settings of a law marked `slow`: many examples, others in each run."""
    return settings(max_examples=LONG, derandomize=False)


def reaching(count: int) -> settings:
    """The settings of a test that checks which states so many random histories reach."""
    return settings(max_examples=count, derandomize=True)
