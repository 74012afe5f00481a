package validation

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // so that time zones are known wherever the server runs

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxCronJobName leaves room for a dash and the minute in the names of its jobs.
const maxCronJobName = 63 - 11

var zoneName = regexp.MustCompile(`^[A-Za-z\.\-_0-9+/]+$`)

// CronJob holds the rules of batch/v1 CronJobs.
func CronJob(c, old *batchv1.CronJob) field.ErrorList {
	p := field.NewPath("spec")
	if old != nil {
		return append(metaUpdate(&c.ObjectMeta, &old.ObjectMeta), cronJobSpec(&c.Spec, strings.Contains(old.Spec.Schedule, "TZ"), p)...)
	}
	return concat(metaCreate(&c.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		cronJobSpec(&c.Spec, false, p),
		refuse(len(c.Name) > maxCronJobName, field.Invalid(field.NewPath("metadata", "name"), c.Name,
			fmt.Sprintf("must be no more than %d characters", maxCronJobName))))
}

func cronJobSpec(s *batchv1.CronJobSpec, zoneInSchedule bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Schedule != "" {
		errs = schedule(s, zoneInSchedule, p.Child("schedule"))
	}
	return concat(errs,
		optionalNonNegative(s.StartingDeadlineSeconds, p.Child("startingDeadlineSeconds")),
		when(s.TimeZone, p.Child("timeZone"), timeZone),
		oneOf(s.ConcurrencyPolicy, p.Child("concurrencyPolicy"), batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent),
		jobTemplate(&s.JobTemplate, p.Child("jobTemplate", "spec")),
		optionalNonNegative(s.SuccessfulJobsHistoryLimit, p.Child("successfulJobsHistoryLimit")),
		optionalNonNegative(s.FailedJobsHistoryLimit, p.Child("failedJobsHistoryLimit")),
		required(s.Schedule, p.Child("schedule")))
}

// schedule lets a zone stay in a schedule where an earlier version put it.
func schedule(s *batchv1.CronJobSpec, zoneInSchedule bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if _, err := cron.ParseStandard(s.Schedule); err != nil {
		errs = append(errs, field.Invalid(p, s.Schedule, err.Error()))
	}
	switch hasZone := strings.Contains(s.Schedule, "TZ"); {
	case hasZone && !zoneInSchedule:
		errs = append(errs, field.Invalid(p, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	case hasZone && s.TimeZone != nil:
		errs = append(errs, field.Invalid(p, s.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	}
	return errs
}

func timeZone(name *string, p *field.Path) field.ErrorList {
	if *name == "" {
		return field.ErrorList{field.Invalid(p, name, "timeZone must be nil or non-empty string")}
	}
	var errs field.ErrorList
	if !zoneName.MatchString(*name) {
		errs = append(errs, field.Invalid(p, name, "unknown time zone "+*name))
	}
	if strings.EqualFold(*name, "Local") {
		errs = append(errs, field.Invalid(p, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*name); err != nil {
		errs = append(errs, field.Invalid(p, name, err.Error()))
	}
	return errs
}

func jobTemplate(t *batchv1.JobTemplateSpec, p *field.Path) field.ErrorList {
	return concat(jobTemplateFields(&t.Spec, p),
		refuse(t.Spec.Selector != nil, field.Invalid(p.Child("selector"), t.Spec.Selector, "`selector` will be auto-generated")),
		refuse(isTrue(t.Spec.ManualSelector), field.NotSupported(p.Child("manualSelector"), t.Spec.ManualSelector, []string{"nil", "false"})))
}
