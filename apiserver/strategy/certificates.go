package strategy

import (
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CertificateSigningRequest clears what a new request says about its author: the
// server sets that. A request never changes afterwards.
func CertificateSigningRequest(csr, old *certificatesv1.CertificateSigningRequest) {
	if old != nil {
		csr.Spec, csr.Status = old.Spec, old.Status
		return
	}
	csr.Spec.Username, csr.Spec.UID, csr.Spec.Groups, csr.Spec.Extra = "", "", nil, nil
	csr.Status = certificatesv1.CertificateSigningRequestStatus{}
}

// CertificateSigningRequestStatus lets the signer set certificate and failure,
// but neither approve nor deny.
func CertificateSigningRequestStatus(csr, old *certificatesv1.CertificateSigningRequest, now metav1.Time) {
	csr.Spec = old.Spec
	keepDecisions(csr, old, certificatesv1.CertificateApproved)
	keepDecisions(csr, old, certificatesv1.CertificateDenied)
	stampConditions(csr, old, now)
}

// CertificateSigningRequestApproval lets the approver set conditions alone.
func CertificateSigningRequestApproval(csr, old *certificatesv1.CertificateSigningRequest, now metav1.Time) {
	conditions := csr.Status.Conditions
	csr.Spec, csr.Status = old.Spec, *old.Status.DeepCopy()
	csr.Status.Conditions = conditions
	stampConditions(csr, old, now)
}

// keepDecisions restores the times of conditions of a type that are there still,
// which the client may have left out. Added or removed ones stay so, and
// validation refuses them.
func keepDecisions(csr, old *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) {
	ofKind := func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type == kind }
	before, now := filter(old.Status.Conditions, ofKind), filter(csr.Status.Conditions, ofKind)
	if len(before) != len(now) {
		return
	}
	next := 0
	for i := range csr.Status.Conditions {
		if ofKind(csr.Status.Conditions[i]) {
			csr.Status.Conditions[i] = before[next]
			next++
		}
	}
}

func filter[T any](items []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !keep(item) })
}

// stampConditions fills in times that the client left out.
func stampConditions(csr, old *certificatesv1.CertificateSigningRequest, now metav1.Time) {
	for i := range csr.Status.Conditions {
		c := &csr.Status.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = now
		}
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = now
		for _, before := range old.Status.Conditions {
			if before.Type == c.Type && before.Status == c.Status && !before.LastTransitionTime.IsZero() {
				c.LastTransitionTime = before.LastTransitionTime
				break
			}
		}
	}
}
