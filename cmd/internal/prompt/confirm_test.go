package prompt

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// asked is whether a user agrees whose standard input is a file, and types text, and what
// they read.
func asked(t *testing.T, in *os.File, text string, yes bool) (agreed bool, read string) {
	t.Helper()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()
	c, out := &cobra.Command{}, &bytes.Buffer{}
	c.SetIn(strings.NewReader(text))
	c.SetOut(out)
	c.SetErr(out)
	err := Agreed(c, yes)
	if err != nil && !errors.Is(err, exit.Failed) {
		t.Errorf("%q: %v", text, err)
	}
	return err == nil, out.String()
}

func TestNobodyAgreesWithoutATerminal(t *testing.T) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if agreed, read := asked(t, in, "y\n", false); agreed || strings.Contains(read, "Write this?") || !strings.Contains(read, "--yes") {
		t.Errorf("agreed %v, the user reads %q", agreed, read)
	}
	if agreed, read := asked(t, in, "", true); !agreed || read != "" {
		t.Errorf("with --yes: agreed %v, the user reads %q", agreed, read)
	}
}

func TestAProofOfAnUnknownKindIsRefused(t *testing.T) {
	if got, err := Proof("fingerprint"); err == nil || got != "" || !strings.Contains(err.Error(), `"fingerprint"`) {
		t.Errorf("got %q, %v", got, err)
	}
}
