package rules

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// heavy are texts that are made to take long.
func heavy() []string {
	words := func(s string, n int) string { return strings.Repeat(s, n) }
	return []string{
		words("{", 199), words("(", 199), words("a;", 8_000), words("a|", 8_000) + "a", words("a&&", 5_000) + "a",
		"f(){ g; g; }; g(){ h; h; }; h(){ f; }; f", "f0(){ ls; }" + words("; f0; f0", 1_900),
		"a(){ ls; }; b(){ a;a;a;a;a;a;a;a; }; c(){ b;b;b;b;b;b;b;b; }; d(){ c;c;c;c;c;c;c;c; }; e(){ d;d;d;d;d;d;d;d; }; e",
		"rm " + words(".*/", 5_000), "rm " + words(".?/", 5_000), "rm " + words(".?/", 5_000) + "$x", "cat " + words("../", 5_000), "cat " + words("a*/", 5_000), "cat " + words(".e* ", 4_000),
		"for i in " + words("a ", 70) + "; do rm $i$i$i $i $i; done", words("for i in a b c d e f; do ", 7) + "rm $i" + words("; done", 7),
		"bash -c " + words("'bash -c ", 1_000), words("eval ", 3_000), words("sh -c 'sh -c ", 90), words("env ", 4_000) + "rm x", words("nice ", 3_000) + "rm x",
		"find . " + words(`-exec rm {} \; `, 1_000), words("echo $(", 190) + words(")", 190), words("cat <<E\n", 2_000) + words("E\n", 2_000),
		words("x", 16_000), "sed '" + words("s/a/b/", 2_500) + "'", "awk '" + words("a", 16_000) + "'", words("a=b ", 4_000), "cd " + words("a/", 8_000), words("cd a;", 3_000),
		words("cd a || ", 2_000) + "ls", "[[ " + words("! ", 7_000) + "a ]]", words("if ls; then ", 1_300), "case a in " + words("a) ls;; ", 1_900) + "esac", words("'", 16_000), words(`\`, 16_000),
	}
}

func TestNoTextTakesLongToRead(t *testing.T) {
	t.Parallel()
	for _, text := range heavy() {
		for _, shell := range []string{"bash", "sh", "zsh"} {
			if _, took := timed(text, shell, most()); took > most() {
				t.Errorf("%.40s… (%d bytes) takes %s in %s, plain commands %s", text, len(text), took, shell, most()/times)
			}
		}
	}
}

// times is how many times as long as that of 1,000 plain commands a reading may take, which is 20 ms on a
// machine with nothing else to do.
const times = 4

// most is how long a reading may take on this machine.
var most = sync.OnceValue(func() time.Duration {
	_, plain := timed(strings.Repeat("ls; ", 1_000), "bash", 0)
	return times * plain
})

// timed is a reading, and the least time that it takes in a few attempts, of which one within enough is the
// last: a busy machine only adds to it.
func timed(text, shell string, enough time.Duration) (r *Reading, least time.Duration) {
	least = time.Hour
	for range 40 {
		before := time.Now()
		r = Read(text, shop(shell))
		if least = min(least, time.Since(before)); least <= enough {
			break
		}
	}
	return r, least
}

func FuzzRead(f *testing.F) {
	for _, row := range corpus(f) {
		f.Add(row.Command, row.Shell)
	}
	for _, text := range heavy() {
		f.Add(text, "sh")
	}
	f.Add("a=$((b=1)) c[d]=${e@P} f=${g:h:i}", "sh")
	f.Fuzz(func(t *testing.T, text, shell string) {
		r, took := timed(text, shell, most())
		if took > most() {
			t.Errorf("takes %s", took)
		}
		if len(r.Segments) > mostSegments {
			t.Errorf("%d segments", len(r.Segments))
		}
		if e := r.Effects(); len(e) == 0 || r.Class() == "starter" && e[0] != Reads {
			t.Errorf("effects %v, class %s", e, r.Class())
		}
		if marks, notes := r.Notable(); r.Class() == "never" && len(marks)+len(notes) == 0 {
			t.Error("nothing is said of what no rule may allow")
		}
	})
}

// BenchmarkRead reads the commands of all lists, and says how long the slowest hundredth takes.
func BenchmarkRead(b *testing.B) {
	var lines []string
	for _, row := range corpus(b) {
		lines = append(lines, row.Command)
	}
	for _, row := range slices.Concat(marked(b, "testdata/second.txt"), marked(b, "testdata/attacks.txt")) {
		lines = append(lines, row[1])
	}
	in, took := At(b.TempDir(), b.TempDir(), "/home/u"), []time.Duration{}
	for i := 0; b.Loop(); i++ {
		before := time.Now()
		Read(lines[i%len(lines)], in)
		took = append(took, time.Since(before))
	}
	slices.Sort(took)
	for name, at := range map[string]int{"p50": len(took) / 2, "p99": len(took) * 99 / 100, "most": len(took) - 1} {
		b.ReportMetric(float64(took[at].Microseconds()), name+"-µs")
	}
}
