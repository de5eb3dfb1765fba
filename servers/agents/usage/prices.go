package usage

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ../../../cmd/internal/pricegen 1.109.1

//go:embed prices.json
var embedded []byte

// Prices is a table of list prices by model.
type Prices struct {
	// Source says where the table is from and of which day it is.
	Source string
	models map[string]*model
}

// model is what a model's tokens cost, in US dollars each.
type model struct {
	window int64   // of context, in tokens; 0 if unknown
	search float64 // each search of the web
	fast   float64 // a fast reply costs so many times as much
	tiers  []tier  // by size of the input; the first from 0 on
}

// tier holds from more than a number of tokens of input on.
type tier struct {
	above                           int64
	in, out, read, write, writeHour float64
}

// List returns the table that is part of mcpdeck, the same each time.
func List() (*Prices, error) { return list() }

var list = sync.OnceValues(func() (*Prices, error) { return ParsePrices(embedded, "") })

// ParsePrices reads a table in the format of LiteLLM's
// model_prices_and_context_window.json: an object with an entry for each model. Entries
// that say nothing of a price are left out. A string under "source" says where it is from.
func ParsePrices(data []byte, source string) (*Prices, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("read the table of prices: %w", err)
	}
	p := &Prices{Source: source, models: make(map[string]*model, len(entries))}
	if raw, ok := entries["source"]; ok && json.Unmarshal(raw, &p.Source) == nil {
		delete(entries, "source")
	}
	for name, raw := range entries {
		var values map[string]json.RawMessage
		if json.Unmarshal(raw, &values) != nil {
			continue
		}
		if m := newModel(values); m != nil {
			p.models[strings.TrimPrefix(name, "gemini/")] = m
		}
	}
	if len(p.models) == 0 {
		return nil, fmt.Errorf("read the table of prices: it has no model with a price")
	}
	return p, nil
}

// Over returns a table with the models of p, and those of base that p does not have.
func (p *Prices) Over(base *Prices) *Prices {
	out := &Prices{Source: p.Source, models: maps.Clone(base.models)}
	maps.Copy(out.models, p.models)
	return out
}

// Len is how many models the table has.
func (p *Prices) Len() int { return len(p.models) }

var rate = regexp.MustCompile(`^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost(?:_above_1hr)?)(?:_above_(\d+)k_tokens)?$`)

// Used tells whether a member of an entry is one that the table reads.
func Used(member string) bool {
	switch member {
	case "max_input_tokens", "search_context_cost_per_query", "provider_specific_entry":
		return true
	}
	return rate.MatchString(member)
}

func newModel(values map[string]json.RawMessage) *model {
	m := &model{fast: 1, tiers: []tier{{}}}
	at := map[int64]map[string]float64{0: {}}
	for name, raw := range values {
		match := rate.FindStringSubmatch(name)
		var v float64
		if match == nil || json.Unmarshal(raw, &v) != nil || v < 0 {
			continue
		}
		above, _ := strconv.ParseInt(match[2], 10, 64) // "" is from 0 on
		above *= 1000
		if at[above] == nil {
			at[above] = map[string]float64{}
		}
		at[above][match[1]] = v
	}
	base := at[0]
	if base["input_cost_per_token"] == 0 && base["output_cost_per_token"] == 0 {
		return nil
	}
	m.tiers = m.tiers[:0]
	for above, of := range at {
		get := func(name string, otherwise float64) float64 {
			if v, ok := of[name]; ok {
				return v
			}
			if v, ok := base[name]; ok {
				return v
			}
			return otherwise
		}
		t := tier{above: above, in: get("input_cost_per_token", 0), out: get("output_cost_per_token", 0)}
		t.read = get("cache_read_input_token_cost", t.in)
		t.write = get("cache_creation_input_token_cost", t.in)
		t.writeHour = get("cache_creation_input_token_cost_above_1hr", t.write)
		m.tiers = append(m.tiers, t)
	}
	slices.SortFunc(m.tiers, func(a, b tier) int { return int(a.above - b.above) })
	var window float64
	if json.Unmarshal(values["max_input_tokens"], &window) == nil {
		m.window = int64(window)
	}
	var search struct {
		Medium float64 `json:"search_context_size_medium"`
	}
	_ = json.Unmarshal(values["search_context_cost_per_query"], &search) // else it is free
	m.search = search.Medium
	var special struct{ Fast float64 }
	if json.Unmarshal(values["provider_specific_entry"], &special) == nil && special.Fast > 0 {
		m.fast = special.Fast
	}
	return m
}

var (
	variant = regexp.MustCompile(`\[[^\]]*\]$`)
	dated   = regexp.MustCompile(`-(\d{8}|\d{4}-\d{2}-\d{2})$`)
)

// of returns the entry of a model, which may be named with its date; nil if unknown.
func (p *Prices) of(name string) *model {
	if p == nil {
		return nil
	}
	name = variant.ReplaceAllString(name, "")
	if m := p.models[name]; m != nil {
		return m
	}
	return p.models[dated.ReplaceAllString(name, "")]
}

// Window returns how many tokens of context a model has, 0 if unknown.
func (p *Prices) Window(name string) int64 {
	if m := p.of(name); m != nil {
		return m.window
	}
	return 0
}

// cost is what a reply costs, and whether the price of its model is known.
func (p *Prices) cost(name string, r *Reply) (usd float64, known bool) {
	m := p.of(name)
	if m == nil {
		return 0, false
	}
	t := m.tiers[0]
	for _, higher := range m.tiers[1:] {
		if r.In+r.Read+r.Write+r.WriteHour > higher.above {
			t = higher
		}
	}
	usd = float64(r.In)*t.in + float64(r.Out)*t.out + float64(r.Read)*t.read + float64(r.Write)*t.write + float64(r.WriteHour)*t.writeHour
	if r.Fast {
		usd *= m.fast
	}
	return usd + float64(r.Searches)*m.search, true
}
