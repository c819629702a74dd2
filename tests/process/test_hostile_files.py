"""Files that are made to end the program: each gets an error, with little memory and in a short time."""

import subprocess
import sys


def test_a_text_of_many_levels_does_not_end_the_interpreter() -> None:
    """In its own process, because the fault was a crash."""
    code = (
        "from phaseline.machines.kubernetes import manifest\n"
        "for text in ('[' * 50_000, '[' * 50_000 + ']' * 50_000, '- ' * 50_000, '{a: ' * 50_000, '? ' * 50_000):\n"
        "    try:\n"
        "        manifest.document(text)\n"
        "    except manifest.NotYaml as error:\n"
        "        assert 'nested more than 100 levels deep' in str(error), error\n"
        "print('alive')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr
