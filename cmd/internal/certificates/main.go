// Command certificates writes, as PEM, the certificates of the authorities that Mozilla
// trusts without conditions, for the root file system of a container. They come from a
// module, so the same commit gives the same file on any machine.
package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"iter"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: certificates FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "certificates:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	b, err := encode(bundle.Roots())
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// encode leaves out authorities that are trusted under conditions: PEM cannot express them.
func encode(roots iter.Seq[bundle.Root]) ([]byte, error) {
	var b bytes.Buffer
	for r := range roots {
		if r.Constraint != nil {
			continue
		}
		c, err := x509.ParseCertificate(r.Certificate)
		if err != nil {
			return nil, fmt.Errorf("read a certificate: %w", err)
		}
		fmt.Fprintf(&b, "# %s\n", c.Subject)
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate}); err != nil {
			return nil, fmt.Errorf("write a certificate: %w", err)
		}
	}
	return b.Bytes(), nil
}
