package validation_test

import (
	"testing"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/validation"
)

func TestPod(t *testing.T) {
	check(t, true, validation.Pod, defaults.Pod, []changed{
		{name: "nothing", new: `{}`, want: []string{
			`spec.containers: Required value`}},
		{name: "container", new: `{spec: {containers: [{name: A, imagePullPolicy: x, terminationMessagePolicy: z}, {name: a, image: " i"},
			{name: a, image: i}]}}`, want: []string{
			`spec.containers[0].name: Invalid value: "A": a lowercase RFC`,
			`spec.containers[0].image: Required value`,
			`spec.containers[0].terminationMessagePolicy: Unsupported value: "z": supported values: "File", "FallbackToLogsOnError"`,
			`spec.containers[0].imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"`,
			`spec.containers[2].name: Duplicate value: "a"`,
			`spec.containers[1].image: Invalid value: " i": must not have leading or trailing whitespace`}},
		{name: "ports", new: `{spec: {containers: [{name: a, image: i, ports: [{containerPort: 0}, {containerPort: 80, name: UP, protocol: tcp},
			{containerPort: 1, name: p}, {containerPort: 2, name: p, hostPort: 70000}]}]}}`, want: []string{
			`spec.containers[0].ports[0].containerPort: Required value`,
			`spec.containers[0].ports[1].name: Invalid value: "UP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			`spec.containers[0].ports[1].name: Invalid value: "UP": must contain at least one letter (a-z)`,
			`spec.containers[0].ports[1].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`,
			`spec.containers[0].ports[3].name: Duplicate value: "p"`,
			`spec.containers[0].ports[3].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{name: "env", new: `{spec: {containers: [{name: a, image: i, env: [{name: "a=b"}, {value: x}, {name: e, value: v, valueFrom: {}},
			{name: f, valueFrom: {fieldRef: {fieldPath: spec.x}}}, {name: g, valueFrom: {resourceFieldRef: {resource: limits.gpu}}}], envFrom: [{}, {prefix: "=", configMapRef: {}}]}]}}`,
			want: []string{
				`spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
				`spec.containers[0].env[1].name: Required value`,
				"spec.containers[0].env[2].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
				`spec.containers[0].env[3].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
				`spec.containers[0].env[4].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-stor`,
				"spec.containers[0].envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`",
				`spec.containers[0].envFrom[1].prefix: Invalid value: "=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
				`spec.containers[0].envFrom[1].configMapRef.name: Required value`}},
		{name: "resources", new: `{spec: {containers: [{name: a, image: i, resources: {requests: {cpu: 2, foo: 1, example.com/x: 1},
			limits: {cpu: 1, memory: "-1"}}}]}}`, want: []string{
			`spec.containers[0].resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
			`spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources`,
			`spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified`,
			`spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers`,
			`spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`}},
		{name: "probes", new: `{spec: {containers: [{name: a, image: i, livenessProbe: {successThreshold: 2, tcpSocket: {port: 0}},
			readinessProbe: {}, lifecycle: {preStop: {httpGet: {path: "", port: http_}}}}]}}`, want: []string{
			`spec.containers[0].lifecycle.preStop.httpGet.port: Invalid value: "http_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			`spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1`,
			`spec.containers[0].readinessProbe: Required value: must specify a handler type`}},
		{name: "security", new: `{spec: {hostNetwork: true, securityContext: {runAsUser: -1, sysctls: [{name: "a b"}]}, containers: [{name: a,
			image: i, securityContext: {allowPrivilegeEscalation: false, privileged: true, procMount: x}}]}}`, want: []string{
			`spec.containers[0].securityContext.procMount: Unsupported value: "x": supported values: "Default", "Unmasked"`,
			`spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null`,
			`spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.securityContext.sysctls[0].name: Invalid value: "a b": must have at most 253`}},
		{name: "volumes", new: `{spec: {volumes: [{name: v}, {name: v, emptyDir: {}, hostPath: {path: /}}, {name: W,
			configMap: {items: [{key: "", path: ../x}]}}, {name: p, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 1}}]}}], containers: [{name: a, image: i, volumeMounts: [{name: x, mountPath: /a}, {name: v, mountPath: /a, subPath: /s}]}]}}`,
			want: []string{
				`spec.volumes[1].hostPath: Forbidden: may not specify more than 1 volume type`,
				`spec.volumes[1].name: Duplicate value: "v"`,
				`spec.volumes[2].configMap.name: Required value`,
				`spec.volumes[2].configMap.items[0].key: Required value`,
				`spec.volumes[2].configMap.items[0].path: Invalid value: "../x": must not contain '..'`,
				`spec.volumes[2].name: Invalid value: "W": a lowercase RFC`,
				`spec.volumes[3].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes`,
				`spec.containers[0].volumeMounts[0].name: Not found: "x"`,
				`spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique`,
				`spec.containers[0].volumeMounts.subPath: Invalid value: "/s": must be a relative path`,
				`spec.volumes[3].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set`}},
		{name: "scheduling", new: `{spec: {nodeSelector: {a: "b c"}, tolerations: [{operator: Exists, value: v}, {key: k, operator: x,
			effect: z}], topologySpreadConstraints: [{maxSkew: 0, topologyKey: "", whenUnsatisfiable: x}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: ""}]}}, containers: [{name: a, image: i}]}}`,
			want: []string{
				`spec.nodeSelector: Invalid value: "b c": a valid label must`,
				`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty`,
				`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty`,
				`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must consist`,
				`spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero`,
				`spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty`,
				`spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x": supported values: "DoNotSchedule", "ScheduleAnyway"`,
				"spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
				`spec.tolerations[1].operator: Unsupported value: "x": supported values: "Equal", "Exists"`,
				`spec.tolerations[1].effect: Unsupported value: "z": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`}},
		{name: "lifetime", new: `{spec: {restartPolicy: x, dnsPolicy: None, activeDeadlineSeconds: 0, terminationGracePeriodSeconds: -1,
			hostname: A, subdomain: b.c, priorityClassName: X, containers: [{name: a, image: i}]}}`, want: []string{
			`spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"`,
			"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
			`spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive`,
			`spec.hostname: Invalid value: "A": a lowercase RFC`,
			`spec.subdomain: Invalid value: "b.c": must not contain dots`,
			`spec.priorityClassName: Invalid value: "X": a lowercase RFC`}},
		{name: "init", new: `{spec: {initContainers: [{name: a, image: i, restartPolicy: Never}, {name: b, image: i,
			readinessProbe: {exec: {command: [x]}}}], ephemeralContainers: [{name: e, image: i}], containers: [{name: a, image: i}]}}`,
			want: []string{
				`spec.initContainers[0].name: Duplicate value: "a"`,
				`spec.initContainers[1].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always`,
				`spec.ephemeralContainers: Forbidden: cannot be set on create`}},
	})
}

