package printers

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

func jobColumns() *Columns {
	return columns(func(j *batchv1.Job, now time.Time) []any {
		in := j.Spec.Template.Spec.Containers
		return []any{
			j.Name, jobStatus(j), completions(j), jobDuration(j, now), ageOf(j, now),
			namesOf(in), imagesOf(in), metav1.FormatLabelSelector(j.Spec.Selector),
		}
	},
		name(), text("Status", "Status of the job."), text("Completions", batchv1.JobStatus{}.SwaggerDoc()["succeeded"]),
		text("Duration", "Time required to complete the job."), age(), containers(), images(),
		wide(text("Selector", batchv1.JobSpec{}.SwaggerDoc()["selector"])),
	)
}

// jobStatus is the furthest that a job has come.
func jobStatus(j *batchv1.Job) string {
	is := map[batchv1.JobConditionType]bool{}
	for _, c := range j.Status.Conditions {
		if _, seen := is[c.Type]; !seen {
			is[c.Type] = c.Status == corev1.ConditionTrue
		}
	}
	switch {
	case is[batchv1.JobComplete]:
		return "Complete"
	case is[batchv1.JobFailed]:
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case is[batchv1.JobSuspended]:
		return "Suspended"
	case is[batchv1.JobFailureTarget]:
		return "FailureTarget"
	case is[batchv1.JobSuccessCriteriaMet]:
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func completions(j *batchv1.Job) string {
	if j.Spec.Completions != nil {
		return fmt.Sprintf("%d/%d", j.Status.Succeeded, *j.Spec.Completions)
	}
	if parallelism := value(j.Spec.Parallelism, 0); parallelism > 1 {
		return fmt.Sprintf("%d/1 of %d", j.Status.Succeeded, parallelism)
	}
	return fmt.Sprintf("%d/1", j.Status.Succeeded)
}

func jobDuration(j *batchv1.Job, now time.Time) string {
	start, end := j.Status.StartTime, j.Status.CompletionTime
	switch {
	case start == nil:
		return ""
	case end == nil:
		return duration.HumanDuration(now.Sub(start.Time))
	}
	return duration.HumanDuration(end.Sub(start.Time))
}

func cronJobColumns() *Columns {
	spec, status := batchv1.CronJobSpec{}.SwaggerDoc(), batchv1.CronJobStatus{}.SwaggerDoc()
	return columns(func(c *batchv1.CronJob, now time.Time) []any {
		last := none
		if t := c.Status.LastScheduleTime; t != nil {
			last = since(*t, now)
		}
		template := c.Spec.JobTemplate.Spec
		in := template.Template.Spec.Containers
		return []any{
			c.Name, c.Spec.Schedule, value(c.Spec.TimeZone, none), trueOrFalse(c.Spec.Suspend), len(c.Status.Active), last, ageOf(c, now),
			namesOf(in), imagesOf(in), metav1.FormatLabelSelector(template.Selector),
		}
	},
		name(), text("Schedule", spec["schedule"]), text("Timezone", spec["timeZone"]), boolean("Suspend", spec["suspend"]),
		number("Active", status["active"]), text("Last Schedule", status["lastScheduleTime"]), age(), containers(), images(),
		wide(text("Selector", batchv1.JobSpec{}.SwaggerDoc()["selector"])),
	)
}

func trueOrFalse(b *bool) string {
	switch {
	case b == nil:
		return unset
	case *b:
		return "True"
	}
	return "False"
}
