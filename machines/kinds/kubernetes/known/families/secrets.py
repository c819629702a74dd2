"""Known kinds that bring Secrets. Belongs here: External Secrets, Sealed Secrets, 1Password."""

from phaseline.machines.kinds.kubernetes.known.rows import D, Family, H, KnownKind, P
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
READY = (
    #   when                                                  health
    Row("Ready = False",                                      D),
    Row("Ready = True",                                       H),
)
FAMILIES = (
    Family("External Secrets", "https://external-secrets.io/latest/api/spec/", (
        KnownKind("external-secrets.io", "ClusterExternalSecret", (
            Row(".status.failedNamespaces = something",       D,      argo="-", message="it failed in {.status.failedNamespaces[0].namespace}: {.status.failedNamespaces[0].reason}"),
            Row(".status.conditions[-1].type = Ready & Ready = True", H),
            Row("NotReady = True",                            D),
            Row("PartiallyReady = True",                      D),
            Row("Ready = False",                              P),
        )),
        KnownKind("external-secrets.io", "ExternalSecret", (
            READY[0],
            Row("Ready = True & .spec.refreshPolicy = CreatedOnce", H),
            Row("Ready = True & .spec.refreshInterval = 0 | 0s | 0h | 0m", H),
            Row("Ready = True & first(.status.syncedResourceVersion) < .metadata.generation & .status.syncedResourceVersion = something", P, argo=H,
                message="it was last synchronised at {.status.syncedResourceVersion}, and generation {.metadata.generation} is asked for"),
            READY[1],
        )),
        KnownKind("external-secrets.io", "PushSecret | ClusterPushSecret | SecretStore | ClusterSecretStore", READY),
        KnownKind("generators.external-secrets.io", "*", READY),
        KnownKind("kubernetes-client.io", "ExternalSecret", (
            Row(".status.status = SUCCESS",                   H,      message="the secret was fetched"),
            Row(".status.status ~ ERROR*",                    D,      message="{.status.status}"),
        )),
    )),
    Family("Sealed Secrets", "https://github.com/bitnami-labs/sealed-secrets/blob/main/pkg/apis/sealedsecrets/v1alpha1/types.go", (
        KnownKind("bitnami.com", "SealedSecret", (
            Row("Synced = False",                             D),
            Row("Synced = True",                              H),
        )),
    )),
    Family("1Password", "https://github.com/1Password/onepassword-operator/blob/main/api/v1/onepassworditem_types.go", (
        KnownKind("onepassword.com", "OnePasswordItem", READY),
    )),
)
# fmt: on
