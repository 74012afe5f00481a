package cronjob

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// manyMissed is from when on missed times are worth a warning.
const manyMissed = 100

// slack is added to the wait for a scheduled time, so that it has come then.
const slack = 100 * time.Millisecond

// location is a CronJob's time zone.
func location(cronJob *batchv1.CronJob) (*time.Location, error) {
	if cronJob.Spec.TimeZone == nil {
		return time.UTC, nil
	}
	return time.LoadLocation(*cronJob.Spec.TimeZone)
}

func parseSchedule(cronJob *batchv1.CronJob) (cron.Schedule, error) {
	zone := "UTC"
	if cronJob.Spec.TimeZone != nil {
		zone = *cronJob.Spec.TimeZone
	}
	return cron.ParseStandard(fmt.Sprintf("TZ=%s %s", zone, cronJob.Spec.Schedule))
}

// due is the last scheduled time that has come since the last Job, zero if none
// has, and how many times have come, counted up to manyMissed+1.
func due(cronJob *batchv1.CronJob, schedule cron.Schedule, now time.Time) (last time.Time, times int, err error) {
	since := cronJob.CreationTimestamp.Time
	if cronJob.Status.LastScheduleTime != nil {
		since = cronJob.Status.LastScheduleTime.Time
	}
	if seconds := cronJob.Spec.StartingDeadlineSeconds; seconds != nil {
		if deadline := now.Add(-time.Duration(*seconds) * time.Second); deadline.After(since) {
			since = deadline
		}
	}
	next := schedule.Next(since)
	if next.IsZero() {
		return time.Time{}, 0, errors.New("the schedule names no day that there is")
	}
	if next.After(now) {
		return time.Time{}, 0, nil
	}
	for t := next; !t.After(now) && times <= manyMissed; t = schedule.Next(t) {
		times++
	}
	// The last second whose next time has come leads to the last of them.
	seconds := sort.Search(int(now.Sub(since)/time.Second)+1, func(n int) bool {
		return schedule.Next(since.Add(time.Duration(n) * time.Second)).After(now)
	})
	return schedule.Next(since.Add(time.Duration(seconds-1) * time.Second)), times, nil
}

// untilNext is how long the next scheduled time is off.
func untilNext(schedule cron.Schedule, now time.Time) time.Duration {
	next := schedule.Next(now)
	if next.IsZero() {
		return 0
	}
	return next.Sub(now) + slack
}
