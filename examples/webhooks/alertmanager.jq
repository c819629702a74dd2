# Alertmanager, payload version 4: its alerts about nodes become events. In its configuration:
#   receivers:
#     - name: phaseline
#       webhook_configs:
#         - url: http://webhook:9000/hooks/alertmanager
#           http_config: {authorization: {credentials: TOKEN}}
[ select(.version == "4") | .alerts[]
  | select(.labels.alertname == "KubeNodeNotReady" and .labels.cluster and .labels.pool and .labels.node)
  | (if .status == "firing" then .startsAt else .endsAt end) as $at
  | {
      specversion: "1.0",
      source: "/hooks/alertmanager",
      id: "\(.fingerprint)-\(.status)-\($at)",
      type: (if .status == "firing" then "node.not_ready" else "node.ready" end),
      subject: "node/\(.labels.cluster)/\(.labels.pool)/\(.labels.node)",
      time: $at,
      data: {reason: .labels.alertname, message: (.annotations.description // .annotations.summary // "")}
    }
]
