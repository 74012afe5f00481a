package serviceaccount

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/controllers/runner"
)

// accountIndex finds the token Secrets of a ServiceAccount.
const accountIndex = "serviceAccountOfToken"

// Tokens fills the Secrets of type kubernetes.io/service-account-token, and
// deletes those whose ServiceAccount is gone.
type Tokens struct {
	client  kubernetes.Interface
	secrets corelisters.SecretLister
	indexer cache.Indexer
	rootCA  []byte
	issuer  issuer
}

// NewTokens connects the controller to its informers. Its keys are Secrets.
func NewTokens(env runner.Env) (runner.Controller, error) {
	secrets := env.Informers.Core().V1().Secrets()
	err := secrets.Informer().AddIndexers(cache.Indexers{accountIndex: accountOf})
	if err != nil {
		return runner.Controller{}, fmt.Errorf("index of token Secrets: %w", err)
	}
	issuer, err := newIssuer(env.TokenKey)
	if err != nil {
		return runner.Controller{}, err
	}
	t := &Tokens{
		client: env.Client, secrets: secrets.Lister(), indexer: secrets.Informer().GetIndexer(),
		rootCA: []byte(env.RootCA), issuer: issuer,
	}
	resource := corev1.Resource("secrets")
	return runner.Controller{
		Name: "serviceaccount-token-controller", Resource: resource, Reconcile: t.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: secrets.Informer(), Keys: ofToken},
			{
				Resource: corev1.Resource("serviceaccounts"), Informer: env.Informers.Core().V1().ServiceAccounts().Informer(),
				Keys: t.ofAccount, Changed: func(metav1.Object, metav1.Object) bool { return false },
			},
		},
	}, nil
}

func isToken(obj any) (*corev1.Secret, bool) {
	secret, ok := obj.(*corev1.Secret)
	return secret, ok && secret.Type == corev1.SecretTypeServiceAccountToken
}

// accountOf is the index function: namespace/name of a token's ServiceAccount.
func accountOf(obj any) ([]string, error) {
	secret, ok := isToken(obj)
	if !ok {
		return nil, nil
	}
	return []string{secret.Namespace + "/" + secret.Annotations[corev1.ServiceAccountNameKey]}, nil
}

func ofToken(obj metav1.Object) []runner.Key {
	if _, ok := isToken(obj); !ok {
		return nil
	}
	return runner.Self(obj)
}

func (t *Tokens) ofAccount(account metav1.Object) []runner.Key {
	secrets, err := t.indexer.ByIndex(accountIndex, account.GetNamespace()+"/"+account.GetName())
	if err != nil {
		return nil // the index exists
	}
	var keys []runner.Key
	for _, secret := range secrets {
		keys = append(keys, runner.Self(secret.(metav1.Object))...)
	}
	return keys
}

// Reconcile fills or deletes one Secret.
func (t *Tokens) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	secret, err := t.secrets.Secrets(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil || secret.DeletionTimestamp != nil {
		return 0, err
	}
	name := secret.Annotations[corev1.ServiceAccountNameKey]
	// A deletion can't be undone, so the live object decides.
	account, err := t.client.CoreV1().ServiceAccounts(key.Namespace).Get(ctx, name, metav1.GetOptions{})
	uid := secret.Annotations[corev1.ServiceAccountUIDKey]
	switch {
	case apierrors.IsNotFound(err), err == nil && uid != "" && uid != string(account.UID):
		runner.Decide(ctx, "delete the token of a ServiceAccount that is gone")
		return 0, t.delete(ctx, secret)
	case err != nil:
		return 0, err
	}
	return 0, t.fill(ctx, secret, account)
}

func (t *Tokens) delete(ctx context.Context, secret *corev1.Secret) error {
	err := t.client.CoreV1().Secrets(secret.Namespace).Delete(ctx, secret.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &secret.UID},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// fill adds what a token Secret lacks.
func (t *Tokens) fill(ctx context.Context, secret *corev1.Secret, account *corev1.ServiceAccount) error {
	filled := secret.DeepCopy()
	metav1.SetMetaDataAnnotation(&filled.ObjectMeta, corev1.ServiceAccountUIDKey, string(account.UID))
	if filled.Data == nil {
		filled.Data = map[string][]byte{}
	}
	if len(t.rootCA) > 0 {
		filled.Data[corev1.ServiceAccountRootCAKey] = t.rootCA
	}
	if len(filled.Data[corev1.ServiceAccountNamespaceKey]) == 0 {
		filled.Data[corev1.ServiceAccountNamespaceKey] = []byte(secret.Namespace)
	}
	if len(filled.Data[corev1.ServiceAccountTokenKey]) == 0 {
		token, err := t.issuer.issue(secret, account)
		if err != nil {
			return err
		}
		filled.Data[corev1.ServiceAccountTokenKey] = []byte(token)
	}
	if maps.Equal(filled.Annotations, secret.Annotations) && maps.EqualFunc(filled.Data, secret.Data, func(a, b []byte) bool { return string(a) == string(b) }) {
		return nil
	}
	runner.Decide(ctx, "fill in the token")
	_, err := t.client.CoreV1().Secrets(secret.Namespace).Update(ctx, filled, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
