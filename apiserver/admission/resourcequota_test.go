package admission

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/quota"
)

// quotas as their controller leaves them: status.hard and used filled.
const (
	podQuota     = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, status: {hard: {pods: "2", requests.cpu: 150m}, used: {pods: "1", requests.cpu: 100m}}}`
	limitQuota   = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, status: {hard: {limits.cpu: "1", requests.memory: 1Gi}, used: {limits.cpu: "0", requests.memory: "0"}}}`
	effortQuota  = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, spec: {scopes: [BestEffort]}, status: {hard: {pods: "0"}, used: {pods: "0"}}}`
	classQuota   = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}}, status: {hard: {pods: "0"}, used: {pods: "0"}}}`
	freshQuota   = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, status: {hard: {pods: "1"}}}`
	countQuota   = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, status: {hard: {count/deployments.apps: "0", configmaps: "1"}, used: {count/deployments.apps: "0", configmaps: "0"}}}`
	storageQuota = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, status: {hard: {requests.storage: 3Gi, fast.storageclass.storage.k8s.io/persistentvolumeclaims: "1"}, used: {requests.storage: 1Gi, fast.storageclass.storage.k8s.io/persistentvolumeclaims: "0"}}}`
	portQuota    = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, status: {hard: {services: "9", services.nodeports: "1"}, used: {services: "0", services.nodeports: "0"}}}`
)

func TestResourceQuota(t *testing.T) {
	const burstable = "{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: b}, spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}, status: {qosClass: Burstable}}"
	const small = "{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: b}, spec: {containers: [{name: c, resources: {requests: {cpu: 10m}}}]}}"
	const silent = "{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: b}, spec: {containers: [{name: c}, {name: d}]}, status: {qosClass: BestEffort}}"
	const high = "{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: b}, spec: {priorityClassName: high}}"
	const claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: ns, name: c}, spec: {storageClassName: fast, resources: {requests: {storage: %s}}}}"
	for _, test := range []struct {
		name, quota, obj, old string
		wantUsed              string
		wantErr               string
	}{
		{name: "charged", quota: podQuota, obj: small, wantUsed: "pods=2,requests.cpu=110m"},
		{
			name: "exceeded", quota: podQuota, obj: burstable,
			wantErr: `pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=100m, limited: requests.cpu=150m`,
		},
		{
			name: "silent", quota: limitQuota, obj: silent,
			wantErr: `pods "b" is forbidden: failed quota: q: must specify limits.cpu for: c,d; requests.memory for: c,d`,
		},
		{name: "out of scope", quota: effortQuota, obj: burstable, wantUsed: "pods=0"},
		{
			name: "in scope", quota: effortQuota, obj: silent,
			wantErr: `pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`,
		},
		{name: "other class", quota: classQuota, obj: burstable, wantUsed: "pods=0"},
		{
			name: "class", quota: classQuota, obj: high,
			wantErr: `pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`,
		},
		{name: "unknown usage", quota: freshQuota, obj: burstable, wantErr: `pods "b" is forbidden: status unknown for quota: q, resources: pods`},
		{
			name: "any kind", quota: countQuota, obj: "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: ns, name: d}}",
			wantErr: `deployments.apps "d" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0`,
		},
		{name: "old count", quota: countQuota, obj: "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: c}}", wantUsed: "configmaps=1,count/deployments.apps=0"},
		{
			name: "claim", quota: storageQuota, obj: fmt.Sprintf(claim, "1Gi"),
			wantUsed: "fast.storageclass.storage.k8s.io/persistentvolumeclaims=1,requests.storage=2Gi",
		},
		{
			name: "claim grows", quota: storageQuota, obj: fmt.Sprintf(claim, "2Gi"), old: fmt.Sprintf(claim, "1Gi"),
			wantUsed: "fast.storageclass.storage.k8s.io/persistentvolumeclaims=0,requests.storage=2Gi",
		},
		{
			name: "node ports", quota: portQuota, obj: "{apiVersion: v1, kind: Service, metadata: {namespace: ns, name: s}, spec: {type: NodePort, ports: [{port: 1}, {port: 2}]}}",
			wantErr: `services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			objs := cluster(parse[runtime.Object](test.quota))
			a := write(Create, parse[runtime.Object](test.obj), nil)
			if test.old != "" {
				a.Verb, a.OldObject = Update, parse[runtime.Object](test.old)
			}
			err := (&ResourceQuota{lister: objs}).Validate(context.Background(), a)
			if test.wantErr != "" || err != nil {
				if err == nil || err.Error() != test.wantErr {
					t.Fatalf("error %v\n want %s", err, test.wantErr)
				}
				return
			}
			if got := quota.Format(objs.items[0].(*corev1.ResourceQuota).Status.Used); got != test.wantUsed {
				t.Errorf("used %s, want %s", got, test.wantUsed)
			}
		})
	}
}

// Many at once get no more than the quota has.
func TestResourceQuotaConcurrently(t *testing.T) {
	const hard = 10
	objs := cluster(parse[runtime.Object](fmt.Sprintf(`{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: q}, status: {hard: {pods: "%d"}, used: {pods: "0"}}}`, hard)))
	p := &ResourceQuota{lister: objs}
	var admitted atomic.Int32
	var running sync.WaitGroup
	for i := range 50 {
		running.Go(func() {
			pod := parse[*corev1.Pod](fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {namespace: ns, name: p%d}}", i))
			if p.Validate(context.Background(), write(Create, pod, nil)) == nil {
				admitted.Add(1)
			}
		})
	}
	running.Wait()
	if got := admitted.Load(); got != hard {
		t.Errorf("%d pods admitted, want %d", got, hard)
	}
}

// A quota that refuses leaves the others uncharged, and a dry run all.
func TestResourceQuotaChargesAllOrNone(t *testing.T) {
	const pair = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: ns, name: %s}, status: {hard: {configmaps: "%d"}, used: {configmaps: "0"}}}`
	configMap := parse[*corev1.ConfigMap]("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: c}}")
	for _, test := range []struct {
		name   string
		second int
		dryRun bool
	}{{"refused", 0, false}, {"dry run", 1, true}} {
		t.Run(test.name, func(t *testing.T) {
			objs := cluster(parse[runtime.Object](fmt.Sprintf(pair, "a", 1)), parse[runtime.Object](fmt.Sprintf(pair, "b", test.second)))
			a := write(Create, configMap, nil)
			a.DryRun = test.dryRun
			if err := (&ResourceQuota{lister: objs}).Validate(context.Background(), a); (err == nil) != test.dryRun {
				t.Fatalf("error %v", err)
			}
			if got := quota.Format(objs.items[0].(*corev1.ResourceQuota).Status.Used); got != "configmaps=0" {
				t.Errorf("used %s, want nothing", got)
			}
		})
	}
}
