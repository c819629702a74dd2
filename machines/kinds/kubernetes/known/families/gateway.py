"""Known kinds that let traffic in.

Belongs here: MetalLB, Gateway API, Contour, Airlock, Gloo, Istio, OpenShift's routes.
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S, U, X
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
PARENTS, ANCESTORS, LISTENERS = ".status.parents[]", ".status.ancestors[]", ".status.listeners[]"
ROUTE = (
    #   when                                                  health  each
    Row("ResolvedRefs = False",                               D,      each=PARENTS),
    Row("Accepted = False",                                   D,      each=PARENTS),
    Row("Programmed = False | Unknown",                       P,      each=PARENTS),
    Row("Accepted = Unknown",                                 P,      each=PARENTS, argo=NONE),
    Row("PartiallyInvalid = True",                            D,      each=PARENTS, argo=NONE),
    Row("@.conditions = something & Accepted = nothing",      P,      each=PARENTS, argo=NONE, message="it does not say that it accepts the route"),
    Row("@.conditions = something",                           H,      each=PARENTS, message="accepted by {@.parentRef.name}"),
)
UNANSWERED = (
    Row("count(.spec.parentRefs[]) > count(.status.parents[]) & .status.parents = something", P, argo=NONE, message="not all of its parents have answered"),
    Row("stale & count(.spec.parentRefs[]) >= count(.status.parents[])", P, argo=NONE, each=PARENTS, message="it has not answered to generation {.metadata.generation}"),
    Row("@.conditions = nothing",                             P,      argo=NONE, each=PARENTS, message="it has not answered"),
)
POLICY = (
    Row("stale",                                              P,      each=ANCESTORS),
    Row("Accepted = False | Unknown",                         D,      each=ANCESTORS),
    Row("ResolvedRefs = False | Unknown",                     D,      each=ANCESTORS),
    Row("Accepted = True",                                    H,      each=ANCESTORS),
)
GLOO = tuple(
    Row(f"{at}.state = {words}", health, each=each)
    for each, at in ((".status.statuses[]", "@"), ("", ".status"))
    for words, health in (("2 | Rejected", D), ("3 | Warning", D), ("0 | Pending", S), ("1 | Accepted", H))
)
FAMILIES = (
    Family("MetalLB", "https://metallb.io/apis/", (
        KnownKind("metallb.io | frrk8s.metallb.io", "ConfigurationState | FRRK8sConfiguration", (
            Row(".status.result = Invalid",                   D,      message="{.status.errorSummary}"),
            Row(".status.result = Valid",                     H),
        )),
        KnownKind("frrk8s.metallb.io", "BGPSessionState", (
            Row(".status.bfdStatus = Down",                   P,      message="BFD is down with {.status.peer}"),
            Row(".status.bgpStatus = Established",            H,      message="the session with {.status.peer} is established"),
            Row(".status.bgpStatus = something",              P,      message="the session with {.status.peer} is {.status.bgpStatus}, not Established"),
        ), beside="status.*"),
    )),
    Family("Gateway API", "https://gateway-api.sigs.k8s.io/reference/spec/", (
        KnownKind("gateway.networking.k8s.io", "HTTPRoute", (
            *(Row(f"current & {row.when}", row.health, each=row.each, argo=row.argo, message=row.message) for row in ROUTE[:-1]),
            *UNANSWERED,
            Row(f"current & {ROUTE[-1].when}",                H,      each=PARENTS, message=ROUTE[-1].message),
        )),
        KnownKind("gateway.networking.k8s.io", "GRPCRoute | TCPRoute | TLSRoute | UDPRoute", (*ROUTE[:-1], *UNANSWERED, ROUTE[-1])),
        KnownKind("gateway.networking.k8s.io", "Gateway", (
            Row("ResolvedRefs = False",                       D),
            Row("Accepted = False",                           D),
            Row("Programmed = False | Unknown & Programmed.reason = Invalid", D, argo=P),
            Row("Programmed = False | Unknown",               P),
            Row("ResolvedRefs = False",                       D,      each=LISTENERS),
            Row("Accepted = False",                           D,      each=LISTENERS),
            Row("Conflicted = True",                          D,      each=LISTENERS, argo=NONE),
            Row("Programmed = False | Unknown",               P,      each=LISTENERS),
            Row("stale",                                      P,      argo=NONE, message="generation {.metadata.generation} has not been observed yet"),
            Row("Accepted = Unknown",                         P,      argo=NONE),
            Row("Accepted = Unknown",                         P,      argo=NONE, each=LISTENERS),
            Row("Programmed = True",                          H,      argo=NONE),
            Row(".status.conditions = something",             P,      argo=NONE, message="it does not say that it is programmed"),
            Row(".status.conditions = something",             NONE,   argo=H, message="it is programmed"),
            Row("Programmed = True",                          H,      argo=NONE, each=f"all {LISTENERS}", message="its listeners are programmed"),
            Row(".status.listeners = something",              P,      argo=H, message="its listeners do not all say that they are programmed"),
        )),
        KnownKind("gateway.networking.k8s.io", "GatewayClass", (
            Row("stale",                                      P),
            Row("Accepted = False",                           D),
            Row("Accepted = True",                            H),
        )),
        KnownKind("gateway.networking.k8s.io", "BackendTLSPolicy | BackendLBPolicy", POLICY),
    )),
    Family("Airlock Microgateway", "https://docs.airlock.com/microgateway/latest/", (
        KnownKind("microgateway.airlock.com", "*Policy", (
            Row("unobserved",                                 P,      each=ANCESTORS),
            *POLICY[1:3],
            Row("Accepted = nothing",                         D,      each=ANCESTORS, message="not accepted"),
            *POLICY[3:],
        )),
        KnownKind("microgateway.airlock.com", "*", (
            Row("",                                           H,      message="it configures others and has no state of its own"),
        )),
    )),
    Family("Contour", "https://projectcontour.io/docs/main/config/api/", (
        KnownKind("projectcontour.io", "HTTPProxy", (
            Row("unobserved",                                 P),
            Row("Valid = True",                               H),
            Row(".spec.includes = something & Valid = False", H,      message="it includes others, so its own state says little: {.status.description}"),
            Row("Valid = False",                              D,      message="{.status.description}"),
        ), message=".status.description"),
        KnownKind("projectcontour.io", "ExtensionService", (
            Row("unobserved",                                 P),
            Row("Valid = True",                               H),
            Row("Valid = False",                              D),
        )),
    )),
    Family("Gloo", "https://docs.solo.io/gloo-edge/main/reference/api/github.com/solo-io/solo-kit/api/v1/status.proto.sk/", (
        KnownKind("gateway.solo.io | gloo.solo.io | enterprise.gloo.solo.io | ratelimit.solo.io", "*", GLOO, message=".status.reason"),
    )),
    Family("Istio", "https://istio.io/latest/docs/reference/config/istio.operator.v1alpha1/#InstallStatus-Status", (
        KnownKind("install.istio.io", "IstioOperator", (
            Row(".status.status = 0 | NONE",                  U,      message="the component is not there"),
            Row(".status.status = 1 | UPDATING",              P),
            Row(".status.status = 2 | RECONCILING",           P),
            Row(".status.status = 3 | HEALTHY",               H),
            Row(".status.status = 4 | ERROR",                 D),
            Row(".status.status = 5 | ACTION_REQUIRED",       D,      argo=P),
        )),
        KnownKind("networking.istio.io | security.istio.io | telemetry.istio.io | extensions.istio.io", "*", (
            Row("Reconciled = False",                         P),
            Row("@.level = ERROR | Error",                    D,      each=".status.validationMessages[]", message="{@.type.name}"),
            Row("Reconciled = True",                          H),
            Row("",                                           X,      argo=NONE, message="it configures others and has no state of its own"),
        )),
        KnownKind("sailoperator.io", "*", (
            Row("Reconciled = False",                         D),
            Row("Ready = False",                              P),
            Row("Ready = True",                               H),
        )),
    )),
    Family("OpenShift routes", "https://docs.redhat.com/en/documentation/openshift_container_platform/4.17/html/network_apis/route-route-openshift-io-v1", (
        KnownKind("route.openshift.io", "Route", (
            Row("Admitted = False",                           D,      each=".status.ingress[]"),
            Row("Admitted = True",                            H,      each="all .status.ingress[]"),
        )),
        KnownKind("operator.openshift.io", "IngressController", (
            Row("Degraded = True",                            D),
            Row("Admitted = False",                           D,      argo=NONE),
            Row("DeploymentAvailable = False",                D,      argo=NONE),
            Row("DeploymentReplicasAllAvailable = False",     P),
            Row("Progressing = True",                         P),
            Row("Available = True",                           H),
        )),
    )),
)
# fmt: on
