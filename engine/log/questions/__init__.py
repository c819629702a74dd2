"""Questions about many entities, which the workers answer that hold them: which are bad, Failed, left behind, how many.

- `selection`: which entities somebody selects. One function decides, for workers, for readers, for any moment;
  `selector`: by attributes
- `tree_index`: what a worker notes of its entities, so that a question need not look at each
- `question`: the shapes of questions and answers
- `answering`: the service of a worker
- `listing`: a selection of the words that users give, and what it selects at any moment
- `asking`: a reader asks the owners of all partitions, and reads STATE where none answers; or the owner of one entity
- `sorted_messages`: many messages of STATE by the ids of their entities, in little memory

A worker says *which* entities; the records are those of STATE, and are judged once more. So an answer can leave
something out, but never show what is not committed. A question that can be answered by a look at one subject is none
(`log.latest`), nor is one about the past (`log.as_of`).
"""
