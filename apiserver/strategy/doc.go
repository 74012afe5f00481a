// Package strategy holds what the registries of Kubernetes do to an object
// between defaulting and validation: they drop what a client may not set, keep
// what it may not change, and derive what follows from the rest.
//
// A function is named after its kind, and is given what is to be stored and
// what is stored (nil on create):
//
//	strategy.Service(service, old)
//
// Those named Status, Approval and so on are for writes to that subresource. All
// work in place and are pure; the few that stamp a time are given it. Only kinds
// that need more than the general rules have a function:
//
//	create  status is emptied if the kind has a status subresource
//	update  status is kept from old if the kind has a status subresource
//	status  all but status and the client's metadata is kept from old
//
// # Exceptions to the general rules
//
//	kind                       what is kept or set besides
//	Node                       create keeps the status that the client sent
//	Namespace                  spec.finalizers and phase are the server's; spec changes through finalize alone
//	Pod                        phase Pending and qosClass on create; the kubelet's status may not clear qosClass
//	PersistentVolume(Claim)    phase Pending on create
//	Deployment                 a status write keeps labels; annotations count for the generation
//	DaemonSet                  an annotation counts the templates
//	Job                        labels and selector are made of the uid
//	Service                    addresses and ports live on in an update that leaves them out
//	Secret                     stringData moves to data
//	ServiceAccount             secrets are names only
//	CertificateSigningRequest  spec never changes; conditions only through approval
//	VolumeAttachment, ResourceClaim, FlowSchema, PriorityLevelConfiguration,
//	ValidatingAdmissionPolicy  a status write keeps all metadata: see MetaForStatus
//
// # Generation
//
// metadata.generation is 1 on create and rises with each change of spec for
//
//	core         Pod, PodTemplate (template), ReplicationController
//	apps         Deployment (or annotations), ReplicaSet, StatefulSet, DaemonSet
//	batch        Job, CronJob
//	autoscaling  HorizontalPodAutoscaler
//	policy       PodDisruptionBudget
//	networking   Ingress, IngressClass, NetworkPolicy
//	discovery    EndpointSlice (anything but metadata, or labels)
//	scheduling   PriorityClass (1 for good)
//	admission    Validating- and MutatingWebhookConfiguration (webhooks),
//	registration Validating- and MutatingAdmissionPolicy, and their bindings
//	flowcontrol  FlowSchema, PriorityLevelConfiguration
//	resource     DeviceClass, ResourceSlice, DeviceTaintRule
//	apiextensions CustomResourceDefinition, and every custom resource (all but
//	             metadata, and status where that is a subresource)
//
// All others have none, not even zero: Namespace, Node, Service, Endpoints,
// ConfigMap, Secret, ServiceAccount, Event, LimitRange, ResourceQuota, the
// storage kinds but CSIDriver (which counts changes only, from none), RBAC,
// Lease, RuntimeClass, ControllerRevision, ResourceClaim and its template,
// CertificateSigningRequest, ServiceCIDR, IPAddress.
//
// What the general rule cannot see, a change outside of spec, is counted by the
// functions of generation.go.
package strategy
