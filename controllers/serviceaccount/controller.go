package serviceaccount

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/kubesim/kubesim/controllers/runner"
)

const defaultName = "default"

// Controller restores default ServiceAccounts.
type Controller struct {
	client     kubernetes.Interface
	namespaces corelisters.NamespaceLister
	accounts   corelisters.ServiceAccountLister
}

// New connects the controller to its informers. Its keys are namespaces.
func New(env runner.Env) (runner.Controller, error) {
	namespaces := env.Informers.Core().V1().Namespaces()
	accounts := env.Informers.Core().V1().ServiceAccounts()
	c := &Controller{client: env.Client, namespaces: namespaces.Lister(), accounts: accounts.Lister()}
	resource := corev1.Resource("namespaces")
	return runner.Controller{
		Name: "serviceaccount-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: namespaces.Informer(), Keys: runner.Self},
			{
				Resource: corev1.Resource("serviceaccounts"), Informer: accounts.Informer(), Keys: ofAccount,
				Changed: func(metav1.Object, metav1.Object) bool { return false },
			},
		},
	}, nil
}

func ofAccount(account metav1.Object) []runner.Key {
	if account.GetName() != defaultName {
		return nil
	}
	return []runner.Key{{Name: account.GetNamespace()}}
}

// Reconcile creates the ServiceAccount of one namespace if it is missing.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	namespace, err := c.namespaces.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if namespace.Status.Phase != corev1.NamespaceActive {
		return 0, nil
	}
	if _, err := c.accounts.ServiceAccounts(key.Name).Get(defaultName); !apierrors.IsNotFound(err) {
		return 0, err
	}
	runner.Decide(ctx, "create the missing ServiceAccount %s", defaultName)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: defaultName, Namespace: key.Name}}
	_, err = c.client.CoreV1().ServiceAccounts(key.Name).Create(ctx, account, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return 0, nil
	}
	return 0, err
}
