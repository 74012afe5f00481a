package compat

import (
	"context"
	"errors"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// helmTimeout bounds each wait of Helm's.
const helmTimeout = time.Minute

// TestHelm takes the chart that `helm create` makes through the life of a
// release, once by server-side apply, Helm's own way, and once by patches.
func TestHelm(t *testing.T) {
	s := start(t)
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := util.Create("web", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, serverSide := range map[string]bool{"server-side": true, "client-side": false} {
		t.Run(name, func(t *testing.T) {
			h := newHelm(t, s.URL(), name, serverSide)
			web, err := loader.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			h.install(t, web)
			checkDeployment(t, client, name, 1, "nginx:1.16.0")
			h.upgrade(t, web, map[string]any{"replicaCount": 3, "image": map[string]any{"tag": "1.27"}})
			checkDeployment(t, client, name, 3, "nginx:1.27")
			h.rollback(t, 1)
			checkDeployment(t, client, name, 1, "nginx:1.16.0")
			h.checkHistory(t, "superseded", "superseded", "deployed")
			h.uninstall(t)
			checkGone(t, client, name)
		})
	}
}

// helm is one release's configuration.
type helm struct {
	cfg        *action.Configuration
	namespace  string
	serverSide bool
}

const releaseName = "shop"

func newHelm(t *testing.T, url, namespace string, serverSide bool) *helm {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(true)
	flags.APIServer, flags.Namespace = &url, &namespace
	cfg := action.NewConfiguration()
	if err := cfg.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	return &helm{cfg: cfg, namespace: namespace, serverSide: serverSide}
}

func (h *helm) install(t *testing.T, c *chart.Chart) {
	t.Helper()
	install := action.NewInstall(h.cfg)
	install.ReleaseName, install.Namespace, install.CreateNamespace = releaseName, h.namespace, true
	install.ServerSideApply, install.WaitStrategy, install.Timeout = h.serverSide, kube.StatusWatcherStrategy, helmTimeout
	if _, err := install.RunWithContext(t.Context(), c, nil); err != nil {
		t.Fatalf("install: %v", err)
	}
}

func (h *helm) upgrade(t *testing.T, c *chart.Chart, values map[string]any) {
	t.Helper()
	upgrade := action.NewUpgrade(h.cfg)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = h.namespace, kube.StatusWatcherStrategy, helmTimeout
	if _, err := upgrade.RunWithContext(t.Context(), releaseName, c, values); err != nil {
		t.Fatalf("upgrade: %v", err)
	}
}

func (h *helm) rollback(t *testing.T, version int) {
	t.Helper()
	rollback := action.NewRollback(h.cfg)
	rollback.Version, rollback.WaitStrategy, rollback.Timeout = version, kube.StatusWatcherStrategy, helmTimeout
	if err := rollback.Run(releaseName); err != nil {
		t.Fatalf("rollback: %v", err)
	}
}

func (h *helm) checkHistory(t *testing.T, want ...string) {
	t.Helper()
	history, err := action.NewHistory(h.cfg).Run(releaseName)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range history {
		got = append(got, string(r.(*release.Release).Info.Status))
	}
	if len(got) != len(want) {
		t.Fatalf("history is %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("history is %v, want %v", got, want)
		}
	}
}

func (h *helm) uninstall(t *testing.T) {
	t.Helper()
	uninstall := action.NewUninstall(h.cfg)
	uninstall.WaitStrategy, uninstall.Timeout = kube.StatusWatcherStrategy, helmTimeout
	if _, err := uninstall.Run(releaseName); err != nil {
		t.Fatalf("uninstall: %v", err)
	}
	if _, err := action.NewHistory(h.cfg).Run(releaseName); !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Errorf("history after uninstall: %v, want %v", err, driver.ErrReleaseNotFound)
	}
}

// checkDeployment looks at what the release made.
func checkDeployment(t *testing.T, client kubernetes.Interface, namespace string, replicas int32, image string) {
	t.Helper()
	d, err := client.AppsV1().Deployments(namespace).Get(t.Context(), releaseName+"-web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Spec.Template.Spec.Containers[0].Image; got != image {
		t.Errorf("image is %s, want %s", got, image)
	}
	if d.Status.ReadyReplicas != replicas || d.Status.UpdatedReplicas != replicas {
		t.Errorf("status is %+v, want %d ready and updated replicas", d.Status, replicas)
	}
}

// checkGone waits for the pods to end and looks for leftovers.
func checkGone(t *testing.T, client kubernetes.Interface, namespace string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), helmTimeout)
	defer cancel()
	if _, err := client.AppsV1().Deployments(namespace).Get(ctx, releaseName+"-web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment is still there: %v", err)
	}
	eventually(ctx, t, "no pods", func() (bool, error) {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0, err
	})
	secrets, err := client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil || len(secrets.Items) > 0 {
		t.Errorf("%d releases are still recorded, %v", len(secrets.Items), err)
	}
}
