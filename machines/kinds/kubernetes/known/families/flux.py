"""Known kinds of Flux.

Belongs here: sources, kustomizations, releases, images, notifications. Does not: Argo CD (`argo`).
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
PAUSED = Row(".spec.suspend = true", S, message="it is suspended")
FAILS = Row("*Failed = True",                                         D,      argo=NONE)
WORKS = (
    #   when                                                          health  argo
    Row("Ready = Unknown & Reconciling = True",                       P),
)
READY = (
    Row("Ready = True",                                               H),
    Row("Ready = False & Reconciling = True & Ready.reason ~ Progressing* | *InProgress", P, argo=D),
    Row("Ready = False & Ready.reason ~ Dependency*",                 P,      argo=D),
    Row("Ready = Unknown",                                            P,      argo=D),
    Row("Ready = False",                                              D),
    Row(".status.conditions = something",                             P,      argo=D),
)
STORED = Row("Ready = True & ArtifactInStorage = True",               H)
SCANS = Row("Ready = False & Reconciling = True & Reconciling.reason = NewGeneration | Scanning | AccessingRepository | ApplyingPolicy", P)

FAMILIES = (
    Family("Flux", "https://fluxcd.io/flux/components/", (
        KnownKind("source.toolkit.fluxcd.io", "HelmRepository", (
            PAUSED,
            Row(".spec.type = oci",                                   H,      message="a registry has no state of its own"),
            *WORKS,
            FAILS,
            STORED,
            Row("Ready = True & ArtifactInStorage = nothing",         P,      argo=D),
            *READY[1:],
        )),
        KnownKind("source.toolkit.fluxcd.io", "Bucket | GitRepository | HelmChart | OCIRepository | ExternalArtifact", (
            PAUSED,
            *WORKS,
            FAILS,
            STORED,
            Row("Ready = True & ArtifactInStorage = nothing",         P,      argo=D),
            *READY[1:],
        )),
        KnownKind("helm.toolkit.fluxcd.io", "HelmRelease", (
            PAUSED,
            *WORKS,
            Row("Ready = True & Released = True",                     H),
            Row("Ready = True & TestSuccess = True",                  H),
            Row("Ready = True & Released != True",                    P,      argo=D),
            *READY,
        )),
        KnownKind("kustomize.toolkit.fluxcd.io", "Kustomization", (
            PAUSED,
            *WORKS,
            Row("Ready = True & .status.lastAppliedRevision = something & .status.lastAttemptedRevision = something & .status.lastAppliedRevision != .status.lastAttemptedRevision", P, argo=NONE,
                message="{.status.lastAppliedRevision} is applied, and {.status.lastAttemptedRevision} was attempted"),
            *READY,
        )),
        KnownKind("image.toolkit.fluxcd.io", "ImageUpdateAutomation", (
            PAUSED,
            *WORKS,
            *READY,
        )),
        KnownKind("image.toolkit.fluxcd.io", "ImageRepository | ImagePolicy", (
            PAUSED,
            SCANS,
            READY[0],
            *READY[2:],
        )),
        KnownKind("notification.toolkit.fluxcd.io", "Receiver | Alert | Provider", (
            PAUSED,
            Row("Ready = True",                                       H),
            Row("Ready = Unknown | False",                            D),
            Row(".status.conditions = something",                     D,      argo=NONE),
            Row(".status.conditions = something",                     NONE,   argo=D),
        )),
        KnownKind("*.toolkit.fluxcd.io", "*", (
            PAUSED,
            Row("Stalled = True",                                     D),
            *WORKS,
            *READY,
        )),
    )),
)
# fmt: on
