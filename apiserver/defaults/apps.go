package defaults

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Deployment fills a Deployment.
func Deployment(d *appsv1.Deployment) {
	setNil(&d.Spec.Replicas, 1)
	strategy := &d.Spec.Strategy
	setZero(&strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setNil(&strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setNil(&strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setNil(&strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	setNil(&d.Spec.RevisionHistoryLimit, 10)
	setNil(&d.Spec.ProgressDeadlineSeconds, 600)
	PodTemplateSpec(&d.Spec.Template)
}

// ReplicaSet fills a ReplicaSet.
func ReplicaSet(rs *appsv1.ReplicaSet) {
	setNil(&rs.Spec.Replicas, 1)
	PodTemplateSpec(&rs.Spec.Template)
}

// DaemonSet fills a DaemonSet.
func DaemonSet(ds *appsv1.DaemonSet) {
	strategy := &ds.Spec.UpdateStrategy
	setZero(&strategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if strategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setNil(&strategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setNil(&strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setNil(&strategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	setNil(&ds.Spec.RevisionHistoryLimit, 10)
	PodTemplateSpec(&ds.Spec.Template)
}

// StatefulSet fills a StatefulSet and its claim templates.
func StatefulSet(set *appsv1.StatefulSet) {
	setZero(&set.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	statefulSetStrategy(&set.Spec.UpdateStrategy)
	setNil(&set.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	retention := set.Spec.PersistentVolumeClaimRetentionPolicy
	setZero(&retention.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setZero(&retention.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setNil(&set.Spec.Replicas, 1)
	setNil(&set.Spec.RevisionHistoryLimit, 10)
	PodTemplateSpec(&set.Spec.Template)
	for i := range set.Spec.VolumeClaimTemplates {
		claim := &set.Spec.VolumeClaimTemplates[i]
		// Claim templates are stored as whole objects, type included.
		claim.APIVersion, claim.Kind = corev1.SchemeGroupVersion.String(), "PersistentVolumeClaim"
		PersistentVolumeClaim(claim)
	}
}

// statefulSetStrategy leaves rollingUpdate absent if a type was given without it.
func statefulSetStrategy(strategy *appsv1.StatefulSetUpdateStrategy) {
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		setNil(&strategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && strategy.RollingUpdate != nil {
		setNil(&strategy.RollingUpdate.Partition, 0)
		setNil(&strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
}
