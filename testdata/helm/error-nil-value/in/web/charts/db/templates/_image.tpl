{{- define "db.image" -}}
{{ .Values.image.repo }}:{{ .Values.image.tag }}
{{- end }}
