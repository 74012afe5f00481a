package validation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	needsIndexes = "requires indexed completion mode"

	maxIndexedParallelism = 100_000
	manyCompletions       = 100_000 // above it, limits per index get tighter
	maxAmongMany          = 10_000

	maxManagedBy = 63

	legacyControllerUID = "controller-uid"
	legacyJobName       = "job-name"
)

// Job holds the rules of batch/v1 Jobs. Its selector and the labels of its pods
// were generated before, unless manualSelector is set.
func Job(job, old *batchv1.Job) field.ErrorList {
	p := field.NewPath("spec")
	if old != nil {
		return concat(metaUpdate(&job.ObjectMeta, &old.ObjectMeta), jobSpec(&job.Spec, p), jobUpdate(job, old, p))
	}
	return concat(metaCreate(&job.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		generatedSelector(job), jobSpec(&job.Spec, p), indexedHostname(job))
}

func generatedSelector(job *batchv1.Job) field.ErrorList {
	if isTrue(job.Spec.ManualSelector) || job.Spec.Selector == nil {
		return nil
	}
	errs := refuse(job.UID == "", field.Required(field.NewPath("metadata", "uid"), ""))
	expected := labels.Set{}
	for _, l := range [][2]string{
		{legacyControllerUID, string(job.UID)}, {legacyJobName, job.Name},
		{batchv1.ControllerUidLabel, string(job.UID)}, {batchv1.JobNameLabel, job.Name},
	} {
		expected[l[0]] = l[1]
		errs = append(errs, hasLabel(job.Spec.Template.Labels, l[0], l[1], field.NewPath("spec", "template", "metadata", "labels"))...)
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	return append(errs, refuse(err == nil && !selector.Matches(expected),
		field.Invalid(field.NewPath("spec", "selector"), job.Spec.Selector, "`selector` not auto-generated"))...)
}

func hasLabel(have map[string]string, key, want string, p *field.Path) field.ErrorList {
	must := fmt.Sprintf("must be '%s'", want)
	value, ok := have[key]
	if !ok {
		return field.ErrorList{field.Required(p.Key(key), must)}
	}
	return refuse(value != want, field.Invalid(p.Key(key), have, must))
}

// indexedHostname checks the longest name that a pod of an indexed job will have.
func indexedHostname(job *batchv1.Job) field.ErrorList {
	if !indexed(&job.Spec) || job.Spec.Completions == nil || *job.Spec.Completions <= 0 {
		return nil
	}
	last := fmt.Sprintf("%s-%d", job.Name, *job.Spec.Completions-1)
	return refuse(len(validation.IsDNS1123Label(last)) > 0, field.Invalid(field.NewPath("metadata", "name"), job.Name,
		"will not able to create pod with invalid DNS label: "+last))
}

func indexed(s *batchv1.JobSpec) bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}

func jobSpec(s *batchv1.JobSpec, p *field.Path) field.ErrorList {
	errs := jobTemplateFields(s, p)
	if s.Selector == nil {
		errs = append(errs, field.Required(p.Child("selector"), ""))
	} else {
		errs = append(errs, labelSelector(s.Selector, p.Child("selector"))...)
	}
	selector, err := metav1.LabelSelectorAsSelector(s.Selector)
	return append(errs, refuse(err == nil && !selector.Matches(labels.Set(s.Template.Labels)),
		field.Invalid(p.Child("template", "metadata", "labels"), s.Template.Labels, labelsMismatch))...)
}

// jobTemplateFields holds the rules of a job's spec that do not speak of its
// selector, which a CronJob's template has none of.
func jobTemplateFields(s *batchv1.JobSpec, p *field.Path) field.ErrorList {
	errs := concat(
		optionalNonNegative(s.Parallelism, p.Child("parallelism")),
		optionalNonNegative(s.Completions, p.Child("completions")),
		optionalNonNegative(s.ActiveDeadlineSeconds, p.Child("activeDeadlineSeconds")),
		optionalNonNegative(s.BackoffLimit, p.Child("backoffLimit")),
		optionalNonNegative(s.TTLSecondsAfterFinished, p.Child("ttlSecondsAfterFinished")),
		optionalNonNegative(s.BackoffLimitPerIndex, p.Child("backoffLimitPerIndex")),
		optionalNonNegative(s.MaxFailedIndexes, p.Child("maxFailedIndexes")),
		refuse(s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil,
			field.Required(p.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")),
		completionMode(s, p))
	if s.PodFailurePolicy != nil {
		errs = append(errs, podFailurePolicy(s, p.Child("podFailurePolicy"))...)
	}
	if s.SuccessPolicy != nil {
		errs = append(errs, successPolicy(s, p.Child("successPolicy"))...)
	}
	errs = append(errs, podReplacementPolicy(s, p.Child("podReplacementPolicy"))...)
	if s.ManagedBy != nil {
		at := p.Child("managedBy")
		errs = append(errs, validation.IsDomainPrefixedPath(at, *s.ManagedBy)...)
		errs = append(errs, refuse(len(*s.ManagedBy) > maxManagedBy, field.TooLong(at, "", maxManagedBy))...)
	}
	return concat(errs, podTemplate(&s.Template, p.Child("template")), jobRestartPolicy(s, p.Child("template", "spec", "restartPolicy")))
}

func completionMode(s *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if !indexed(s) {
		errs := when(s.CompletionMode, p.Child("completionMode"), func(m *batchv1.CompletionMode, p *field.Path) field.ErrorList {
			return supported(*m, p, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)
		})
		return concat(errs,
			refuse(s.BackoffLimitPerIndex != nil, field.Invalid(p.Child("backoffLimitPerIndex"), s.BackoffLimitPerIndex, needsIndexes)),
			refuse(s.MaxFailedIndexes != nil, field.Invalid(p.Child("maxFailedIndexes"), s.MaxFailedIndexes, needsIndexes)))
	}
	completions, parallelism, failed := orZero(s.Completions), orZero(s.Parallelism), orZero(s.MaxFailedIndexes)
	errs := concat(
		refuse(s.Completions == nil, field.Required(p.Child("completions"), "when completion mode is Indexed")),
		refuse(parallelism > maxIndexedParallelism, field.Invalid(p.Child("parallelism"), parallelism,
			fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", maxIndexedParallelism))),
		refuse(s.Completions != nil && failed > completions, field.Invalid(p.Child("maxFailedIndexes"), failed, "must be less than or equal to completions")),
		refuse(failed > maxIndexedParallelism, field.Invalid(p.Child("maxFailedIndexes"), failed,
			fmt.Sprintf("must be less than or equal to %d", maxIndexedParallelism))))
	if completions <= manyCompletions || s.BackoffLimitPerIndex == nil {
		return errs
	}
	tight := fmt.Sprintf("must be less than or equal to %d when completions are above %d and used with backoff limit per index", maxAmongMany, manyCompletions)
	return concat(errs,
		refuse(s.MaxFailedIndexes == nil, field.Required(p.Child("maxFailedIndexes"), fmt.Sprintf("must be specified when completions is above %d", manyCompletions))),
		refuse(parallelism > maxAmongMany, field.Invalid(p.Child("parallelism"), parallelism, tight)),
		refuse(failed > maxAmongMany, field.Invalid(p.Child("maxFailedIndexes"), failed, tight)))
}

func podReplacementPolicy(s *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if s.PodReplacementPolicy == nil {
		return nil
	}
	if s.PodFailurePolicy != nil { // it must see how each pod ended
		return supported(*s.PodReplacementPolicy, p, batchv1.Failed)
	}
	return supported(*s.PodReplacementPolicy, p, batchv1.Failed, batchv1.TerminatingOrFailed)
}

func jobRestartPolicy(s *batchv1.JobSpec, p *field.Path) field.ErrorList {
	policy := s.Template.Spec.RestartPolicy
	var errs field.ErrorList
	switch policy {
	case "", corev1.RestartPolicyAlways:
		errs = append(errs, field.Required(p, fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)))
	default:
		errs = append(errs, supported(policy, p, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	}
	return append(errs, refuse(s.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever,
		field.Invalid(p, policy, fmt.Sprintf("only %q is supported when podFailurePolicy is specified", corev1.RestartPolicyNever)))...)
}

func jobUpdate(job, old *batchv1.Job, p *field.Path) field.ErrorList {
	s, was := &job.Spec, &old.Spec
	return concat(
		completionsUpdate(s, was, p),
		unchanged(s.Selector, was.Selector, p.Child("selector")),
		jobTemplateUpdate(job, old, p.Child("template")),
		unchanged(s.CompletionMode, was.CompletionMode, p.Child("completionMode")),
		unchangedShown(s.PodFailurePolicy, was.PodFailurePolicy, p.Child("podFailurePolicy")),
		unchanged(s.BackoffLimitPerIndex, was.BackoffLimitPerIndex, p.Child("backoffLimitPerIndex")),
		unchanged(s.ManagedBy, was.ManagedBy, p.Child("managedBy")),
		unchangedShown(s.SuccessPolicy, was.SuccessPolicy, p.Child("successPolicy")))
}

// unchangedShown is unchanged for a struct, which errors show by field names.
func unchangedShown(value, old any, p *field.Path) field.ErrorList {
	return refuse(!sameValue(value, old), field.Invalid(p, byFieldName(value), immutable))
}

// completionsUpdate lets an indexed job grow and shrink, with its parallelism.
func completionsUpdate(s, old *batchv1.JobSpec, p *field.Path) field.ErrorList {
	at := p.Child("completions")
	if !indexed(s) {
		return unchanged(s.Completions, old.Completions, at)
	}
	if s.Completions == nil || s.Parallelism == nil || sameValue(s.Completions, old.Completions) {
		return nil
	}
	return refuse(*s.Completions != *s.Parallelism, field.Invalid(at, s.Completions, "can only be modified in tandem with "+p.Child("parallelism").String()))
}

// jobTemplateUpdate lets a queueing system say where the pods of a suspended job
// shall run, and with what, before it starts.
func jobTemplateUpdate(job, old *batchv1.Job, p *field.Path) field.ErrorList {
	now, was := &job.Spec.Template, old.Spec.Template.DeepCopy()
	if isTrue(old.Spec.Suspend) && old.Status.StartTime == nil {
		was.Labels, was.Annotations = now.Labels, now.Annotations
		was.Spec.NodeSelector, was.Spec.Tolerations = now.Spec.NodeSelector, now.Spec.Tolerations
		was.Spec.SchedulingGates = now.Spec.SchedulingGates
		if a := nodeAffinity(&now.Spec); a != nil || nodeAffinity(&was.Spec) != nil {
			if was.Spec.Affinity == nil {
				was.Spec.Affinity = &corev1.Affinity{}
			}
			was.Spec.Affinity.NodeAffinity = a
		}
		for i := range min(len(now.Spec.Containers), len(was.Spec.Containers)) {
			was.Spec.Containers[i].Resources = now.Spec.Containers[i].Resources
		}
		for i := range min(len(now.Spec.InitContainers), len(was.Spec.InitContainers)) {
			was.Spec.InitContainers[i].Resources = now.Spec.InitContainers[i].Resources
		}
	}
	return unchangedShown(*now, *was, p)
}

// JobStatus holds the rules of a write to jobs/status that do not ask how the
// job came there.
func JobStatus(job, old *batchv1.Job) field.ErrorList {
	s, p := &job.Status, field.NewPath("status")
	errs := append(metaUpdate(&job.ObjectMeta, &old.ObjectMeta),
		counters(p, counter{"active", int64(s.Active)}, counter{"succeeded", int64(s.Succeeded)}, counter{"failed", int64(s.Failed)},
			counter{"ready", orZero(s.Ready)}, counter{"terminating", orZero(s.Terminating)})...)
	if s.UncountedTerminatedPods == nil {
		return errs
	}
	at, seen := p.Child("uncountedTerminatedPods"), sets.New[string]()
	for _, list := range []struct {
		name string
		uids []string
	}{{"succeeded", uids(s.UncountedTerminatedPods.Succeeded)}, {"failed", uids(s.UncountedTerminatedPods.Failed)}} {
		errs = append(errs, each(list.uids, at.Child(list.name), func(uid *string, p *field.Path) field.ErrorList {
			errs := concat(refuse(*uid == "", field.Invalid(p, *uid, "must not be empty")), refuse(seen.Has(*uid), field.Duplicate(p, *uid)))
			seen.Insert(*uid)
			return errs
		})...)
	}
	return errs
}

func uids[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, uid := range list {
		out[i] = string(uid)
	}
	return out
}