func TestPodUpdate(t *testing.T) {
	const old = `{spec: {nodeName: x, containers: [{name: c, image: a}], tolerations: [{key: k, operator: Exists}]}}`
	check(t, true, validation.Pod, defaults.Pod, []changed{
		{name: "image", old: old, new: `{spec: {nodeName: x, containers: [{name: c, image: b}], activeDeadlineSeconds: 5, tolerations: [{key: k,
			operator: Exists}, {key: l, operator: Exists}]}}`},
		{name: "command", old: old, new: `{spec: {nodeName: x, containers: [{name: c, image: a, command: [z]}], tolerations: [{key: k,
			operator: Exists}]}}`, want: []string{
			"spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"}},
		{name: "containers", old: old, new: `{spec: {nodeName: x, containers: [{name: c, image: a}, {name: d, image: a}], tolerations: [{key: k,
			operator: Exists}]}}`, want: []string{
			`spec.containers: Forbidden: pod updates may not add or remove containers`}},
		{name: "tolerations", old: old, new: `{spec: {nodeName: x, containers: [{name: c, image: a}]}}`, want: []string{
			`spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds`}},
		{name: "gates", old: `{spec: {schedulingGates: [{name: a}], containers: [{name: c, image: a}]}}`,
			new: `{spec: {schedulingGates: [{name: b}], containers: [{name: c, image: a}]}}`, want: []string{
				`spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'`}},
		{name: "gated selector", old: `{spec: {nodeSelector: {a: b}, schedulingGates: [{name: a}], containers: [{name: c, image: a}]}}`,
			new: `{spec: {nodeSelector: {a: c}, containers: [{name: c, image: a}]}}`, want: []string{
				`spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`}},
	})
}

func TestPodSubresources(t *testing.T) {
	const one = `{spec: {containers: [{name: c, image: a, resources: {requests: {cpu: 1}}}]}}`
	check(t, true, validation.PodEphemeralContainers, defaults.Pod, []changed{
		{name: "added", old: one, new: `{spec: {containers: [{name: c, image: a, resources: {requests: {cpu: 1}}}], ephemeralContainers: [{name: e, image: i}]}}`},
		{name: "bad", old: one, new: `{spec: {containers: [{name: c, image: a, resources: {requests: {cpu: 1}}}], ephemeralContainers: [{name: c,
			image: i, targetContainerName: z, ports: [{containerPort: 1}]}]}}`, want: []string{
			`spec.ephemeralContainers[0].name: Duplicate value: "c"`,
			`spec.ephemeralContainers[0].targetContainerName: Not found: "z"`,
			`spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container`}},
		{name: "removed", old: `{spec: {containers: [{name: c, image: a}], ephemeralContainers: [{name: e, image: i}]}}`,
			new: `{spec: {containers: [{name: c, image: a}]}}`, want: []string{
				`spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed`}},
	})
	check(t, true, validation.PodResize, defaults.Pod, []changed{
		{name: "grown", old: one, new: `{spec: {containers: [{name: c, image: a, resources: {requests: {cpu: 2}}}]}}`},
		{name: "image", old: one, new: `{spec: {containers: [{name: c, image: b, resources: {requests: {cpu: 2}}}]}}`, want: []string{
			`spec: Forbidden: only cpu and memory resources are mutable`}},
		{name: "class", old: one, new: `{spec: {containers: [{name: c, image: a, resources: {}}]}}`, want: []string{
			`spec: Invalid value: "": Pod QOS Class may not change as a result of resizing`,
			`spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed`}},
	})
}
