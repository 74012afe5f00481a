package strategy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPod(t *testing.T) {
	for _, test := range []struct {
		name, obj, old, want string
	}{
		{
			name: "new", obj: "{spec: {containers: [{name: c}]}, status: {phase: Running, podIP: 1.2.3.4}}",
			want: "status: {phase: Pending, qosClass: BestEffort, podIP: null}",
		}, {
			name: "gated", obj: "spec: {schedulingGates: [{name: g}]}",
			want: "status: {conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated, message: Scheduling is blocked due to non-empty scheduling gates}]}",
		}, {
			name: "label keys",
			obj: `metadata: {labels: {app: web, hash: abc}}
spec:
  topologySpreadConstraints: [{topologyKey: zone, matchLabelKeys: [hash, none], labelSelector: {matchLabels: {app: web}}}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, mismatchLabelKeys: [hash], labelSelector: {}}, {topologyKey: host, matchLabelKeys: [hash]}]}}`,
			want: `spec:
  topologySpreadConstraints: [{labelSelector: {matchLabels: {app: web}, matchExpressions: [{key: hash, operator: In, values: [abc]}]}}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchExpressions: [{key: hash, operator: NotIn, values: [abc]}]}}, {labelSelector: null}]}}`,
		}, {
			name: "profile in an annotation",
			obj:  "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/c: localhost/p}}, spec: {containers: [{name: c}]}}",
			want: "spec: {containers: [{securityContext: {appArmorProfile: {type: Localhost, localhostProfile: p}}}]}",
		}, {
			name: "changed", obj: "{metadata: {generation: 1}, spec: {containers: [{image: b}]}}",
			old: "{metadata: {generation: 1}, spec: {containers: [{image: a}]}}", want: "metadata: {generation: 2}",
		}, {
			name: "labelled", obj: "metadata: {generation: 1, labels: {a: b}}",
			old: "metadata: {generation: 1}", want: "metadata: {generation: 1}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := on(Pod)([]byte(test.obj), []byte(test.old))
			if difference := lacks("", tree(t, test.want), tree(t, string(marshal(t, got)))); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestPodSubresources(t *testing.T) {
	const old = `metadata: {generation: 1, labels: {a: b}}
spec: {nodeName: n1, containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}
status: {phase: Running, qosClass: Burstable, observedGeneration: 1, conditions: [{type: Ready, status: "True", observedGeneration: 1}]}`
	for _, test := range []struct {
		name  string
		apply func(pod, old *corev1.Pod)
		obj   string
		want  string
	}{
		{
			name: "status keeps what old kubelets drop", apply: PodStatus,
			obj:  "status: {phase: Running, podIP: 1.2.3.4, conditions: [{type: Ready, status: 'False'}]}",
			want: "status: {qosClass: Burstable, observedGeneration: 1, podIPs: [{ip: 1.2.3.4}], conditions: [{type: Ready, status: 'False', observedGeneration: 1}]}",
		}, {
			name: "resize changes resources alone", apply: PodResize,
			obj:  "{metadata: {generation: 1}, spec: {containers: [{name: c, image: z, resources: {requests: {cpu: 2}}}]}}",
			want: "{metadata: {generation: 2, labels: {a: b}}, spec: {nodeName: n1, containers: [{name: c, image: x, resources: {requests: {cpu: '2'}}}]}, status: {phase: Running}}",
		}, {
			name: "ephemeral containers alone", apply: PodEphemeralContainers,
			obj:  "{metadata: {generation: 1}, spec: {ephemeralContainers: [{name: debug, image: z}]}}",
			want: "{metadata: {generation: 2}, spec: {nodeName: n1, containers: [{name: c, image: x}], ephemeralContainers: [{name: debug}]}, status: {phase: Running}}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := on(test.apply)([]byte(test.obj), []byte(old))
			if difference := lacks("", tree(t, test.want), tree(t, string(marshal(t, got)))); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestQOSClass(t *testing.T) {
	for _, test := range []struct {
		spec string
		want corev1.PodQOSClass
	}{
		{"containers: [{name: c}]", corev1.PodQOSBestEffort},
		{"containers: [{name: c, resources: {requests: {cpu: 0}}}]", corev1.PodQOSBestEffort},
		{"containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]", corev1.PodQOSBestEffort},
		{"containers: [{name: c, resources: {requests: {cpu: 1}}}]", corev1.PodQOSBurstable},
		{"containers: [{name: c, resources: {limits: {cpu: 1}}}]", corev1.PodQOSBurstable},
		{"containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]", corev1.PodQOSGuaranteed},
		{"containers: [{name: c, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]", corev1.PodQOSBurstable},
		{"containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: d}]", corev1.PodQOSBurstable},
		{"{initContainers: [{name: i}], containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]}", corev1.PodQOSBurstable},
		{"{resources: {limits: {cpu: 1, memory: 1Gi}}, containers: [{name: c}]}", corev1.PodQOSGuaranteed},
	} {
		if got := qosClass(read[corev1.PodSpec]([]byte(test.spec))); got != test.want {
			t.Errorf("%s: %s, want %s", test.spec, got, test.want)
		}
	}
}
