package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/pod-security-admission/admission"
	admissionapi "k8s.io/pod-security-admission/admission/api"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"
)

// PodSecurity holds pods to the levels that the labels of their namespace name,
// by the library that Kubernetes has for it.
type PodSecurity struct {
	lister Lister
	// admission is made at the first request that needs it.
	admission func() (*admission.Admission, error)
}

// NewPodSecurity makes the plugin.
func NewPodSecurity(lister Lister) *PodSecurity {
	p := &PodSecurity{lister: lister}
	p.admission = sync.OnceValues(p.build)
	return p
}

// build makes the library's plugin with its defaults: every level is privileged,
// and nobody is exempt.
func (p *PodSecurity) build() (*admission.Admission, error) {
	latest := api.LatestVersion()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), &latest)
	if err != nil {
		return nil, err
	}
	privileged, version := string(api.LevelPrivileged), api.VersionLatest
	a := &admission.Admission{
		Configuration: &admissionapi.PodSecurityConfiguration{Defaults: admissionapi.PodSecurityDefaults{
			Enforce: privileged, EnforceVersion: version, Audit: privileged, AuditVersion: version, Warn: privileged, WarnVersion: version,
		}},
		Evaluator: evaluator, Metrics: noMetrics{}, NamespaceGetter: p, PodLister: p,
	}
	if err := a.CompleteConfiguration(); err != nil {
		return nil, err
	}
	return a, a.ValidateConfiguration()
}

// Name implements Plugin.
func (*PodSecurity) Name() string { return "PodSecurity" }

// Validate refuses pods and namespace labels, and warns of templates.
func (p *PodSecurity) Validate(ctx context.Context, a *Attributes) error {
	resource := a.GVR.GroupResource()
	if a.Verb != Create && a.Verb != Update || resource != group("", "namespaces") && !(admission.DefaultPodSpecExtractor{}).HasPodSpec(resource) {
		return nil
	}
	if !slices.Contains([]string{"", "ephemeralcontainers", "resize"}, a.Subresource) {
		return nil
	}
	library, err := p.admission()
	if err != nil {
		return err
	}
	answer := library.Validate(ctx, &api.AttributesRecord{
		Name: a.Name, Namespace: a.Namespace, Kind: a.kind(), Resource: a.GVR, Subresource: a.Subresource,
		Operation: admissionv1.Operation(a.Verb), Object: a.Object, OldObject: a.OldObject, Username: a.User.Username,
	})
	for _, warning := range answer.Warnings {
		a.Warn(warning)
	}
	for key, value := range answer.AuditAnnotations {
		a.Annotate("pod-security.kubernetes.io/"+key, value)
	}
	if answer.Allowed {
		return nil
	}
	if answer.Result == nil {
		return forbidden(a, fmt.Errorf("denied by %s", p.Name()))
	}
	status := answer.Result.DeepCopy()
	status.Status, status.TypeMeta = metav1.StatusFailure, metav1.TypeMeta{}
	return &apierrors.StatusError{ErrStatus: *status}
}

// kind is that of the object, as far as it says.
func (a *Attributes) kind() schema.GroupVersionKind {
	if a.Object == nil {
		return schema.GroupVersionKind{}
	}
	return a.Object.GetObjectKind().GroupVersionKind()
}

// GetNamespace implements admission.NamespaceGetter.
func (p *PodSecurity) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"), "", name)
	if err != nil {
		return nil, err
	}
	ns, ok := obj.(*corev1.Namespace)
	if !ok {
		return nil, fmt.Errorf("namespace %s is a %T", name, obj)
	}
	return ns, nil
}

// ListPods implements admission.PodLister.
func (p *PodSecurity) ListPods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	objects, err := p.lister.List(ctx, corev1.SchemeGroupVersion.WithResource("pods"), namespace)
	if err != nil {
		return nil, err
	}
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, obj := range objects {
		if pod, ok := obj.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

// noMetrics counts nothing.
type noMetrics struct{}

func (noMetrics) RecordEvaluation(metrics.Decision, api.LevelVersion, metrics.Mode, api.Attributes) {}
func (noMetrics) RecordExemption(api.Attributes)                                                    {}
func (noMetrics) RecordError(bool, api.Attributes)                                                  {}
