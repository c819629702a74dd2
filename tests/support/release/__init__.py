"""Builds what a release publishes and checks it: `python3 dev.py release --check` (docs/developing/releases.md).

Belongs here: `outcome` (what a check may say), `versions` (where the version stands), `state` (of the repository),
`packages` (wheel and source archive), `fresh` (an installation of them), `deployables` (chart, image, site), `__main__`
(the list of checks). Does not: publishing, which people do by the commands that it prints.
"""
