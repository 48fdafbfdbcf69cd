{{/* Everything the chart refuses by name. The values schema refuses most of it first; these also hold when schema validation is skipped. */}}
{{- define "ptah.refuse" -}}
{{- include "ptah.refuseImages" . -}}
{{- include "ptah.refuseRuntime" . -}}
{{- include "ptah.refuseSingletons" . -}}
{{- end -}}

{{- define "ptah.refuseImages" -}}
{{- range $key := list "allowMutableTag" "testIdentityDigest" -}}
{{- if hasKey $.Values.image $key -}}
{{- fail (printf "image.%s is not a value of this chart: there is no mode for mutable tags. Remove it and set image.digest to the image's manifest digest in your registry." $key) -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^[^@\\s]+$" (toString .Values.image.repository)) -}}
{{- fail "image.repository must name a repository, without blanks and without a digest: the digest belongs in image.digest." -}}
{{- end -}}
{{- if not (regexMatch "^sha256:[0-9a-f]{64}$" (toString .Values.image.digest)) -}}
{{- fail "image.digest is required as sha256:<64 lower-case hex digits>: the manifest digest of the manager image in your registry. A tag alone is refused." -}}
{{- end -}}
{{- range $key := list "executorImage" "runnerImage" -}}
{{- if not (regexMatch "^[^@\\s]+@sha256:[0-9a-f]{64}$" (toString (index $.Values.execution $key))) -}}
{{- fail (printf "execution.%s is required as <reference>@sha256:<64 lower-case hex digits>. A tag alone is refused." $key) -}}
{{- end -}}
{{- end -}}
{{- if or (not (regexMatch "^\\S(.*\\S)?$" (toString .Values.execution.ptahVersion))) (gt (len (toString .Values.execution.ptahVersion)) 128) -}}
{{- fail "execution.ptahVersion is required: the version of Ptah in the executor image, 1 to 128 bytes, without blanks at either end." -}}
{{- end -}}
{{- end -}}

{{- define "ptah.refuseRuntime" -}}
{{- if lt (int .Values.replicaCount) 1 -}}
{{- fail "replicaCount must be at least 1." -}}
{{- end -}}
{{- if and (not .Values.leaderElection) (gt (int .Values.replicaCount) 1) -}}
{{- fail (printf "replicaCount is %d and leaderElection is false: more than one manager needs leader election. Set leaderElection to true, or replicaCount to 1." (int .Values.replicaCount)) -}}
{{- end -}}
{{- if gt (len (toString .Values.serviceAccount.name)) 241 -}}
{{- fail "serviceAccount.name must be at most 241 characters: it is a base, and -v<release sequence> is added to it." -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- fail (printf "serviceAccount.name is required when serviceAccount.create is false: create the ServiceAccount <name>-v%s in the release namespace first." (include "ptah.releaseSequence" .)) -}}
{{- end -}}
{{- if not (regexMatch "^$|^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" (toString .Values.coordination.namespace)) -}}
{{- fail "coordination.namespace must be the name of a namespace, or empty for the release namespace." -}}
{{- end -}}
{{- end -}}

{{/* One release per cluster: whatever already carries the fixed names must be this release, unchanged in what it pins. Only a connected Helm sees it. */}}
{{- define "ptah.refuseSingletons" -}}
{{- $found := dict -}}
{{- range $kind := list "MutatingWebhookConfiguration" "ValidatingWebhookConfiguration" -}}
{{- $live := lookup "admissionregistration.k8s.io/v1" $kind "" "ptah-operator-admission" -}}
{{- if $live -}}
{{- $_ := set $found $kind $live -}}
{{- end -}}
{{- end -}}
{{- if eq (len $found) 1 -}}
{{- fail (printf "%s ptah-operator-admission exists without its peer. If no release of this chart is installed, delete it and install again; otherwise restore the peer from that release." (keys $found | first)) -}}
{{- end -}}
{{- range $kind := keys $found | sortAlpha -}}
{{- $annotations := default dict (index $found $kind).metadata.annotations -}}
{{- range $key, $want := include "ptah.admissionIdentity" $ | fromYaml -}}
{{- $have := index $annotations $key -}}
{{- if not $have -}}
{{- fail (printf "%s ptah-operator-admission has no annotation %s: this chart does not adopt an installation without release identity. Uninstall it, keep its CRDs, and install again." $kind $key) -}}
{{- end -}}
{{- if ne (toString $have) (toString $want) -}}
{{- fail (printf "%s ptah-operator-admission records %s=%q and this release has %q. There is one release of this chart per cluster, and what it pins does not change online: suspend every resource, uninstall, and install with the new value." $kind $key $have $want) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
