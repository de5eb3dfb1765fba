package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// written returns what f writes to a file through the text of this package.
func written(t *testing.T, f func(w io.Writer)) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f(text{file})
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTextLosesWhatATerminalObeys(t *testing.T) {
	const in, want = "a\x1b[31mb\tc\nd\u202ee\x07", "ab\tc\nd<U+202E>e"
	for name, f := range map[string]func(w io.Writer){
		"print":  func(w io.Writer) { fmt.Fprint(w, in) },
		"string": func(w io.Writer) { _, _ = io.WriteString(w, in) },
		"copy":   func(w io.Writer) { _, _ = io.Copy(w, strings.NewReader(in)) },
	} {
		if got := written(t, f); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := written(t, func(w io.Writer) { _, _ = io.WriteString(Bytes(w), in) }); got != in {
		t.Errorf("bytes: %q", got)
	}
}

func TestJSONKeepsWhatItHolds(t *testing.T) {
	in := map[string]string{"k\u202e": "a\x1b\x07\u009b\u200b\U000e0041é👩\u200d💻\x7f\u2028"}
	var b bytes.Buffer
	if err := json.NewEncoder(JSON(&b)).Encode(in); err != nil {
		t.Fatal(err)
	}
	var out map[string]string
	if err := json.Unmarshal(b.Bytes(), &out); err != nil || out["k\u202e"] != in["k\u202e"] {
		t.Errorf("%v, %q", err, out)
	}
	if strings.ContainsAny(b.String(), "\x1b\x07\u009b\u200b\u202e\U000e0041\x7f\u2028") || !strings.Contains(b.String(), "é👩\u200d💻") {
		t.Errorf("%q", b.String())
	}
}
