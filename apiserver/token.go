package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/authentication"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// tokenSeconds is how long a token lives that does not ask for a time.
const tokenSeconds = 3600

// createToken answers POST serviceaccounts/NAME/token.
func (s *Server) createToken(ctx context.Context, q *request) error {
	gvk := authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
	obj, err := s.decodeBody(q, gvk)
	if err != nil {
		return err
	}
	wish := obj.(*authenticationv1.TokenRequest)
	account, err := getObject[*corev1.ServiceAccount](ctx, s, "serviceaccounts", q.namespace, q.name)
	if err != nil {
		return err
	}
	if err := s.completeTokenRequest(wish, account); err != nil {
		return err
	}
	grant := authentication.Grant{Account: account, Audiences: wish.Spec.Audiences, Life: time.Duration(*wish.Spec.ExpirationSeconds) * time.Second}
	if ref := wish.Spec.BoundObjectRef; ref != nil {
		if err := s.bindToken(ctx, &grant, ref); err != nil {
			return err
		}
	}
	token, expires, err := s.tokens.Issue(grant)
	if err != nil {
		return err
	}
	wish.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(expires).Rfc3339Copy()}
	wish.SetGroupVersionKind(gvk)
	return s.writeObject(q, http.StatusCreated, wish)
}

// completeTokenRequest checks a wish and fills in what it leaves open.
func (s *Server) completeTokenRequest(wish *authenticationv1.TokenRequest, account *corev1.ServiceAccount) error {
	if wish.Spec.ExpirationSeconds == nil {
		seconds := int64(tokenSeconds)
		wish.Spec.ExpirationSeconds = &seconds
	}
	errs := validation.TokenRequest(wish)
	if wish.Name != "" && wish.Name != account.Name {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), wish.Name, "must match the service account name if specified"))
	}
	if wish.Namespace != "" && wish.Namespace != account.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "namespace"), wish.Namespace, "must match the service account namespace if specified"))
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}, wish.Name, errs)
	}
	wish.Name, wish.Namespace = account.Name, account.Namespace
	wish.CreationTimestamp = s.now()
	if len(wish.Spec.Audiences) == 0 {
		wish.Spec.Audiences = []string{authentication.Issuer}
	}
	return nil
}

// bindToken makes the token end with the object.
func (s *Server) bindToken(ctx context.Context, grant *authentication.Grant, ref *authenticationv1.BoundObjectReference) error {
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	var bound metav1.Object
	switch {
	case gvk.Group == "" && gvk.Kind == "Pod":
		pod, err := getObject[*corev1.Pod](ctx, s, "pods", grant.Account.Namespace, ref.Name)
		if err != nil {
			return err
		}
		if pod.Spec.ServiceAccountName != grant.Account.Name {
			return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", grant.Account.Name))
		}
		grant.Pod, bound = pod, pod
		if pod.Spec.NodeName != "" {
			node, err := getObject[*corev1.Node](ctx, s, "nodes", "", pod.Spec.NodeName)
			if apierrors.IsNotFound(err) { // its name alone
				node, err = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}}, nil
			}
			if err != nil {
				return err
			}
			grant.Node = node
		}
	case gvk.Group == "" && gvk.Kind == "Secret":
		secret, err := getObject[*corev1.Secret](ctx, s, "secrets", grant.Account.Namespace, ref.Name)
		if err != nil {
			return err
		}
		grant.Secret, bound = secret, secret
	case gvk.Group == "" && gvk.Kind == "Node":
		node, err := getObject[*corev1.Node](ctx, s, "nodes", "", ref.Name)
		if err != nil {
			return err
		}
		grant.Node, bound = node, node
	default:
		return apierrors.NewBadRequest("cannot bind token to object of type " + gvk.String())
	}
	if uid := bound.GetUID(); ref.UID != "" && ref.UID != uid {
		return uidConflict(gvk, ref, uid)
	}
	return nil
}

func uidConflict(gvk schema.GroupVersionKind, ref *authenticationv1.BoundObjectReference, uid types.UID) error {
	return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name, fmt.Errorf(
		"the UID in the bound object reference (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", ref.UID, uid))
}

// getObject reads an object of the core group.
func getObject[T any](ctx context.Context, s *Server, resource, namespace, name string) (T, error) {
	var none T
	obj, err := cacheLister{s}.Get(ctx, corev1.SchemeGroupVersion.WithResource(resource), namespace, name)
	if err != nil {
		return none, err
	}
	typed, ok := obj.(T)
	if !ok {
		return none, fmt.Errorf("%s %s/%s is a %T", resource, namespace, name, obj)
	}
	return typed, nil
}

// tokenIssuer tells where the keys are that tokens are checked with (OpenID Connect discovery).
func (s *Server) tokenIssuer(w http.ResponseWriter, _ *http.Request) {
	s.writePlain(w, "application/json", map[string]any{
		"issuer":                                authentication.Issuer,
		"jwks_uri":                              authentication.Issuer + "/openid/v1/jwks",
		"response_types_supported":              []string{"id_token"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{s.tokens.PublicKey().Algorithm},
	})
}

// tokenKeys are the keys that tokens are checked with.
func (s *Server) tokenKeys(w http.ResponseWriter, _ *http.Request) {
	s.writePlain(w, "application/jwk-set+json", map[string]any{"keys": []authentication.JSONWebKey{s.tokens.PublicKey()}})
}

// writePlain sends JSON that is no Kubernetes object.
func (s *Server) writePlain(w http.ResponseWriter, media string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(body) // the client is gone if it fails
}
