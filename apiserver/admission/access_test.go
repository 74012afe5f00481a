package admission

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// refused checks an error, "" for none, by its end.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want …%s", err, want)
	}
}

func TestPodSecurity(t *testing.T) {
	ns := func(labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: labels}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"},
		Spec:       corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "c", SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)}}}},
	}
	const violations = `"baseline:latest": host namespaces (hostNetwork=true), privileged (container "c" must not set securityContext.privileged=true)`
	for _, test := range []struct {
		name     string
		labels   map[string]string
		err      string
		warnings int
	}{
		{"no labels", nil, "", 0},
		{"privileged", map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}, "", 0},
		{"enforced", map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}, "violates PodSecurity " + violations, 0},
		{"warned", map[string]string{"pod-security.kubernetes.io/warn": "baseline"}, "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var warnings []string
			a := &Attributes{
				Verb: Create, GVR: corev1.SchemeGroupVersion.WithResource("pods"), Namespace: "ns", Name: "p", Object: pod,
				Warner: func(text string) { warnings = append(warnings, text) },
			}
			refused(t, NewPodSecurity(cluster(ns(test.labels))).Validate(t.Context(), a), test.err)
			if len(warnings) != test.warnings {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
	t.Run("wrong label", func(t *testing.T) {
		a := &Attributes{
			Verb: Create, GVR: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: "ns",
			Object: ns(map[string]string{"pod-security.kubernetes.io/enforce": "strict"}),
		}
		refused(t, NewPodSecurity(cluster()).Validate(t.Context(), a), `metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted`)
	})
}

func TestNodeRestriction(t *testing.T) {
	boundPod := func(node string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u"}, Spec: corev1.PodSpec{NodeName: node}}
	}
	mirror := boundPod("node-1")
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	node := func(labels ...string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{}}}
		for _, label := range labels {
			n.Labels[label] = "x"
		}
		return n
	}
	tainted := node()
	tainted.Spec.Taints = []corev1.Taint{{Key: "k"}}
	token := func(uid string) *authenticationv1.TokenRequest {
		return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}}}
	}
	pods, nodes := corev1.SchemeGroupVersion.WithResource("pods"), corev1.SchemeGroupVersion.WithResource("nodes")
	for _, test := range []struct {
		name string
		a    *Attributes
		err  string
	}{
		{"plain pod", &Attributes{Verb: Create, GVR: pods, Object: boundPod("node-1")}, `node "node-1" can only create mirror pods`},
		{"mirror pod", &Attributes{Verb: Create, GVR: pods, Object: mirror}, ""},
		{"own status", &Attributes{Verb: Update, GVR: pods, Subresource: "status", Object: boundPod("node-1"), OldObject: boundPod("node-1")}, ""},
		{"another's status", &Attributes{Verb: Update, GVR: pods, Subresource: "status", Object: boundPod("node-2"), OldObject: boundPod("node-2")}, "can only update pod status for pods with spec.nodeName set to itself"},
		{"own pod's end", &Attributes{Verb: Delete, GVR: pods, OldObject: boundPod("node-1")}, ""},
		{"another's pod's end", &Attributes{Verb: Delete, GVR: pods, OldObject: boundPod("node-2")}, "can only delete pods with spec.nodeName set to itself"},
		{"itself", &Attributes{Verb: Create, GVR: nodes, Name: "node-1", Object: node(corev1.LabelHostname, "example.com/x")}, ""},
		{"another node", &Attributes{Verb: Update, GVR: nodes, Name: "node-2", Object: node(), OldObject: node()}, `is not allowed to modify node "node-2"`},
		{"a label of the administrator", &Attributes{Verb: Update, GVR: nodes, Name: "node-1", Object: node("node-restriction.kubernetes.io/x"), OldObject: node()}, "is not allowed to modify labels: node-restriction.kubernetes.io/x"},
		{"its taints", &Attributes{Verb: Update, GVR: nodes, Name: "node-1", Object: tainted, OldObject: node()}, `is not allowed to modify taints`},
		{"token of its pod", &Attributes{Verb: Create, GVR: corev1.SchemeGroupVersion.WithResource("serviceaccounts"), Subresource: "token", Namespace: "ns", Object: token("u")}, ""},
		{"lease elsewhere", &Attributes{Verb: Update, GVR: schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, Namespace: "ns", Name: "node-1"}, `can only access leases in the "kube-node-lease" system namespace`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &NodeRestriction{lister: cluster(boundPod("node-1"))}
			test.a.User = authenticationv1.UserInfo{Username: "system:node:node-1", Groups: []string{"system:nodes"}}
			refused(t, p.Validate(t.Context(), test.a), test.err)
			test.a.User = authenticationv1.UserInfo{Username: "admin"}
			refused(t, p.Validate(t.Context(), test.a), "")
		})
	}
}

