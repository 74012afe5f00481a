package framework

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/utils/clock"
)

// Handle is what plugins may use beyond pods and nodes. Only PreBind makes requests.
type Handle struct {
	Client kubernetes.Interface
	Clock  clock.WithTicker

	Namespaces             corelisters.NamespaceLister
	Services               corelisters.ServiceLister
	ReplicationControllers corelisters.ReplicationControllerLister
	ReplicaSets            appslisters.ReplicaSetLister
	StatefulSets           appslisters.StatefulSetLister
	Claims                 corelisters.PersistentVolumeClaimLister
	Volumes                corelisters.PersistentVolumeLister
	Classes                storagelisters.StorageClassLister
	CSINodes               storagelisters.CSINodeLister
	Attachments            storagelisters.VolumeAttachmentLister
}

// NamespaceLabels returns the labels of a namespace; none if it is not known.
func (h Handle) NamespaceLabels(name string) labels.Set {
	if h.Namespaces == nil {
		return nil
	}
	namespace, err := h.Namespaces.Get(name)
	if err != nil {
		return nil
	}
	return namespace.Labels
}
