package strategy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestStrategies takes an object and what is stored through a strategy, and
// looks for what must be in the result.
func TestStrategies(t *testing.T) {
	for _, test := range []struct {
		name     string
		obj, old string
		apply    func(obj, old []byte) any
		want     string
	}{
		{
			name: "secret text", apply: on(Secret),
			obj:  "{data: {a: YQ==, b: Yg==}, stringData: {b: c}}",
			want: "{data: {a: YQ==, b: Yw==}, stringData: null}",
		}, {
			name: "account secrets", apply: on(ServiceAccount),
			obj:  "secrets: [{name: s, namespace: other, kind: Secret}]",
			want: "secrets: [{name: s, namespace: null, kind: null}]",
		}, {
			name: "new namespace", apply: on(Namespace),
			obj:  "metadata: {name: web-x7k2p}",
			want: "{metadata: {labels: {kubernetes.io/metadata.name: web-x7k2p}}, spec: {finalizers: [kubernetes]}, status: {phase: Active}}",
		}, {
			name: "namespace keeps finalizers", apply: on(Namespace),
			obj:  "{metadata: {name: ns}, spec: {finalizers: []}}",
			old:  "{metadata: {name: ns}, spec: {finalizers: [kubernetes]}, status: {phase: Terminating}}",
			want: "{spec: {finalizers: [kubernetes]}, status: {phase: Terminating}}",
		}, {
			name: "finalize changes finalizers", apply: on(NamespaceFinalize),
			obj:  "{spec: {finalizers: []}, status: {phase: Active}}",
			old:  "{spec: {finalizers: [kubernetes]}, status: {phase: Terminating}}",
			want: "{spec: {finalizers: null}, status: {phase: Terminating}}",
		}, {
			name: "node range", apply: on(Node),
			obj:  "spec: {podCIDR: 10.0.0.0/24}",
			want: "spec: {podCIDRs: [10.0.0.0/24]}",
		}, {
			name: "new claim", apply: on(PersistentVolumeClaim),
			obj:  "spec: {dataSource: {kind: PersistentVolumeClaim, name: a}}",
			want: "{spec: {dataSourceRef: {kind: PersistentVolumeClaim, name: a}}, status: {phase: Pending}}",
		}, {
			name: "claim of another source", apply: on(PersistentVolumeClaim),
			obj:  "spec: {dataSource: {apiGroup: x.io, kind: Widget, name: a}}",
			want: "spec: {dataSource: null, dataSourceRef: null}",
		}, {
			name: "claim of any source", apply: on(PersistentVolumeClaim),
			obj:  "spec: {dataSourceRef: {apiGroup: x.io, kind: Widget, name: a}}",
			want: "spec: {dataSource: {apiGroup: x.io, kind: Widget, name: a}}",
		}, {
			name: "new volume", apply: at(PersistentVolume, metav1.Unix(1700000600, 0)), obj: "{}",
			want: `status: {phase: Pending, lastPhaseTransitionTime: "2023-11-14T22:23:20Z"}`,
		}, {
			name: "volume bound", apply: at(PersistentVolumeStatus, metav1.Unix(1700000600, 0)),
			obj:  "status: {phase: Bound}",
			old:  `status: {phase: Available, lastPhaseTransitionTime: "2023-11-14T22:13:20Z"}`,
			want: `status: {phase: Bound, lastPhaseTransitionTime: "2023-11-14T22:23:20Z"}`,
		}, {
			name: "volume as it was", apply: at(PersistentVolumeStatus, metav1.Unix(1700000600, 0)),
			obj:  "status: {phase: Bound, message: x}",
			old:  `status: {phase: Bound, lastPhaseTransitionTime: "2023-11-14T22:13:20Z"}`,
			want: `status: {lastPhaseTransitionTime: "2023-11-14T22:13:20Z"}`,
		}, {
			name: "job", apply: on(Job),
			obj: "{metadata: {name: j, uid: u1}, spec: {template: {metadata: {labels: {app: a}}}}}",
			want: `metadata: {labels: {app: a, batch.kubernetes.io/controller-uid: u1, controller-uid: u1, batch.kubernetes.io/job-name: j, job-name: j}}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: u1}}
  template: {metadata: {labels: {app: a, batch.kubernetes.io/controller-uid: u1, controller-uid: u1, batch.kubernetes.io/job-name: j, job-name: j}}}`,
		}, {
			name: "job with its own selector", apply: on(Job),
			obj:  "{metadata: {name: j, uid: u1}, spec: {manualSelector: true, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}}",
			want: "{metadata: {labels: {a: b, job-name: null}}, spec: {selector: {matchLabels: {a: b, batch.kubernetes.io/controller-uid: null}}}}",
		}, {
			name: "new daemon set", apply: on(DaemonSet), obj: "{}",
			want: `metadata: {annotations: {deprecated.daemonset.template.generation: "1"}}`,
		}, {
			name: "daemon set of a new template", apply: on(DaemonSet),
			obj:  "{metadata: {generation: 4}, spec: {template: {spec: {nodeName: a}}}}",
			old:  `metadata: {generation: 4, annotations: {deprecated.daemonset.template.generation: "2"}}`,
			want: `metadata: {generation: 5, annotations: {deprecated.daemonset.template.generation: "3"}}`,
		}, {
			name: "deployment annotated", apply: on(Deployment),
			obj: "metadata: {generation: 1, annotations: {a: b}}", old: "metadata: {generation: 1}",
			want: "metadata: {generation: 2}",
		}, {
			name: "deployment labelled", apply: on(Deployment),
			obj: "metadata: {generation: 1, labels: {a: b}}", old: "metadata: {generation: 1}",
			want: "metadata: {generation: 1}",
		}, {
			name: "alpha fields", apply: on(Deployment),
			obj:  "spec: {template: {spec: {schedulingGroup: {podGroupName: g}, volumes: [{name: v, secret: {defaultUser: 1}}]}}}",
			want: "spec: {template: {spec: {schedulingGroup: null, volumes: [{name: v, secret: {}}]}}}",
		}, {
			name: "slice labelled", apply: on(EndpointSlice),
			obj: "{metadata: {generation: 1, labels: {a: b}}, endpoints: []}", old: "metadata: {generation: 1}",
			want: "{metadata: {generation: 2}, endpoints: null, ports: null}",
		}, {
			name: "driver as it was", apply: on(CSIDriver),
			obj: "spec: {requiresRepublish: true}", old: "spec: {requiresRepublish: true}",
			want: "metadata: {generation: null}",
		}, {
			name: "new request", apply: on(CertificateSigningRequest),
			obj:  "{spec: {signerName: s/t, username: root, groups: [system:masters]}, status: {conditions: [{type: Approved}]}}",
			want: "{spec: {signerName: s/t, username: null, groups: null}, status: {conditions: null}}",
		}, {
			name: "approval", apply: at(CertificateSigningRequestApproval, metav1.Unix(1700000600, 0)),
			obj:  "{spec: {signerName: other}, status: {certificate: YQ==, conditions: [{type: Approved, status: 'True'}]}}",
			old:  "spec: {signerName: s/t}",
			want: `{spec: {signerName: s/t}, status: {certificate: null, conditions: [{type: Approved, status: "True", lastUpdateTime: "2023-11-14T22:23:20Z", lastTransitionTime: "2023-11-14T22:23:20Z"}]}}`,
		}, {
			name: "certificate", apply: at(CertificateSigningRequestStatus, metav1.Unix(1700000600, 0)),
			obj:  "status: {certificate: YQ==, conditions: [{type: Approved, status: 'True'}]}",
			old:  `status: {conditions: [{type: Approved, status: "True", reason: r, lastTransitionTime: "2023-11-14T22:13:20Z"}]}`,
			want: `status: {certificate: YQ==, conditions: [{type: Approved, status: "True", reason: r, lastUpdateTime: "2023-11-14T22:23:20Z", lastTransitionTime: "2023-11-14T22:13:20Z"}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.apply([]byte(test.obj), []byte(test.old))
			if difference := lacks("", tree(t, test.want), tree(t, string(marshal(t, got)))); difference != "" {
				t.Error(difference)
			}
		})
	}
}

// on makes a strategy one of texts. An empty text is no old object.
func on[T any](f func(obj, old *T)) func(obj, old []byte) any {
	return func(obj, old []byte) any {
		o, before := read[T](obj), read[T](old)
		f(o, before)
		return o
	}
}

// at is on for the strategies that stamp a time.
func at[T any](f func(obj, old *T, now metav1.Time), now metav1.Time) func(obj, old []byte) any {
	return on(func(obj, old *T) { f(obj, old, now) })
}

func read[T any](text []byte) *T {
	if len(text) == 0 {
		return nil
	}
	obj := new(T)
	if err := yaml.Unmarshal(text, obj); err != nil {
		panic(err)
	}
	return obj
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func tree(t *testing.T, text string) (v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lacks returns where got first differs from want, "" if nowhere. Objects may
// have more fields than are wanted; null wants none.
func lacks(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for key := range w {
			if d := lacks(path+"."+key, w[key], g[key]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		for i := range w {
			if d := lacks(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s is %v, want %v", path, got, want)
	}
	return ""
}
