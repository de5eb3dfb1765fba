package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
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

func TestStandardOutputAndErrorAreCleaned(t *testing.T) {
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	var names []string
	for _, to := range []**os.File{&os.Stdout, &os.Stderr} {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		*to, names = file, append(names, file.Name())
	}
	fmt.Fprint(Out(), "out\x1b[2J")
	fmt.Fprint(Err(), "err\x1b[2J")
	for i, want := range []string{"out", "err"} {
		if b, err := os.ReadFile(names[i]); err != nil || string(b) != want {
			t.Errorf("%q, %v, want %q", b, err, want)
		}
	}
	if IsTerminal() {
		t.Error("a file counts as a terminal")
	}
	if Colors() != ColorsOf(Out()) || ColorsOf(Err()) != colorprofile.NoTTY || ColorsOf(&bytes.Buffer{}) != colorprofile.NoTTY {
		t.Error("a writer has the colours of another")
	}
	if long := strings.Repeat("word ", 100); Fold(Out(), long) != long {
		t.Error("lines are broken where there is no terminal")
	}
}

// A full disk or a closed pipe must not pass for success.
func TestAWriteThatFailsIsReported(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	w := text{file}
	for name, write := range map[string]func() (int, error){
		"write": func() (int, error) { return w.Write([]byte("x")) },
		"copy":  func() (int, error) { n, err := w.ReadFrom(strings.NewReader("x")); return int(n), err },
		"JSON":  func() (int, error) { return JSON(w).Write([]byte("1")) },
		"value": func() (int, error) { return 0, PrintJSON(w, 1, false) },
		"table": func() (int, error) { return 0, Table(w, [][]string{{"a", "b"}}, nil) },
	} {
		if n, err := write(); n != 0 || !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

func TestJSONIsPrintedForReaders(t *testing.T) {
	for indent, want := range map[bool]string{false: `{"a":"<&>","b":[1]}` + "\n", true: "{\n  \"a\": \"<&>\",\n  \"b\": [\n    1\n  ]\n}\n"} {
		var b bytes.Buffer
		if err := PrintJSON(&b, map[string]any{"a": "<&>", "b": []int{1}}, indent); err != nil || b.String() != want {
			t.Errorf("%q, %v, want %q", b.String(), err, want)
		}
	}
}
