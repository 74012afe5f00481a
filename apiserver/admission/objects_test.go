package admission

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
)

const (
	fastClass    = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, creationTimestamp: "2024-01-02T00:00:00Z", annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: p, allowVolumeExpansion: true}`
	olderClass   = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: older, creationTimestamp: "2024-01-01T00:00:00Z", annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: p}`
	ingressClass = `{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: web, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}, spec: {controller: c/d}}`
	globalClass  = `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, globalDefault: true, value: 1}`
	claimLimits  = `{apiVersion: v1, kind: LimitRange, metadata: {namespace: ns, name: l}, spec: {limits: [{type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 2Gi}}]}}`
)

// TestObjects sends writes of kinds other than Pod through the whole chain.
func TestObjects(t *testing.T) {
	const claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: ns, name: c}, "
	const bound = "status: {phase: Bound}}"
	for _, test := range []struct {
		name    string
		cluster []string
		enable  []string
		verb    string
		obj     string
		old     string
		want    string
		wantErr string
	}{
		{
			name: "namespace that must stay", verb: Delete, old: "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}",
			wantErr: `namespaces "kube-system" is forbidden: this namespace may not be deleted`,
		}, {
			name: "other namespace", verb: Delete, old: namespace,
		}, {
			name: "new node", verb: Create, obj: zoneNode,
			want: "spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}",
		}, {
			name: "tainted node", verb: Create,
			obj:  "{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule, value: x}]}}",
			want: "spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule, value: x}]}",
		}, {
			name: "claim", verb: Create, cluster: []string{namespace, olderClass, fastClass},
			obj:  claim + "spec: {}}",
			want: "{metadata: {finalizers: [kubernetes.io/pvc-protection]}, spec: {storageClassName: fast}}",
		}, {
			name: "claim of no class", verb: Create, cluster: []string{namespace, fastClass},
			obj:  claim + `spec: {storageClassName: ""}}`,
			want: `spec: {storageClassName: ""}`,
		}, {
			name: "claim too small", verb: Create, cluster: []string{namespace, claimLimits},
			obj:     claim + "spec: {resources: {requests: {storage: 500Mi}}}}",
			wantErr: `persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi`,
		}, {
			name: "claim grows", verb: Update, cluster: []string{namespace, fastClass},
			obj:  claim + "spec: {storageClassName: fast, resources: {requests: {storage: 2Gi}}}, " + bound,
			old:  claim + "spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}}, " + bound,
			want: "spec: {resources: {requests: {storage: 2Gi}}}",
		}, {
			name: "claim of a class that cannot grow", verb: Update, cluster: []string{namespace, olderClass},
			obj:     claim + "spec: {storageClassName: older, resources: {requests: {storage: 2Gi}}}, " + bound,
			old:     claim + "spec: {storageClassName: older, resources: {requests: {storage: 1Gi}}}, " + bound,
			wantErr: `persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`,
		}, {
			name: "unbound claim grows", verb: Update, cluster: []string{namespace, fastClass},
			obj:     claim + "spec: {storageClassName: fast, resources: {requests: {storage: 2Gi}}}}",
			old:     claim + "spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}}, status: {phase: Pending}}",
			wantErr: `persistentvolumeclaims "c" is forbidden: only bound persistent volume claims can be expanded`,
		}, {
			name: "ingress", verb: Create, cluster: []string{namespace, ingressClass},
			obj:  "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: ns, name: i}}",
			want: "spec: {ingressClassName: web}",
		}, {
			name: "ingress of the annotation", verb: Create, cluster: []string{namespace, ingressClass},
			obj:  "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: ns, name: i, annotations: {kubernetes.io/ingress.class: other}}}",
			want: "spec: {ingressClassName: null}",
		}, {
			name: "second default", verb: Create, cluster: []string{globalClass},
			obj:     "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: another}, globalDefault: true, value: 2}",
			wantErr: `priorityclasses.scheduling.k8s.io "another" is forbidden: PriorityClass usual is already marked as default. Only one default can exist`,
		}, {
			name: "first default again", verb: Update, cluster: []string{globalClass}, obj: globalClass, old: globalClass,
			want: "globalDefault: true",
		}, {
			name: "external address", verb: Create, cluster: []string{namespace}, enable: []string{"DenyServiceExternalIPs"},
			obj:     "{apiVersion: v1, kind: Service, metadata: {namespace: ns, name: s}, spec: {externalIPs: [1.2.3.4]}}",
			wantErr: `services "s" is forbidden: Use of external IPs is denied by admission control.`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var items []runtime.Object
			for _, text := range test.cluster {
				items = append(items, parse[runtime.Object](text))
			}
			chain, err := New(cluster(items...), clock.RealClock{}, nil, test.enable)
			if err != nil {
				t.Fatal(err)
			}
			var obj, old runtime.Object
			if test.obj != "" {
				obj = parse[runtime.Object](test.obj)
			}
			if test.old != "" {
				old = parse[runtime.Object](test.old)
			}
			a := write(test.verb, obj, old)
			err = chain.Admit(context.Background(), a)
			if err == nil {
				err = chain.Validate(context.Background(), a)
			}
			if test.wantErr != "" || err != nil {
				if err == nil || err.Error() != test.wantErr {
					t.Fatalf("error %v\n want %s", err, test.wantErr)
				}
				return
			}
			if test.want == "" {
				return
			}
			if difference := contains("", tree(t, test.want), marshal(t, obj)); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestTerminatingNamesItsCause(t *testing.T) {
	going := parse[runtime.Object]("{apiVersion: v1, kind: Namespace, metadata: {name: ns}, status: {phase: Terminating}}")
	p := &NamespaceLifecycle{lister: cluster(going)}
	err := p.Admit(context.Background(), write(Create, parse[*corev1.ConfigMap]("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: x}}"), nil))
	cause, ok := apierrors.StatusCause(err, corev1.NamespaceTerminatingCause)
	if want := (metav1.StatusCause{Type: "NamespaceTerminating", Message: "namespace ns is being terminated", Field: "metadata.namespace"}); !ok || cause != want {
		t.Errorf("cause %v, want %v", cause, want)
	}
}

// A refusal names a generated name as it stands: without its random end while
// plugins still fill in, in full once the name is final.
func TestSubject(t *testing.T) {
	pod := parse[*corev1.Pod]("{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: web-x7k2p, generateName: web-}}")
	a := write(Create, pod, nil)
	if got := a.subject(); got != "web-x7k2p" {
		t.Errorf("final name %q", got)
	}
	a.isMutating = true
	if got := a.subject(); got != "web-" {
		t.Errorf("name to be drawn %q", got)
	}
}
