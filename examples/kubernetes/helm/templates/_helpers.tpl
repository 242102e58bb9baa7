{{- define "lockscope.labels" -}}
app.kubernetes.io/name: lockscope
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "lockscope.metadata" -}}
name: {{ .name }}
labels:
  {{- include "lockscope.labels" . | nindent 2 }}
{{- end }}

{{- define "lockscope.servers" -}}
--redis={{ join "," .Values.redis.servers }}
{{- end }}

{{- /* What every pod has in common: no rights, no root, a read-only file system. */}}
{{- define "lockscope.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
volumes:
  - name: redis-password
    secret:
      secretName: {{ .secret }}
      defaultMode: 0440
{{- end }}

{{- define "lockscope.container" -}}
name: lockscope
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag }}"
resources:
  {{- toYaml .root.Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: redis-password
    mountPath: /run/secrets/redis
    readOnly: true
{{- end }}

{{- /* Names and Redis; Alertmanager as well, unless the component is init. */}}
{{- define "lockscope.egress" -}}
- ports:
    - protocol: UDP
      port: 53
    - protocol: TCP
      port: 53
- ports:
    - protocol: TCP
      port: {{ .root.Values.redis.port }}
{{- if ne .component "init" }}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ .root.Values.monitoring.namespace }}
  ports:
    - protocol: TCP
      port: 9093
{{- end }}
{{- end }}
