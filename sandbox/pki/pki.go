package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
	// renewBefore is how much life a certificate must have left at a start.
	renewBefore = 30 * 24 * time.Hour
	// clockSkew is how far behind a client's clock may be.
	clockSkew = 5 * time.Minute
)

// Keys are all that a cluster needs to prove who is who.
type Keys struct {
	// CA signs certificates.
	CA Pair
	// Server is what the API server shows.
	Server Pair
	// Admin is the client certificate of the kubeconfig, of the group system:masters.
	Admin Pair
	// ServiceAccount signs tokens.
	ServiceAccount crypto.Signer
}

// Pair is a certificate with its key.
type Pair struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// CertificatePEM is the certificate as it is written to files.
func (p Pair) CertificatePEM() []byte {
	chain, err := cert.EncodeCertificates(p.Certificate)
	if err != nil {
		panic(fmt.Sprintf("pki: encoding a certificate to memory: %v", err)) // the writer can't fail
	}
	return chain
}

// KeyPEM is the key as it is written to files.
func (p Pair) KeyPEM() ([]byte, error) { return keyutil.MarshalPrivateKeyToPEM(p.Key) }

// TLS is the pair in the form that crypto/tls wants.
func (p Pair) TLS() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{p.Certificate.Raw}, PrivateKey: p.Key, Leaf: p.Certificate}
}

// Names are what a server is called by.
type Names struct {
	DNS []string
	IPs []net.IP
}

// Open reads the keys in dir and makes those that are missing, expire within a
// month, or don't fit. Without a dir they live in memory alone.
func Open(dir string, names Names, now time.Time) (*Keys, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	d := directory{path: dir, now: now}
	var k Keys
	var err error
	if k.CA, err = d.pair("ca", authorityTemplate(now), nil); err != nil {
		return nil, err
	}
	if k.Server, err = d.pair("apiserver", serverTemplate(names, now), &k.CA); err != nil {
		return nil, err
	}
	if k.Admin, err = d.pair("admin", clientTemplate("kubesim:admin", []string{"system:masters"}, now), &k.CA); err != nil {
		return nil, err
	}
	if k.ServiceAccount, err = d.key("sa"); err != nil {
		return nil, err
	}
	return &k, nil
}

// Client makes a client certificate that is not kept.
func (k *Keys) Client(user string, groups []string, now time.Time) (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	return issue(clientTemplate(user, groups, now), key, &k.CA)
}

func authorityTemplate(now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kubesim"},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
}

func serverTemplate(names Names, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    names.DNS,
		IPAddresses: names.IPs,
		NotBefore:   now.Add(-clockSkew),
		NotAfter:    now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// clientTemplate names the user and its groups the way Kubernetes reads them.
func clientTemplate(user string, groups []string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		NotBefore:   now.Add(-clockSkew),
		NotAfter:    now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// issue has the template signed by the authority, or by its own key.
func issue(template *x509.Certificate, key crypto.Signer, authority *Pair) (Pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Pair{}, err
	}
	template.SerialNumber = serial
	parent := Pair{Certificate: template, Key: key}
	if authority != nil {
		parent = *authority
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.Certificate, key.Public(), parent.Key)
	if err != nil {
		return Pair{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	return Pair{Certificate: certificate, Key: key}, err
}

// directory keeps NAME.crt and NAME.key files, or nothing if it has no path.
type directory struct {
	path string
	now  time.Time
}

func (d directory) file(name string) string { return filepath.Join(d.path, name) }

// pair reads a certificate and its key, or makes both.
func (d directory) pair(name string, want *x509.Certificate, authority *Pair) (Pair, error) {
	key, err := d.key(name)
	if err != nil {
		return Pair{}, err
	}
	kept, err := d.certificate(name)
	if err != nil {
		return Pair{}, err
	}
	if kept != nil && d.serves(kept, want, key, authority) {
		return Pair{Certificate: kept, Key: key}, nil
	}
	pair, err := issue(want, key, authority)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate %s: %w", name, err)
	}
	return pair, d.write(name+".crt", pair.CertificatePEM())
}

// serves tells whether a certificate from an earlier start is still what is wanted.
func (d directory) serves(kept, want *x509.Certificate, key crypto.Signer, authority *Pair) bool {
	signer := kept
	if authority != nil {
		signer = authority.Certificate
	}
	public, ok := kept.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(key.Public()) &&
		d.now.Add(renewBefore).Before(kept.NotAfter) && d.now.After(kept.NotBefore) &&
		kept.CheckSignatureFrom(signer) == nil &&
		slices.Equal(kept.DNSNames, want.DNSNames) &&
		slices.EqualFunc(kept.IPAddresses, want.IPAddresses, net.IP.Equal)
}

// certificate is nil if there is none.
func (d directory) certificate(name string) (*x509.Certificate, error) {
	data, err := d.read(name + ".crt")
	if data == nil {
		return nil, err
	}
	chain, err := cert.ParseCertsPEM(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to have a new one made", d.file(name+".crt"), err)
	}
	return chain[0], nil
}

func (d directory) key(name string) (crypto.Signer, error) {
	data, err := d.read(name + ".key")
	if err != nil {
		return nil, err
	}
	if data != nil {
		parsed, err := keyutil.ParsePrivateKeyPEM(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; remove it to have a new one made", d.file(name+".key"), err)
		}
		key, ok := parsed.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("%s: a %T can't sign", d.file(name+".key"), parsed)
		}
		return key, nil
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	return key, d.write(name+".key", text)
}

// read gives nil for a file that is not there.
func (d directory) read(name string) ([]byte, error) {
	if d.path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// write replaces a file in one step, so that a crash leaves no half of one.
func (d directory) write(name string, data []byte) error {
	if d.path == "" {
		return nil
	}
	temporary := d.file("." + name)
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, d.file(name))
}