// judge allows one verb on signers.
type judge struct {
	*objects
	verb string
}

func (j judge) May(_ authenticationv1.UserInfo, verb string, _ schema.GroupResource, _, _, name string) bool {
	return verb == j.verb && name == "example.com/*"
}

func TestCertificates(t *testing.T) {
	csr := func(signer string, request []byte, certificate string) *certificatesv1.CertificateSigningRequest {
		return &certificatesv1.CertificateSigningRequest{
			Spec:   certificatesv1.CertificateSigningRequestSpec{SignerName: signer, Request: request},
			Status: certificatesv1.CertificateSigningRequestStatus{Certificate: []byte(certificate)},
		}
	}
	request := func(groups ...string) []byte {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "x", Organization: groups}}, key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	}
	const other, client = "example.com/signer", certificatesv1.KubeAPIServerClientSignerName
	type validator interface {
		Validate(context.Context, *Attributes) error
	}
	signer, approver := judge{cluster(), "sign"}, judge{cluster(), "approve"}
	for _, test := range []struct {
		name        string
		plugin      validator
		verb, sub   string
		object, old runtime.Object
		err         string
	}{
		{"approved by an approver", &CertificateApproval{approver}, Update, "approval", csr(other, nil, ""), csr(other, nil, ""), ""},
		{"approved by a signer", &CertificateApproval{signer}, Update, "approval", csr(other, nil, ""), csr(other, nil, ""), `user not permitted to approve requests with signerName "example.com/signer"`},
		{"signed by a signer", &CertificateSigning{signer}, Update, "status", csr(other, nil, "x"), csr(other, nil, ""), ""},
		{"signed by an approver", &CertificateSigning{approver}, Update, "status", csr(other, nil, "x"), csr(other, nil, ""), `user not permitted to sign requests with signerName "example.com/signer"`},
		{"status without a certificate", &CertificateSigning{approver}, Update, "status", csr(other, nil, ""), csr(other, nil, ""), ""},
		{"a master", &CertificateSubjectRestriction{}, Create, "", csr(client, request("system:masters"), ""), nil, "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"},
		{"a developer", &CertificateSubjectRestriction{}, Create, "", csr(client, request("dev"), ""), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused(t, test.plugin.Validate(t.Context(), &Attributes{
				Verb: test.verb, Subresource: test.sub, Name: "r", Object: test.object, OldObject: test.old,
				GVR: certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests"),
			}), test.err)
		})
	}
}

func TestOwnerReferences(t *testing.T) {
	owned := func(owners ...metav1.OwnerReference) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", OwnerReferences: owners}}
	}
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}
	blocking := ref
	blocking.BlockOwnerDeletion = ptr.To(true)
	p := &OwnerReferencesPermissionEnforcement{lister: judge{cluster(), "none"}}
	for _, test := range []struct {
		name     string
		now, old *corev1.ConfigMap
		err      string
	}{
		{"unchanged", owned(ref), owned(ref), ""},
		{"a new owner", owned(ref), owned(), "cannot set an ownerRef on a resource you can't delete"},
		{"to block the owner", owned(blocking), owned(ref), "an ownerReference refers to a resource you can't set finalizers on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused(t, p.Validate(t.Context(), &Attributes{
				Verb: Update, GVR: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespace: "ns", Name: "c", Object: test.now, OldObject: test.old,
			}), test.err)
		})
	}
}
