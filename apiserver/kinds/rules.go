package kinds

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
		"pods":                                          {Default: on(defaults.Pod), Prepare: on2(strategy.Pod), Validate: asks(validation.Pod)},
		"pods/status":                                   {Prepare: on2(strategy.PodStatus), Validate: asks(validation.PodStatus)},
		"pods/ephemeralcontainers":                      {Prepare: on2(strategy.PodEphemeralContainers), Validate: asks(validation.PodEphemeralContainers)},
		"pods/resize":                                   {Prepare: on2(strategy.PodResize), Validate: asks(validation.PodResize)},
		"services":                                      {Default: on(defaults.Service), Prepare: on2(strategy.Service), Validate: asks(validation.Service)},
		"services/status":                               {Validate: asks(validation.ServiceStatus)},
		"namespaces":                                    {Default: on(defaults.Namespace), Prepare: on2(strategy.Namespace), Validate: asks(validation.Namespace)},
		"namespaces/status":                             {Validate: asks(validation.NamespaceStatus)},
		"namespaces/finalize":                           {Prepare: on2(strategy.NamespaceFinalize), Validate: asks(validation.NamespaceFinalize)},
		"nodes":                                         {Default: on(defaults.Node), Prepare: on2(strategy.Node), Validate: asks(validation.Node)},
		"nodes/status":                                  {Validate: asks(validation.NodeStatus)},
		"configmaps":                                    {Validate: asks(validation.ConfigMap)},
		"secrets":                                       {Default: on(defaults.Secret), Prepare: on2(strategy.Secret), Validate: asks(validation.Secret)},
		"serviceaccounts":                               {Prepare: on2(strategy.ServiceAccount), Validate: asks(validation.ServiceAccount)},
		"endpoints":                                     {Default: on(defaults.Endpoints), Validate: asks(validation.Endpoints)},
		"events":                                        {Validate: asks(validation.Event)},
		"replicationcontrollers":                        {Default: on(defaults.ReplicationController), Prepare: on2(strategy.ReplicationController), Validate: asks(validation.ReplicationController)},
		"replicationcontrollers/status":                 {Validate: asks(validation.ReplicationControllerStatus)},
		"podtemplates":                                  {Default: on(defaults.PodTemplate), Prepare: on2(strategy.PodTemplate), Validate: asks(validation.PodTemplate)},
		"limitranges":                                   {Default: on(defaults.LimitRange)},
		"resourcequotas":                                {Default: on(defaults.ResourceQuota)},
		"persistentvolumes":                             {Default: on(defaults.PersistentVolume), Prepare: on2(func(obj, old *corev1.PersistentVolume) { strategy.PersistentVolume(obj, old, now()) })},
		"persistentvolumes/status":                      {Prepare: on2(func(obj, old *corev1.PersistentVolume) { strategy.PersistentVolumeStatus(obj, old, now()) })},
		"persistentvolumeclaims":                        {Default: on(defaults.PersistentVolumeClaim), Prepare: on2(strategy.PersistentVolumeClaim), Validate: asks(validation.PersistentVolumeClaim)},
		"persistentvolumeclaims/status":                 {Validate: asks(validation.PersistentVolumeClaimStatus)},
		"events.events.k8s.io":                          {Validate: asks(validation.EventV1)},
		"deployments.apps":                              {Default: on(defaults.Deployment), Prepare: on2(strategy.Deployment), Validate: asks(validation.Deployment)},
		"deployments/status.apps":                       {Prepare: on2(strategy.DeploymentStatus), Validate: asks(validation.DeploymentStatus)},
		"replicasets.apps":                              {Default: on(defaults.ReplicaSet), Prepare: on2(strategy.ReplicaSet), Validate: asks(validation.ReplicaSet)},
		"replicasets/status.apps":                       {Validate: asks(validation.ReplicaSetStatus)},
		"statefulsets.apps":                             {Default: on(defaults.StatefulSet), Prepare: on2(strategy.StatefulSet), Validate: asks(validation.StatefulSet)},
		"statefulsets/status.apps":                      {Validate: asks(validation.StatefulSetStatus)},
		"daemonsets.apps":                               {Default: on(defaults.DaemonSet), Prepare: on2(strategy.DaemonSet), Validate: asks(validation.DaemonSet)},
		"daemonsets/status.apps":                        {Validate: asks(validation.DaemonSetStatus)},
		"controllerrevisions.apps":                      {Validate: asks(validation.ControllerRevision)},
		"jobs.batch":                                    {Default: on(defaults.Job), Prepare: on2(strategy.Job)},
		"cronjobs.batch":                                {Default: on(defaults.CronJob), Prepare: on2(strategy.CronJob)},
		"horizontalpodautoscalers.autoscaling/v1":       {Default: on(defaults.HorizontalPodAutoscalerV1)},
		"horizontalpodautoscalers.autoscaling/v2":       {Default: on(defaults.HorizontalPodAutoscaler)},
		"ingressclasses.networking.k8s.io":              {Default: on(defaults.IngressClass)},
		"networkpolicies.networking.k8s.io":             {Default: on(defaults.NetworkPolicy)},
		"endpointslices.discovery.k8s.io":               {Default: on(defaults.EndpointSlice), Prepare: on2(strategy.EndpointSlice), Validate: asks(validation.EndpointSlice)},
		"leases.coordination.k8s.io":                    {Validate: asks(validation.Lease)},
		"storageclasses.storage.k8s.io":                 {Default: on(defaults.StorageClass)},
		"volumeattachments.storage.k8s.io":              {Default: on(defaults.VolumeAttachment)},
		"csidrivers.storage.k8s.io":                     {Default: on(defaults.CSIDriver), Prepare: on2(strategy.CSIDriver)},
		"roles.rbac.authorization.k8s.io":               {Prepare: on2(strategy.Role)},
		"rolebindings.rbac.authorization.k8s.io":        {Default: on(defaults.RoleBinding)},
		"clusterroles.rbac.authorization.k8s.io":        {Prepare: on2(strategy.ClusterRole)},
		"clusterrolebindings.rbac.authorization.k8s.io": {Default: on(defaults.ClusterRoleBinding)},
		"priorityclasses.scheduling.k8s.io":             {Default: on(defaults.PriorityClass)},
		"runtimeclasses.node.k8s.io":                    {Default: on(defaults.RuntimeClass)},
		"mutatingwebhookconfigurations.admissionregistration.k8s.io":     {Default: on(defaults.MutatingWebhookConfiguration), Prepare: on2(strategy.MutatingWebhookConfiguration)},
		"validatingwebhookconfigurations.admissionregistration.k8s.io":   {Default: on(defaults.ValidatingWebhookConfiguration), Prepare: on2(strategy.ValidatingWebhookConfiguration)},
		"validatingadmissionpolicies.admissionregistration.k8s.io":       {Default: on(defaults.ValidatingAdmissionPolicy)},
		"validatingadmissionpolicybindings.admissionregistration.k8s.io": {Default: on(defaults.ValidatingAdmissionPolicyBinding)},
		"mutatingadmissionpolicies.admissionregistration.k8s.io":         {Default: on(defaults.MutatingAdmissionPolicy)},
		"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   {Default: on(defaults.MutatingAdmissionPolicyBinding)},
		"certificatesigningrequests.certificates.k8s.io":                 {Prepare: on2(strategy.CertificateSigningRequest)},
		"certificatesigningrequests/status.certificates.k8s.io": {Prepare: on2(func(obj, old *certificatesv1.CertificateSigningRequest) {
			strategy.CertificateSigningRequestStatus(obj, old, now())
		})},
		"certificatesigningrequests/approval.certificates.k8s.io": {Prepare: on2(func(obj, old *certificatesv1.CertificateSigningRequest) {
			strategy.CertificateSigningRequestApproval(obj, old, now())
		})},
		"podcertificaterequests.certificates.k8s.io":               {Default: on(defaults.PodCertificateRequest)},
		"flowschemas.flowcontrol.apiserver.k8s.io":                 {Default: on(defaults.FlowSchema)},
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {Default: on(defaults.PriorityLevelConfiguration)},
		"resourceclaims.resource.k8s.io":                           {Default: on(defaults.ResourceClaim)},
		"resourceclaimtemplates.resource.k8s.io":                   {Default: on(defaults.ResourceClaimTemplate)},
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
