package cronjob

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zones for machines that have none

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// midnight is when the CronJobs of these tests were made.
var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

type edit = func(*batchv1.CronJob)

func newCronJob(schedule string, edits ...edit) *batchv1.CronJob {
	cronJob := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "cron", Namespace: "default", UID: "cron", CreationTimestamp: metav1.NewTime(midnight)},
		Spec:       batchv1.CronJobSpec{Schedule: schedule, ConcurrencyPolicy: batchv1.AllowConcurrent, SuccessfulJobsHistoryLimit: ptr.To[int32](3), FailedJobsHistoryLimit: ptr.To[int32](1)},
	}
	for _, e := range edits {
		e(cronJob)
	}
	return cronJob
}

// jobs are given as words such as "a:active b:complete c:failed".
func jobs(cronJob *batchv1.CronJob, words string) []*batchv1.Job {
	var all []*batchv1.Job
	for i, word := range strings.Fields(words) {
		name, trait, _ := strings.Cut(word, ":")
		start := metav1.NewTime(midnight.Add(time.Duration(i) * time.Minute))
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Status: batchv1.JobStatus{StartTime: &start}}
		active := strings.HasPrefix(trait, "active")
		if active {
			cronJob.Status.Active = append(cronJob.Status.Active, refer(job))
		}
		switch strings.TrimPrefix(trait, "active+") {
		case "complete":
			job.Status.CompletionTime = &start
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		case "failed":
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
		}
		all = append(all, job)
	}
	return all
}

func (p plan) words() string {
	var words []string
	for _, e := range p.events {
		words = append(words, e.reason)
	}
	if !p.create.IsZero() {
		words = append(words, p.create.UTC().Format("+15:04"))
	}
	for _, job := range append(p.replace, p.expire...) {
		words = append(words, "-"+job.Name)
	}
	return strings.Join(words, " ")
}

