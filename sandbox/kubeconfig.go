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
	if s.cfg.DataDir == "" || s.listener == nil {
		return nil
	}
	if err := os.MkdirAll(s.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	// WriteToFile makes the file readable by its owner alone.
	if err := clientcmd.WriteToFile(kubeconfig(s.URL()), KubeconfigPath(s.cfg.DataDir)); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

func kubeconfig(server string) clientcmdapi.Config {
	const name = "kubesim"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	return *config
}
