"""Known kinds of certificates.

Belongs here: cert-manager, Google's managed certificates. Does not: Secrets (`secrets`).
"""

from phaseline.machines.kinds.kubernetes.known.rows import D, Family, H, KnownKind, P
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
FAMILIES = (
    Family("cert-manager", "https://cert-manager.io/docs/reference/api-docs/", (
        KnownKind("cert-manager.io", "Certificate", (
            #   when                                          health
            Row("Issuing = True",                             P),
            Row("Ready = False & Issuing = nothing & Ready.message ~ Issuing *", P, argo=D),
            Row("Ready = False",                              D),
            Row("Ready = True",                               H),
        ), beside="Issuing"),
        KnownKind("cert-manager.io | certmanager.k8s.io", "Issuer | ClusterIssuer | Certificate", (
            Row("Ready = False",                              D),
            Row("Ready = True",                               H),
        )),
        KnownKind("cert-manager.io", "CertificateRequest", (
            Row("Denied = True",                              D),
            Row("InvalidRequest = True",                      D),
            Row("Ready = False & Ready.reason = Pending",     P),
            Row("Ready = False",                              D),
            Row("Ready = True",                               H),
        )),
        KnownKind("acme.cert-manager.io", "Order | Challenge", (
            Row(".status.state = invalid | expired | errored", D),
            Row(".status.state = valid",                      H),
        ), message=".status.reason"),
    )),
    Family("Google managed certificates", "https://cloud.google.com/kubernetes-engine/docs/how-to/managed-certs", (
        KnownKind("networking.gke.io", "ManagedCertificate", (
            Row("@.status = FailedNotVisible",                D,      each=".status.domainStatus[]"),
            Row("@.status ~ Failed*",                         D,      each=".status.domainStatus[]", argo="-"),
            Row(".status.certificateStatus = Active",         H),
        )),
    )),
)
# fmt: on
