package volumebinding_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/volumebinding"
)

func decode[T any](t *testing.T, manifest string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.Unmarshal([]byte(manifest), object); err != nil {
		t.Fatal(err)
	}
	return object
}

func claim(t *testing.T, name, size, annotations string) *v1.PersistentVolumeClaim {
	return decode[v1.PersistentVolumeClaim](t, fmt.Sprintf(`{metadata: {name: %s, uid: %s, namespace: default, annotations: {%s}},
		spec: {storageClassName: slow, accessModes: [ReadWriteOnce], resources: {requests: {storage: %s}}}}`, name, name, annotations, size))
}

func volume(t *testing.T, name, size, host string) *v1.PersistentVolume {
	return decode[v1.PersistentVolume](t, fmt.Sprintf(`{metadata: {name: %s}, status: {phase: Available}, spec: {storageClassName: slow, accessModes: [ReadWriteOnce],
		capacity: {storage: %s}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [%s]}]}]}}}}`, name, size, host))
}

func TestChoose(t *testing.T) {
	one, two := claim(t, "one", "1Gi", ""), claim(t, "two", "2Gi", "")
	small, large, far := volume(t, "small", "1Gi", "a"), volume(t, "large", "5Gi", "a"), volume(t, "far", "1Gi", "b")
	const provisioner, manual = "csi.example.com", "kubernetes.io/no-provisioner"
	for name, test := range map[string]struct {
		claims      []*v1.PersistentVolumeClaim
		volumes     []*v1.PersistentVolume
		taken       []string
		provisioner string
		topology    string
		want        []string // the volumes, "new" for one to be provisioned
		ok          bool
	}{
		"the smallest that will do":  {claims: only(one), volumes: vols(large, small), provisioner: manual, want: []string{"small"}, ok: true},
		"not one of another node":    {claims: only(one), volumes: vols(far), provisioner: manual},
		"not one set aside":          {claims: only(one), volumes: vols(small), taken: []string{"small"}, provisioner: manual},
		"too small":                  {claims: only(two), volumes: vols(small), provisioner: manual},
		"each its own":               {claims: []*v1.PersistentVolumeClaim{one, two}, volumes: vols(small, large), provisioner: manual, want: []string{"small", "large"}, ok: true},
		"not enough for both":        {claims: []*v1.PersistentVolumeClaim{one, two}, volumes: vols(large), provisioner: manual},
		"what is missing is made":    {claims: []*v1.PersistentVolumeClaim{one, two}, volumes: vols(small), provisioner: provisioner, want: []string{"small", "new"}, ok: true},
		"not in that topology":       {claims: only(one), provisioner: provisioner, topology: "[{matchLabelExpressions: [{key: host, values: [b]}]}]"},
		"in that topology":           {claims: only(one), provisioner: provisioner, topology: "[{matchLabelExpressions: [{key: host, values: [a]}]}]", want: []string{"new"}, ok: true},
		"the node was chosen before": {claims: only(claim(t, "c", "1Gi", "volume.kubernetes.io/selected-node: a")), provisioner: provisioner, want: []string{"new"}, ok: true},
		"another was chosen before":  {claims: only(claim(t, "c", "1Gi", "volume.kubernetes.io/selected-node: b")), volumes: vols(small), provisioner: provisioner},
	} {
		t.Run(name, func(t *testing.T) {
			class := decode[storagev1.StorageClass](t, "{provisioner: "+test.provisioner+", allowedTopologies: "+or(test.topology, "[]")+"}")
			taken := map[string]*v1.PersistentVolume{}
			for _, name := range test.taken {
				taken[name] = nil
			}
			node := frameworktest.Node(t, "metadata: {name: a, labels: {host: a}}")
			choices, ok := volumebinding.Choose(test.claims, node, test.volumes, taken, func(string) *storagev1.StorageClass { return class })
			if ok != test.ok || len(choices) != len(test.want) {
				t.Fatalf("got %v, %v, want %v, %v", choices, ok, test.want, test.ok)
			}
			for i, c := range choices {
				got := "new"
				if c.Volume != nil {
					got = c.Volume.Name
				}
				if got != test.want[i] || c.Claim != test.claims[i] {
					t.Errorf("claim %s gets %s, want %s", c.Claim.Name, got, test.want[i])
				}
			}
		})
	}
}

func only(c *v1.PersistentVolumeClaim) []*v1.PersistentVolumeClaim {
	return []*v1.PersistentVolumeClaim{c}
}
func vols(v ...*v1.PersistentVolume) []*v1.PersistentVolume { return v }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
