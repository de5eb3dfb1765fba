package tomledit_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/tomledit"
)

func TestAllButTheEditsStays(t *testing.T) {
	t.Parallel()
	const text = "# mine\na = 1 # one\n\n[b.c]\r\nd.e = [\n  1,\n]\r\nf = { g = 2 }"
	for _, tt := range []struct {
		name  string
		edit  func(x *tomledit.Text)
		after string
	}{
		{"nothing", func(*tomledit.Text) {}, text},
		{
			"a value", func(x *tomledit.Text) { x.Replace(x.Entries[0].Value, x.Entries[0].End, "2") },
			"# mine\na = 2 # one\n\n[b.c]\r\nd.e = [\n  1,\n]\r\nf = { g = 2 }",
		},
		{"a value twice", func(x *tomledit.Text) {
			for range 2 {
				e := x.Entries[0]
				x.Replace(e.Value, e.End, x.Between(e.Value, e.End)+"0")
			}
		}, "# mine\na = 100 # one\n\n[b.c]\r\nd.e = [\n  1,\n]\r\nf = { g = 2 }"},
		{
			"of several lines", func(x *tomledit.Text) { x.Remove(x.Entries[2]) },
			"# mine\na = 1 # one\n\n[b.c]\r\nf = { g = 2 }",
		},
		{
			"lines at the end of a table", func(x *tomledit.Text) { x.Add([]string{"b", "c"}, "h = 3") },
			text + "\nh = 3\n",
		},
		{
			"lines behind others", func(x *tomledit.Text) { x.Add(nil, "h = 3"); x.AddAfter(x.Entries[1], "i = 4") },
			"# mine\na = 1 # one\nh = 3\n\n[b.c]\r\ni = 4\nd.e = [\n  1,\n]\r\nf = { g = 2 }",
		},
		{"no such table", func(x *tomledit.Text) {
			if x.Add([]string{"b"}, "h = 3") {
				t.Error("a table was found")
			}
		}, text},
	} {
		x, err := tomledit.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tt.edit(x)
		if got := string(x.Bytes()); got != tt.after {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.after)
		}
	}
	if _, err := tomledit.Parse([]byte("a =\n")); err == nil {
		t.Error("what is not TOML was parsed")
	}
	empty, err := tomledit.Parse(nil)
	if err != nil || !empty.Add(nil, "a = 1") || string(empty.Bytes()) != "a = 1\n" {
		t.Errorf("an empty text became %q, %v", empty.Bytes(), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a = { b = 1 } # x\n[[c]]\nd.'e' = '''\n[f]\n'''\n")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := tomledit.Parse([]byte(text))
		if err != nil {
			return
		}
		for _, e := range x.Entries {
			if e.Start < 0 || e.Start > e.End || e.End > len(text) || e.Value > e.End {
				t.Fatalf("%q: %+v", text, e)
			}
		}
		if got := string(x.Bytes()); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
