package validation_test

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// validators prepare a new object as the server would and validate it.
var validators = map[schema.GroupVersionKind]func(runtime.Object) field.ErrorList{
	corev1.SchemeGroupVersion.WithKind("Namespace"):             create(validation.Namespace, defaults.Namespace),
	corev1.SchemeGroupVersion.WithKind("ConfigMap"):             create(validation.ConfigMap),
	corev1.SchemeGroupVersion.WithKind("Secret"):                create(validation.Secret, stringData, defaults.Secret),
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"):        create(validation.ServiceAccount),
	corev1.SchemeGroupVersion.WithKind("Event"):                 create(validation.Event),
	eventsv1.SchemeGroupVersion.WithKind("Event"):               create(validation.EventV1),
	coordinationv1.SchemeGroupVersion.WithKind("Lease"):         create(validation.Lease),
	corev1.SchemeGroupVersion.WithKind("Pod"):                   create(validation.Pod, defaults.Pod),
	corev1.SchemeGroupVersion.WithKind("PodTemplate"):           create(validation.PodTemplate, defaults.PodTemplate),
	corev1.SchemeGroupVersion.WithKind("Service"):               create(validation.Service, defaults.Service, addressAndPort),
	corev1.SchemeGroupVersion.WithKind("Endpoints"):             create(validation.Endpoints, defaults.Endpoints),
	discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"):    create(validation.EndpointSlice, defaults.EndpointSlice),
	corev1.SchemeGroupVersion.WithKind("Node"):                  create(validation.Node, defaults.Node),
	corev1.SchemeGroupVersion.WithKind("ReplicationController"): create(validation.ReplicationController, defaults.ReplicationController),
	corev1.SchemeGroupVersion.WithKind("ResourceQuota"):         create(validation.ResourceQuota, defaults.ResourceQuota),
	corev1.SchemeGroupVersion.WithKind("LimitRange"):            create(validation.LimitRange, defaults.LimitRange),
	corev1.SchemeGroupVersion.WithKind("PersistentVolume"):      create(validation.PersistentVolume, defaults.PersistentVolume),
	corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"): create(validation.PersistentVolumeClaim, defaults.PersistentVolumeClaim),
	appsv1.SchemeGroupVersion.WithKind("Deployment"):            create(validation.Deployment, defaults.Deployment),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"):            create(validation.ReplicaSet, defaults.ReplicaSet),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"):           create(validation.StatefulSet, defaults.StatefulSet),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"):             create(validation.DaemonSet, defaults.DaemonSet),
	appsv1.SchemeGroupVersion.WithKind("ControllerRevision"):    create(validation.ControllerRevision),
	batchv1.SchemeGroupVersion.WithKind("Job"):                  create(validation.Job, defaults.Job, generatedLabels),
	batchv1.SchemeGroupVersion.WithKind("CronJob"):              create(validation.CronJob, defaults.CronJob),
}

// create adapts a kind's function to any object, after the given preparations.
func create[T any](validate func(obj, old *T) field.ErrorList, prepare ...func(*T)) func(runtime.Object) field.ErrorList {
	return func(obj runtime.Object) field.ErrorList {
		typed := any(obj).(*T)
		for _, p := range prepare {
			p(typed)
		}
		return validate(typed, nil)
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
