package persistentvolume

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"
)

func decode[T any](t *testing.T, manifest string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.Unmarshal([]byte(manifest), object); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
	return object
}

// claimOf is 2Gi, ReadWriteOnce, of class slow.
func claimOf(t *testing.T, meta, spec string) *corev1.PersistentVolumeClaim {
	claim := decode[corev1.PersistentVolumeClaim](t, fmt.Sprintf(`{metadata: {name: c, namespace: ns, uid: u%s},
		spec: {accessModes: [ReadWriteOnce], storageClassName: slow, resources: {requests: {storage: 2Gi}}}, status: {phase: Pending}}`, meta))
	if err := yaml.Unmarshal([]byte("{"+spec+"}"), &claim.Spec); err != nil {
		t.Fatal(err)
	}
	return claim
}

func volumeOf(t *testing.T, name, size, spec string) *corev1.PersistentVolume {
	v := decode[corev1.PersistentVolume](t, fmt.Sprintf(`{metadata: {name: %s, labels: {disk: %s}}, status: {phase: Available},
		spec: {accessModes: [ReadWriteOnce], storageClassName: slow, capacity: {storage: %s}}}`, name, name, size))
	if err := yaml.Unmarshal([]byte("{"+spec+"}"), &v.Spec); err != nil {
		t.Fatal(err)
	}
	return v
}

type fakeWorld struct {
	volumes []*corev1.PersistentVolume
	classes cache.Indexer
	pods    []string
}

func (w *fakeWorld) volume(name string) *corev1.PersistentVolume {
	for _, v := range w.volumes {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (w *fakeWorld) candidates(*corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	return slices.Clone(w.volumes)
}

func (w *fakeWorld) storageClasses() storagelisters.StorageClassLister {
	return storagelisters.NewStorageClassLister(w.classes)
}

func (w *fakeWorld) unscheduled(*corev1.PersistentVolumeClaim) []string { return w.pods }

const (
	slow       = "{metadata: {name: slow}, provisioner: csi.example.com, volumeBindingMode: Immediate}"
	slowManual = "{metadata: {name: slow}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: Immediate}"
	slowWaits  = "{metadata: {name: slow}, provisioner: csi.example.com, volumeBindingMode: WaitForFirstConsumer}"
	slowFirst  = `{metadata: {name: slow, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: csi.example.com, volumeBindingMode: Immediate}`
	completed  = `, annotations: {pv.kubernetes.io/bind-completed: "yes"}`
	external   = "Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. " +
		"If volume creation is delayed, please verify that the provisioner is running and correctly registered."
)

func TestDecideClaim(t *testing.T) {
	free := func(name, size string) *corev1.PersistentVolume { return volumeOf(t, name, size, "") }
	with := func(name, size, spec string) *corev1.PersistentVolume { return volumeOf(t, name, size, spec) }
	fresh := free("fresh", "2Gi")
	fresh.Status.Phase = corev1.VolumePending
	going := free("going", "2Gi")
	going.DeletionTimestamp = &going.CreationTimestamp
	plain := func(spec string) *corev1.PersistentVolumeClaim { return claimOf(t, "", spec) }
	for name, test := range map[string]struct {
		claim   *corev1.PersistentVolumeClaim
		volumes []*corev1.PersistentVolume
		class   string
		pods    []string
		want    string // the step in words
		phase   corev1.PersistentVolumeClaimPhase
		ask     bool // a provisioner
	}{
		"smallest that fits":             {claim: plain(""), volumes: vols(free("a", "1Gi"), free("b", "9Gi"), free("c", "3Gi")), want: "bind to volume c"},
		"fewest access modes":            {claim: plain(""), volumes: vols(with("a", "2Gi", "accessModes: [ReadWriteOnce, ReadOnlyMany]"), free("b", "9Gi")), want: "bind to volume b"},
		"more access modes":              {claim: plain(""), volumes: vols(with("a", "2Gi", "accessModes: [ReadWriteOnce, ReadOnlyMany]")), want: "bind to volume a"},
		"other access mode":              {claim: plain(""), volumes: vols(with("a", "2Gi", "accessModes: [ReadOnlyMany]")), class: slow, want: external, phase: "Pending", ask: true},
		"other volumeMode":               {claim: plain(""), volumes: vols(with("a", "2Gi", "volumeMode: Block")), class: slow, want: external, phase: "Pending", ask: true},
		"labels":                         {claim: plain("selector: {matchLabels: {disk: b}}"), volumes: vols(free("a", "2Gi"), free("b", "9Gi")), want: "bind to volume b"},
		"the volume waits for the claim": {claim: plain(""), volumes: vols(free("a", "2Gi"), with("b", "9Gi", "claimRef: {namespace: ns, name: c}")), want: "bind to volume b"},
		"it waits for another":           {claim: plain(""), volumes: vols(with("b", "9Gi", "claimRef: {namespace: ns, name: d}")), class: slow, want: external, phase: "Pending", ask: true},
		"going":                          {claim: plain(""), volumes: vols(going), class: slow, want: external, phase: "Pending", ask: true},
		"new volume":                     {claim: plain(""), volumes: vols(fresh), class: slow, want: "stay Pending", phase: "Pending"},
		"no such class":                  {claim: plain(""), want: `storageclass.storage.k8s.io "slow" not found`, phase: "Pending"},
		"no provisioner":                 {claim: plain(""), class: slowManual, want: "no volume plugin matched name: kubernetes.io/no-provisioner", phase: "Pending"},
		"no class at all":                {claim: plain("storageClassName: ''"), class: slowFirst, want: "no persistent volumes available for this claim and no storage class is set", phase: "Pending"},
		"default class":                  {claim: plain("storageClassName: null"), class: slowFirst, want: "take the default class slow"},
		"no consumer":                    {claim: plain(""), volumes: vols(free("a", "2Gi")), class: slowWaits, want: "waiting for first consumer to be created before binding", phase: "Pending"},
		"consumer without node":          {claim: plain(""), class: slowWaits, pods: []string{"p"}, want: "waiting for pod p to be scheduled", phase: "Pending"},
		"consumers without node":         {claim: plain(""), class: slowWaits, pods: []string{"p", "q"}, want: "waiting for pods p,q to be scheduled", phase: "Pending"},
		"scheduled consumer":             {claim: claimOf(t, ", annotations: {volume.kubernetes.io/selected-node: n}", ""), class: slowWaits, want: external, phase: "Pending", ask: true},
		"the scheduler chose":            {claim: plain(""), volumes: vols(with("b", "9Gi", "claimRef: {namespace: ns, name: c, uid: u}")), class: slowWaits, want: "bind to volume b"},
		"by name":                        {claim: plain("volumeName: a"), volumes: vols(free("a", "9Gi")), want: "bind to volume a"},
		"by name, none":                  {claim: plain("volumeName: a"), want: "stay Pending", phase: "Pending"},
		"by name, too small":             {claim: plain("volumeName: a"), volumes: vols(free("a", "1Gi")), want: `Cannot bind to requested volume "a": requested PV is too small`, phase: "Pending"},
		"by name, other class":           {claim: plain("volumeName: a"), volumes: vols(with("a", "2Gi", "storageClassName: fast")), want: `Cannot bind to requested volume "a": storageClassName does not match`, phase: "Pending"},
		"by name, taken":                 {claim: plain("volumeName: a"), volumes: vols(with("a", "2Gi", "claimRef: {namespace: ns, name: d, uid: v}")), want: `volume "a" already bound to a different claim.`, phase: "Pending"},
		"bound":                          {claim: claimOf(t, completed, "volumeName: a"), volumes: vols(with("a", "2Gi", "claimRef: {namespace: ns, name: c, uid: u}")), want: "bind to volume a"},
		"bound to none":                  {claim: claimOf(t, completed, ""), want: "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!", phase: "Lost"},
		"bound to what is gone":          {claim: claimOf(t, completed, "volumeName: a"), want: "Bound claim has lost its PersistentVolume. Data on the volume is lost!", phase: "Lost"},
		"bound to another's":             {claim: claimOf(t, completed, "volumeName: a"), volumes: vols(with("a", "2Gi", "claimRef: {namespace: ns, name: d, uid: v}")), want: "Two claims are bound to the same volume, this one is bound incorrectly", phase: "Lost"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &fakeWorld{volumes: test.volumes, pods: test.pods, classes: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)}
			if test.class != "" {
				if err := w.classes.Add(decode[storagev1.StorageClass](t, test.class)); err != nil {
					t.Fatal(err)
				}
			}
			step, err := decideClaim(test.claim, w)
			if err != nil {
				t.Fatal(err)
			}
			if step.String() != test.want || step.phase != test.phase || (step.provisioner != "") != test.ask {
				t.Errorf("decided to %q with phase %q, provisioner %q", step, step.phase, step.provisioner)
			}
		})
	}
}

