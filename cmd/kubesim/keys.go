package main

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/client-go/util/keyutil"

	"github.com/kubesim/kubesim/controllers"
)

// keyFlags name the files with what the controllers sign and hand out. By default
// they are those of the sandbox's data directory, if it has them.
type keyFlags struct{ rootCA, tokenKey, signingCert, signingKey string }

func (f *keyFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.rootCA, "root-ca-file", "", "`file` with the certificates that pods verify the API server with (default: the sandbox's)")
	flags.StringVar(&f.tokenKey, "service-account-private-key-file", "", "`file` with the key that signs ServiceAccount tokens (default: the sandbox's)")
	flags.StringVar(&f.signingCert, "cluster-signing-cert-file", "", "`file` with the certificate of the authority that signs requests (default: the sandbox's)")
	flags.StringVar(&f.signingKey, "cluster-signing-key-file", "", "`file` with the key of that authority (default: the sandbox's)")
}

// load reads the files into the configuration.
func (f *keyFlags) load(dataDir string, cfg *controllers.Config) error {
	pki := filepath.Join(dataDir, "pki")
	root, err := read("--root-ca-file", f.rootCA, filepath.Join(pki, "ca.crt"))
	if err != nil {
		return err
	}
	cfg.RootCA = string(root)
	token, err := read("--service-account-private-key-file", f.tokenKey, filepath.Join(pki, "sa.key"))
	if err != nil {
		return err
	}
	if token != nil {
		parsed, err := keyutil.ParsePrivateKeyPEM(token)
		if err != nil {
			return fmt.Errorf("--service-account-private-key-file: %w", err)
		}
		signer, ok := parsed.(crypto.Signer)
		if !ok {
			return fmt.Errorf("--service-account-private-key-file: a %T can't sign", parsed)
		}
		cfg.TokenKey = signer
	}
	return f.loadAuthority(pki, cfg)
}

func (f *keyFlags) loadAuthority(pki string, cfg *controllers.Config) error {
	certificate, err := read("--cluster-signing-cert-file", f.signingCert, filepath.Join(pki, "ca.crt"))
	if err != nil {
		return err
	}
	key, err := read("--cluster-signing-key-file", f.signingKey, filepath.Join(pki, "ca.key"))
	if err != nil || certificate == nil || key == nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("--cluster-signing-cert-file: %w", err)
	}
	cfg.Authority = &pair
	return nil
}

// read reads the file of a flag or, without one, the default if there is one.
func read(flag, file, otherwise string) ([]byte, error) {
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		return data, nil
	}
	data, err := os.ReadFile(otherwise)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