func TestDecide(t *testing.T) {
	policy := func(p batchv1.ConcurrencyPolicy) edit {
		return func(cronJob *batchv1.CronJob) { cronJob.Spec.ConcurrencyPolicy = p }
	}
	deadline := func(seconds int64) edit {
		return func(cronJob *batchv1.CronJob) { cronJob.Spec.StartingDeadlineSeconds = &seconds }
	}
	last := func(after time.Duration) edit {
		return func(cronJob *batchv1.CronJob) {
			cronJob.Status.LastScheduleTime = &metav1.Time{Time: midnight.Add(after)}
		}
	}
	suspend := func(cronJob *batchv1.CronJob) { cronJob.Spec.Suspend = ptr.To(true) }
	zone := func(name string) edit { return func(cronJob *batchv1.CronJob) { cronJob.Spec.TimeZone = &name } }
	for _, test := range []struct {
		name, schedule string
		edits          []edit
		jobs           string
		after          time.Duration
		want           string
	}{
		{name: "not yet", schedule: "*/10 * * * *", after: 9 * time.Minute, want: ""},
		{name: "it is time", schedule: "*/10 * * * *", after: 10 * time.Minute, want: "+00:10"},
		{name: "done", schedule: "*/10 * * * *", edits: []edit{last(10 * time.Minute)}, after: 11 * time.Minute, want: ""},
		{name: "missed some", schedule: "*/10 * * * *", after: 39 * time.Minute, want: "+00:30"},
		{name: "missed many", schedule: "* * * * *", after: 102 * time.Minute, want: "TooManyMissedTimes +01:42"},
		{name: "irregular", schedule: "0,5,50 * * * *", after: 119 * time.Minute, want: "+01:50"},
		{name: "too late", schedule: "*/10 * * * *", edits: []edit{deadline(60)}, after: 12 * time.Minute, want: ""},
		{name: "late, but not too late", schedule: "*/10 * * * *", edits: []edit{deadline(180)}, after: 12 * time.Minute, want: "+00:10"},
		{name: "suspended", schedule: "*/10 * * * *", edits: []edit{suspend}, after: time.Hour, want: ""},
		{name: "never", schedule: "0 0 31 2 *", after: time.Hour, want: "InvalidSchedule"},
		{name: "unreadable", schedule: "x", after: time.Hour, want: "UnparseableSchedule"},
		{name: "unknown zone", schedule: "* * * * *", edits: []edit{zone("Nope/Nope")}, after: time.Hour, want: "UnknownTimeZone"},
		{name: "zone", schedule: "30 19 * * *", edits: []edit{zone("America/New_York")}, after: 31 * time.Minute, want: "+00:30"},
		{name: "allow", schedule: "*/10 * * * *", jobs: "a:active", after: 10 * time.Minute, want: "+00:10"},
		{name: "forbid", schedule: "*/10 * * * *", edits: []edit{policy(batchv1.ForbidConcurrent)}, jobs: "a:active", after: 10 * time.Minute, want: "JobAlreadyActive"},
		{name: "forbid when the last is done", schedule: "*/10 * * * *", edits: []edit{policy(batchv1.ForbidConcurrent)}, jobs: "a:active+complete", after: 10 * time.Minute, want: "SawCompletedJob +00:10"},
		{name: "replace", schedule: "*/10 * * * *", edits: []edit{policy(batchv1.ReplaceConcurrent)}, jobs: "a:active", after: 10 * time.Minute, want: "+00:10 -a"},
		{name: "unexpected", schedule: "0 0 * * *", jobs: "a", want: "UnexpectedJob"},
		{name: "missing", schedule: "0 0 * * *", jobs: "gone:active", want: "MissingJob"},
		{name: "history", schedule: "0 0 * * *", jobs: "a:complete b:failed c:complete d:complete e:complete f:failed", want: "-a -b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := scene{cronJob: newCronJob(test.schedule, test.edits...), now: midnight.Add(test.after), missing: map[types.UID]bool{"gone": true}}
			for _, job := range jobs(s.cronJob, test.jobs) {
				if job.UID != "gone" {
					s.jobs = append(s.jobs, job)
				}
			}
			if got := decide(s).words(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestDaylightSaving runs through both changes of clocks in New York in 2026, on
// March 8th, which has no 2:30, and November 1st. Each day has one run or none.
func TestDaylightSaving(t *testing.T) {
	for _, test := range []struct {
		schedule string
		day      time.Time
		want     string
	}{
		{"30 2 * * *", time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC), "[03-07 02:30 EST 03-09 02:30 EDT]"},
		{"30 2 * * *", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "[10-31 02:30 EDT 11-01 02:30 EST 11-02 02:30 EST]"},
	} {
		cronJob := newCronJob(test.schedule, func(cronJob *batchv1.CronJob) { cronJob.Spec.TimeZone = ptr.To("America/New_York") })
		zone, err := location(cronJob)
		if err != nil {
			t.Fatal(err)
		}
		cronJob.CreationTimestamp = metav1.NewTime(test.day.Add(-24 * time.Hour))
		var runs []string
		for now := cronJob.CreationTimestamp.Time; now.Before(test.day.Add(48 * time.Hour)); now = now.Add(time.Minute) {
			if p := decide(scene{cronJob: cronJob, now: now}); !p.create.IsZero() {
				runs = append(runs, p.create.In(zone).Format("01-02 15:04 MST"))
				cronJob.Status.LastScheduleTime = &metav1.Time{Time: p.create}
			}
		}
		if got := fmt.Sprint(runs); got != test.want {
			t.Errorf("%s ran at %s, want %s", test.schedule, got, test.want)
		}
	}
}

func TestNewJob(t *testing.T) {
	cronJob := newCronJob("* * * * *", func(cronJob *batchv1.CronJob) { cronJob.Spec.TimeZone = ptr.To("America/New_York") })
	cronJob.Spec.JobTemplate.Labels = map[string]string{"a": "b"}
	job := newJob(cronJob, midnight)
	if job.Name != "cron-29538720" || job.Annotations[batchv1.CronJobScheduledTimestampAnnotation] != "2026-02-28T19:00:00-05:00" || !metav1.IsControlledBy(job, cronJob) || job.Labels["a"] != "b" {
		t.Errorf("made %+v", job.ObjectMeta)
	}
}
