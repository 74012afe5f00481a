package strategy

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The labels of a Job's pods before they had a prefix. Both forms are set.
const (
	legacyJobName       = "job-name"
	legacyControllerUID = "controller-uid"
)

// PodTemplate counts changes of the template.
func PodTemplate(template, old *corev1.PodTemplate) {
	dropAlpha(&template.Template.Spec)
	if old != nil {
		count(template, old, old.Template, template.Template)
	}
}

// ReplicationController is for its template.
func ReplicationController(rc, _ *corev1.ReplicationController) {
	if rc.Spec.Template != nil {
		dropAlpha(&rc.Spec.Template.Spec)
	}
}

// Deployment counts changes of annotations too, since they reach the ReplicaSets.
func Deployment(d, old *appsv1.Deployment) {
	dropAlpha(&d.Spec.Template.Spec)
	if old != nil {
		count(d, old, old.Spec, d.Spec)
		count(d, old, old.Annotations, d.Annotations)
	}
}

// DeploymentStatus keeps labels, which controllers of old wrote back stale.
func DeploymentStatus(d, old *appsv1.Deployment) {
	d.Labels = old.Labels
}

// ReplicaSet is for its template.
func ReplicaSet(rs, _ *appsv1.ReplicaSet) {
	dropAlpha(&rs.Spec.Template.Spec)
}

// StatefulSet is for its template.
func StatefulSet(set, _ *appsv1.StatefulSet) {
	dropAlpha(&set.Spec.Template.Spec)
}

// CronJob is for its template.
func CronJob(cronJob, _ *batchv1.CronJob) {
	cronJob.Spec.JobTemplate.Spec.Scheduling = nil
	dropAlpha(&cronJob.Spec.JobTemplate.Spec.Template.Spec)
}

// Job labels the pods of a new Job and selects them by its uid, so that no two
// Jobs share pods, unless manualSelector leaves it to the client. A Job without
// labels takes those of its pods, the generated ones included.
func Job(job, old *batchv1.Job) {
	job.Spec.Scheduling = nil
	dropAlpha(&job.Spec.Template.Spec)
	if old == nil && !ptr.Deref(job.Spec.ManualSelector, false) {
		generateSelector(job)
	}
	if labels := job.Spec.Template.Labels; len(job.Labels) == 0 && len(labels) > 0 {
		job.Labels = maps.Clone(labels)
	}
	if old != nil {
		count(job, old, old.Spec, job.Spec)
	}
}

func generateSelector(job *batchv1.Job) {
	template := &job.Spec.Template
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	uid := string(job.UID)
	setMissing(template.Labels, legacyJobName, job.Name)
	setMissing(template.Labels, batchv1.JobNameLabel, job.Name)
	setMissing(template.Labels, legacyControllerUID, uid)
	setMissing(template.Labels, batchv1.ControllerUidLabel, uid)
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if job.Spec.Selector.MatchLabels == nil {
		job.Spec.Selector.MatchLabels = map[string]string{}
	}
	setMissing(job.Spec.Selector.MatchLabels, batchv1.ControllerUidLabel, uid)
}

// setMissing leaves what the client gave; if that conflicts, validation refuses.
func setMissing(labels map[string]string, key, value string) {
	if _, ok := labels[key]; !ok {
		labels[key] = value
	}
}

// DaemonSet counts its templates in an annotation, where a field was once.
func DaemonSet(ds, old *appsv1.DaemonSet) {
	dropAlpha(&ds.Spec.Template.Spec)
	generation := int64(1)
	switch {
	case old != nil:
		count(ds, old, old.Spec, ds.Spec)
		generation, _ = strconv.ParseInt(old.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
		if !equality.Semantic.DeepEqual(old.Spec.Template, ds.Spec.Template) {
			generation++
		}
	default:
		if given, err := strconv.ParseInt(ds.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64); err == nil && given > 1 {
			generation = given
		}
	}
	if ds.Annotations == nil {
		ds.Annotations = map[string]string{}
	}
	ds.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(generation, 10)
}
