package deployment

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// progressing is a status that was last updated that long ago.
func progressing(ago time.Duration, reason string, status appsv1.DeploymentStatus) appsv1.DeploymentStatus {
	status.Conditions = []appsv1.DeploymentCondition{newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reason, "", now.Add(-ago))}
	return status
}

func TestProgress(t *testing.T) {
	for name, test := range map[string]struct {
		sets   []string
		before appsv1.DeploymentStatus
		want   string
		// checkIn is when the deadline is looked at again.
		checkIn time.Duration
	}{
		"all are available": {
			[]string{"new 3/3"}, progressing(time.Minute, "ReplicaSetUpdated", appsv1.DeploymentStatus{}), reasonAvailable, 0},
		"one more is there": {
			[]string{"new 3/1"}, progressing(time.Minute, "ReplicaSetUpdated", appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3}), "ReplicaSetUpdated", 601 * time.Second},
		"nothing for a minute": {
			[]string{"new 3/1"}, progressing(time.Minute, "ReplicaSetUpdated", appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 1, AvailableReplicas: 1}), "ReplicaSetUpdated", 541 * time.Second},
		"nothing for too long": {
			[]string{"new 3/1"}, progressing(time.Hour, "ReplicaSetUpdated", appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 1, AvailableReplicas: 1}), reasonTimedOut, 0},
		"a pod fails later": {
			[]string{"new 3/2"}, progressing(time.Hour, reasonAvailable, appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3}), reasonAvailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDeployment(3, "1", "0")
			d.Status = test.before
			f := familyOf(d, 3, 4, test.sets...)
			status := f.progress(now)
			if got := findCondition(&status, appsv1.DeploymentProgressing); got.Reason != test.want {
				t.Errorf("reason %s, want %s", got.Reason, test.want)
			}
			if next := f.nextCheck(&status, now); test.want != reasonAvailable && next != test.checkIn {
				t.Errorf("next check in %v, want %v", next, test.checkIn)
			}
		})
	}
}

func TestProgressWithoutDeadline(t *testing.T) {
	d := newDeployment(3, "1", "0")
	d.Spec.ProgressDeadlineSeconds = nil
	d.Status = progressing(time.Minute, "ReplicaSetUpdated", appsv1.DeploymentStatus{})
	f := familyOf(d, 3, 4, "new 3/3")
	if status := f.progress(now); findCondition(&status, appsv1.DeploymentProgressing) != nil {
		t.Error("without a deadline there is no Progressing condition")
	}
}

func TestSums(t *testing.T) {
	two := int32(2)
	f := familyOf(newDeployment(4, "1", "1"), 4, 5, "old 3/2", "new 2/1")
	f.sets[0].Status.TerminatingReplicas = &two
	status := f.sums(now)
	if status.Replicas != 5 || status.UpdatedReplicas != 2 || status.AvailableReplicas != 3 || status.UnavailableReplicas != 2 || *status.TerminatingReplicas != 2 {
		t.Errorf("status %+v", status)
	}
	if c := findCondition(&status, appsv1.DeploymentAvailable); c.Status != corev1.ConditionTrue || c.Reason != "MinimumReplicasAvailable" {
		t.Errorf("3 of 4 with one unavailable: %+v", c)
	}
}

func TestReplicaFailureIsTakenOver(t *testing.T) {
	f := familyOf(newDeployment(4, "1", "1"), 4, 5, "old 3/2", "new 2/1")
	f.sets[0].Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "full"}}
	status := f.progress(now)
	if c := findCondition(&status, appsv1.DeploymentReplicaFailure); c == nil || c.Reason != "FailedCreate" || c.Message != "full" {
		t.Fatalf("condition %+v", c)
	}
	f.d.Status, f.sets[0].Status.Conditions = status, nil
	if status = f.progress(now); findCondition(&status, appsv1.DeploymentReplicaFailure) != nil {
		t.Error("the failure stays without a cause")
	}
}

func TestPauseCondition(t *testing.T) {
	for name, test := range map[string]struct {
		paused bool
		before string
		want   string
	}{
		"paused":                   {true, "ReplicaSetUpdated", reasonPaused},
		"paused before":            {true, reasonPaused, ""},
		"resumed":                  {false, reasonPaused, "DeploymentResumed"},
		"neither":                  {false, "ReplicaSetUpdated", ""},
		"timed out, then paused":   {true, reasonTimedOut, ""},
		"paused from the start on": {true, "", reasonPaused},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDeployment(3, "1", "0")
			d.Spec.Paused = test.paused
			if test.before != "" {
				d.Status = progressing(time.Minute, test.before, appsv1.DeploymentStatus{})
			}
			got := ""
			if c := familyOf(d, 3, 4).pauseCondition(now); c != nil {
				got = c.Reason
			}
			if got != test.want {
				t.Errorf("reason %q, want %q", got, test.want)
			}
		})
	}
}

func TestSetConditionKeepsTimes(t *testing.T) {
	var status appsv1.DeploymentStatus
	set := func(is corev1.ConditionStatus, reason string, at time.Time) appsv1.DeploymentCondition {
		setCondition(&status, newCondition(appsv1.DeploymentAvailable, is, reason, "", at))
		return *findCondition(&status, appsv1.DeploymentAvailable)
	}
	first, later := metav1.NewTime(now), now.Add(time.Hour)
	set(corev1.ConditionTrue, "A", now)
	if c := set(corev1.ConditionTrue, "A", later); !c.LastUpdateTime.Equal(&first) {
		t.Error("nothing changed but the time of the update")
	}
	if c := set(corev1.ConditionTrue, "B", later); !c.LastTransitionTime.Equal(&first) || c.LastUpdateTime.Equal(&first) {
		t.Errorf("another reason is an update and no transition: %+v", c)
	}
	if c := set(corev1.ConditionFalse, "B", later); c.LastTransitionTime.Equal(&first) {
		t.Errorf("another status is a transition: %+v", c)
	}
}
