{{/* Chart name, or its override. */}}
{{- define "ptah.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* Base of every object's name, short enough that a Service name made of it still is a DNS label. */}}
{{- define "ptah.fullname" -}}
{{- $name := include "ptah.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if hasPrefix (printf "%s-" .Release.Name) $name -}}
{{- $name -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "ptah.releaseSequence" -}}
{{- index .Chart.Annotations "operator.ptah.run/release-sequence" -}}
{{- end -}}

{{- define "ptah.selectorLabels" -}}
app.kubernetes.io/name: {{ include "ptah.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end -}}

{{- define "ptah.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "ptah.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "ptah.coordinationNamespace" -}}
{{- default .Release.Namespace .Values.coordination.namespace -}}
{{- end -}}

{{/* Epoch account of the manager: a release sequence never uses the account of another. */}}
{{- define "ptah.serviceAccountName" -}}
{{- $base := default (printf "%s-manager" (include "ptah.fullname" .)) .Values.serviceAccount.name -}}
{{- printf "%s-v%s" $base (include "ptah.releaseSequence" .) -}}
{{- end -}}

{{- define "ptah.webhookService" -}}
{{- printf "%s-webhook" (include "ptah.fullname" .) -}}
{{- end -}}

{{- define "ptah.webhookSecret" -}}
{{- default (printf "%s-webhook-tls" (include "ptah.fullname" .)) .Values.webhook.existingSecret -}}
{{- end -}}

{{- define "ptah.managerImage" -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- end -}}

{{/* Identity of the release on both admission configurations. It is what makes a second release, or a changed invariant, visible. */}}
{{- define "ptah.admissionIdentity" -}}
operator.ptah.run/release-name: {{ .Release.Name | quote }}
operator.ptah.run/release-namespace: {{ .Release.Namespace | quote }}
operator.ptah.run/coordination-namespace: {{ include "ptah.coordinationNamespace" . | quote }}
operator.ptah.run/leader-election: {{ .Values.leaderElection | quote }}
operator.ptah.run/leader-election-id: "ptah-operator.operator.ptah.run"
{{- end -}}
