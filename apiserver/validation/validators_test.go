package validation_test

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// validator prepares a new object as the server would and checks it.
type validator struct {
	validate func(runtime.Object) field.ErrorList
	rewrite  func(runtime.Object) field.ErrorList // the same object again, as an update
	warn     func(runtime.Object) []string
}

// validators are all of them, by kind.
var validators = map[schema.GroupVersionKind]validator{
	corev1.SchemeGroupVersion.WithKind("Namespace"):                             create(validation.Namespace, defaults.Namespace),
	corev1.SchemeGroupVersion.WithKind("ConfigMap"):                             create(validation.ConfigMap),
	corev1.SchemeGroupVersion.WithKind("Secret"):                                warned(create(validation.Secret, stringData, defaults.Secret), validation.SecretWarnings),
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"):                        warned(create(validation.ServiceAccount), validation.ServiceAccountWarnings),
	corev1.SchemeGroupVersion.WithKind("Event"):                                 create(validation.Event),
	eventsv1.SchemeGroupVersion.WithKind("Event"):                               create(validation.EventV1),
	coordinationv1.SchemeGroupVersion.WithKind("Lease"):                         create(validation.Lease),
	corev1.SchemeGroupVersion.WithKind("Pod"):                                   warned(create(validation.Pod, defaults.Pod), validation.PodWarnings),
	corev1.SchemeGroupVersion.WithKind("PodTemplate"):                           warned(create(validation.PodTemplate, defaults.PodTemplate), validation.PodTemplateWarnings),
	corev1.SchemeGroupVersion.WithKind("Service"):                               warned(create(validation.Service, defaults.Service, addressAndPort), validation.ServiceWarnings),
	corev1.SchemeGroupVersion.WithKind("Endpoints"):                             warned(create(validation.Endpoints, defaults.Endpoints), validation.EndpointsWarnings),
	discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"):                    warned(create(validation.EndpointSlice, defaults.EndpointSlice), validation.EndpointSliceWarnings),
	corev1.SchemeGroupVersion.WithKind("Node"):                                  warned(create(validation.Node, defaults.Node), validation.NodeWarnings),
	corev1.SchemeGroupVersion.WithKind("ReplicationController"):                 warned(create(validation.ReplicationController, defaults.ReplicationController), validation.ReplicationControllerWarnings),
	corev1.SchemeGroupVersion.WithKind("ResourceQuota"):                         create(validation.ResourceQuota, defaults.ResourceQuota),
	corev1.SchemeGroupVersion.WithKind("LimitRange"):                            create(validation.LimitRange, defaults.LimitRange),
	corev1.SchemeGroupVersion.WithKind("PersistentVolume"):                      warned(create(validation.PersistentVolume, defaults.PersistentVolume), validation.PersistentVolumeWarnings),
	corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"):                 warned(create(validation.PersistentVolumeClaim, defaults.PersistentVolumeClaim), validation.PersistentVolumeClaimWarnings),
	appsv1.SchemeGroupVersion.WithKind("Deployment"):                            warned(create(validation.Deployment, defaults.Deployment), validation.DeploymentWarnings),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"):                            warned(create(validation.ReplicaSet, defaults.ReplicaSet), validation.ReplicaSetWarnings),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"):                           warned(create(validation.StatefulSet, defaults.StatefulSet), validation.StatefulSetWarnings),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"):                             warned(create(validation.DaemonSet, defaults.DaemonSet), validation.DaemonSetWarnings),
	appsv1.SchemeGroupVersion.WithKind("ControllerRevision"):                    create(validation.ControllerRevision),
	batchv1.SchemeGroupVersion.WithKind("Job"):                                  warned(create(validation.Job, defaults.Job, generatedLabels), validation.JobWarnings),
	batchv1.SchemeGroupVersion.WithKind("CronJob"):                              warned(create(validation.CronJob, defaults.CronJob), validation.CronJobWarnings),
	admissionv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"):     create(validation.MutatingWebhookConfiguration, defaults.MutatingWebhookConfiguration),
	admissionv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"):   create(validation.ValidatingWebhookConfiguration, defaults.ValidatingWebhookConfiguration),
	admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy"):        create(validation.ValidatingAdmissionPolicy, defaults.ValidatingAdmissionPolicy),
	admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBinding"): create(validation.ValidatingAdmissionPolicyBinding, defaults.ValidatingAdmissionPolicyBinding),
	admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"):          create(validation.MutatingAdmissionPolicy, defaults.MutatingAdmissionPolicy),
	admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicyBinding"):   create(validation.MutatingAdmissionPolicyBinding, defaults.MutatingAdmissionPolicyBinding),
	authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"):          asked(validation.SubjectAccessReview),
	authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"):      asked(validation.SelfSubjectAccessReview),
	authorizationv1.SchemeGroupVersion.WithKind("LocalSubjectAccessReview"):     asked(validation.LocalSubjectAccessReview),
	autoscalingv1.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"):        create(validation.HorizontalPodAutoscalerV1, defaults.HorizontalPodAutoscalerV1),
	autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"):        create(validation.HorizontalPodAutoscaler, defaults.HorizontalPodAutoscaler),
	certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"):     create(validation.CertificateSigningRequest, withoutStatus),
	certificatesv1.SchemeGroupVersion.WithKind("PodCertificateRequest"):         create(validation.PodCertificateRequest, defaults.PodCertificateRequest),
	certificatesv1.SchemeGroupVersion.WithKind("ClusterTrustBundle"):            create(validation.ClusterTrustBundle),
	flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema"):                     create(validation.FlowSchema, defaults.FlowSchema),
	flowcontrolv1.SchemeGroupVersion.WithKind("PriorityLevelConfiguration"):     create(validation.PriorityLevelConfiguration, defaults.PriorityLevelConfiguration),
	networkingv1.SchemeGroupVersion.WithKind("Ingress"):                         warned(create(validation.Ingress), validation.IngressWarnings),
	networkingv1.SchemeGroupVersion.WithKind("IngressClass"):                    create(validation.IngressClass, defaults.IngressClass),
	networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"):                   warned(create(validation.NetworkPolicy, defaults.NetworkPolicy), validation.NetworkPolicyWarnings),
	networkingv1.SchemeGroupVersion.WithKind("IPAddress"):                       create(validation.IPAddress),
	networkingv1.SchemeGroupVersion.WithKind("ServiceCIDR"):                     create(validation.ServiceCIDR),
	nodev1.SchemeGroupVersion.WithKind("RuntimeClass"):                          warned(create(validation.RuntimeClass, defaults.RuntimeClass), validation.RuntimeClassWarnings),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"):                 create(validation.PodDisruptionBudget),
	rbacv1.SchemeGroupVersion.WithKind("Role"):                                  create(validation.Role),
	rbacv1.SchemeGroupVersion.WithKind("ClusterRole"):                           create(validation.ClusterRole),
	rbacv1.SchemeGroupVersion.WithKind("RoleBinding"):                           create(validation.RoleBinding, defaults.RoleBinding),
	rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"):                    create(validation.ClusterRoleBinding, defaults.ClusterRoleBinding),
	resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"):                     create(validation.ResourceClaim, defaults.ResourceClaim),
	resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate"):             create(validation.ResourceClaimTemplate, defaults.ResourceClaimTemplate),
	resourcev1.SchemeGroupVersion.WithKind("DeviceClass"):                       create(validation.DeviceClass),
	resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"):                     create(validation.ResourceSlice, withoutLists),
	resourcev1.SchemeGroupVersion.WithKind("DeviceTaintRule"):                   create(validation.DeviceTaintRule),
	schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"):                   create(validation.PriorityClass, defaults.PriorityClass),
	storagev1.SchemeGroupVersion.WithKind("StorageClass"):                       warned(create(validation.StorageClass, defaults.StorageClass), validation.StorageClassWarnings),
	storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"):                   create(validation.VolumeAttachment, defaults.VolumeAttachment),
	storagev1.SchemeGroupVersion.WithKind("CSIDriver"):                          create(validation.CSIDriver, defaults.CSIDriver),
	storagev1.SchemeGroupVersion.WithKind("CSINode"):                            create(validation.CSINode),
	storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"):                 warned(create(validation.CSIStorageCapacity), validation.CSIStorageCapacityWarnings),
	storagev1.SchemeGroupVersion.WithKind("VolumeAttributesClass"):              create(validation.VolumeAttributesClass),
}

