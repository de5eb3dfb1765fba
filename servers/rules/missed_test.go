package rules

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// compareFor is how long texts are compared; 0 is 3,000 of them.
var compareFor = flag.Duration("for", 0, "how long texts made at random are compared with what shells run of them")

// recorder runs texts that end with a NUL, each in a folder of its own, and says of each program what its name is; none
// is there. It also says how the shell writes down what it has parsed.
const recorder = `
FUNCNEST=4; PATH=/nowhere; TMOUT=1; ulimit -S -t 5; ulimit -H -t 5; ulimit -f 100
command_not_found_handler() { printf 'RUN %d %q\n' "$text_number" "$1" >&9; return ${#1}; }
command_not_found_handle() { printf 'RUN %d %q\n' "$text_number" "$1" >&9; return ${#1}; }
text_number=-1
while IFS= read -r -d '' text; do
	text_number=$((text_number + 1))
	printf 'TEXT\n' >&9
	if parsed=$(eval "parsed_text() {
$text
}" 2>/dev/null && declare -f parsed_text 2>/dev/null) && [ -n "$parsed" ]; then printf 'PARSED\n%s\nEND\n' "$parsed" >&9; fi
	( ulimit -t 1; cd "$text_number/shop" || exit; HOME=${PWD%/*}; unset TMOUT; TMOUT=1; eval "$text"; wait ) >/dev/null 2>&1 </dev/null
done
printf 'DONE\n' >&9
`

// ran is what bash did with a text.
type ran struct {
	programs []string
	wrote    []string
	parsed   string
	in       Place
}

// claudes are options of zsh with which Claude Code has it run, and those that change nothing of what commands do.
const claudes = `setopt autocd autopushd bgnice nonomatch numericglobsort promptsubst hashcmds login interactivecomments longlistjobs pushdminus warncreateglobal
setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS
`

// record has a shell run texts, with settings.
func record(t *testing.T, shell, settings string, texts []string) []ran {
	t.Helper()
	dir, err := os.MkdirTemp("", "texts")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		if err := os.MkdirAll(filepath.Join(dir, strconv.Itoa(i), "shop", "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "log")
	argv := []string{shell, "-c", "exec 9>>" + quote(log) + "; cd " + quote(dir) + "; " + settings + recorder}
	if os.Getuid() == 0 {
		argv = append(asNobody(t, dir), argv...)
	}
	out, err := ends(t, strings.Join(texts, "\x00")+"\x00", process.Command{Program: argv[0], Args: argv[1:], Extra: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}})
	b, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatal(err, readErr)
	}
	var all []ran
	programs, parsed := map[int][]string{}, false
	for line := range strings.Lines(string(b)) {
		var number int
		var program string
		if n, _ := fmt.Sscanf(line, "RUN %d %s", &number, &program); n == 2 {
			programs[number] = append(programs[number], program)
			continue
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "TEXT":
			all, parsed = append(all, ran{}), false
		case line == "PARSED":
			parsed = true
		case line == "END":
			parsed = false
		case parsed:
			all[len(all)-1].parsed += line + "\n"
		}
	}
	for i := range all {
		home := filepath.Join(dir, strconv.Itoa(i))
		shop := filepath.Join(home, "shop")
		all[i].programs, all[i].in = programs[i], Place{Shell: shell, Cwd: shop, Root: shop, Home: home}
		err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				all[i].wrote = append(all[i].wrote, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case len(all) == 0:
		t.Logf("no text ran: %v %s", err, out)
	case err != nil:
		t.Logf("%q ended the shell: %v", texts[len(all)-1], err)
	}
	return all
}

// asNobody is how root runs a program that may write nothing but below a folder, since a text
// made at random may be for any file.
func asNobody(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("root runs no text made at random without setpriv, which is not here")
	}
	const nobody = 65534
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	return []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}
}

// starts are the names of the programs that a reading found, and whether it may have missed some.
func starts(r *Reading) (names map[string]int, opaque bool) {
	names = map[string]int{}
	for _, s := range r.Segments {
		name, _, _ := strings.Cut(s.Text, " ")
		names[name]++
	}
	return names, slices.Contains(r.Effects(), Opaque)
}

