{{- define "pamoja.labels" -}}
app.kubernetes.io/name: pamoja
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "pamoja.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Settings that every node and the migration have. */}}
{{- define "pamoja.env" -}}
- name: NODE_ENV
  value: production
- name: PAMOJA_PUBLIC_URL
  value: https://{{ required "host is needed: the name that customers reach the API at" .Values.host }}
# Where other nodes reach this one, and its simulated providers.
- name: PAMOJA_NODE_HOST
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
- name: PAMOJA_SANDBOX_HOST
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
- name: PAMOJA_MIGRATE
  value: 'false'
{{- if .Values.database.enabled }}
- name: DATABASE_USER
  valueFrom:
    secretKeyRef:
      name: {{ .Release.Name }}-database-app
      key: username
- name: DATABASE_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .Release.Name }}-database-app
      key: password
- name: DATABASE_URL
  value: postgres://$(DATABASE_USER):$(DATABASE_PASSWORD)@{{ .Release.Name }}-database-{{ if .Values.pooler.enabled }}pooler{{ else }}rw{{ end }}:5432/pamoja
{{- if .Values.pooler.enabled }}
- name: PAMOJA_DATABASE_DIRECT_URL
  value: postgres://$(DATABASE_USER):$(DATABASE_PASSWORD)@{{ .Release.Name }}-database-rw:5432/pamoja
- name: PAMOJA_DATABASE_POOLER_PREPARES
  value: 'true'
{{- end }}
{{- if .Values.database.readReplicas }}
- name: PAMOJA_DATABASE_REPLICA_URL
  value: postgres://$(DATABASE_USER):$(DATABASE_PASSWORD)@{{ .Release.Name }}-database-ro:5432/pamoja
{{- end }}
{{- end }}
{{- if .Values.files.url }}
- name: PAMOJA_FILES
  value: {{ .Values.files.url | quote }}
- name: PAMOJA_S3_ENDPOINT
  value: {{ .Values.files.endpoint | quote }}
- name: PAMOJA_S3_REGION
  value: {{ .Values.files.region | quote }}
- name: PAMOJA_S3_ACCESS_KEY
  value: {{ .Values.files.accessKey | quote }}
{{- end }}
{{- if .Values.tlsSecretName }}
- name: PAMOJA_TLS_CERT
  value: /tls/tls.crt
- name: PAMOJA_TLS_KEY
  value: /tls/tls.key
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "pamoja.envFrom" -}}
- secretRef:
    name: {{ .Values.secretName }}
{{- end }}

{{- define "pamoja.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: api, scheme: HTTPS }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: api, scheme: HTTPS }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: api, scheme: HTTPS }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
# Time for ingress and services to send nothing more here; then the node drains, for at most 30 seconds.
lifecycle:
  preStop:
    exec:
      command: [sleep, '5']
{{- end }}

{{- define "pamoja.container" -}}
image: {{ include "pamoja.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
{{- if .Values.tlsSecretName }}
  - { name: tls, mountPath: /tls, readOnly: true }
{{- end }}
{{- end }}

{{- define "pamoja.volumes" -}}
- name: data
  emptyDir: {}
- name: tmp
  emptyDir: {}
{{- if .Values.tlsSecretName }}
- name: tls
  secret:
    secretName: {{ .Values.tlsSecretName }}
{{- end }}
{{- end }}

{{- define "pamoja.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "pamoja.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        app.kubernetes.io/instance: {{ .root.Release.Name }}
        app.kubernetes.io/component: {{ .component }}
{{- end }}
