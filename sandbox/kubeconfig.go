package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigPath is where a sandbox on this data directory leaves its kubeconfig.
func KubeconfigPath(dataDir string) string { return filepath.Join(dataDir, "kubeconfig") }

// writeKubeconfig tells clients where the sandbox is. It stays after the end,
// so that an exported KUBECONFIG holds for the next run.
func (s *Sandbox) writeKubeconfig() error {
	if s.cfg.DataDir == "" || len(s.fronts) == 0 {
		return nil
	}
	config, err := s.kubeconfig()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	// WriteToFile makes the file readable by its owner alone.
	if err := clientcmd.WriteToFile(*config, KubeconfigPath(s.cfg.DataDir)); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// kubeconfig goes by TLS where that is served.
func (s *Sandbox) kubeconfig() (*clientcmdapi.Config, error) {
	const name = "kubesim"
	f := s.fronts[len(s.fronts)-1]
	cluster, user := &clientcmdapi.Cluster{Server: f.url()}, &clientcmdapi.AuthInfo{}
	if f.tls {
		key, err := s.keys.Admin.KeyPEM()
		if err != nil {
			return nil, err
		}
		cluster.CertificateAuthorityData = s.keys.CA.CertificatePEM()
		user.ClientCertificateData, user.ClientKeyData = s.keys.Admin.CertificatePEM(), key
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = cluster
	config.AuthInfos[name] = user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	return config, nil
}
