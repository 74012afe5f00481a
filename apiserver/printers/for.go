package printers

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// For returns the columns of a built-in kind, nil when it prints Default.
func For(kind schema.GroupKind) *Columns {
	if make := table()[kind.String()]; make != nil {
		return make()
	}
	return nil
}

// table names the columns by kind and group.
func table() map[string]func() *Columns {
	return map[string]func() *Columns{
		"ComponentStatus":       componentStatusColumns,
		"ConfigMap":             configMapColumns,
		"Endpoints":             endpointsColumns,
		"Event":                 eventColumns,
		"Namespace":             namespaceColumns,
		"Node":                  nodeColumns,
		"PersistentVolume":      persistentVolumeColumns,
		"PersistentVolumeClaim": persistentVolumeClaimColumns,
		"Pod":                   podColumns,
		"PodTemplate":           podTemplateColumns,
		"ReplicationController": replicationControllerColumns,
		"ResourceQuota":         resourceQuotaColumns,
		"Secret":                secretColumns,
		"Service":               serviceColumns,
		"ServiceAccount":        aged[*corev1.ServiceAccount],

		"ControllerRevision.apps": controllerRevisionColumns,
		"DaemonSet.apps":          daemonSetColumns,
		"Deployment.apps":         deploymentColumns,
		"ReplicaSet.apps":         replicaSetColumns,
		"StatefulSet.apps":        statefulSetColumns,
		"CronJob.batch":           cronJobColumns,
		"Job.batch":               jobColumns,

		"HorizontalPodAutoscaler.autoscaling": horizontalPodAutoscalerColumns,
		"Scale.autoscaling":                   scaleColumns,
		"PodDisruptionBudget.policy":          podDisruptionBudgetColumns,
		"PriorityClass.scheduling.k8s.io":     priorityClassColumns,
		"RuntimeClass.node.k8s.io":            runtimeClassColumns,
		"Lease.coordination.k8s.io":           leaseColumns,

		"EndpointSlice.discovery.k8s.io":  endpointSliceColumns,
		"Ingress.networking.k8s.io":       ingressColumns,
		"IngressClass.networking.k8s.io":  ingressClassColumns,
		"IPAddress.networking.k8s.io":     ipAddressColumns,
		"NetworkPolicy.networking.k8s.io": networkPolicyColumns,
		"ServiceCIDR.networking.k8s.io":   serviceCIDRColumns,

		"CSIDriver.storage.k8s.io":                        csiDriverColumns,
		"CSINode.storage.k8s.io":                          csiNodeColumns,
		"CSIStorageCapacity.storage.k8s.io":               csiStorageCapacityColumns,
		"StorageClass.storage.k8s.io":                     storageClassColumns,
		"VolumeAttachment.storage.k8s.io":                 volumeAttachmentColumns,
		"VolumeAttributesClass.storage.k8s.io":            volumeAttributesClassColumns,
		"StorageVersionMigration.storagemigration.k8s.io": storageVersionMigrationColumns,

		"ClusterRoleBinding.rbac.authorization.k8s.io":  clusterRoleBindingColumns,
		"RoleBinding.rbac.authorization.k8s.io":         roleBindingColumns,
		"CertificateSigningRequest.certificates.k8s.io": certificateSigningRequestColumns,
		"ClusterTrustBundle.certificates.k8s.io":        clusterTrustBundleColumns,
		"PodCertificateRequest.certificates.k8s.io":     podCertificateRequestColumns,
		"APIService.apiregistration.k8s.io":             apiServiceColumns,
		"CustomResourceDefinition.apiextensions.k8s.io": customResourceDefinitionColumns,

		"MutatingAdmissionPolicy.admissionregistration.k8s.io":          mutatingPolicyColumns,
		"MutatingAdmissionPolicyBinding.admissionregistration.k8s.io":   mutatingBindingColumns,
		"MutatingWebhookConfiguration.admissionregistration.k8s.io":     mutatingWebhookColumns,
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io":        validatingPolicyColumns,
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": validatingBindingColumns,
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io":   validatingWebhookColumns,

		"FlowSchema.flowcontrol.apiserver.k8s.io":                 flowSchemaColumns,
		"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io": priorityLevelColumns,

		"DeviceClass.resource.k8s.io":           aged[*resourcev1.DeviceClass],
		"DeviceTaintRule.resource.k8s.io":       deviceTaintRuleColumns,
		"ResourceClaim.resource.k8s.io":         resourceClaimColumns,
		"ResourceClaimTemplate.resource.k8s.io": aged[*resourcev1.ResourceClaimTemplate],
		"ResourceSlice.resource.k8s.io":         resourceSliceColumns,
	}
}
