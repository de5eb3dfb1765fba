package inbox_test

import (
	"fmt"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// shopFiles lists the files of a folder, as a disk would.
func shopFiles(folder string) []string {
	if folder != "/home/ana/src/shop" {
		return nil
	}
	time.Sleep(30 * time.Millisecond) // on the clock of the bubble that it runs in
	return []string{"README.md", "cmd/shop/main.go", "servers/search/search.go", "tui/search.go", "tui/search_test.go", "docs/two words.md"}
}

func TestFilesCompleteAWord(t *testing.T) {
	const text = `[{"id":"a","question":"Which file?","type":"text"}]`
	setup{page: page.Options{Files: shopFiles}}.run(t, func(d *driver) {
		c := d.ask(text)
		d.Wait(5 * time.Second)
		d.press("enter", "'see ana@shop and @")
		d.Has("▌ @README.md", "@tui/search.go", "tab choose", "esc back")
		d.press("'sear")
		d.Lacks("README")
		d.Golden("80x24-files")
		d.press("down", "down", "enter")
		if got, want := d.first().Other, "see ana@shop and @servers/search/search.go"; got != want {
			t.Errorf("the field has %q, want %q", got, want)
		}
		d.Has("enter next")
		d.Lacks("▌ @")
		d.press("' or @READ", "tab", "ctrl+_")
		if got, want := d.first().Other, "see ana@shop and @servers/search/search.go or @READ"; got != want {
			t.Errorf("after undo the field has %q, want %q", got, want)
		}
		d.press("tab") // of the list that is open again
		d.notSent(c)
		d.press("' @zebra", "enter") // nothing to choose from
		if got, want := d.reply(c).Results[0].CustomInput, "see ana@shop and @servers/search/search.go or @README.md @zebra"; got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

// The likeliest file is first for each word, whatever was likeliest before.
func TestEachLetterChoosesTheLikeliestFile(t *testing.T) {
	files := func(string) []string { return []string{"test.go", "a/tsconfig.json"} }
	setup{page: page.Options{Files: files}, ask: []string{`[{"id":"a","question":"Which file?","type":"text"}]`}}.run(t, func(d *driver) {
		d.press("'@t")
		d.Has("▌ @test.go")
		d.press("'s")
		d.Has("▌ @a/tsconfig.json", "  @test.go")
	})
}

// In a low window the list takes the side with more room, and leaves the field in sight.
func TestTheListOfFilesLeavesItsFieldInSight(t *testing.T) {
	var files []string
	for i := range 20 {
		files = append(files, fmt.Sprintf("file%d.go", i))
	}
	setup{size: frame.Size{W: 40, H: 12}, page: page.Options{Files: func(string) []string { return files }}, ask: []string{`[{"id":"a","question":"Which file?","type":"text"}]`}}.run(t, func(d *driver) {
		d.press("'see @fi")
		d.Has("see @fi", "▌ @file0.go")
	})
}

func TestEscClosesOnlyTheListOfFiles(t *testing.T) {
	setup{page: page.Options{Files: shopFiles}, ask: []string{abc}}.run(t, func(d *driver) {
		for _, key := range []string{"f6", "x"} { // a note, and the reason of declining
			d.Keys(key)
			d.press("'@tui")
			d.Has("▌ @tui/search.go")
			d.Keys("esc")
			d.Lacks("▌ @")
			d.press("'/s")
			d.Lacks("▌ @")
			d.press("' @REA")
			d.Has("▌ @README.md")
			d.Keys("esc", "esc")
			d.Has("1-4 choose")
		}
	})
}

func TestNoFilesAreOfferedWhereTheFolderIsNotKnown(t *testing.T) {
	for name, req := range map[string]questions.Request{
		"no folder":       {From: questions.From{Client: "claude-code"}},
		"another machine": {From: questions.From{Client: "claude-code", Cwd: "/home/ana/src/shop"}, Peer: questions.Peer{Machine: "ssh h1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup{page: page.Options{Files: shopFiles}}.run(t, func(d *driver) {
				req.Questions = []questions.Question{{ID: "a", Question: "Which file?", Kind: questions.Text}}
				if _, err := d.q.Open(req); err != nil {
					t.Fatal(err)
				}
				d.Wait(5 * time.Second)
				d.press("'@")
				d.Lacks("▌ @")
			})
		})
	}
}

func TestFilesCompleteInAForm(t *testing.T) {
	const schema = `{"properties":{"file":{"type":"string"},"other":{"type":"string"}}}`
	asksForm(t, setup{page: page.Options{Files: shopFiles}}, "Which?", schema, func(d *driver, c *questions.Call) {
		d.press("'@main")
		d.Has("▌ @cmd/shop/main.go")
		d.press("enter")
		d.Has("@cmd/shop/main.go", "enter next")
		d.Lacks("▌ @")
		d.press("tab", "'@")
		d.Has("▌ @README.md")
		d.press("esc", "ctrl+s")
		if got, want := string(d.reply(c).Results[0].Content), `{"file":"@cmd/shop/main.go","other":"@"}`; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

func TestFilesAreListedOverAFieldAtTheBottom(t *testing.T) {
	setup{size: frame.Size{W: 40, H: 12}, page: page.Options{Files: shopFiles}, ask: []string{abc}}.run(t, func(d *driver) {
		d.press("x", "'@")
		d.Golden("40x12-files")
	})
}
