package ttlafterfinished

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExpiry(t *testing.T) {
	end := time.Unix(1_000_000, 0)
	ttl := int32(60)
	job := func(ttl *int32, kind batchv1.JobConditionType, status corev1.ConditionStatus) *batchv1.Job {
		return &batchv1.Job{
			Spec:   batchv1.JobSpec{TTLSecondsAfterFinished: ttl},
			Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(end)}}},
		}
	}
	going := job(&ttl, batchv1.JobComplete, corev1.ConditionTrue)
	going.DeletionTimestamp = &metav1.Time{Time: end}
	for name, test := range map[string]struct {
		job     *batchv1.Job
		expires bool
	}{
		"complete":    {job(&ttl, batchv1.JobComplete, corev1.ConditionTrue), true},
		"failed":      {job(&ttl, batchv1.JobFailed, corev1.ConditionTrue), true},
		"runs":        {job(&ttl, batchv1.JobSuspended, corev1.ConditionTrue), false},
		"not quite":   {job(&ttl, batchv1.JobComplete, corev1.ConditionFalse), false},
		"without ttl": {job(nil, batchv1.JobComplete, corev1.ConditionTrue), false},
		"going":       {going, false},
	} {
		at, expires := expiry(test.job)
		if expires != test.expires || expires && !at.Equal(end.Add(time.Minute)) {
			t.Errorf("%s: %v, %t", name, at, expires)
		}
	}
}
