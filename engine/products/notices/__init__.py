"""Rules of notices on a log, and the installation that holds what they make (docs/notices.md).

| module | holds |
|---|---|
| `past` | rules on a part of the past: nothing is stored |
| `notifier` | follows a log, and stores what rules make of it |
| `taking_up` | what a notifier finds when it starts |
| `events` | the installation of notices about another one, and what is stored there |
| `troubles` | notices about receivers that fail, and a notifier that lags |
| `running` | all of it in one process |
| `story` | what there is to say of a notice |
| `given_rules` | tests of rules in the form given / when / then |
| `sending` | notices reach receivers |

Does not: what rules do (`notices.fold`), the tables (`kinds.notices`), the commands (`products.commands`).
"""
