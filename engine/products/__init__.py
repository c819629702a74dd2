"""The products that come with Phaseline: what each adds beside its tables (`machines`), and what no other room knows.

| package | holds |
|---|---|
| `commands` | the commands about a product |
| `observe` | Kubernetes objects become events |
| `emco` | EMCO's status query: by workers, by HTTP, in the client |
| `fleet` | Fleet's counts |
| `gitops` | the last observation of a Kubernetes object, and how it differs from Git |
| `levels` | availability and outages of the past |
| `notices` | rules of notices on the past, and at work on a log; the stories of notices; sending them |

Each but `notices`, which only commands ask, is named by text in `machines.built_in`, so that nothing loads it
before it is asked for.
Does not: the tables (`machines.kinds`), what is no product's (`engine.surfaces`).
"""
