package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	names = Names{DNS: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}
)

func open(t *testing.T, dir string, names Names, now time.Time) *Keys {
	t.Helper()
	keys, err := Open(dir, names, now)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestKeptBetweenStarts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first := open(t, dir, names, start)
	second := open(t, dir, names, start.Add(time.Hour))
	for name, pairs := range map[string][2]Pair{
		"ca": {first.CA, second.CA}, "server": {first.Server, second.Server}, "admin": {first.Admin, second.Admin},
	} {
		if !pairs[0].Certificate.Equal(pairs[1].Certificate) {
			t.Errorf("%s: made anew", name)
		}
	}
	if !first.ServiceAccount.(*ecdsa.PrivateKey).Equal(second.ServiceAccount) {
		t.Error("the ServiceAccount key changed")
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	open(t, dir, names, start)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 7 {
		t.Errorf("%d files, want 3 certificates and 4 keys", len(entries))
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", entry.Name(), info.Mode())
		}
	}
}

func TestMadeAnew(t *testing.T) {
	for _, test := range []struct {
		name              string
		names             Names
		now               time.Time
		ca, server, admin bool // made anew?
	}{
		{name: "in the last month of a year", names: names, now: start.Add(certificateLife - renewBefore + time.Hour), server: true, admin: true},
		{name: "in the last month of ten years", names: names, now: start.Add(authorityLife - renewBefore + time.Hour), ca: true, server: true, admin: true},
		{name: "another name", names: Names{DNS: []string{"localhost", "sandbox"}, IPs: names.IPs}, now: start, server: true},
		{name: "a clock that went back", names: names, now: start.Add(-time.Hour), ca: true, server: true, admin: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			first := open(t, dir, names, start)
			second := open(t, dir, test.names, test.now)
			for _, check := range []struct {
				name string
				a, b Pair
				anew bool
			}{
				{"ca", first.CA, second.CA, test.ca},
				{"server", first.Server, second.Server, test.server},
				{"admin", first.Admin, second.Admin, test.admin},
			} {
				if anew := !check.a.Certificate.Equal(check.b.Certificate); anew != check.anew {
					t.Errorf("%s made anew: %t, want %t", check.name, anew, check.anew)
				}
			}
		})
	}
}

func TestCertificatesVerify(t *testing.T) {
	keys := open(t, "", names, start)
	roots := x509.NewCertPool()
	roots.AddCert(keys.CA.Certificate)
	options := x509.VerifyOptions{Roots: roots, CurrentTime: start, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, name := range []string{"localhost", "127.0.0.1"} {
		options.DNSName = name
		if _, err := keys.Server.Certificate.Verify(options); err != nil {
			t.Errorf("server as %s: %v", name, err)
		}
	}
	node, err := keys.Client("system:node:node-1", []string{"system:nodes"}, start)
	if err != nil {
		t.Fatal(err)
	}
	options.DNSName, options.KeyUsages = "", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := node.Certificate.Verify(options); err != nil {
		t.Errorf("client: %v", err)
	}
	if got := node.Certificate.Subject; got.CommonName != "system:node:node-1" || len(got.Organization) != 1 || got.Organization[0] != "system:nodes" {
		t.Errorf("subject %v", got)
	}
}

func TestDamagedFilesAreNamed(t *testing.T) {
	for _, name := range []string{"ca.crt", "sa.key"} {
		dir := t.TempDir()
		open(t, dir, names, start)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, names, start); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that names the file", name, err)
		}
	}
}
