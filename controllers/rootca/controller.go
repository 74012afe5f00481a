package rootca

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	configMapName         = "kube-root-ca.crt"
	bundleKey             = "ca.crt"
	descriptionAnnotation = "kubernetes.io/description"
	description           = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

// Controller keeps one ConfigMap per namespace as it must be.
type Controller struct {
	client     kubernetes.Interface
	namespaces corelisters.NamespaceLister
	configMaps corelisters.ConfigMapLister
	data       map[string]string
}

// New connects the controller to its informers. Its keys are namespaces.
func New(env runner.Env) (runner.Controller, error) {
	namespaces := env.Informers.Core().V1().Namespaces()
	configMaps := env.Informers.Core().V1().ConfigMaps()
	c := &Controller{
		client: env.Client, namespaces: namespaces.Lister(), configMaps: configMaps.Lister(),
		data: map[string]string{bundleKey: env.RootCA},
	}
	resource := corev1.Resource("namespaces")
	return runner.Controller{
		Name: "root-ca-certificate-publisher-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: namespaces.Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("configmaps"), Informer: configMaps.Informer(), Keys: ofConfigMap},
		},
	}, nil
}

func ofConfigMap(configMap metav1.Object) []runner.Key {
	if configMap.GetName() != configMapName {
		return nil
	}
	return []runner.Key{{Name: configMap.GetNamespace()}}
}

// Reconcile creates or repairs the ConfigMap of one namespace.
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
	current, err := c.configMaps.ConfigMaps(key.Name).Get(configMapName)
	if apierrors.IsNotFound(err) {
		return 0, c.create(ctx, key.Name)
	}
	if err != nil {
		return 0, err
	}
	// Whatever else the object says, such as more labels, is its users' business.
	if maps.Equal(current.Data, c.data) && current.Annotations[descriptionAnnotation] == description {
		return 0, nil
	}
	runner.Decide(ctx, "restore the changed ConfigMap %s", configMapName)
	repaired := current.DeepCopy()
	repaired.Data = c.data
	metav1.SetMetaDataAnnotation(&repaired.ObjectMeta, descriptionAnnotation, description)
	_, err = c.client.CoreV1().ConfigMaps(key.Name).Update(ctx, repaired, metav1.UpdateOptions{})
	return 0, err
}

func (c *Controller) create(ctx context.Context, namespace string) error {
	runner.Decide(ctx, "create the missing ConfigMap %s", configMapName)
	_, err := c.client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: configMapName, Namespace: namespace,
			Annotations: map[string]string{descriptionAnnotation: description},
		},
		Data: c.data,
	}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}
