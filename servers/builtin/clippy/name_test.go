package clippy

import (
	"os"
	"strings"
	"testing"
)

func TestNamesOfNotesAreOnAnAllowList(t *testing.T) {
	const (
		required  = "filename is required"
		long      = "filename is too long (max 255 bytes)"
		separator = "filename must not contain path separators"
		invalid   = "filename is invalid"
		control   = "filename contains control characters"
		char      = "filename contains a character that is not allowed: "
		hiddenErr = "hidden files are not allowed"
		edge      = "filename must not begin or end with a space or end with a dot"
		device    = "filename is a reserved device name"
		program   = "only text files are allowed; use an extension such as .txt, .md, .csv or .json, or none"
	)
	tests := []struct{ name, in, want string }{
		{"plain", "note.txt", ""},
		{"no ending", "note", ""},
		{"spaces inside", "a note for you.txt", ""},
		{"several dots", "a.b.c.txt", ""},
		{"umlaut", "Grüße.md", ""},
		{"emoji", "👻 boo.txt", ""},
		{"joined emoji has a zero width joiner", "👩\u200d💻.txt", control},
		{"line separator", "note\u2028.txt", control},
		{"paragraph separator", "note\u2029.txt", control},
		{"percent is text", "%2e%2e", ""},
		{"percent slash is text", "..%2fetc", hiddenErr},
		{"tilde", "~note", ""},
		{"dash first", "-rf", ""},
		{"dollar", "$HOME.txt", ""},
		{"quote", "it's.txt", ""},
		{"255 bytes", strings.Repeat("a", 255), ""},
		{"256 bytes", strings.Repeat("a", 256), long},
		{"255 bytes of two-byte letters", strings.Repeat("é", 127) + "a", ""},
		{"256 bytes of two-byte letters", strings.Repeat("é", 128), long},
		{"empty", "", required},
		{"bad UTF-8", "a\xff.txt", invalid},
		{"slash", "a/b", separator},
		{"absolute", "/etc/passwd", separator},
		{"climbing", "../x.txt", separator},
		{"backslash", `a\b`, separator},
		{"drive", `C:\x`, separator},
		{"drive without separator", "C:x", char + ":"},
		{"stream", "note.txt:stream", char + ":"},
		{"dot", ".", invalid},
		{"dot dot", "..", invalid},
		{"three dots", "...", hiddenErr},
		{"NUL", "a\x00b", control},
		{"line break", "a\nb", control},
		{"carriage return", "a\rb", control},
		{"escape", "a\x1b[31m", control},
		{"DEL", "a\x7f", control},
		{"C1", "a\u0085b", control},
		{"zero width space", "a\u200bb", control},
		{"right-to-left override", "txt.\u202eexe", control},
		{"isolate", "a\u2066b", control},
		{"word joiner", "a\u2060b", control},
		{"byte order mark", "\ufeffa", control},
		{"less than", "a<b", char + "<"},
		{"greater than", "a>b", char + ">"},
		{"colon", "a:b", char + ":"},
		{"double quote", `a"b`, char + `"`},
		{"pipe", "a|b", char + "|"},
		{"question mark", "a?b", char + "?"},
		{"star", "*.txt", char + "*"},
		{"hidden", ".bashrc", hiddenErr},
		{"blank first", " a", edge},
		{"blank last", "a ", edge},
		{"no-break space last", "a\u00a0", edge},
		{"ideographic space first", "\u3000a", edge},
		{"dot last", "a.", edge},
		{"CON", "CON", device},
		{"con in lower case", "con", device},
		{"nul with ending", "nul.txt", device},
		{"aux with two endings", "Aux.tar.gz", device},
		{"PRN", "prn", device},
		{"con, blanks before the dot", "con  .txt", device},
		{"CONIN$", "conin$", device},
		{"CONOUT$", "CONOUT$.log", device},
		{"COM0", "COM0", device},
		{"com9", "com9.txt", device},
		{"LPT1", "lpt1", device},
		{"COM with superscript", "COM¹", device},
		{"LPT with superscript", "lpt³.txt", device},
		{"COM10 is a name", "COM10", ""},
		{"COM is a name", "COM", ""},
		{"console is a name", "console.txt", ""},
		{"desktop.ini", "Desktop.INI", program},
		{"thumbs.db", "thumbs.db", program},
		{"exe", "setup.exe", program},
		{"ending in capitals", "SETUP.EXE", program},
		{"double ending", "photo.jpg.scr", program},
		{"shell script", "x.sh", program},
		{"desktop entry", "x.desktop", program},
		{"mac command", "x.command", program},
		{"python", "x.py", program},
		{"appimage", "x.AppImage", program},
		{"ending inside is fine", "x.exe.txt", ""},
		{"word is no ending", "exe", ""},
		{"markup", "x.html", program},
		{"a version is an ending", "notes v1.2", program},
		{"letters that only look so", "x.tx\u0442", program},
		{"letters that fold to others", "x.j\u017fon", program},
		{"long before separators", strings.Repeat("a", 256) + "/", long},
		{"separator before control", "a/\x00", separator},
		{"control before character", "\x00*", control},
		{"character before hidden", ".a*", char + "*"},
		{"hidden before edge", ".a ", hiddenErr},
		{"edge before device", "CON ", edge},
		{"device before program", "CON.exe", device},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := checkName(tt.in, false); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	// What programs obey, and nobody can list in full.
	for _, ending := range strings.Fields(`exe com bat cmd ps1 psm1 vbs vbe js jse mjs cjs wsf wsh hta scr msi msp cpl reg inf lnk url pif jar
		desktop app command tool terminal workflow scpt applescript action service sh bash zsh fish csh tcsh ksh py pyw pyz pl rb php lua tcl appimage run
		webloc inetloc fileloc flatpakref flatpakrepo flatpak snap deb rpm docm xlsm dotm pptm xlam doc xls rtf html htm xhtml mht svg xml xsl pdf ps eml ics
		vcf scf library-ms search-ms settingcontent-ms application appref-ms gadget mobileconfig prefpane pkg dmg iso kext plugin mof chm hlp theme iqy slk`) {
		if checkName("a."+ending, false) == nil || checkName("A."+strings.ToUpper(ending), false) == nil || checkName("a."+ending, true) != nil {
			t.Errorf("%s: want refused, and allowed with any extension", ending)
		}
	}
	for _, ending := range textEndings() {
		if checkName("a."+ending, false) != nil || checkName("A."+strings.ToUpper(ending), false) != nil {
			t.Errorf("%s: want allowed", ending)
		}
	}
	if checkName(".hidden.exe", true) == nil {
		t.Error("any extension lifted more than the last rule")
	}
}

func FuzzNoteName(f *testing.F) {
	for _, s := range []string{"note.txt", "../x", "a\u202eb", "CON", "a:b", " a", "%2e%2e", "👻"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if checkName(name, false) != nil {
			return
		}
		d := newDesktop(t)
		w, err := d.write(Note{Name: name, Content: "boo"}, Settings{})
		if err != nil {
			t.Fatalf("%q was accepted and not written: %v", name, err)
		}
		entries, err := os.ReadDir(d.dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != name || !entries[0].Type().IsRegular() {
			t.Fatalf("%q made %v (%s), %v", name, entries, w.Path, err)
		}
	})
}
