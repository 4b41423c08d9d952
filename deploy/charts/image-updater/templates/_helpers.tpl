{{- define "image-updater.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "image-updater.selector" -}}
app.kubernetes.io/name: image-updater
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "image-updater.labels" -}}
{{ include "image-updater.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "image-updater.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "image-updater.name" .) }}
{{- end }}

{{- define "image-updater.lease" -}}
{{- if .Values.leaderElection.id }}{{ .Values.leaderElection.id }}
{{- else if .Values.sources.argocd.enabled }}c21b75f2.argoproj.io
{{- else }}{{ include "image-updater.name" . }}{{ end }}
{{- end }}

{{- define "image-updater.inCluster" -}}
{{- if ne .Values.mode "git-only" }}true{{ end }}
{{- end }}

{{- define "image-updater.hasWebhooks" -}}
{{- if and (include "image-updater.inCluster" .) .Values.webhooks.enabled }}true{{ end }}
{{- end }}

{{- define "image-updater.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "image-updater.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
