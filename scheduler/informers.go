package scheduler

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/trace"
)

// newPodInformer watches the pods that take, or want, room on a node. One that
// becomes terminal is seen as deleted.
func newPodInformer(client kubernetes.Interface, resync time.Duration) toolscache.SharedIndexInformer {
	return coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, resync,
		toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc},
		func(options *metav1.ListOptions) {
			options.FieldSelector = "status.phase!=Succeeded,status.phase!=Failed"
		})
}

func podLister(factory informers.SharedInformerFactory) corelisters.PodLister {
	return corelisters.NewPodLister(factory.InformerFor(&v1.Pod{}, newPodInformer).GetIndexer())
}

// strip drops what takes much memory and no part in scheduling.
func strip(obj any) (any, error) {
	if o, ok := obj.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// handle gives plugins client and listers. The informers behind them are started with all others.
func handle(config Config, client kubernetes.Interface, factory informers.SharedInformerFactory) framework.Handle {
	return framework.Handle{
		Client: client, Clock: config.Clock,
		Namespaces:             factory.Core().V1().Namespaces().Lister(),
		Services:               factory.Core().V1().Services().Lister(),
		ReplicationControllers: factory.Core().V1().ReplicationControllers().Lister(),
		ReplicaSets:            factory.Apps().V1().ReplicaSets().Lister(),
		StatefulSets:           factory.Apps().V1().StatefulSets().Lister(),
		Claims:                 factory.Core().V1().PersistentVolumeClaims().Lister(),
		Volumes:                factory.Core().V1().PersistentVolumes().Lister(),
		Classes:                factory.Storage().V1().StorageClasses().Lister(),
		CSINodes:               factory.Storage().V1().CSINodes().Lister(),
		Attachments:            factory.Storage().V1().VolumeAttachments().Lister(),
	}
}

// watch connects cache and queue with the informers. What it returns is done
// once the handlers have seen all that exists.
func (s *scheduler) watch(factory informers.SharedInformerFactory) ([]toolscache.DoneChecker, error) {
	var synced []toolscache.DoneChecker
	add := func(informer toolscache.SharedIndexInformer, changed func(old, new any)) error {
		registration, err := informer.AddEventHandler(handler(changed))
		if err == nil {
			synced = append(synced, registration.HasSyncedChecker())
		}
		return err
	}
	// Nodes before pods, so that pods are not counted on unknown nodes at first.
	if err := add(factory.Core().V1().Nodes().Informer(), of(s.nodeChanged)); err != nil {
		return nil, err
	}
	if err := add(factory.InformerFor(&v1.Pod{}, newPodInformer), of(s.podChanged)); err != nil {
		return nil, err
	}
	for _, watched := range []struct {
		informer toolscache.SharedIndexInformer
		resource string
		event    framework.Event
	}{
		{factory.Core().V1().Namespaces().Informer(), "namespaces", framework.NamespaceLabelUpdate},
		{factory.Core().V1().Services().Informer(), "services", framework.ServiceChange},
		{factory.Core().V1().PersistentVolumeClaims().Informer(), "persistentvolumeclaims", framework.ClaimChange},
		{factory.Core().V1().PersistentVolumes().Informer(), "persistentvolumes", framework.VolumeChange},
		{factory.Storage().V1().StorageClasses().Informer(), "storageclasses.storage.k8s.io", framework.StorageClassChange},
		{factory.Storage().V1().CSINodes().Informer(), "csinodes.storage.k8s.io", framework.CSIChange},
		{factory.Storage().V1().VolumeAttachments().Informer(), "volumeattachments.storage.k8s.io", framework.CSIChange},
	} {
		if err := add(watched.informer, s.moveOn(watched.event, watched.resource)); err != nil {
			return nil, err
		}
	}
	for _, informer := range []toolscache.SharedIndexInformer{
		factory.Core().V1().ReplicationControllers().Informer(),
		factory.Apps().V1().ReplicaSets().Informer(),
		factory.Apps().V1().StatefulSets().Informer(),
		factory.Policy().V1().PodDisruptionBudgets().Informer(),
	} {
		synced = append(synced, informer.HasSyncedChecker())
	}
	return synced, nil
}

// handler calls changed for every event, with nil for what is not there.
func handler(changed func(old, new any)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { changed(nil, obj) },
		UpdateFunc: changed,
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			changed(obj, nil)
		},
	}
}

// moveOn returns a handler that lets an object's events try rejected pods again.
func (s *scheduler) moveOn(event framework.Event, resource string) func(old, new any) {
	return func(old, new any) {
		o, _ := old.(metav1.Object)
		n, _ := new.(metav1.Object)
		if o != nil || n != nil {
			s.queue.Move(change(event, resource, o, n))
		}
	}
}

// of gives changed its type.
func of[T any](changed func(old, new *T)) func(old, new any) {
	return func(old, new any) {
		o, _ := old.(*T)
		n, _ := new.(*T)
		changed(o, n)
	}
}

// change describes an event on an object, its newest state being the one to name.
func change(event framework.Event, resource string, old, new metav1.Object) framework.Change {
	newest := new
	c := framework.Change{Event: event}
	if old != nil {
		c.Old, newest = old, old
	}
	if new != nil {
		c.New, newest = new, new
	}
	c.Object = trace.ObjectName(resource, "", newest.GetNamespace(), newest.GetName())
	c.Revision = revision(newest)
	return c
}
