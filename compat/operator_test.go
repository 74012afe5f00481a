package compat

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"
)

const (
	operatorTimeout = time.Minute
	siteFinalizer   = "compat.example.com/farewell"
	defaultImage    = "nginx:1.27"
)

// TestOperator is the whole life of an operator: definition with a conversion
// webhook, manager with leader election, webhooks, owned objects, status, finalizer.
func TestOperator(t *testing.T) {
	log.SetLogger(logr.Discard())
	s := start(t)
	config := &rest.Config{Host: s.URL()}
	scheme := operatorScheme(t)
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	hooks := newWebhooks(t)
	createDefinition(t, c, hooks)
	runManager(t, config, scheme, hooks)
	hooks.register(t, c)

	ctx, cancel := context.WithTimeout(t.Context(), operatorTimeout)
	defer cancel()
	old := &OldSite{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"}, Spec: OldSiteSpec{Size: 2}}
	if err := c.Create(ctx, old); err != nil {
		t.Fatal(err)
	}
	site := &Site{}
	waitReady(ctx, t, c, site, 2)
	if site.Spec.Replicas != 2 || site.Spec.Image != defaultImage {
		t.Errorf("the converted, defaulted spec is %+v", site.Spec)
	}
	checkOwned(ctx, t, c, site)

	site.Spec.Replicas = 3
	if err := c.Update(ctx, site); err != nil {
		t.Fatal(err)
	}
	waitReady(ctx, t, c, site, 3)
	if err := c.Get(ctx, client.ObjectKeyFromObject(site), old); err != nil || old.Spec.Size != 3 || old.Status.Ready != 3 {
		t.Errorf("in the old version: %+v, %v", old, err)
	}
	checkRefused(ctx, t, c, site)
	checkFarewell(ctx, t, c, site)
}

func operatorScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	addSites(scheme)
	return scheme
}

// webhooks is where the manager serves them.
type webhooks struct {
	port   int
	bundle []byte
	pair   tls.Certificate
}

func newWebhooks(t *testing.T) *webhooks {
	t.Helper()
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return &webhooks{port: free.Addr().(*net.TCPAddr).Port, bundle: certPEM, pair: pair}
}

func (w *webhooks) url(path string) *string {
	url := fmt.Sprintf("https://127.0.0.1:%d%s", w.port, path)
	return &url
}

// register makes the API server ask the webhooks about Sites.
func (w *webhooks) register(t *testing.T, c client.Client) {
	t.Helper()
	none, equivalent := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Equivalent
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{siteV1.Group}, APIVersions: []string{"v1"}, Resources: []string{"sites"}},
	}}
	err := errors.Join(
		c.Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "sites"},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "default.compat.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, Rules: rules, MatchPolicy: &equivalent,
				ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: w.url("/mutate-compat-example-com-v1-site"), CABundle: w.bundle},
			}},
		}),
		c.Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "sites"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "validate.compat.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, Rules: rules, MatchPolicy: &equivalent,
				ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: w.url("/validate-compat-example-com-v1-site"), CABundle: w.bundle},
			}},
		}))
	if err != nil {
		t.Fatal(err)
	}
}

// createDefinition creates the definition and waits until it is served.
func createDefinition(t *testing.T, c client.Client, w *webhooks) {
	t.Helper()
	text, err := os.ReadFile("testdata/sites.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: w.url("/convert"), CABundle: w.bundle},
			ConversionReviewVersions: []string{"v1"},
		},
	}
	if err := c.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), operatorTimeout)
	defer cancel()
	eventually(ctx, t, "the definition to be established", func() (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd)
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, err
	})
}

// runManager runs the operator until the test ends.
func runManager(t *testing.T, config *rest.Config, scheme *runtime.Scheme, w *webhooks) {
	t.Helper()
	m, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: "sites", LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: "127.0.0.1", Port: w.port,
			TLSOpts: []func(*tls.Config){func(c *tls.Config) {
				c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &w.pair, nil }
			}},
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		ctrl.NewControllerManagedBy(m).For(&Site{}).Owns(&appsv1.Deployment{}).Complete(&siteReconciler{m.GetClient()}),
		ctrl.NewWebhookManagedBy(m, &Site{}).WithDefaulter(siteWebhook{}).WithValidator(siteWebhook{}).Complete())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	up, done := context.WithTimeout(t.Context(), operatorTimeout)
	defer done()
	eventually(up, t, "the webhooks to be served", func() (bool, error) {
		err := m.GetWebhookServer().StartedChecker()(nil)
		return err == nil, err
	})
}

