package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/util/webhook"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// Caller sends requests to webhooks. It keeps the connections.
type Caller struct {
	manager func() (*webhook.ClientManager, error)
}

// NewCaller makes a Caller, which does nothing before the first call. resolver
// finds the address of a webhook that is named by its Service.
func NewCaller(resolver webhook.ServiceResolver) *Caller {
	return &Caller{sync.OnceValues(func() (*webhook.ClientManager, error) {
		manager, err := webhook.NewClientManager([]schema.GroupVersion{admissionv1.SchemeGroupVersion}, admissionv1.AddToScheme)
		if err != nil {
			return nil, err
		}
		credentials, err := webhook.NewDefaultAuthenticationInfoResolver("")
		if err != nil {
			return nil, err
		}
		manager.SetAuthenticationInfoResolver(credentials)
		manager.SetServiceResolver(resolver)
		return &manager, manager.Validate()
	})}
}

// failure is a webhook that could not be asked, as opposed to one that refuses.
type failure struct {
	webhook string
	err     error
}

// Error implements error.
func (f *failure) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", f.webhook, f.err)
}

// Unwrap gives the reason.
func (f *failure) Unwrap() error { return f.err }

// ask sends an invocation to a webhook. The error is a failure, or the refusal.
func (c *Caller) ask(ctx context.Context, h *hook, in *invocation) (*admissionv1.AdmissionResponse, error) {
	if in.DryRun && h.sideEffects != admissionregistrationv1.SideEffectClassNone && h.sideEffects != admissionregistrationv1.SideEffectClassNoneOnDryRun {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.name))
	}
	version := slices.IndexFunc(h.versions, func(v string) bool { return v == "v1" || v == "v1beta1" })
	if version < 0 {
		return nil, &failure{h.name, errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")}
	}
	response, err := c.send(ctx, h, in, "admission.k8s.io/"+h.versions[version])
	if err != nil {
		return nil, &failure{h.name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	for _, warning := range response.Warnings {
		in.Warn(warning)
	}
	for key, value := range response.AuditAnnotations {
		in.Annotate(h.name+"/"+key, value)
	}
	if !response.Allowed {
		return nil, refusal(h.name, response.Result)
	}
	return response, nil
}

func (c *Caller) send(ctx context.Context, h *hook, in *invocation, version string) (*admissionv1.AdmissionResponse, error) {
	manager, err := c.manager()
	if err != nil {
		return nil, err
	}
	client, err := manager.HookClient(clientConfig(h))
	if err != nil {
		return nil, err
	}
	review := in.review(version)
	body, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	answer, err := client.Post().Timeout(h.timeout).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var answered admissionv1.AdmissionReview
	if err := json.Unmarshal(answer, &answered); err != nil {
		return nil, err
	}
	switch {
	case answered.Response == nil:
		return nil, errors.New("webhook response was absent")
	case version == admissionv1.SchemeGroupVersion.String() && (answered.APIVersion != version || answered.Kind != review.Kind):
		return nil, fmt.Errorf("expected webhook response of %s, Kind=%s, got %s, Kind=%s", version, review.Kind, answered.APIVersion, answered.Kind)
	case version == admissionv1.SchemeGroupVersion.String() && answered.Response.UID != review.Request.UID:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", review.Request.UID, answered.Response.UID)
	}
	return answered.Response, nil
}

func clientConfig(h *hook) webhook.ClientConfig {
	out := webhook.ClientConfig{Name: h.name, CABundle: h.client.CABundle}
	if h.client.URL != nil {
		out.URL = *h.client.URL
	}
	if s := h.client.Service; s != nil {
		out.Service = &webhook.ClientConfigService{Name: s.Name, Namespace: s.Namespace, Port: 443}
		if s.Path != nil {
			out.Service.Path = *s.Path
		}
		if s.Port != nil {
			out.Service.Port = *s.Port
		}
	}
	return out
}

// review is what a webhook is asked.
func (in *invocation) review(version string) *admissionv1.AdmissionReview {
	group := func(gvk schema.GroupVersionKind) metav1.GroupVersionKind { return metav1.GroupVersionKind(gvk) }
	requestKind, requestResource := group(in.asRequested), metav1.GroupVersionResource(in.GVR)
	request := &admissionv1.AdmissionRequest{
		UID: uuid.NewUUID(), Kind: group(in.gvk), Resource: metav1.GroupVersionResource(in.gvr), SubResource: in.Subresource,
		RequestKind: &requestKind, RequestResource: &requestResource, RequestSubResource: in.Subresource,
		Name: in.Name, Namespace: in.Namespace, Operation: admissionv1.Operation(in.Verb), UserInfo: in.User, DryRun: &in.DryRun,
		Object: runtime.RawExtension{Object: in.object}, OldObject: runtime.RawExtension{Object: in.old}, Options: runtime.RawExtension{Object: in.Options},
	}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "AdmissionReview"}, Request: request}
}

// refusal is the webhook's own Status, with its name in front.
func refusal(webhook string, result *metav1.Status) error {
	status := metav1.Status{}
	if result != nil {
		status = *result
	}
	status.Status = metav1.StatusFailure
	if status.Code < http.StatusBadRequest {
		status.Code = http.StatusBadRequest
	}
	denied := fmt.Sprintf("admission webhook %q denied the request", webhook)
	switch {
	case status.Message != "":
		status.Message = denied + ": " + status.Message
	case status.Reason != "":
		status.Message = denied + ": " + string(status.Reason)
	default:
		status.Message = denied + " without explanation"
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// failed is what becomes of an error of ask: nil when the webhook's failures are ignored.
func (h *hook) failed(in *invocation, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if h.ignoreFailure {
		in.Annotate("failed-open."+h.name, f.Error())
		return nil
	}
	return apierrors.NewInternalError(f)
}
