package kinds

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/strategy"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// Rules are the hooks of a Kind or of one of its subresources: pure functions
// of the object and, but for Default, of what is stored, which is nil on create.
// Default and Prepare may change the object. They run in the order of the fields.
type Rules struct {
	Default  func(obj runtime.Object)                      // fills what the client left out
	Prepare  func(obj, old runtime.Object)                 // drops what the client may not set
	Validate func(obj, old runtime.Object) field.ErrorList // refuses
	Warnings func(obj, old runtime.Object) []string        // texts of Warning headers
}

// rules are the hooks by resource, subresource and group, with the version where
// versions differ. What is not here has the general rules alone.
func rules(now func() metav1.Time) map[string]Rules {
	return map[string]Rules{
		"pods":                                    {Default: on(defaults.Pod), Prepare: on2(strategy.Pod), Validate: asks(validation.Pod), Warnings: asks(validation.PodWarnings)},
		"pods/status":                             {Prepare: on2(strategy.PodStatus), Validate: asks(validation.PodStatus), Warnings: asks(validation.PodStatusWarnings)},
		"pods/ephemeralcontainers":                {Prepare: on2(strategy.PodEphemeralContainers), Validate: asks(validation.PodEphemeralContainers)},
		"pods/resize":                             {Prepare: on2(strategy.PodResize), Validate: asks(validation.PodResize)},
		"services":                                {Default: on(defaults.Service), Prepare: on2(strategy.Service), Validate: asks(validation.Service), Warnings: asks(validation.ServiceWarnings)},
		"services/status":                         {Validate: asks(validation.ServiceStatus), Warnings: asks(validation.ServiceStatusWarnings)},
		"namespaces":                              {Default: on(defaults.Namespace), Prepare: on2(strategy.Namespace), Validate: asks(validation.Namespace)},
		"namespaces/status":                       {Validate: asks(validation.NamespaceStatus)},
		"namespaces/finalize":                     {Prepare: on2(strategy.NamespaceFinalize), Validate: asks(validation.NamespaceFinalize)},
		"nodes":                                   {Default: on(defaults.Node), Prepare: on2(strategy.Node), Validate: asks(validation.Node), Warnings: asks(validation.NodeWarnings)},
		"nodes/status":                            {Validate: asks(validation.NodeStatus)},
		"configmaps":                              {Validate: asks(validation.ConfigMap)},
		"secrets":                                 {Default: on(defaults.Secret), Prepare: on2(strategy.Secret), Validate: asks(validation.Secret), Warnings: asks(validation.SecretWarnings)},
		"serviceaccounts":                         {Prepare: on2(strategy.ServiceAccount), Validate: asks(validation.ServiceAccount), Warnings: asks(validation.ServiceAccountWarnings)},
		"endpoints":                               {Default: on(defaults.Endpoints), Validate: asks(validation.Endpoints), Warnings: asks(validation.EndpointsWarnings)},
		"events":                                  {Validate: asks(validation.Event)},
		"replicationcontrollers":                  {Default: on(defaults.ReplicationController), Prepare: on2(strategy.ReplicationController), Validate: asks(validation.ReplicationController), Warnings: asks(validation.ReplicationControllerWarnings)},
		"replicationcontrollers/status":           {Validate: asks(validation.ReplicationControllerStatus)},
		"podtemplates":                            {Default: on(defaults.PodTemplate), Prepare: on2(strategy.PodTemplate), Validate: asks(validation.PodTemplate), Warnings: asks(validation.PodTemplateWarnings)},
		"limitranges":                             {Default: on(defaults.LimitRange), Validate: asks(validation.LimitRange)},
		"resourcequotas":                          {Default: on(defaults.ResourceQuota), Validate: asks(validation.ResourceQuota)},
		"resourcequotas/status":                   {Validate: asks(validation.ResourceQuotaStatus)},
		"persistentvolumes":                       {Default: on(defaults.PersistentVolume), Prepare: on2(func(obj, old *corev1.PersistentVolume) { strategy.PersistentVolume(obj, old, now()) }), Validate: asks(validation.PersistentVolume), Warnings: asks(validation.PersistentVolumeWarnings)},
		"persistentvolumes/status":                {Prepare: on2(func(obj, old *corev1.PersistentVolume) { strategy.PersistentVolumeStatus(obj, old, now()) }), Validate: asks(validation.PersistentVolumeStatus)},
		"persistentvolumeclaims":                  {Default: on(defaults.PersistentVolumeClaim), Prepare: on2(strategy.PersistentVolumeClaim), Validate: asks(validation.PersistentVolumeClaim), Warnings: asks(validation.PersistentVolumeClaimWarnings)},
		"persistentvolumeclaims/status":           {Validate: asks(validation.PersistentVolumeClaimStatus)},
		"events.events.k8s.io":                    {Validate: asks(validation.EventV1)},
		"deployments.apps":                        {Default: on(defaults.Deployment), Prepare: on2(strategy.Deployment), Validate: asks(validation.Deployment), Warnings: asks(validation.DeploymentWarnings)},
		"deployments/status.apps":                 {Prepare: on2(strategy.DeploymentStatus), Validate: asks(validation.DeploymentStatus)},
		"replicasets.apps":                        {Default: on(defaults.ReplicaSet), Prepare: on2(strategy.ReplicaSet), Validate: asks(validation.ReplicaSet), Warnings: asks(validation.ReplicaSetWarnings)},
		"replicasets/status.apps":                 {Validate: asks(validation.ReplicaSetStatus)},
		"statefulsets.apps":                       {Default: on(defaults.StatefulSet), Prepare: on2(strategy.StatefulSet), Validate: asks(validation.StatefulSet), Warnings: asks(validation.StatefulSetWarnings)},
		"statefulsets/status.apps":                {Validate: asks(validation.StatefulSetStatus)},
		"daemonsets.apps":                         {Default: on(defaults.DaemonSet), Prepare: on2(strategy.DaemonSet), Validate: asks(validation.DaemonSet), Warnings: asks(validation.DaemonSetWarnings)},
		"daemonsets/status.apps":                  {Validate: asks(validation.DaemonSetStatus)},
		"controllerrevisions.apps":                {Validate: asks(validation.ControllerRevision)},
		"jobs.batch":                              {Default: on(defaults.Job), Prepare: on2(strategy.Job), Validate: asks(validation.Job), Warnings: asks(validation.JobWarnings)},
		"jobs/status.batch":                       {Validate: asks(validation.JobStatus)},
		"cronjobs.batch":                          {Default: on(defaults.CronJob), Prepare: on2(strategy.CronJob), Validate: asks(validation.CronJob), Warnings: asks(validation.CronJobWarnings)},
		"horizontalpodautoscalers.autoscaling/v1": {Default: on(defaults.HorizontalPodAutoscalerV1), Prepare: on2(dropStatus), Validate: asks(validation.HorizontalPodAutoscalerV1)},
		"horizontalpodautoscalers.autoscaling/v2": {Default: on(defaults.HorizontalPodAutoscaler), Validate: asks(validation.HorizontalPodAutoscaler)},
		"horizontalpodautoscalers/status.autoscaling/v2":                  {Validate: asks(validation.HorizontalPodAutoscalerStatus)},
		"poddisruptionbudgets.policy":                                     {Validate: asks(validation.PodDisruptionBudget)},
		"poddisruptionbudgets/status.policy":                              {Validate: asks(validation.PodDisruptionBudgetStatus)},
		"ingresses.networking.k8s.io":                                     {Validate: asks(validation.Ingress), Warnings: asks(validation.IngressWarnings)},
		"ingresses/status.networking.k8s.io":                              {Validate: asks(validation.IngressStatus), Warnings: asks(validation.IngressStatusWarnings)},
		"ingressclasses.networking.k8s.io":                                {Default: on(defaults.IngressClass), Validate: asks(validation.IngressClass)},
		"networkpolicies.networking.k8s.io":                               {Default: on(defaults.NetworkPolicy), Validate: asks(validation.NetworkPolicy), Warnings: asks(validation.NetworkPolicyWarnings)},
		"ipaddresses.networking.k8s.io":                                   {Validate: asks(validation.IPAddress)},
		"servicecidrs.networking.k8s.io":                                  {Validate: asks(validation.ServiceCIDR)},
		"servicecidrs/status.networking.k8s.io":                           {Validate: asks(validation.ServiceCIDRStatus)},
		"endpointslices.discovery.k8s.io":                                 {Default: on(defaults.EndpointSlice), Prepare: on2(strategy.EndpointSlice), Validate: asks(validation.EndpointSlice), Warnings: asks(validation.EndpointSliceWarnings)},
		"leases.coordination.k8s.io":                                      {Validate: asks(validation.Lease)},
		"storageclasses.storage.k8s.io":                                   {Default: on(defaults.StorageClass), Validate: asks(validation.StorageClass), Warnings: asks(validation.StorageClassWarnings)},
		"volumeattachments.storage.k8s.io":                                {Default: on(defaults.VolumeAttachment), Validate: asks(validation.VolumeAttachment)},
		"volumeattachments/status.storage.k8s.io":                         {Prepare: keepMeta, Validate: asks(validation.VolumeAttachmentStatus)},
		"csinodes.storage.k8s.io":                                         {Prepare: on2(strategy.CSINode), Validate: asks(validation.CSINode)},
		"csidrivers.storage.k8s.io":                                       {Default: on(defaults.CSIDriver), Prepare: on2(strategy.CSIDriver), Validate: asks(validation.CSIDriver)},
		"csistoragecapacities.storage.k8s.io":                             {Validate: asks(validation.CSIStorageCapacity), Warnings: asks(validation.CSIStorageCapacityWarnings)},
		"volumeattributesclasses.storage.k8s.io":                          {Validate: asks(validation.VolumeAttributesClass)},
		"roles.rbac.authorization.k8s.io":                                 {Prepare: on2(strategy.Role), Validate: asks(validation.Role)},
		"rolebindings.rbac.authorization.k8s.io":                          {Default: on(defaults.RoleBinding), Validate: asks(validation.RoleBinding)},
		"clusterroles.rbac.authorization.k8s.io":                          {Prepare: on2(strategy.ClusterRole), Validate: asks(validation.ClusterRole)},
		"clusterrolebindings.rbac.authorization.k8s.io":                   {Default: on(defaults.ClusterRoleBinding), Validate: asks(validation.ClusterRoleBinding)},
		"priorityclasses.scheduling.k8s.io":                               {Default: on(defaults.PriorityClass), Validate: asks(validation.PriorityClass)},
		"runtimeclasses.node.k8s.io":                                      {Default: on(defaults.RuntimeClass), Validate: asks(validation.RuntimeClass), Warnings: asks(validation.RuntimeClassWarnings)},
		"mutatingwebhookconfigurations.admissionregistration.k8s.io":      {Default: on(defaults.MutatingWebhookConfiguration), Prepare: on2(strategy.MutatingWebhookConfiguration), Validate: asks(validation.MutatingWebhookConfiguration)},
		"validatingwebhookconfigurations.admissionregistration.k8s.io":    {Default: on(defaults.ValidatingWebhookConfiguration), Prepare: on2(strategy.ValidatingWebhookConfiguration), Validate: asks(validation.ValidatingWebhookConfiguration)},
		"validatingadmissionpolicies.admissionregistration.k8s.io":        {Default: on(defaults.ValidatingAdmissionPolicy), Validate: asks(validation.ValidatingAdmissionPolicy)},
		"validatingadmissionpolicies/status.admissionregistration.k8s.io": {Prepare: keepMeta, Validate: asks(validation.ValidatingAdmissionPolicyStatus)},
		"validatingadmissionpolicybindings.admissionregistration.k8s.io":  {Default: on(defaults.ValidatingAdmissionPolicyBinding), Validate: asks(validation.ValidatingAdmissionPolicyBinding)},
		"mutatingadmissionpolicies.admissionregistration.k8s.io":          {Default: on(defaults.MutatingAdmissionPolicy), Validate: asks(validation.MutatingAdmissionPolicy)},
		"mutatingadmissionpolicybindings.admissionregistration.k8s.io":    {Default: on(defaults.MutatingAdmissionPolicyBinding), Validate: asks(validation.MutatingAdmissionPolicyBinding)},
		"certificatesigningrequests.certificates.k8s.io":                  {Prepare: on2(strategy.CertificateSigningRequest), Validate: asks(validation.CertificateSigningRequest)},
		"certificatesigningrequests/status.certificates.k8s.io": {Prepare: on2(func(obj, old *certificatesv1.CertificateSigningRequest) {
			strategy.CertificateSigningRequestStatus(obj, old, now())
		}), Validate: asks(validation.CertificateSigningRequestStatus)},
		"certificatesigningrequests/approval.certificates.k8s.io": {Prepare: on2(func(obj, old *certificatesv1.CertificateSigningRequest) {
			strategy.CertificateSigningRequestApproval(obj, old, now())
		}), Validate: asks(validation.CertificateSigningRequestApproval)},
		"podcertificaterequests.certificates.k8s.io":                      {Default: on(defaults.PodCertificateRequest), Validate: asks(validation.PodCertificateRequest)},
		"podcertificaterequests/status.certificates.k8s.io":               {Validate: asks(validation.PodCertificateRequestStatus)},
		"clustertrustbundles.certificates.k8s.io":                         {Validate: asks(validation.ClusterTrustBundle)},
		"flowschemas.flowcontrol.apiserver.k8s.io":                        {Default: on(defaults.FlowSchema), Validate: asks(validation.FlowSchema)},
		"flowschemas/status.flowcontrol.apiserver.k8s.io":                 {Prepare: keepMeta, Validate: asks(validation.FlowSchemaStatus)},
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io":        {Default: on(defaults.PriorityLevelConfiguration), Validate: asks(validation.PriorityLevelConfiguration)},
		"prioritylevelconfigurations/status.flowcontrol.apiserver.k8s.io": {Prepare: keepMeta, Validate: asks(validation.PriorityLevelConfigurationStatus)},
		"apiservices.apiregistration.k8s.io":                              {Default: on(defaults.APIService), Prepare: on2(func(obj, old *apiregistrationv1.APIService) { strategy.APIService(obj, old, now()) }), Validate: asks(validation.APIService)},
		"apiservices/status.apiregistration.k8s.io":                       {Prepare: keepMeta, Validate: asks(validation.APIServiceStatus)},
		"customresourcedefinitions.apiextensions.k8s.io":                  {Default: on(defaults.CustomResourceDefinition), Prepare: on2(strategy.CustomResourceDefinition), Validate: asks(validation.CustomResourceDefinition), Warnings: asks(validation.CustomResourceDefinitionWarnings)},
		"customresourcedefinitions/status.apiextensions.k8s.io":           {Validate: asks(validation.CustomResourceDefinitionStatus)},
		"resourceclaims.resource.k8s.io":                                  {Default: on(defaults.ResourceClaim), Validate: asks(validation.ResourceClaim)},
		"resourceclaims/status.resource.k8s.io":                           {Prepare: keepMeta, Validate: asks(validation.ResourceClaimStatus)},
		"resourceclaimtemplates.resource.k8s.io":                          {Default: on(defaults.ResourceClaimTemplate), Validate: asks(validation.ResourceClaimTemplate)},
		"resourceslices.resource.k8s.io":                                  {Prepare: on2(strategy.ResourceSlice), Validate: asks(validation.ResourceSlice)},
		"deviceclasses.resource.k8s.io":                                   {Validate: asks(validation.DeviceClass)},
		"devicetaintrules.resource.k8s.io":                                {Validate: asks(validation.DeviceTaintRule)},
		"devicetaintrules/status.resource.k8s.io":                         {Validate: asks(validation.DeviceTaintRuleStatus)},
	}
}

// WithRules gives the rows their rules. now stamps the few times that they set.
func WithRules(rows []Kind, now func() metav1.Time) []Kind {
	byName := rules(now)
	for i := range rows {
		k := &rows[i]
		if r, ok := byName[k.GroupResource().String()+"/"+k.Version]; ok {
			k.Rules = r
		} else {
			k.Rules = byName[k.GroupResource().String()]
		}
		for j := range k.Subresources {
			sub := schema.GroupResource{Group: k.Group, Resource: k.Resource + "/" + k.Subresources[j].Name}
			k.Subresources[j].Rules = byName[sub.String()]
		}
	}
	return rows
}

// keepMeta is for kinds whose status writes change nothing but the status.
func keepMeta(obj, old runtime.Object) {
	strategy.MetaForStatus(obj.(metav1.Object), old.(metav1.Object))
}
