package usage

import (
	"math"
	"strings"
	"testing"
)

func TestPrices(t *testing.T) {
	p, err := ParsePrices([]byte(prices), "test")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, model string
		r           Reply
		usd         float64
	}{
		{"plain", "m", Reply{In: 100, Out: 10}, 200e-6},
		{"cache", "m", Reply{Read: 100, Write: 100, WriteHour: 100}, 335e-6},
		{"searches", "m", Reply{Searches: 3}, 0.03},
		{"fast", "m", Reply{In: 100, Fast: true}, 200e-6},
		{"much input", "m", Reply{In: 100_000, Read: 100_001}, 0.2100001},
		{"at the limit", "m", Reply{In: 100_000, Read: 100_000}, 0.11},
		{"with its date", "m-20260416", Reply{In: 1}, 1e-6},
		{"with its variant", "m[1m]", Reply{In: 1}, 1e-6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if usd, known := p.cost(tt.model, &tt.r); !known || math.Abs(usd-tt.usd) > 1e-12 {
				t.Errorf("%v, %v; want %v", usd, known, tt.usd)
			}
		})
	}
	for _, unknown := range []string{"free", "m-mini", ""} {
		if _, known := p.cost(unknown, &Reply{In: 1}); known {
			t.Errorf("%q has a price", unknown)
		}
	}
}

func TestTheListOfPricesSaysWhereItIsFrom(t *testing.T) {
	p, err := List()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Source, "LiteLLM") || !strings.Contains(p.Source, "20") || len(embedded) > 150<<10 {
		t.Errorf("source %q, %d bytes", p.Source, len(embedded))
	}
	for _, model := range []string{"claude-sonnet-4-5-20250929", "gpt-5.1-codex", "gemini-2.5-pro"} {
		if usd, known := p.cost(model, &Reply{In: 1_000_000}); !known || usd < 0.1 || usd > 100 || p.Window(model) < 100_000 {
			t.Errorf("%s costs %v, window %d", model, usd, p.Window(model))
		}
	}
	mine, err := ParsePrices([]byte(`{"gpt-5.1-codex":{"input_cost_per_token":1}}`), "mine")
	if err != nil {
		t.Fatal(err)
	}
	both := mine.Over(p)
	if usd, _ := both.cost("gpt-5.1-codex", &Reply{In: 2}); usd != 2 || both.Len() != p.Len() || both.Source != "mine" {
		t.Errorf("the user's price is %v in a table of %d", usd, both.Len())
	}
	if _, err := ParsePrices([]byte(`{}`), ""); err == nil {
		t.Error("an empty table is taken")
	}
}
