# Argo CD notifications: an application becomes an event. The template sends the whole application:
#   service.webhook.phaseline: |
#     url: http://webhook:9000/hooks/argocd
#     headers: [{name: Authorization, value: Bearer $phaseline-token}, {name: Content-Type, value: application/json}]
#   template.phaseline: |
#     webhook: {phaseline: {method: POST, body: '{"app": {{ toJson .app }}}'}}
#   trigger.on-phaseline: |
#     - when: "true"
#       oncePer: app.metadata.resourceVersion
#       send: [phaseline]
[ .app
  | (.metadata.ownerReferences // [] | map(select(.kind == "ApplicationSet")) | first.name) as $set
  | {
      specversion: "1.0",
      source: "/hooks/argocd",
      id: "\(.metadata.uid)-\(.metadata.resourceVersion)",
      type: "application.observed",
      subject: "application/\($set // .metadata.name)/\(.metadata.name)",
      time: (.status.reconciledAt // .metadata.creationTimestamp),
      data: ({
        reported_sync: .status.sync.status,
        reported_health: (.status.health.status | if . == "Suspended" then "Paused" else . end),
        operation: .status.operationState.phase,
        operation_message: .status.operationState.message,
        revision: .status.operationState.syncResult.revision
      } | with_entries(select(.value != null)))
    }
]
