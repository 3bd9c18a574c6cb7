{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- define "tavola.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "tavola.fullname" -}}
{{- $name := include "tavola.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "tavola.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "tavola.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "tavola.selector" -}}
app.kubernetes.io/name: {{ include "tavola.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tavola.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "tavola.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "tavola.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{/* Nothing where an autoscaler owns the number: the chart's own, or, with null, another one. */}}
{{- define "tavola.replicas" -}}
{{- $keda := .keda | default dict -}}
{{- if and .autoscaling.enabled $keda.enabled -}}
{{- fail "worker.autoscaling.enabled and worker.keda.enabled: two autoscalers would undo each other's decisions; leave one off" -}}
{{- end -}}
{{- if not (or .autoscaling.enabled $keda.enabled (kindIs "invalid" .replicas)) -}}
replicas: {{ .replicas }}
{{- end -}}
{{- end }}

{{/* A Service called tavola would inject TAVOLA_PORT and others, which every program refuses. */}}
{{- define "tavola.podSpec" -}}
enableServiceLinks: false
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Where the pods of a part may run. Call it with a dict of root and part ("server", "worker"). */}}
{{- define "tavola.scheduling" -}}
{{- $values := index .root.Values .part -}}
topologySpreadConstraints:
{{- if $values.topologySpreadConstraints }}
  {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
{{- else }}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tavola.selector" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.part }}
{{- end }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tavola.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Tokens can be read in plain text, so it must be asked for. Without authentication nothing beyond the pod is served. */}}
{{- define "tavola.requireTls" -}}
{{- if not (or .Values.server.tls.existingSecret .Values.insecure.allowWithoutTls (eq .Values.server.authentication "none")) -}}
{{- fail "server.tls.existingSecret is empty: tokens could be read on the way to the server. Name a Secret of type kubernetes.io/tls there, or set insecure.allowWithoutTls=true if something else encrypts, such as a service mesh" -}}
{{- end -}}
{{- end }}

{{/* What the schema of the values cannot say. */}}
{{- define "tavola.requireSense" -}}
{{- range $part := list "server" "worker" }}
{{- $values := index $.Values $part }}
{{- range $name := list "autoscaling" "keda" }}
{{- with get $values $name }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
{{- fail (printf "%s.%s.minReplicas is %v, and maxReplicas %v: it must not be less" $part $name .minReplicas .maxReplicas) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $values.autoscaling.enabled (not (dig "requests" "cpu" "" ($values.resources | default dict))) }}
{{- fail (printf "%s.autoscaling.enabled needs %s.resources.requests.cpu: the target is a share of it" $part $part) }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) }}
{{- fail "metrics.serviceMonitor.enabled without metrics.enabled: there would be nothing to read" }}
{{- end }}
{{- include "tavola.requireOwnPorts" (dict "part" "server" "ports" (dict "server.port" .Values.server.port "server.httpPort" .Values.server.httpPort
    "server.healthPort" .Values.server.healthPort "metrics.port" (ternary .Values.metrics.port 0 .Values.metrics.enabled))) }}
{{- include "tavola.requireOwnPorts" (dict "part" "worker" "ports" (dict "worker.healthPort" .Values.worker.healthPort
    "worker.keda.port" (ternary .Values.worker.keda.port 0 .Values.worker.keda.enabled)
    "metrics.port" (ternary .Values.metrics.port 0 .Values.metrics.enabled))) }}
{{- end }}

{{/* Two listeners of a pod cannot have one port. 0: there is no such listener. */}}
{{- define "tavola.requireOwnPorts" -}}
{{- $taken := dict }}
{{- range $name, $port := .ports }}
{{- if $port }}
{{- with get $taken (toString $port) }}
{{- fail (printf "%s and %s are both %v: the listeners of a %s need ports of their own" . $name $port $.part) }}
{{- end }}
{{- $_ := set $taken (toString $port) $name }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tavola.postgres" -}}
- name: TAVOLA_POSTGRES
  valueFrom:
    secretKeyRef:
      name: {{ .Values.postgres.existingSecret }}
      key: {{ .Values.postgres.key }}
{{- end }}

{{- define "tavola.redis" -}}
- name: TAVOLA_REDIS
  valueFrom:
    secretKeyRef:
      name: {{ .Values.redis.existingSecret }}
      key: {{ .Values.redis.key }}
{{- with .Values.redis.sentinelPasswordKey }}
- name: TAVOLA_SENTINEL_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.redis.existingSecret }}
      key: {{ . }}
{{- end }}
{{- if .Values.redis.tlsSecret }}
- name: TAVOLA_REDIS_CA
  value: /etc/tavola/redis/ca.crt
{{- if .Values.redis.clientCertificate }}
- name: TAVOLA_REDIS_CERT
  value: /etc/tavola/redis/tls.crt
- name: TAVOLA_REDIS_KEY
  value: /etc/tavola/redis/tls.key
{{- end }}
{{- end }}
{{- end }}

{{/* The Secrets that a part ("server", "worker", "migrate", "test") finds as files: under /etc/tavola, by folder. */}}
{{- define "tavola.files" -}}
{{- $files := dict -}}
{{- with .Values.postgres.caSecret }}{{ $_ := set $files "postgres" . }}{{ end -}}
{{- if ne .part "migrate" -}}
{{- with .Values.redis.tlsSecret }}{{ $_ := set $files "redis" . }}{{ end -}}
{{- end -}}
{{- if has .part (list "server" "test") -}}
{{- with .Values.server.tls.existingSecret }}{{ $_ := set $files "tls" . }}{{ end -}}
{{- end -}}
{{- if eq .part "server" -}}
{{- with .Values.server.wrappingKey.existingSecret }}{{ $_ := set $files "wrapping" . }}{{ end -}}
{{- end -}}
{{- toJson $files -}}
{{- end }}

{{- define "tavola.mounts" -}}
{{- $files := include "tavola.files" . | fromJson -}}
{{- $extra := get (get .Values .part | default dict) "extraVolumeMounts" -}}
{{- if or $files $extra -}}
volumeMounts:
{{- range $folder, $_ := $files }}
  - name: {{ $folder }}
    mountPath: /etc/tavola/{{ $folder }}
    readOnly: true
{{- end }}
{{- with $extra }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tavola.volumes" -}}
{{- $files := include "tavola.files" . | fromJson -}}
{{- $extra := get (get .Values .part | default dict) "extraVolumes" -}}
{{- if or $files $extra -}}
volumes:
{{- range $folder, $secret := $files }}
  - name: {{ $folder }}
    secret:
      secretName: {{ $secret }}
{{- end }}
{{- with $extra }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Those of one part stand before those of all. Call it with a dict of Values and part. */}}
{{- define "tavola.annotations" -}}
{{- if .Values.metrics.enabled -}}
prometheus.io/scrape: "true"
prometheus.io/port: {{ .Values.metrics.port | quote }}
prometheus.io/path: /metrics
{{ end -}}
{{- with merge (dict) (get .Values .part).podAnnotations .Values.podAnnotations }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "tavola.settings" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{- define "tavola.migrateContainer" -}}
- name: migrate
  image: {{ include "tavola.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [tavola, migrate]
  env:
    {{- include "tavola.postgres" . | nindent 4 }}
  {{- with include "tavola.mounts" (dict "Values" .Values "part" "migrate") }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- include "tavola.containerSecurity" . | nindent 2 }}
  resources:
    requests: { cpu: 50m, memory: 64Mi }
    limits: { memory: 256Mi }
{{- end }}