// siteWebhook gives an image to a Site without one, and refuses one without tag.
type siteWebhook struct{}

func (siteWebhook) Default(_ context.Context, s *Site) error {
	if s.Spec.Image == "" {
		s.Spec.Image = defaultImage
	}
	return nil
}

func (siteWebhook) ValidateCreate(_ context.Context, s *Site) (admission.Warnings, error) {
	if !strings.Contains(s.Spec.Image, ":") {
		return nil, errors.New("the image needs a tag")
	}
	return nil, nil
}

func (w siteWebhook) ValidateUpdate(ctx context.Context, _, s *Site) (admission.Warnings, error) {
	return w.ValidateCreate(ctx, s)
}

func (siteWebhook) ValidateDelete(context.Context, *Site) (admission.Warnings, error) {
	return nil, nil
}

// siteReconciler runs a Deployment for each Site, and says farewell to it.
type siteReconciler struct{ client.Client }

func (r *siteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &Site{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.farewell(ctx, site)
	}
	if controllerutil.AddFinalizer(site, siteFinalizer) {
		return ctrl.Result{}, r.Update(ctx, site)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, d, func() error {
		labels := map[string]string{"site": site.Name}
		d.Spec.Replicas, d.Spec.Selector = &site.Spec.Replicas, &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		if len(d.Spec.Template.Spec.Containers) == 0 {
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "site"}}
		}
		d.Spec.Template.Spec.Containers[0].Image = site.Spec.Image
		return controllerutil.SetControllerReference(site, d, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	before := site.DeepCopyObject().(*Site)
	site.Status.Ready = d.Status.ReadyReplicas
	meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Deployed", ObservedGeneration: site.Generation,
	})
	return ctrl.Result{}, r.Status().Patch(ctx, site, client.MergeFrom(before))
}

// farewell leaves a ConfigMap and lets the Site go.
func (r *siteReconciler) farewell(ctx context.Context, site *Site) error {
	if !controllerutil.ContainsFinalizer(site, siteFinalizer) {
		return nil
	}
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "farewell-" + site.Name, Namespace: site.Namespace}}
	if err := r.Create(ctx, note); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	controllerutil.RemoveFinalizer(site, siteFinalizer)
	return r.Update(ctx, site)
}

func waitReady(ctx context.Context, t *testing.T, c client.Client, site *Site, want int32) {
	t.Helper()
	eventually(ctx, t, fmt.Sprintf("%d ready replicas", want), func() (bool, error) {
		err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "shop"}, site)
		return err == nil && site.Status.Ready == want, err
	})
	if !meta.IsStatusConditionTrue(site.Status.Conditions, "Ready") || !controllerutil.ContainsFinalizer(site, siteFinalizer) {
		t.Errorf("finalizers are %v, conditions %+v", site.Finalizers, site.Status.Conditions)
	}
}

func checkOwned(ctx context.Context, t *testing.T, c client.Client, site *Site) {
	t.Helper()
	d := &appsv1.Deployment{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(site), d); err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(d, site) {
		t.Errorf("owners are %+v, want the Site %s", d.OwnerReferences, site.UID)
	}
}

// checkRefused tries what the schema, its rule and the webhook refuse.
func checkRefused(ctx context.Context, t *testing.T, c client.Client, site *Site) {
	t.Helper()
	for want, change := range map[string]func(*Site){
		"should be less than or equal to 10": func(s *Site) { s.Spec.Replicas = 11 },
		"the image needs a tag":              func(s *Site) { s.Spec.Image = "nginx" },
	} {
		wrong := site.DeepCopyObject().(*Site)
		change(wrong)
		if err := c.Update(ctx, wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	stale := site.DeepCopyObject().(*Site)
	stale.ResourceVersion = "1"
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("a stale update gave %v, want a conflict", err)
	}
}

// checkFarewell deletes the Site and waits until the operator and the garbage
// collector have done their parts.
func checkFarewell(ctx context.Context, t *testing.T, c client.Client, site *Site) {
	t.Helper()
	if err := c.Delete(ctx, site); err != nil {
		t.Fatal(err)
	}
	for what, obj := range map[string]client.Object{"the Site": &Site{}, "the Deployment": &appsv1.Deployment{}} {
		eventually(ctx, t, what+" to be gone", func() (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(site), obj)
			return apierrors.IsNotFound(err), err
		})
	}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "farewell-shop"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
}
