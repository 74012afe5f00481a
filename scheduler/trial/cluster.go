package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	toolscache "k8s.io/client-go/tools/cache"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubesim/kubesim/scheduler/cache"
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins"
	"github.com/kubesim/kubesim/scheduler/profile"
)

// Cluster is what of a cluster scheduling looks at, at one moment.
type Cluster struct {
	snapshot *framework.Snapshot
	profile  *profile.Profile
}

// Read lists what the plugins of a profile look at; nil stands for the default one.
func Read(ctx context.Context, client kubernetes.Interface, p *configv1.KubeSchedulerProfile) (*Cluster, error) {
	if p == nil {
		p = &configv1.KubeSchedulerProfile{}
	}
	handle, err := handleOf(ctx, client)
	if err != nil {
		return nil, err
	}
	set, err := plugins.For(handle, p)
	if err != nil {
		return nil, err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	if err != nil {
		return nil, err
	}
	c := &Cluster{snapshot: framework.NewSnapshot(), profile: profile.New("", set.Rows)}
	known := cache.New()
	for i := range nodes.Items {
		known.SetNode(&nodes.Items[i])
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == "" {
			continue
		}
		if err := known.SetPod(&pods.Items[i]); err != nil {
			return nil, fmt.Errorf("pod %s/%s: %w", pods.Items[i].Namespace, pods.Items[i].Name, err)
		}
	}
	known.Update(c.snapshot)
	return c, nil
}

// handleOf fills listers with what the API has.
func handleOf(ctx context.Context, client kubernetes.Interface) (framework.Handle, error) {
	core, apps, storage := client.CoreV1(), client.AppsV1(), client.StorageV1()
	var all metav1.ListOptions
	l := lists{}
	handle := framework.Handle{
		Namespaces:             corelisters.NewNamespaceLister(l.add(core.Namespaces().List(ctx, all))),
		Services:               corelisters.NewServiceLister(l.add(core.Services("").List(ctx, all))),
		ReplicationControllers: corelisters.NewReplicationControllerLister(l.add(core.ReplicationControllers("").List(ctx, all))),
		ReplicaSets:            appslisters.NewReplicaSetLister(l.add(apps.ReplicaSets("").List(ctx, all))),
		StatefulSets:           appslisters.NewStatefulSetLister(l.add(apps.StatefulSets("").List(ctx, all))),
		Claims:                 corelisters.NewPersistentVolumeClaimLister(l.add(core.PersistentVolumeClaims("").List(ctx, all))),
		Volumes:                corelisters.NewPersistentVolumeLister(l.add(core.PersistentVolumes().List(ctx, all))),
		Classes:                storagelisters.NewStorageClassLister(l.add(storage.StorageClasses().List(ctx, all))),
		CSINodes:               storagelisters.NewCSINodeLister(l.add(storage.CSINodes().List(ctx, all))),
		Attachments:            storagelisters.NewVolumeAttachmentLister(l.add(storage.VolumeAttachments().List(ctx, all))),
	}
	return handle, l.err
}

// lists makes indexers of lists, and remembers the first error.
type lists struct{ err error }

func (l *lists) add(list runtime.Object, err error) toolscache.Indexer {
	indexer := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
	var items []runtime.Object
	if err == nil {
		items, err = meta.ExtractList(list)
	}
	for _, item := range items {
		if err == nil {
			err = indexer.Add(item)
		}
	}
	if l.err == nil {
		l.err = err
	}
	return indexer
}

// Verdict is what the plugins say of one node.
type Verdict struct {
	Node string
	// Rejections by the plugins that reject the node; none if it is feasible.
	Rejections []*framework.Status
	// Score of a feasible node, and what each plugin gave to it.
	Score  int64
	Scores []Score
}

// Score is what one plugin gave a node.
type Score struct {
	Plugin                  string
	Raw, Normalized, Weight int64
}

// Table is what the plugins say of all nodes.
type Table struct {
	// Rejected is set when the pod is turned away before any node is looked at.
	Rejected *framework.Status
	Nodes    []Verdict // by name
}

// Feasible counts the nodes that would take the pod.
func (t *Table) Feasible() int {
	n := 0
	for _, v := range t.Nodes {
		if len(v.Rejections) == 0 {
			n++
		}
	}
	return n
}

// Judge lets all plugins look at all nodes, whether another one rejects them or not.
func (c *Cluster) Judge(pod *v1.Pod) (*Table, error) {
	info, err := framework.NewPendingPodInfo(pod)
	if err != nil {
		return nil, err
	}
	if status := c.profile.PreEnqueue(pod); !status.OK() {
		return &Table{Rejected: status}, nil
	}
	attempt, status := c.profile.Start(info, c.snapshot)
	if !status.OK() {
		return &Table{Rejected: status}, nil
	}
	table := &Table{}
	var feasible []*framework.NodeInfo
	for _, node := range c.snapshot.Nodes {
		v := Verdict{Node: node.Name(), Rejections: attempt.Rejections(node)}
		if len(v.Rejections) == 0 {
			feasible = append(feasible, node)
		}
		table.Nodes = append(table.Nodes, v)
	}
	if len(feasible) > 0 {
		table.score(attempt.Score(feasible))
	}
	slices.SortFunc(table.Nodes, func(a, b Verdict) int { return strings.Compare(a.Node, b.Node) })
	return table, nil
}

func (t *Table) score(scores profile.Scores) {
	place := map[string]int{}
	for i, node := range scores.Nodes {
		place[node.Name()] = i
	}
	for i := range t.Nodes {
		at, ok := place[t.Nodes[i].Node]
		if !ok {
			continue
		}
		t.Nodes[i].Score = scores.Totals[at]
		for _, p := range scores.Plugins {
			t.Nodes[i].Scores = append(t.Nodes[i].Scores, Score{p.Plugin, p.Raw[at], p.Normalized[at], p.Weight})
		}
	}
}
