{{ define "show" }}({{ . }}){{ end }}
{{- define "inner" }}
  {{ .s | upper }}{{ .nope.x }}
{{ end }}
{{- define "countdown" }}{{ . }}{{ if gt (int .) 0 }} {{ template "countdown" (sub . 1) }}{{ end }}{{ end }}
{{- define "dollar" }}{{ range $k, $v := . }}{{ $k }}{{ $.b }} {{ end }}{{ end }}
{{- define "blank" }} {{/* nothing */}} {{ end }}
{{- define "twice" }}{{ end }}
{{- define "twice" }}defined{{ end }}
{{- define "twice" }}
{{ end }}
{{- define "positional" -}}
é {{ range .list }}{{ .x.y }}{{ end }}
{{ end }}
