package certificates

import (
	"context"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	certificateslisters "k8s.io/client-go/listers/certificates/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
)

// Approver approves the requests of kubelets that may make them.
type Approver struct {
	client   kubernetes.Interface
	clock    clock.PassiveClock
	requests certificateslisters.CertificateSigningRequestLister
}

// NewApproving connects the controller to its informers.
func NewApproving(env runner.Env) (runner.Controller, error) {
	a := &Approver{client: env.Client, clock: env.Clock, requests: env.Informers.Certificates().V1().CertificateSigningRequests().Lister()}
	return controller(env, "certificatesigningrequest-approving-controller", a.Reconcile), nil
}

// right is a permission to have requests approved.
type right struct{ subresource, message string }

// rights are those that a kubelet's request may come by: a renewal by the node
// itself, and anybody who may ask for a node.
func rights(csr *certificatesv1.CertificateSigningRequest, commonName string) []right {
	var all []right
	if csr.Spec.Username == commonName {
		all = append(all, right{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."})
	}
	return append(all, right{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."})
}

// Reconcile approves one request if whoever made it may have that.
func (a *Approver) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	csr, err := a.requests.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if csr.Spec.SignerName != certificatesv1.KubeAPIServerClientKubeletSignerName || len(csr.Status.Certificate) > 0 || decided(csr) {
		return 0, nil
	}
	request, err := parse(csr.Spec.Request)
	if err != nil {
		return 0, fmt.Errorf("unable to parse csr %q: %w", csr.Name, err)
	}
	if checkKubelet(request, csr.Spec.Usages) != nil {
		return 0, nil // somebody else decides
	}
	for _, r := range rights(csr, request.Subject.CommonName) {
		allowed, err := a.allowed(ctx, csr, r.subresource)
		if err != nil {
			return 0, err
		}
		if allowed {
			runner.Decide(ctx, "approve")
			return 0, a.approve(ctx, csr, r.message)
		}
	}
	return 0, fmt.Errorf("recognized csr %q as a kubelet's but subject access review was not approved", csr.Name)
}

func (a *Approver) allowed(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, subresource string) (bool, error) {
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range csr.Spec.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	review, err := a.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: csr.Spec.Username, UID: csr.Spec.UID, Groups: csr.Spec.Groups, Extra: extra,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: certificatesv1.GroupName, Resource: "certificatesigningrequests", Verb: "create", Subresource: subresource, Version: "*",
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

func (a *Approver) approve(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, message string) error {
	changed := csr.DeepCopy()
	changed.Status.Conditions = append(changed.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "AutoApproved", Message: message,
		LastUpdateTime: metav1.NewTime(a.clock.Now()).Rfc3339Copy(),
	})
	_, err := a.client.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, csr.Name, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
