package printers

import (
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// roleBindingColumns take the description of roleRef from the older API, as Kubernetes does.
func roleBindingColumns() *Columns {
	return columns(func(b *rbacv1.RoleBinding, now time.Time) []any {
		return append([]any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, ageOf(b, now)}, subjects(b.Subjects)...)
	},
		name(), text("Role", rbacv1beta1.RoleBinding{}.SwaggerDoc()["roleRef"]), age(),
		wide(text("Users", "Users in the roleBinding")), wide(text("Groups", "Groups in the roleBinding")),
		wide(text("ServiceAccounts", "ServiceAccounts in the roleBinding")),
	)
}

func clusterRoleBindingColumns() *Columns {
	return columns(func(b *rbacv1.ClusterRoleBinding, now time.Time) []any {
		return append([]any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, ageOf(b, now)}, subjects(b.Subjects)...)
	},
		name(), text("Role", rbacv1beta1.ClusterRoleBinding{}.SwaggerDoc()["roleRef"]), age(),
		wide(text("Users", "Users in the clusterRoleBinding")), wide(text("Groups", "Groups in the clusterRoleBinding")),
		wide(text("ServiceAccounts", "ServiceAccounts in the clusterRoleBinding")),
	)
}

// subjects are the cells of users, groups and service accounts.
func subjects(all []rbacv1.Subject) []any {
	byKind := map[string][]string{}
	for _, s := range all {
		shown := s.Name
		if s.Kind == rbacv1.ServiceAccountKind && s.Namespace != "" {
			shown = s.Namespace + "/" + s.Name
		}
		byKind[s.Kind] = append(byKind[s.Kind], shown)
	}
	var cells []any
	for _, kind := range []string{rbacv1.UserKind, rbacv1.GroupKind, rbacv1.ServiceAccountKind} {
		cells = append(cells, strings.Join(byKind[kind], ", "))
	}
	return cells
}

func certificateSigningRequestColumns() *Columns {
	spec, status := certificatesv1.CertificateSigningRequestSpec{}.SwaggerDoc(), certificatesv1.CertificateSigningRequestStatus{}.SwaggerDoc()
	return columns(func(r *certificatesv1.CertificateSigningRequest, now time.Time) []any {
		lifetime := none
		if s := r.Spec.ExpirationSeconds; s != nil {
			lifetime = duration.HumanDuration(time.Duration(*s) * time.Second)
		}
		return []any{r.Name, ageOf(r, now), or(r.Spec.SignerName, none), r.Spec.Username, lifetime, signingState(r)}
	},
		name(), age(), text("SignerName", spec["signerName"]), text("Requestor", spec["request"]),
		text("RequestedDuration", spec["expirationSeconds"]), text("Condition", status["conditions"]),
	)
}

func signingState(r *certificatesv1.CertificateSigningRequest) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range r.Status.Conditions {
		has[c.Type] = true
	}
	state := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		state = "Denied"
	case has[certificatesv1.CertificateApproved]:
		state = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		state += ",Failed"
	}
	if len(r.Status.Certificate) > 0 {
		state += ",Issued"
	}
	return state
}

func clusterTrustBundleColumns() *Columns {
	return columns(func(b *certificatesv1.ClusterTrustBundle, _ time.Time) []any {
		return []any{b.Name, or(b.Spec.SignerName, none)}
	},
		name(), text("SignerName", certificatesv1.ClusterTrustBundleSpec{}.SwaggerDoc()["signerName"]),
	)
}

func podCertificateRequestColumns() *Columns {
	spec := certificatesv1.PodCertificateRequestSpec{}.SwaggerDoc()
	return columns(func(r *certificatesv1.PodCertificateRequest, _ time.Time) []any {
		state := "Pending"
		for _, c := range r.Status.Conditions {
			switch c.Type {
			case certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied,
				certificatesv1.PodCertificateRequestConditionTypeFailed:
				state = c.Type
			}
		}
		return []any{r.Name, r.Spec.PodName, r.Spec.ServiceAccountName, string(r.Spec.NodeName), r.Spec.SignerName, state}
	},
		name(), text("PodName", spec["podName"]), text("ServiceAccountName", spec["serviceAccountName"]),
		text("NodeName", spec["nodeName"]), text("SignerName", spec["signerName"]),
		text("State", "Is the request Pending, Issued, Denied, or Failed?"),
	)
}
