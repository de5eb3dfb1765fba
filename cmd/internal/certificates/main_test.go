package main

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func TestProgramsTrustTheAuthoritiesInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca-certificates.crt")
	if err := write(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		t.Fatalf("it has no certificates: %.200q", b)
	}
	trusted := 0
	for r := range bundle.Roots() {
		c, err := x509.ParseCertificate(r.Certificate)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: c.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		if (err == nil) == (r.Constraint != nil) {
			t.Errorf("%s, with conditions %v: %v", c.Subject, r.Constraint != nil, err)
		}
		if err == nil {
			trusted++
		}
	}
	if trusted < 100 || !strings.Contains(string(b), "CN=ISRG Root X1") {
		t.Errorf("%d authorities:\n%.200s", trusted, b)
	}
}

func TestAnAuthorityTrustedUnderConditionsIsLeftOut(t *testing.T) {
	all := slices.Collect(bundle.Roots())[:2]
	all[0].Constraint = func([]*x509.Certificate) error { return nil }
	b, err := encode(slices.Values(all))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "BEGIN CERTIFICATE"); n != 1 {
		t.Errorf("%d certificates, want the one without conditions", n)
	}
}
