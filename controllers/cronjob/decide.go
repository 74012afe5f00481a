package cronjob

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var kind = batchv1.SchemeGroupVersion.WithKind("CronJob")

// scene is what a decision is made on.
type scene struct {
	cronJob *batchv1.CronJob
	jobs    []*batchv1.Job
	// missing are the uids of active Jobs that don't exist any more.
	missing map[types.UID]bool
	now     time.Time
}

// plan is what a reconcile does.
type plan struct {
	status batchv1.CronJobStatus
	events []event
	create time.Time // the scheduled time to make a Job for; zero for none
	// replace are active Jobs that give way to the new one, expire those that
	// are finished and beyond the history limits.
	replace, expire []*batchv1.Job
	again           time.Duration
}

type event struct{ kind, reason, message string }

// decide plans. It looks at what became of the Jobs first, then at the clock.
func decide(s scene) plan {
	p := plan{status: *s.cronJob.Status.DeepCopy()}
	slices.SortFunc(s.jobs, func(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
	s.follow(&p)
	if s.cronJob.DeletionTimestamp == nil {
		s.schedule(&p)
	}
	s.tidy(&p)
	return p
}

// follow keeps the list of active Jobs.
func (s *scene) follow(p *plan) {
	for _, job := range s.jobs {
		isActive := slices.ContainsFunc(p.status.Active, func(ref corev1.ObjectReference) bool { return ref.UID == job.UID })
		how := outcome(job)
		switch {
		case !isActive && how == "":
			p.tell(corev1.EventTypeWarning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", job.Name)
		case isActive && how != "":
			p.drop(job.UID)
			p.tell(corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: %s, condition: %v", job.Name, how)
		}
		if end := job.Status.CompletionTime; how == batchv1.JobComplete && end != nil &&
			(p.status.LastSuccessfulTime == nil || end.After(p.status.LastSuccessfulTime.Time)) {
			p.status.LastSuccessfulTime = end
		}
	}
	for _, ref := range slices.Clone(p.status.Active) {
		if s.missing[ref.UID] {
			p.drop(ref.UID)
			p.tell(corev1.EventTypeNormal, "MissingJob", "Active job went missing: %v", ref.Name)
		}
	}
}

func (p *plan) drop(uid types.UID) {
	p.status.Active = slices.DeleteFunc(p.status.Active, func(ref corev1.ObjectReference) bool { return ref.UID == uid })
}

func (p *plan) tell(kind, reason, format string, args ...any) {
	p.events = append(p.events, event{kind, reason, fmt.Sprintf(format, args...)})
}

// outcome is the condition that a Job finished with, "" if it has not.
func outcome(job *batchv1.Job) batchv1.JobConditionType {
	for _, condition := range job.Status.Conditions {
		if condition.Status == corev1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return condition.Type
		}
	}
	return ""
}

// schedule makes a Job if it is time.
func (s *scene) schedule(p *plan) {
	spec := &s.cronJob.Spec
	if _, err := location(s.cronJob); err != nil {
		p.tell(corev1.EventTypeWarning, "UnknownTimeZone", "invalid timeZone: %q: %s", *spec.TimeZone, err)
		return
	}
	if spec.Suspend != nil && *spec.Suspend {
		return
	}
	schedule, err := parseSchedule(s.cronJob)
	if err != nil {
		p.tell(corev1.EventTypeWarning, "UnparseableSchedule", "unparseable schedule: %q : %s", spec.Schedule, err)
		return
	}
	p.again = untilNext(schedule, s.now)
	at, times, err := due(s.cronJob, schedule, s.now)
	switch {
	case err != nil:
		p.tell(corev1.EventTypeWarning, "InvalidSchedule", "invalid schedule: %s : %s", spec.Schedule, err)
		return
	case at.IsZero():
		return
	case times > manyMissed:
		p.tell(corev1.EventTypeWarning, "TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	switch {
	case spec.StartingDeadlineSeconds != nil && at.Add(time.Duration(*spec.StartingDeadlineSeconds)*time.Second).Before(s.now):
		p.tell(corev1.EventTypeWarning, "MissSchedule", "Missed scheduled time to start a job: %s", at.UTC().Format(time.RFC1123Z))
		return
	case spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(p.status.Active) > 0:
		p.tell(corev1.EventTypeNormal, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return
	case spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		p.replace = s.active(p)
	}
	p.create = at
}

func (s *scene) active(p *plan) []*batchv1.Job {
	var active []*batchv1.Job
	for _, job := range s.jobs {
		if slices.ContainsFunc(p.status.Active, func(ref corev1.ObjectReference) bool { return ref.UID == job.UID }) {
			active = append(active, job)
		}
	}
	return active
}

// tidy expires finished Jobs, the oldest first.
func (s *scene) tidy(p *plan) {
	for how, limit := range map[batchv1.JobConditionType]*int32{
		batchv1.JobComplete: s.cronJob.Spec.SuccessfulJobsHistoryLimit,
		batchv1.JobFailed:   s.cronJob.Spec.FailedJobsHistoryLimit,
	} {
		if limit == nil {
			continue
		}
		var past []*batchv1.Job
		for _, job := range s.jobs {
			if outcome(job) == how && job.DeletionTimestamp == nil {
				past = append(past, job)
			}
		}
		slices.SortStableFunc(past, startedFirst)
		p.expire = append(p.expire, past[:max(0, len(past)-int(*limit))]...)
	}
	slices.SortFunc(p.expire, func(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
}

func startedFirst(a, b *batchv1.Job) int {
	return cmp.Or(a.Status.StartTime.Time.Compare(b.Status.StartTime.Time), cmp.Compare(a.Name, b.Name))
}

// newJob makes the Job of a scheduled time.
func newJob(cronJob *batchv1.CronJob, at time.Time) *batchv1.Job {
	template := cronJob.Spec.JobTemplate.DeepCopy()
	annotations := maps.Clone(template.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	zone, err := location(cronJob)
	if err != nil {
		zone = time.UTC // not reached: there is no schedule then
	}
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = at.In(zone).Format(time.RFC3339)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cronJob.Namespace, Name: cronJob.Name + "-" + strconv.FormatInt(at.Unix()/60, 10),
			Labels: template.Labels, Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, kind)},
		},
		Spec: template.Spec,
	}
}

// refer is how the status names a Job.
func refer(job *batchv1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{
		Kind: "Job", APIVersion: batchv1.SchemeGroupVersion.String(), Namespace: job.Namespace, Name: job.Name,
		UID: job.UID, ResourceVersion: job.ResourceVersion,
	}
}
