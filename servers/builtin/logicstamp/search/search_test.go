package search_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/search"
)

// library is a context of n roots.
func library(tb testing.TB, n int) *contract.Context {
	tb.Helper()
	var nodes []string
	for i := range n {
		id := fmt.Sprintf("src/area%02d/DatePicker%04d.tsx", i%40, i)
		nodes = append(nodes, fmt.Sprintf(`{"entryId":%q,"graph":{"nodes":[{"entryId":%q,"contract":{"kind":"react:component","composition":{"hooks":["useState"],"imports":["react"],"functions":["Pick%d"]},"interface":{"props":{"minDate":"Date","onChange%d":"() => void"}},"exports":{"named":["DatePicker%d"]}}}]}}`, id, id, i, i%9, i))
	}
	c, err := contract.ReadFrom("x", contract.Options{}, func(name string, _ int64) ([]byte, error) {
		switch name {
		case contract.IndexFile:
			return []byte(`{"type":"LogicStampIndex","schemaVersion":"0.2","folders":[{"path":"src","contextFile":"c.json","bundles":1}]}`), nil
		case "c.json":
			return []byte("[" + strings.Join(nodes, ",") + "]"), nil
		}
		return nil, fs.ErrNotExist
	})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"DatePicker": "date datepicker picker", "on_change-now": "change now on", "useHTTPClient2": "2 client http use usehttpclient2",
		"src/Übersicht.tsx": "src tsx ubersicht", "": "",
	} {
		if got := strings.Join(search.Words(text), " "); got != want {
			t.Errorf("%q = %q, want %q", text, got, want)
		}
	}
}

func TestTheBestComesFirst(t *testing.T) {
	x := search.New(library(t, 50))
	hits := x.Find(search.Query{Text: "datepicker0007"})
	if len(hits) == 0 || hits[0].ID != "src/area07/DatePicker0007.tsx" || hits[0].Matched()[0].Field != "name" {
		t.Fatalf("hits = %+v", hits[:min(3, len(hits))])
	}
	if hits := x.Find(search.Query{Text: "pickr", FolderPrefix: "src/area03"}); len(hits) != 2 {
		t.Errorf("%d hits with a typo", len(hits))
	}
	if hits := x.Find(search.Query{UsesHook: []string{"usestate"}, Exports: []string{"DatePicker9"}}); len(hits) != 1 {
		t.Errorf("%d hits for filters", len(hits))
	}
}

func FuzzFind(f *testing.F) {
	x := search.New(library(f, 20))
	f.Add("date picker", "src")
	f.Add("é_Aß x", "")
	f.Fuzz(func(t *testing.T, text, folder string) {
		q := search.Query{Text: text, FolderPrefix: folder}
		last := -1.0
		for i, h := range x.Find(q) {
			if i > 0 && h.Score > last {
				t.Fatalf("hit %d is better than the one before", i)
			}
			last = h.Score
			h.Matched()
		}
	})
}

// BenchmarkFind asks 10,000 contracts for what all of them have.
func BenchmarkFind(b *testing.B) {
	x := search.New(library(b, 10_000))
	for b.Loop() {
		if len(x.Find(search.Query{Text: "date picker min"})) != 10_000 {
			b.Fatal("not all found")
		}
	}
}
