"""Known kinds of the Argo projects.

Belongs here: Rollouts, Events, Workflows, ApplicationSets, the GitOps Promoter, an Application that another one
deploys. Does not: an Application as an entity of its own (`kinds.gitops`); Workflow (`health.short_rules`).
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, M, N, P, S, U
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
RUN = (
    #   when                                                  health  argo    message
    Row(".status.phase = Pending | Running",                  P),
    Row(".status.phase = Successful",                         H),
    Row(".status.phase = Failed | Error",                     D),
    Row(".status.phase = Inconclusive",                       U,              message="inconclusive: {.status.message}"),
)
OBSERVED = (
    Row("Ready = something & stale",                          P),
    Row("Ready = False",                                      D),
)
READY = (*OBSERVED, Row("Ready = Unknown",                    P),
    Row("Ready = True",                                       H))
GATE = (
    *OBSERVED,
    Row("Ready = Unknown",                                    P),
    Row("Ready = True & .status.environments = nothing",      H),
    Row("@.phase = failure",                                  D,              each=".status.environments[]"),
    Row("@.phase = nothing",                                  P,              each=".status.environments[]"),
    Row("@.phase != success",                                 P,              each=".status.environments[]"),
    Row("Ready = True",                                       H),
)
ENVIRONMENTS = ".status.environments[]"
ROLLOUT = (
    Row(".status = nothing",                                  P),
    Row(".status.observedGeneration < .metadata.generation & .status.observedGeneration = something", P, message="the change of the spec has not been observed yet"),
    Row(".spec.workloadRef = something & .metadata.annotations[rollout.argoproj.io/workload-generation] != nothing"
        " & .metadata.annotations[rollout.argoproj.io/workload-generation] != .status.workloadObservedGeneration", P, message="the change of its workload has not been observed yet"),
    Row(".status.phase = Paused",                             S),
    Row(".status.phase = Degraded",                           D),
    Row(".status.phase = Progressing",                        P),
    Row(".status.abort = true",                               D,              argo=NONE, message="the rollout was aborted"),
    Row(".status.phase = Healthy",                            H),
    Row("InvalidSpec = something",                            D),
    Row("Progressing.reason = RolloutAborted | ProgressDeadlineExceeded", D),
    Row("count(.status.pauseConditions[]) > 0",               S,              message="the rollout is paused"),
    Row(".spec.paused = true",                                S,              message="the rollout is paused"),
    Row(".status.phase = something",                          U,      argo=NONE, message="its phase is {.status.phase}, which is not known"),
    Row(".status.currentPodHash = nothing",                   P,              message="its status has not been reconciled"),
    Row(".status.updatedReplicas < .spec.replicas or 1",      P),
    Row(".status.availableReplicas < .status.updatedReplicas", P),
    Row(".spec.strategy.blueGreen = something & .status.blueGreen.activeSelector != .status.currentPodHash", P, message="the active service has not been switched yet"),
    Row(".spec.strategy.blueGreen = something & .status.stableRS = something & .status.stableRS != .status.currentPodHash", P, message="the analysis is not complete"),
    Row(".spec.strategy.blueGreen = nothing & .status.replicas > .status.updatedReplicas", P, message="old replicas are pending termination"),
    Row(".spec.strategy.blueGreen = nothing & .status.stableRS != .status.currentPodHash & .status.canary.stableRS != .status.currentPodHash", P, message="its steps are not complete"),
    Row("",                                                   H),
)
FAMILIES = (
    Family("Argo Rollouts", "https://argo-rollouts.readthedocs.io/en/stable/features/specification/", (
        KnownKind("argoproj.io", "Rollout", ROLLOUT),
        KnownKind("argoproj.io", "AnalysisRun | Experiment", RUN),
    )),
    Family("Argo CD", "https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/", (
        KnownKind("argoproj.io", "Application", (
            Row(".status.health.status = Healthy",            H),
            Row(".status.health.status = Degraded",           D),
            Row(".status.health.status = Progressing",        P),
            Row(".status.health.status = Suspended",          S),
            Row(".status.health.status = Missing",            M,              message="Argo CD says that it is missing"),
            Row(".status.health.status = Unknown",            U,              message="Argo CD says that its health is not known"),
            Row("",                                           N,              message="Argo CD does not say how it is"),
        ), message=".status.health.message", beside="status.*"),
        KnownKind("argoproj.io", "ApplicationSet", (
            Row("ErrorOccurred = True",                       D),
            Row("ResourcesUpToDate = False",                  D),
            Row("RolloutProgressing = True",                  P),
            Row("ResourcesUpToDate = True",                   H),
        ), beside="status.resources*"),
    )),
    Family("Argo Workflows", "https://argo-workflows.readthedocs.io/en/latest/fields/#cronworkflowstatus", (
        KnownKind("argoproj.io", "CronWorkflow", (
            Row("SpecError = True",                           D),
            Row("SubmissionError = True",                     D),
            Row(".spec.suspend = true",                       S,      argo=H, message="it is suspended"),
            Row("SpecError = Unknown",                        P,      argo=NONE),
            Row("SubmissionError = Unknown",                  P,      argo=NONE),
            Row("Completed = True",                           H),
            Row(".status.phase != Active | Stopped",          U,      argo=NONE, message="its phase is {.status.phase}, which is not known"),
            Row(".status.phase = Active | Stopped | nothing", H,              message="no error has been reported"),
            Row("",                                           NONE,   argo=H, message="no error has been reported"),
        )),
    )),
    Family("Argo Events", "https://argoproj.github.io/argo-events/APIs/", (
        KnownKind("argoproj.io", "EventBus", (
            Row("Deployed = False",                           D),
            Row("* = False",                                  D,      argo=NONE),
            Row("* = Unknown",                                P,      argo=NONE),
            Row("Deployed = True",                            H),
        )),
        KnownKind("argoproj.io", "EventSource | Sensor", (
            Row("* = False",                                  D),
            Row("* = Unknown",                                P),
            Row("Deployed = True",                            H),
        )),
    )),
    Family("GitOps Promoter", "https://argo-gitops-promoter.readthedocs.io/en/latest/crd-specs/", (
        KnownKind("promoter.argoproj.io", "ScmProvider | ClusterScmProvider | GitRepository", READY),
        KnownKind("promoter.argoproj.io", "CommitStatus", (
            *OBSERVED,
            Row("Ready = Unknown",                            P,      argo=NONE),
            Row("Ready = True | Unknown",                     H,              message="commit {.status.sha} reports {.status.phase}"),
        )),
        KnownKind("promoter.argoproj.io", "PullRequest", (
            Row("stale",                                      P),
            Row("Reconciled = False",                         D),
            *OBSERVED,
            Row("Ready = Unknown",                            P,      argo=NONE),
            Row("Ready = True | Unknown",                     H,              message="pull request {.status.id} is {.status.state}"),
            Row("Reconciled = Unknown",                       P,      argo=NONE),
            Row("Reconciled = True | Unknown",                H,              message="pull request {.status.id} is {.status.state}"),
        )),
        KnownKind("promoter.argoproj.io", "ArgoCDCommitStatus", (
            *OBSERVED,
            Row("Ready = something & .status.applicationsSelected = nothing", D, message="it selects no application"),
            Row("Ready = Unknown",                            P,      argo=NONE),
            Row("Ready = True | Unknown",                     H),
        )),
        KnownKind("promoter.argoproj.io", "GitCommitStatus | TimedCommitStatus | WebRequestCommitStatus", GATE),
        KnownKind("promoter.argoproj.io", "ChangeTransferPolicy", (
            *OBSERVED,
            Row("Ready = nothing",                            P),
            Row("Ready = Unknown",                            P,      argo=NONE),
            Row(".status.active.dry.sha = nothing",           P,              message="the active commit is not known yet"),
            Row(".status.proposed.dry.sha = nothing",         P,              message="the proposed commit is not known yet"),
            Row(".status.proposed.dry.sha != .status.active.dry.sha", P,      message="{.status.active.dry.sha} is to become {.status.proposed.dry.sha}"),
            Row("",                                           H,              message="it is on commit {.status.active.dry.sha}"),
        )),
        KnownKind("promoter.argoproj.io", "PromotionStrategy", (
            *OBSERVED,
            Row("Ready = nothing",                            P),
            Row("Ready = Unknown",                            P,      argo=NONE),
            Row(".status.environments = nothing",             D,              message="it has no environments"),
            Row("@.active.dry.sha = nothing",                 P,              message="the active commit is not known yet", each=ENVIRONMENTS),
            Row("@.proposed.note.drySha = nothing & @.proposed.dry.sha = nothing", P, message="the proposed commit is not known yet", each=ENVIRONMENTS),
            Row("@.proposed.note.drySha = something & @.proposed.note.drySha != .status.environments[0].proposed.note.drySha", P,
                message="the environments do not have the same proposed commit", each=ENVIRONMENTS),
            Row("@.proposed.note.drySha = nothing & .status.environments[0].proposed.note.drySha = nothing & @.proposed.dry.sha != .status.environments[0].proposed.dry.sha", P,
                message="the environments do not have the same proposed commit", each=ENVIRONMENTS),
            Row("@.proposed.dry.sha != @.active.dry.sha",     P,              message="{@.active.dry.sha} is to become {@.proposed.dry.sha}", each=ENVIRONMENTS),
            Row("",                                           H,              message="all environments are on commit {.status.environments[0].active.dry.sha}"),
        )),
    )),
)
# fmt: on
