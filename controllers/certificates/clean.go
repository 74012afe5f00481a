package certificates

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	certificateslisters "k8s.io/client-go/listers/certificates/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	// decidedFor is how long a request stays after the decision, pendingFor
	// how long one without.
	decidedFor = time.Hour
	pendingFor = 24 * time.Hour
)

// Cleaner deletes requests that are over.
type Cleaner struct {
	client   kubernetes.Interface
	clock    clock.PassiveClock
	requests certificateslisters.CertificateSigningRequestLister
}

// NewCleaning connects the controller to its informers.
func NewCleaning(env runner.Env) (runner.Controller, error) {
	c := &Cleaner{client: env.Client, clock: env.Clock, requests: env.Informers.Certificates().V1().CertificateSigningRequests().Lister()}
	return controller(env, "certificatesigningrequest-cleaner-controller", c.Reconcile), nil
}

// Reconcile deletes one request when its time has come.
func (c *Cleaner) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	csr, err := c.requests.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if left := over(csr).Sub(c.clock.Now()); left > 0 {
		return left, nil
	}
	runner.Decide(ctx, "over")
	err = c.client.CertificatesV1().CertificateSigningRequests().Delete(ctx, csr.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(csr.UID))})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}

// over is when a request has had its time: some time after a decision or after
// nobody made one, or when its certificate expires.
func over(csr *certificatesv1.CertificateSigningRequest) time.Time {
	end := csr.CreationTimestamp.Add(pendingFor)
	if decided(csr) || has(csr, certificatesv1.CertificateFailed) {
		for _, condition := range csr.Status.Conditions {
			if at := condition.LastUpdateTime.Add(decidedFor); !condition.LastUpdateTime.IsZero() && at.Before(end) {
				end = at
			}
		}
	}
	if block, _ := pem.Decode(csr.Status.Certificate); block != nil {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && certificate.NotAfter.Before(end) {
			end = certificate.NotAfter
		}
	}
	return end
}