// asked adapts the function of a kind that is never stored, and so gets no UID.
func asked[T any](validate func(*T) field.ErrorList) validator {
	return validator{warn: func(runtime.Object) []string { return nil }, validate: func(obj runtime.Object) field.ErrorList {
		meta := obj.(metav1.Object)
		meta.SetUID("")
		meta.SetGeneration(0)
		return validate(any(obj).(*T))
	}}
}

// create adapts a kind's function to any object, after the given preparations.
func create[T any](validate func(obj, old *T) field.ErrorList, prepare ...func(*T)) validator {
	return validator{
		warn: func(runtime.Object) []string { return nil },
		validate: func(obj runtime.Object) field.ErrorList {
			typed := any(obj).(*T)
			for _, p := range prepare {
				p(typed)
			}
			return validate(typed, nil)
		},
		rewrite: func(obj runtime.Object) field.ErrorList {
			obj.(metav1.Object).SetResourceVersion("1")
			return validate(any(obj).(*T), any(obj.DeepCopyObject()).(*T))
		},
	}
}

// warned adds the kind's warnings, about the object as validate prepared it.
func warned[T any](v validator, warn func(obj, old *T) []string) validator {
	v.warn = func(obj runtime.Object) []string { return warn(any(obj).(*T), nil) }
	return v
}

func withoutStatus(c *certificatesv1.CertificateSigningRequest) {
	c.Status = certificatesv1.CertificateSigningRequestStatus{}
}

// withoutLists stands for the strategy, which drops fields of alpha features.
func withoutLists(s *resourcev1.ResourceSlice) {
	for _, d := range s.Spec.Devices {
		for key, a := range d.Attributes {
			a.BoolValues, a.IntValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			d.Attributes[key] = a
		}
	}
}

func stringData(s *corev1.Secret) {
	for key, value := range s.StringData {
		if s.Data == nil {
			s.Data = map[string][]byte{}
		}
		s.Data[key] = []byte(value)
	}
}

// addressAndPort stands for the strategy and the allocator.
func addressAndPort(s *corev1.Service) {
	if len(s.Spec.ClusterIPs) == 0 && s.Spec.ClusterIP != "" {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && s.Spec.HealthCheckNodePort == 0 {
		s.Spec.HealthCheckNodePort = 30000
	}
}

// generatedLabels stands for the strategy that makes a Job's selector.
func generatedLabels(job *batchv1.Job) {
	if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	labels := map[string]string{}
	for key, value := range job.Spec.Template.Labels {
		labels[key] = value
	}
	uid := string(job.UID)
	for key, value := range map[string]string{"controller-uid": uid, "job-name": job.Name, batchv1.ControllerUidLabel: uid, batchv1.JobNameLabel: job.Name} {
		if _, ok := labels[key]; !ok {
			labels[key] = value
		}
	}
	job.Spec.Template.Labels = labels
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if job.Spec.Selector.MatchLabels == nil {
		job.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, ok := job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !ok {
		job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = uid
	}
}
