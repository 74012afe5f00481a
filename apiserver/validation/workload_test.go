package validation_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// template is a pod template that is labelled app=a.
const template = `template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}`

func TestDeployment(t *testing.T) {
	check(t, true, validation.Deployment, defaults.Deployment, []changed{
		{name: "plain", new: `{spec: {selector: {matchLabels: {app: a}}, ` + template + `}}`},
		{name: "empty", new: `{}`, want: []string{
			`spec.selector: Required value`,
			"spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
			`spec.template.spec.containers: Required value`}},
		{name: "selector", new: `{spec: {replicas: -1, selector: {matchLabels: {app: b}}, ` + template + `}}`, want: []string{
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
			"spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not match template `labels`"}},
		{name: "strategy", new: `{spec: {selector: {matchLabels: {app: a}}, strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}},
			minReadySeconds: 700, ` + template + `}}`, want: []string{
			"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
			`spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds`}},
		{name: "zero", new: `{spec: {selector: {matchLabels: {app: a}}, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0%}},
			` + template + `}}`, want: []string{
			"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0"}},
		{name: "restart", new: `{spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {restartPolicy: Never,
			containers: [{name: c, image: i}]}}}}`, want: []string{
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
		{name: "immutable", old: `{spec: {selector: {matchLabels: {app: a}}, ` + template + `}}`, new: `{spec: {selector: {matchLabels: {app: a,
			b: c}}, template: {metadata: {labels: {app: a, b: c}}, spec: {containers: [{name: c, image: i}]}}}}`, want: []string{
			`spec.selector: Invalid value: {"matchLabels":{"app":"a","b":"c"}}: field is immutable`}},
	})
}

func TestStatefulSet(t *testing.T) {
	const old = `{spec: {serviceName: s, selector: {matchLabels: {app: a}}, ` + template + `}}`
	check(t, true, validation.StatefulSet, defaults.StatefulSet, []changed{
		{name: "policies", new: `{spec: {podManagementPolicy: x, updateStrategy: {type: z}, selector: {matchLabels: {app: a}}, ` + template + `}}`, want: []string{
			`spec.podManagementPolicy: Invalid value: "x": must be 'OrderedReady' or 'Parallel'`,
			`spec.updateStrategy: Invalid value: {"Type":"z","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'`}},
		{name: "scaled", old: old, new: `{spec: {replicas: 5, serviceName: s, selector: {matchLabels: {app: a}}, ` + template + `}}`},
		{name: "service", old: old, new: `{spec: {serviceName: z, podManagementPolicy: Parallel, selector: {matchLabels: {app: a}},
			` + template + `}}`, want: []string{
			`spec.serviceName: Invalid value: "z": field is immutable`,
			`spec.podManagementPolicy: Invalid value: "Parallel": field is immutable`}},
	})
}

func TestDaemonSet(t *testing.T) {
	check(t, true, validation.DaemonSet, defaults.DaemonSet, []changed{
		{name: "surge", new: `{spec: {updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}, selector: {matchLabels: {app: a}},
			` + template + `}}`, want: []string{
			`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`}},
		{name: "none", new: `{spec: {updateStrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}, selector: {matchLabels: {app: a}},
			` + template + `}}`, want: []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`}},
	})
}

func TestReplicaSet(t *testing.T) {
	check(t, true, validation.ReplicaSet, defaults.ReplicaSet, []changed{
		{name: "selector", old: `{spec: {selector: {matchLabels: {app: a}}, ` + template + `}}`, new: `{spec: {selector: {matchLabels: {app: b}},
			` + template + `}}`, want: []string{
			"spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not match template `labels`",
			`spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`}},
		{name: "none", new: `{spec: {selector: {}, ` + template + `}}`, want: []string{
			`spec.selector: Invalid value: {}: empty selector is invalid for deployment`}},
	})
}

func TestJob(t *testing.T) {
	const never = `template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}`
	prepare := func(j *batchv1.Job) { defaults.Job(j); generatedLabels(j) }
	check(t, true, validation.Job, prepare, []changed{
		{name: "plain", new: `{spec: {` + never + `}}`},
		{name: "restart", new: `{spec: {template: {spec: {containers: [{name: c, image: i}]}}}}`, want: []string{
			`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
		{name: "counts", new: `{spec: {parallelism: -1, completions: -1, backoffLimit: -1, activeDeadlineSeconds: -1, ` + never + `}}`, want: []string{
			`spec.parallelism: Invalid value: -1: must be greater than or equal to 0`,
			`spec.completions: Invalid value: -1: must be greater than or equal to 0`,
			`spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0`,
			`spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0`}},
		{name: "indexed", new: `{spec: {completionMode: Indexed, ` + never + `}}`},
		{name: "failures", new: `{spec: {podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [0, 1]}},
			{action: x}]}, ` + never + `}}`, want: []string{
			`spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
			`spec.podFailurePolicy.rules[1].action: Unsupported value: "x": supported values: "Count", "FailIndex", "FailJob", "Ignore"`,
			`spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`}},
		{name: "grown", old: `{spec: {` + never + `}}`, new: `{spec: {parallelism: 3, completions: 1, ` + never + `}}`},
		{name: "completions", old: `{spec: {completions: 2, ` + never + `}}`, new: `{spec: {completions: 3, ` + never + `}}`, want: []string{
			`spec.completions: Invalid value: 3: field is immutable`}},
	})
}

func TestCronJob(t *testing.T) {
	const job = `jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`
	check(t, true, validation.CronJob, defaults.CronJob, []changed{
		{name: "zone in schedule", new: `{spec: {schedule: "CRON_TZ=Etc/UTC */20 * * * *", ` + job + `}}`, want: []string{
			`spec.schedule: Invalid value: "CRON_TZ=Etc/UTC */20 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`}},
		{name: "zones", new: `{spec: {schedule: "TZ=UTC * * * * *", timeZone: UTC, ` + job + `}}`, want: []string{
			`spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`}},
		{name: "zone", new: `{spec: {schedule: "30 2 * * *", timeZone: America/New_York, ` + job + `}}`},
		{name: "no zone", new: `{spec: {schedule: "30 2 * * *", timeZone: Nope/Nope, ` + job + `}}`, want: []string{
			`spec.timeZone: Invalid value: "Nope/Nope": unknown time zone Nope/Nope`}},
		{name: "local", new: `{spec: {schedule: "30 2 * * *", timeZone: Local, ` + job + `}}`, want: []string{
			`spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`}},
		{name: "schedule", new: `{spec: {schedule: "x", concurrencyPolicy: z, startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1,
			` + job + `}}`, want: []string{
			`spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]`,
			`spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0`,
			`spec.concurrencyPolicy: Unsupported value: "z": supported values: "Allow", "Forbid", "Replace"`,
			`spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0`}},
		{name: "kept zone", old: `{spec: {schedule: "TZ=UTC * * * * *", ` + job + `}}`, new: `{spec: {suspend: true, schedule: "TZ=UTC * * * * *", ` + job + `}}`},
		{name: "name", new: `{metadata: {name: a23456789012345678901234567890123456789012345678901234}, spec: {schedule: "* * * * *", ` + job + `}}`, want: []string{
			`metadata.name: Invalid value: "a23456789012345678901234567890123456789012345678901234": must be no more than 52 characters`}},
	})
}
