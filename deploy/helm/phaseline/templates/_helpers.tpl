{{/* Names, labels, and what the pods have in common. Parameters of the latter: (dict "root" $ "of" .Values.worker "component" "worker"). */}}

{{- define "phaseline.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "phaseline.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "phaseline.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "phaseline.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "phaseline.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "phaseline.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{- define "phaseline.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{- define "phaseline.instance" -}}
app.kubernetes.io/name: {{ include "phaseline.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "phaseline.labels" -}}
{{ include "phaseline.instance" .root }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: phaseline
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "phaseline.selector" -}}
{{ include "phaseline.instance" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The connection to NATS, as variables of the environment. */}}
{{- define "phaseline.connection" -}}
{{- $nats := .root.Values.nats -}}
{{- $user := .of.user -}}
- {name: PHASELINE_NATS, value: {{ join "," $nats.urls | quote }}}
- {name: PHASELINE_PREFIX, value: {{ .root.Values.installation.prefix | quote }}}
{{- if $user.secret }}
{{- if $user.creds }}
- {name: PHASELINE_CREDS, value: {{ printf "/etc/phaseline/user/%s" $user.creds | quote }}}
{{- else }}
- {name: PHASELINE_NKEY, value: {{ printf "/etc/phaseline/user/%s" $user.nkey | quote }}}
{{- end }}
{{- end }}
{{- with $user.inboxPrefix }}
- {name: PHASELINE_INBOX_PREFIX, value: {{ . | quote }}}
{{- end }}
{{- with $user.apiPrefix }}
- {name: PHASELINE_API_PREFIX, value: {{ . | replace "{prefix}" $.root.Values.installation.prefix | quote }}}
{{- end }}
{{- if $nats.tls.secret }}
- {name: PHASELINE_TLS_CA, value: {{ printf "/etc/phaseline/tls/%s" $nats.tls.ca | quote }}}
{{- if $nats.tls.cert }}
- {name: PHASELINE_TLS_CERT, value: {{ printf "/etc/phaseline/tls/%s" $nats.tls.cert | quote }}}
- {name: PHASELINE_TLS_KEY, value: {{ printf "/etc/phaseline/tls/%s" $nats.tls.key | quote }}}
{{- end }}
{{- end }}
{{- end }}

{{/* The files that the connection needs. */}}
{{- define "phaseline.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .of.user.secret }}
- {name: user, mountPath: /etc/phaseline/user, readOnly: true}
{{- end }}
{{- if .root.Values.nats.tls.secret }}
- {name: tls, mountPath: /etc/phaseline/tls, readOnly: true}
{{- end }}
{{- end }}

{{- define "phaseline.volumes" -}}
- {name: tmp, emptyDir: {sizeLimit: 64Mi}}
{{- if .of.user.secret }}
- {name: user, secret: {secretName: {{ .of.user.secret }}, defaultMode: 0440}}
{{- end }}
{{- if .root.Values.nats.tls.secret }}
- {name: tls, secret: {secretName: {{ .root.Values.nats.tls.secret }}, defaultMode: 0440}}
{{- end }}
{{- end }}

{{/* What every pod has, before its containers. */}}
{{- define "phaseline.pod" -}}
serviceAccountName: {{ include "phaseline.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65534
  runAsGroup: 65534
  fsGroup: 65534
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Where the pods of a component run. */}}
{{- define "phaseline.placing" -}}
{{- with .of.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .of.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .of.topologySpread.enabled }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: {{ $.of.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels: {{- include "phaseline.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end }}

{{/* What every container has. */}}
{{- define "phaseline.container" -}}
image: {{ include "phaseline.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Settings as variables of the environment: a list of names and values. What is null is left out.
     Numbers of a values file are floats; as JSON, a large one has no exponent. */}}
{{- define "phaseline.settings" -}}
{{- range . }}
{{- if not (kindIs "invalid" (last .)) }}
- {name: {{ first . }}, value: {{ ternary (last . | toJson) (last . | toString) (kindIs "float64" (last .)) | quote }}}
{{- end }}
{{- end }}
{{- end }}

{{/* The settings of the installation. */}}
{{- define "phaseline.installation" -}}
{{- $of := .Values.installation -}}
{{- include "phaseline.settings" (list
  (list "PHASELINE_PARTITIONS" $of.partitions)
  (list "PHASELINE_FEED" $of.feed)
  (list "PHASELINE_REPLICAS" $of.replicas)
  (list "PHASELINE_STORAGE" $of.storage)
  (list "PHASELINE_DEDUPE_WINDOW" $of.dedupeWindow)
  (list "PHASELINE_EVENTS_MAX_AGE" $of.eventsMaxAge)
  (list "PHASELINE_SILENCE_AFTER" $of.silenceAfter)
  (list "PHASELINE_LEASE" $of.lease)
  (list "PHASELINE_ACCEPT_TABLES" ($of.acceptTables | default nil))
) }}
{{- end }}
