package sandbox_test

import (
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"

	"github.com/kubesim/kubesim/sandbox"
)

// TestKubeconfigGoesByTLS lists with what the kubeconfig says, and shows that
// without its authority nothing is believed.
func TestKubeconfigGoesByTLS(t *testing.T) {
	dir := t.TempDir()
	start(t, sandbox.Config{DataDir: dir, HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", APIOnly: true})
	config, err := clientcmd.BuildConfigFromFlags("", sandbox.KubeconfigPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if u, err := url.Parse(config.Host); err != nil || u.Scheme != "https" {
		t.Fatalf("the kubeconfig's server is %s", config.Host)
	}
	namespaces := func() (*corev1.NamespaceList, error) {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	}
	if list, err := namespaces(); err != nil || len(list.Items) < 4 {
		t.Errorf("list: %v, %v", list, err)
	}
	config.CAData = nil
	if _, err := namespaces(); err == nil {
		t.Error("a client without the authority believed the server")
	}
}

func TestTakenTLSPort(t *testing.T) {
	first := start(t, sandbox.Config{HTTPS: "127.0.0.1:0", APIOnly: true})
	u, err := url.Parse(first.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.Start(t.Context(), sandbox.Config{HTTPS: u.Host, APIOnly: true}); err == nil {
		t.Error("two sandboxes serve one port")
	}
	second := start(t, sandbox.Config{HTTPS: u.Host, HTTPSAnyPort: true, APIOnly: true})
	if second.URL() == first.URL() {
		t.Error("two sandboxes serve one port")
	}
}

// TestPodsGetTheAuthority reads what pods mount to verify the API server with.
func TestPodsGetTheAuthority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, sandbox.Config{})
		time.Sleep(time.Second)
		synctest.Wait()
		client, err := kubernetes.NewForConfig(s.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cert.ParseCertsPEM([]byte(bundle.Data["ca.crt"])); err != nil {
			t.Errorf("ca.crt %q: %v", bundle.Data["ca.crt"], err)
		}
	})
}
