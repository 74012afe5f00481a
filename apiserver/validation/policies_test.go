package validation_test

import (
	"testing"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/validation"

	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

func TestIngress(t *testing.T) {
	check(t, true, validation.Ingress, func(*networkingv1.Ingress) {}, []changed{
		{name: "empty", new: `{}`, want: []string{
			"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"}},
		{name: "paths", new: `{spec: {rules: [{host: "*.a_", http: {paths: [{path: x, pathType: Exact, backend: {}}, {path: /a//b,
			backend: {service: {name: s, port: {}}}}]}}]}}`, want: []string{
			`spec.rules[0].host: Invalid value: "*.a_": a wildcard DNS-1123`,
			`spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path`,
			`spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required`,
			`spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified`}},
		{name: "class", new: `{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {ingressClassName: b,
			defaultBackend: {service: {name: s, port: {number: 1, name: p}}}}}`, want: []string{
			`spec.defaultBackend: Invalid value: "": cannot set both port name & port number`,
			"annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match `ingressClassName` when both are specified"}},
	})
	check(t, true, validation.NetworkPolicy, defaults.NetworkPolicy, []changed{
		{name: "policy", new: `{spec: {podSelector: {}, policyTypes: [x], ingress: [{ports: [{port: 5, endPort: 4}], from: [{},
			{ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/8]}, podSelector: {}}]}]}}`, want: []string{
			"spec.ingress[0].ports[0].endPort: Invalid value: 4: must be greater than or equal to `port`",
			`spec.ingress[0].from[0]: Required value: must specify a peer`,
			"spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: \"11.0.0.0/8\": must be a strict subset of `cidr`",
			`spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer`,
			`spec.policyTypes[0]: Unsupported value: "x": supported values: "Ingress", "Egress"`}},
	})
}

func TestRoles(t *testing.T) {
	check(t, true, validation.Role, func(*rbacv1.Role) {}, []changed{
		{name: "rules", new: `{rules: [{verbs: [get], nonResourceURLs: [/]}, {resources: [pods]}, {apiGroups: [""], verbs: [get]}]}`, want: []string{
			`rules[0].nonResourceURLs: Invalid value: ["/"]: namespaced rules cannot apply to non-resource URLs`,
			`rules[1].apiGroups: Required value: resource rules must supply at least one api group`,
			`rules[2].resources: Required value: resource rules must supply at least one resource`,
			`rules[1].verbs: Required value`}},
	})
	check(t, true, validation.RoleBinding, defaults.RoleBinding, []changed{
		{name: "subjects", new: `{roleRef: {kind: x, name: ""}, subjects: [{kind: ServiceAccount, name: a}, {kind: y, name: b}, {kind: User}]}`, want: []string{
			`roleRef.kind: Unsupported value: "x": supported values: "Role", "ClusterRole"`,
			`subjects[1].kind: Unsupported value: "true": supported values: "ServiceAccount", "User", "Group"`,
			`subjects[2].name: Required value`,
			`roleRef.name: Required value`}},
		{name: "role", old: `{roleRef: {kind: Role, name: a}}`, new: `{roleRef: {kind: Role, name: b}}`, want: []string{
			`roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot change roleRef`}},
	})
}

func TestAutoscaler(t *testing.T) {
	check(t, true, validation.HorizontalPodAutoscaler, defaults.HorizontalPodAutoscaler, []changed{
		{name: "bounds", new: `{spec: {minReplicas: 0, maxReplicas: 0, scaleTargetRef: {kind: a/b}}}`, want: []string{
			`spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain '/'`,
			`spec.scaleTargetRef.name: Required value`,
			`spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas`,
			`spec.maxReplicas: Required value`}},
		{name: "metrics", new: `{spec: {maxReplicas: 3, minReplicas: 5, scaleTargetRef: {kind: D, name: d}, metrics: [{type: Resource},
			{type: Resource, resource: {name: cpu, target: {type: Utilization}}}, {type: x}]}}`, want: []string{
			"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`",
			`spec.metrics[0].resource: Required value: must populate information for the given metric source`,
			`spec.metrics[1].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization`,
			`spec.metrics[2].type: Unsupported value: "x": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`}},
	})
	check(t, true, validation.PodDisruptionBudget, func(*policyv1.PodDisruptionBudget) {}, []changed{
		{name: "both", new: `{spec: {minAvailable: 1, maxUnavailable: 1, unhealthyPodEvictionPolicy: x}}`, want: []string{
			`spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":"x"}: minAvailable and maxUnavailable cannot be both set`,
			`spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"`}},
		{name: "share", new: `{spec: {minAvailable: 120%}}`, want: []string{
			`spec.minAvailable: Invalid value: "120%": must not be greater than 100%`}},
	})
}

func TestClasses(t *testing.T) {
	check(t, false, validation.PriorityClass, defaults.PriorityClass, []changed{
		{name: "high", new: `{value: 2000000000}`, want: []string{
			`value: Forbidden: maximum allowed value of a user defined priority is 1000000000`}},
		{name: "system", new: `{metadata: {name: system-x}, value: 1}`, want: []string{
			`metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class`}},
		{name: "value", old: `{value: 1}`, new: `{value: 2}`, want: []string{
			`value: Forbidden: may not be changed in an update.`}},
		{name: "policy", new: `{value: 2, preemptionPolicy: x}`, want: []string{
			`preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"`}},
	})
	check(t, false, validation.StorageClass, defaults.StorageClass, []changed{
		{name: "fields", new: `{reclaimPolicy: x, volumeBindingMode: z, parameters: {"": a}}`, want: []string{
			`parameters: Invalid value: "": field can not be empty.`,
			`reclaimPolicy: Unsupported value: "x": supported values: "Delete", "Retain"`,
			`volumeBindingMode: Unsupported value: "z": supported values: "Immediate", "WaitForFirstConsumer"`,
			`provisioner: Required value`}},
		{name: "parameters", old: `{provisioner: p/p, parameters: {a: b}}`, new: `{provisioner: q/q, reclaimPolicy: Retain}`, want: []string{
			`provisioner: Invalid value: null: field is immutable`,
			`parameters: Invalid value: null: field is immutable`,
			`reclaimPolicy: Invalid value: null: field is immutable`}},
	})
	check(t, false, validation.CSIDriver, defaults.CSIDriver, []changed{
		{name: "modes", new: `{metadata: {name: A_}, spec: {volumeLifecycleModes: [x]}}`, want: []string{
			`metadata.name: Invalid value: "A_": a lowercase RFC`,
			`spec.volumeLifecycleModes: Unsupported value: "x": supported values: "Persistent", "Ephemeral"`}},
	})
}

func TestAdmission(t *testing.T) {
	const client = `clientConfig: {url: "https://a.b"}, sideEffects: None, admissionReviewVersions: [v1]`
	check(t, false, validation.ValidatingWebhookConfiguration, defaults.ValidatingWebhookConfiguration, []changed{
		{name: "hook", new: `{webhooks: [{name: a}, {name: a.b.c, ` + client + `, timeoutSeconds: 31, rules: [{operations: [x], apiGroups: [""],
			apiVersions: ["*", v1], resources: [pods, "*"]}]}]}`, want: []string{
			`webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots`,
			`webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun`,
			`webhooks[0].clientConfig: Required value: exactly one of url or service is required`,
			`webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1`,
			`webhooks[1].rules[0].operations[0]: Unsupported value: "x": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
			`webhooks[1].rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
			`webhooks[1].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`}},
		{name: "address", new: `{webhooks: [{name: a.b.c, clientConfig: {url: "http://a"}, sideEffects: Some, admissionReviewVersions: [v9]}]}`, want: []string{
			`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`,
			`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
			`webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1`}},
		{name: "conditions", new: `{webhooks: [{name: a.b.c, ` + client + `, matchConditions: [{name: m, expression: "object."}, {name: m,
			expression: "nothing == 1"}]}]}`, want: []string{
			`webhooks[0].matchConditions[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'`,
			`webhooks[0].matchConditions[1].expression: Invalid value: "nothing == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')`,
			`webhooks[0].matchConditions[1].name: Duplicate value: "m"`}},
	})
	check(t, false, validation.ValidatingAdmissionPolicy, defaults.ValidatingAdmissionPolicy, []changed{
		{name: "policy", new: `{spec: {validations: [{expression: ""}, {expression: "object.x > 1", reason: y9}], auditAnnotations: [{key: "a b",
			valueExpression: "x"}]}}`, want: []string{
			`spec.matchConstraints: Required value`,
			`spec.validations[0].expression: Required value: expression is not specified`,
			`spec.validations[1].reason: Unsupported value: "y9": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"`,
			`spec.auditAnnotations[0].key: Invalid value: "n/a b": name part must consist`,
			`spec.auditAnnotations[0].valueExpression: Invalid value: "x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')`}},
	})
}

func TestDevices(t *testing.T) {
	check(t, true, validation.ResourceClaim, defaults.ResourceClaim, []changed{
		{name: "requests", new: `{spec: {devices: {requests: [{name: A}, {name: a, exactly: {}}, {name: a, exactly: {deviceClassName: c,
			allocationMode: All, count: 1}}], constraints: [{requests: [z]}], config: [{opaque: {driver: d, parameters: 1}}]}}}`, want: []string{
			`spec.devices.requests[0].name: Invalid value: "A": a lowercase RFC`,
			"spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
			`spec.devices.requests[1].exactly.deviceClassName: Required value`,
			`spec.devices.requests[2].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'`,
			`spec.devices.constraints[0].requests[0]: Invalid value: "z": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
			`spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`,
			`spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object`,
			`spec.devices.requests[2]: Duplicate value: {"Name":"a","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"All","Count":1,"AdminAccess`}},
		{name: "selectors", new: `{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c, selectors: [{},
			{cel: {expression: "device.driver =="}}], tolerations: [{operator: Exists, value: v, effect: x}]}}]}}}`, want: []string{
			`spec.devices.requests[0].exactly.selectors[0].cel: Required value`,
			`spec.devices.requests[0].exactly.selectors[1].cel.expression: Invalid value: "device.driver ==": compilation failed: ERROR: <input>:1:17: Syntax error: mismatched input '<EOF>' expecting {`,
			"spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: \"v\": must be empty for operator `Exists`",
			`spec.devices.requests[0].exactly.tolerations[0].effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"`}},
		{name: "changed", old: `{spec: {devices: {}}}`, new: `{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}}`, want: []string{
			`spec: Invalid value: null: field is immutable`}},
	})
	check(t, false, validation.ResourceSlice, func(*resourcev1.ResourceSlice) {}, []changed{
		{name: "devices", new: `{spec: {driver: d, pool: {name: p}, nodeName: n, allNodes: true, devices: [{name: d, attributes: {a/b/c: {}},
			capacity: {1a: {value: 1}}}, {name: d, nodeName: x, attributes: {a: {string: s}}}]}}`, want: []string{
			`spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero`,
			"spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set",
			`spec.devices[0].attributes: Invalid value: "a/b/c": must not contain more than one slash`,
			`spec.devices[0].capacity: Invalid value: "1a": a valid C identifier`,
			"spec.devices[1]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
			`spec.devices[1]: Duplicate value: "d"`,
			"spec.devices[0].attributes[a/b/c]: Invalid value: \"\": must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"}},
		{name: "capacity", new: `{spec: {driver: d, pool: {name: p, resourceSliceCount: 1}, allNodes: true, devices: [{name: a,
			allowMultipleAllocations: true, capacity: {c: {value: 10, requestPolicy: {default: 3, validRange: {min: 2, max: 20, step: 4}}}}}]}}`, want: []string{
			`spec.devices[0].capacity[c].requestPolicy.validRange.max: Invalid value: "20": max is larger than capacity value: 10`,
			`spec.devices[0].capacity[c].requestPolicy.validRange.step: Invalid value: "3": value is not a multiple of a given step (4) from (2)`,
			`spec.devices[0].capacity[c].requestPolicy.validRange.step: Invalid value: "20": value is not a multiple of a given step (4) from (2)`}},
	})
}
