package admission

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

const (
	device   = `, containers: [{name: c, resources: {requests: {cpu: "1", example.com/gpu: "1", "kubernetes.io/batch": "1"}}}]`
	spread   = `, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: KEY}]}}`
	inTeam   = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}, spec: {"
	teamText = `{apiVersion: v1, kind: Namespace, metadata: {name: team, annotations: {scheduler.alpha.kubernetes.io/node-selector: "disk=ssd"}}}`
)

// TestOptionalPlugins posts pods with one of the plugins on that are off by default.
func TestOptionalPlugins(t *testing.T) {
	gpu := corev1.Toleration{Key: "example.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	for _, test := range []struct {
		name, plugin, pod string
		tolerations       []corev1.Toleration
		selector          map[string]string
		refusal           string
	}{
		{name: "all pass", plugin: "AlwaysAdmit", pod: inTeam + "containers: []}}"},
		{name: "none passes", plugin: "AlwaysDeny", pod: inTeam + "containers: []}}", refusal: `pods "p" is forbidden: admission control is denying all modifications`},
		{name: "a namespace that is there", plugin: "NamespaceExists", pod: inTeam + "containers: []}}"},
		{name: "a namespace that is missing", plugin: "NamespaceExists", pod: strings.Replace(inTeam, "team", "none", 1) + "containers: []}}", refusal: `namespaces "none" not found`},
		{name: "a device", plugin: "ExtendedResourceToleration", pod: inTeam + "priority: 0" + device + "}}", tolerations: []corev1.Toleration{gpu}},
		{name: "a device that is tolerated", plugin: "ExtendedResourceToleration", tolerations: []corev1.Toleration{gpu},
			pod: inTeam + "tolerations: [{key: example.com/gpu, operator: Exists, effect: NoSchedule}]" + device + "}}"},
		{name: "a node for itself", plugin: "LimitPodHardAntiAffinityTopology", pod: inTeam + "priority: 0" + strings.Replace(spread, "KEY", "kubernetes.io/hostname", 1) + "}}"},
		{name: "a zone for itself", plugin: "LimitPodHardAntiAffinityTopology", pod: inTeam + "priority: 0" + strings.Replace(spread, "KEY", "zone", 1) + "}}",
			refusal: "has TopologyKey zone but only key kubernetes.io/hostname is allowed"},
		{name: "the namespace's nodes", plugin: "PodNodeSelector", pod: inTeam + "nodeSelector: {cpu: fast}}}", selector: map[string]string{"cpu": "fast", "disk": "ssd"}},
		{name: "other nodes than the namespace's", plugin: "PodNodeSelector", pod: inTeam + "nodeSelector: {disk: hdd}}}",
			refusal: `pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector`},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := New(cluster(parse[*corev1.Namespace](teamText)), clock.RealClock{}, nil, []string{test.plugin})
			if err != nil {
				t.Fatal(err)
			}
			chain := &Chain{}
			for _, p := range all.plugins {
				if p.Name() == test.plugin {
					chain.plugins = append(chain.plugins, p)
				}
			}
			pod := parse[*corev1.Pod](test.pod)
			a := write(Create, pod, nil)
			a.User.Username = "jane"
			err = chain.Admit(t.Context(), a)
			if err == nil {
				err = chain.Validate(t.Context(), a)
			}
			switch {
			case test.refusal != "":
				if err == nil || !strings.Contains(err.Error(), test.refusal) {
					t.Errorf("error %v, want %s", err, test.refusal)
				}
			case err != nil:
				t.Error(err)
			case !reflect.DeepEqual(pod.Spec.Tolerations, test.tolerations):
				t.Errorf("tolerations %v, want %v", pod.Spec.Tolerations, test.tolerations)
			case !reflect.DeepEqual(pod.Spec.NodeSelector, test.selector):
				t.Errorf("node selector %v, want %v", pod.Spec.NodeSelector, test.selector)
			}
		})
	}
}