func vols(v ...*corev1.PersistentVolume) []*corev1.PersistentVolume { return v }

func TestDecideVolume(t *testing.T) {
	const made = `, annotations: {pv.kubernetes.io/provisioned-by: csi.example.com}`
	for name, test := range map[string]struct {
		volume, claim string // what they say beside their names
		want          volumeStep
	}{
		"free":                      {volume: "spec: {}", want: offer},
		"for a claim to come":       {volume: "spec: {claimRef: {name: c}}", want: offer},
		"its claim has gone":        {volume: "spec: {claimRef: {name: c, uid: u}}", want: release},
		"its claim was made again":  {volume: "spec: {claimRef: {name: c, uid: u}}", claim: "metadata: {uid: v}", want: release},
		"bound":                     {volume: "spec: {claimRef: {name: c, uid: u}}", claim: "{metadata: {uid: u}, spec: {volumeName: a}}", want: keep},
		"half bound":                {volume: "spec: {claimRef: {name: c, uid: u}}", claim: "{metadata: {uid: u}}", want: leave},
		"half bound, wrong mode":    {volume: "spec: {volumeMode: Block, claimRef: {name: c, uid: u}}", claim: "{metadata: {uid: u}}", want: mismatch},
		"its claim is elsewhere":    {volume: "spec: {claimRef: {name: c, uid: u}}", claim: "{metadata: {uid: u}, spec: {volumeName: b}}", want: unbind},
		"made for one that did not": {volume: "metadata: {name: a" + made + "}\nspec: {persistentVolumeReclaimPolicy: Delete, claimRef: {name: c, uid: u}}", claim: "{metadata: {uid: u}, spec: {volumeName: b}}", want: release},
	} {
		t.Run(name, func(t *testing.T) {
			v := decode[corev1.PersistentVolume](t, "metadata: {name: a}\n"+test.volume)
			if test.volume[:4] == "meta" {
				v = decode[corev1.PersistentVolume](t, test.volume)
			}
			var claim *corev1.PersistentVolumeClaim
			if test.claim != "" {
				claim = decode[corev1.PersistentVolumeClaim](t, test.claim)
			}
			if got := decideVolume(v, claim); got != test.want {
				t.Errorf("decided to %s, want %s", got, test.want)
			}
		})
	}
}