// mayWrite reports whether a reading has a file written, or one that is only known when it runs.
func mayWrite(r *Reading, path string) bool {
	return slices.ContainsFunc(r.Facts(), func(f Fact) bool {
		return slices.Contains([]Effect{WriteIn, WriteOut, Guard}, f.Effect) && (f.At == path || f.At == "")
	})
}

// comparison is what has been compared.
type comparison struct{ ran, understood, programs, files, written int }

// against compares texts made at random with what bash or zsh runs of them, and writes.
func against(t *testing.T, shell string, seed uint64, enough func(n int) bool) {
	t.Helper()
	if !slices.Contains(shells(t), shell) {
		t.Skip(shell + " is not here")
	}
	m := maker{rand.New(rand.NewPCG(seed, 2)), shell == "bash" && *compareFor > 0}
	const batch = 100
	var c comparison
	made := 0
	for ; !enough(made); made += batch {
		var texts []string
		for range batch {
			text := m.command(1 + m.IntN(3))
			if m.IntN(2) == 0 {
				text = m.blurred(text)
			}
			texts = append(texts, strings.ReplaceAll(text, "\x00", ""))
		}
		for n := 0; n < len(texts); { // one that does not end takes those after it with it
			settings := ""
			if shell == "zsh" && made/batch%2 == 0 {
				settings = claudes
			}
			all := record(t, shell, settings, texts[n:])
			if len(all) == 0 {
				break
			}
			for i := range all {
				c.compare(t, shell, texts[n+i], &all[i])
			}
			n += len(all)
		}
	}
	t.Logf("seed %d: %d of %d texts ran, %d of them understood, with %d programs started and %d files written; %d written down by %s and read again", seed, c.ran, made, c.understood, c.programs, c.files, c.written, shell)
	if c.ran < made*99/100 || c.understood < made/10 || c.programs < made/10 {
		t.Error("too few could be compared")
	}
}

// compare compares what a shell did with a text with what is read in it.
func (c *comparison) compare(t *testing.T, shell, text string, did *ran) {
	t.Helper()
	c.ran++
	r := Read(text, did.in)
	names, opaque := starts(r)
	if opaque {
		return
	}
	c.understood++
	for _, p := range did.programs {
		c.programs++
		if none := shell == "zsh" && p == "cat" || p == "time"; names[p] == 0 && !none { // it runs that where a command is but a redirection; that is no segment
			t.Errorf("%s runs %s of %q, which is read as %v", shell, p, text, names)
		}
	}
	for _, path := range did.wrote {
		c.files++
		if !mayWrite(r, path) {
			t.Errorf("%s writes %s of %q, which is read as %v", shell, strings.TrimPrefix(path, did.in.Home), text, r.Facts())
		}
	}
	c.written += compareParsed(t, shell, text, did.parsed, names)
}

// compareParsed reads again what a shell has parsed of a text: no program may come that was not seen.
func compareParsed(t *testing.T, shell, text, parsed string, names map[string]int) int {
	t.Helper()
	_, body, found := strings.Cut(parsed, "{")
	end := strings.LastIndex(body, "}")
	if !found || end < 0 {
		return 0
	}
	for name, n := range func() map[string]int { all, _ := starts(Read(body[:end], shop(shell))); return all }() {
		if n > names[name] && plainName.MatchString(name) {
			t.Errorf("%s parses %d %s in %q, of which %d are read: %s", shell, n, name, text, names[name], fmt.Sprintf("%q", body[:end]))
		}
	}
	return 1
}

// TestNoProgramThatAShellRunsIsMissed compares 3,000 plain texts, or with -for others of all that bash
// knows for as long.
func TestNoProgramThatAShellRunsIsMissed(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			if began := time.Now(); *compareFor > 0 {
				against(t, shell, rand.Uint64(), func(int) bool { return time.Since(began) >= *compareFor })
				return
			}
			against(t, shell, 1, func(n int) bool { return n >= 3_000 })
		})
	}
}
