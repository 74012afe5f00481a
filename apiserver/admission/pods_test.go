package admission

import (
	"context"
	"encoding/json"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"
)

const (
	namespace       = "{apiVersion: v1, kind: Namespace, metadata: {name: ns}, status: {phase: Active}}"
	account         = "{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: ns, name: default}}"
	quietAccount    = "{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: ns, name: quiet}, automountServiceAccountToken: false, imagePullSecrets: [{name: reg}]}"
	criticalClass   = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: critical}, value: 1000, preemptionPolicy: Never}"
	heavyRuntime    = "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: heavy}, handler: h, overhead: {podFixed: {memory: 10Mi}}, scheduling: {nodeSelector: {rt: heavy}, tolerations: [{key: rt, operator: Exists}]}}"
	containerLimits = "{apiVersion: v1, kind: LimitRange, metadata: {namespace: ns, name: l}, spec: {limits: [{type: Container, default: {cpu: 400m}, defaultRequest: {cpu: 200m}, min: {cpu: 100m}, max: {memory: 1Gi}, maxLimitRequestRatio: {cpu: 2}}]}}"
	podLimits       = "{apiVersion: v1, kind: LimitRange, metadata: {namespace: ns, name: p}, spec: {limits: [{type: Pod, min: {memory: 50Mi}, max: {cpu: 1}}]}}"
	zoneNode        = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: a, disk: ssd}}}"
)

// TestCreatePod sends pods through the whole chain.
func TestCreatePod(t *testing.T) {
	const plain = "containers: [{name: c, image: nginx}]"
	for _, test := range []struct {
		name    string
		cluster []string
		disable []string
		spec    string
		want    string // YAML that must be part of the pod
		wantErr string
	}{
		{
			name: "no namespace", spec: plain,
			wantErr: `namespaces "ns" not found`,
		}, {
			name:    "terminating namespace",
			cluster: []string{"{apiVersion: v1, kind: Namespace, metadata: {name: ns}, status: {phase: Terminating}}"},
			spec:    plain,
			wantErr: `pods "p" is forbidden: unable to create new content in namespace ns because it is being terminated`,
		}, {
			name: "token", cluster: []string{namespace, account}, spec: plain,
			want: `spec:
  serviceAccountName: default
  containers: [{name: c, image: nginx, volumeMounts: [{name: kube-api-access-*, readOnly: true, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}]
  volumes:
  - name: kube-api-access-*
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3607}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
      - downwardAPI: {items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]}`,
		}, {
			name: "account without token", cluster: []string{namespace, quietAccount}, spec: plain + "\n  serviceAccountName: quiet",
			want: "spec: {volumes: null, imagePullSecrets: [{name: reg}]}",
		}, {
			name: "no such account", cluster: []string{namespace}, spec: plain + "\n  serviceAccountName: nobody",
			wantErr: `pods "p" is forbidden: error looking up service account ns/nobody: serviceaccount "nobody" not found`,
		}, {
			name: "no priority class", cluster: []string{namespace, account}, spec: plain,
			want: "spec: {priority: 0, preemptionPolicy: PreemptLowerPriority}",
		}, {
			name: "priority class", cluster: []string{namespace, account, criticalClass}, spec: plain + "\n  priorityClassName: critical",
			want: "spec: {priority: 1000, preemptionPolicy: Never}",
		}, {
			name: "no such priority class", cluster: []string{namespace, account}, spec: plain + "\n  priorityClassName: critical",
			wantErr: `pods "p" is forbidden: no PriorityClass with name critical was found`,
		}, {
			name: "priority by hand", cluster: []string{namespace, account}, spec: plain + "\n  priority: 7",
			wantErr: `pods "p" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`,
		}, {
			name: "tolerations", cluster: []string{namespace, account},
			spec: plain + "\n  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]",
			want: `spec: {tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]}`,
		}, {
			name: "runtime class", cluster: []string{namespace, account, heavyRuntime}, spec: plain + "\n  runtimeClassName: heavy\n  nodeSelector: {a: b}\n  tolerations: [{operator: Exists}]",
			want: "spec: {overhead: {memory: 10Mi}, nodeSelector: {a: b, rt: heavy}, tolerations: [{operator: Exists}, {key: rt, operator: Exists}]}",
		}, {
			name: "runtime class conflict", cluster: []string{namespace, account, heavyRuntime}, spec: plain + "\n  runtimeClassName: heavy\n  nodeSelector: {rt: light}",
			wantErr: `pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[rt] = heavy; pod.spec.nodeSelector[rt] = light`,
		}, {
			name: "no such runtime class", cluster: []string{namespace, account}, spec: plain + "\n  runtimeClassName: nope",
			wantErr: `pods "p" is forbidden: pod rejected: RuntimeClass "nope" not found`,
		}, {
			name: "limit range fills", cluster: []string{namespace, account, containerLimits},
			spec: "containers: [{name: c, image: nginx, resources: {limits: {memory: 1Gi}}}]",
			want: `metadata: {annotations: {kubernetes.io/limit-ranger: "LimitRanger plugin set: cpu request for container c; cpu limit for container c"}}
spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: 200m}, limits: {cpu: 400m, memory: 1Gi}}}]}`,
			disable: []string{"ServiceAccount"},
		}, {
			name: "limit range bounds", cluster: []string{namespace, account, containerLimits},
			spec:    "containers: [{name: c, image: nginx, resources: {requests: {cpu: 50m}, limits: {cpu: 200m, memory: 2Gi}}}]",
			wantErr: `pods "p" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum memory usage per Container is 1Gi, but limit is 2Gi, cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000]`,
		}, {
			name: "limit range of pods", cluster: []string{namespace, account, podLimits}, spec: plain,
			wantErr: `pods "p" is forbidden: [minimum memory usage per Pod is 50Mi.  No request is specified, maximum cpu usage per Pod is 1.  No limit is specified]`,
		}, {
			name: "on a node", cluster: []string{namespace, account, zoneNode}, spec: plain + "\n  nodeName: n1",
			want: "metadata: {labels: {topology.kubernetes.io/zone: a}}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var items []runtime.Object
			for _, text := range test.cluster {
				items = append(items, parse[runtime.Object](text))
			}
			chain, err := New(cluster(items...), clock.RealClock{}, test.disable, nil)
			if err != nil {
				t.Fatal(err)
			}
			pod := parse[*corev1.Pod]("apiVersion: v1\nkind: Pod\nmetadata: {namespace: ns, name: p}\nspec:\n  " + test.spec)
			a := write(Create, pod, nil)
			err = chain.Admit(context.Background(), a)
			if err == nil {
				err = chain.Validate(context.Background(), a)
			}
			if test.wantErr != "" {
				if err == nil || err.Error() != test.wantErr {
					t.Fatalf("error %v\n want %s", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if difference := contains("", tree(t, test.want), marshal(t, pod)); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func tree(t *testing.T, text string) (v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

var generated = regexp.MustCompile(`(kube-api-access-)[a-z0-9]{5}"`)

// marshal masks generated names.
func marshal(t *testing.T, obj runtime.Object) any {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, generated.ReplaceAllString(string(text), `$1*"`))
}
