package pxl

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

// activeRule is a state rule whose states hold, with the rest of its selector parsed.
type activeRule struct {
	rule   *StateRule
	tokens []string // [token=n]
	parts  []string // [token*=s]
	roles  []string // [role=r]
}

// look is what the rules change about one region.
type look struct {
	color   *color.NRGBA
	z       *int
	hidden  bool
	filters []function
	shadows []string
	opacity *float64
	rule    *StateRule
}

// rules gathers the state rules that hold for a sprite: those whose states are
// active, and those that name none. The reference applies none.
func (r *renderer) rules(rec *recipe) []activeRule {
	if r.reference() {
		return nil
	}
	var out []activeRule
	for i := range r.doc.objects {
		set := r.doc.objects[i].StateRules
		if set == nil || (rec.sprite.StateRules != "" && set.Name != rec.sprite.StateRules) {
			continue
		}
		for k := range set.Rules {
			if a, ok := r.active(set, &set.Rules[k]); ok {
				out = append(out, a)
			}
		}
	}
	return out
}

// active parses a selector and reports whether its states hold. One that cannot be read is skipped with a warning.
func (r *renderer) active(set *StateRules, rule *StateRule) (activeRule, bool) {
	a := activeRule{rule: rule}
	holds := true
	text := strings.TrimSpace(rule.Selector)
	for text != "" {
		switch text[0] {
		case '.':
			end := strings.IndexAny(text[1:], ".[ \t")
			if end < 0 {
				end = len(text) - 1
			}
			holds = holds && (r.opt.AllStates || slices.Contains(r.states, text[1:1+end]))
			text = text[1+end:]
		case '[':
			inner, rest, ok := strings.Cut(text[1:], "]")
			key, value, has := strings.Cut(inner, "=")
			key = strings.TrimSpace(key)
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			any := key == "token" && !has
			switch {
			case any: // every region has one
			case key == "token":
				a.tokens = append(a.tokens, value)
			case key == "token*":
				a.parts = append(a.parts, value)
			case key == "role":
				a.roles = append(a.roles, strings.ToLower(value))
			default:
				ok = false
			}
			if !ok || !has && !any {
				r.badSelector(set, rule)
				return a, false
			}
			text = rest
		default:
			r.badSelector(set, rule)
			return a, false
		}
		text = strings.TrimSpace(text)
	}
	return a, holds
}

func (r *renderer) badSelector(set *StateRules, rule *StateRule) {
	r.sink("state-rules "+quoted(set.Name)).warn(rule.Pos, CodeState, "use .state, [token], [token=name], [token*=part] and [role=name]", "invalid selector %s, skipped", quoted(rule.Selector))
}

// matches reports whether every part of the selector holds for a region's token
// and its role.
func (a *activeRule) matches(token, role string) bool {
	name := Bare(token)
	for _, t := range a.tokens {
		if Bare(t) != name {
			return false
		}
	}
	for _, p := range a.parts {
		if !strings.Contains(name, p) {
			return false
		}
	}
	for _, r := range a.roles {
		if role != r {
			return false
		}
	}
	return true
}

// roles lists the role of every region: its own, else its token's in the palette.
func (rec *recipe) roles() []string {
	ofToken := map[string]string{}
	if src := rec.colors.source; src != nil {
		for _, t := range src.Roles {
			ofToken[Bare(t.Token)] = t.Role
		}
	}
	out := make([]string, len(rec.regions))
	for i := range rec.regions {
		out[i] = cmp.Or(rec.regions[i].Role, ofToken[Bare(rec.regions[i].Token)])
	}
	return out
}

// rulesFor merges the rules for every region; a later rule wins property by property.
func rulesFor(rules []activeRule, rec *recipe) []look {
	if len(rules) == 0 {
		return nil
	}
	out := make([]look, len(rec.regions))
	roles := rec.roles()
	for i := range rec.regions {
		l := &out[i]
		for k := range rules {
			if !rules[k].matches(rec.regions[i].Token, roles[i]) {
				continue
			}
			s := rules[k].rule
			l.rule = s
			if s.Color != "" {
				if c, err := colour.Parse(s.Color); err == nil {
					l.color = &c
				}
			}
			if s.Visible != nil {
				l.hidden = !*s.Visible
			}
			if s.Z != nil {
				l.z = s.Z
			}
			if s.Filter != "" {
				l.setFilter(s.Filter)
			}
			if s.Opacity != nil {
				l.opacity = s.Opacity
			}
			if s.Shadow != "" {
				l.shadows = []string{s.Shadow}
			}
		}
	}
	return out
}

// setFilter splits a filter into what changes colours and what draws shadows.
func (l *look) setFilter(text string) {
	l.filters, l.shadows = nil, nil
	for _, f := range functions(text) {
		if f.name == "drop-shadow" && f.closed {
			l.shadows = append(l.shadows, f.arg)
		} else {
			l.filters = append(l.filters, f)
		}
	}
}

// states applies what the rules do to finished pixels: filters, opacity and shadows.
func (r *renderer) applyStates(p *picture) {
	rules := r.rules(p.recipe)
	s := r.sink(p.recipe.object)
	if len(rules) == 0 || p.b.tok == nil || !r.spend(s, p.recipe.pos, len(rules)*len(p.recipe.regions)+p.b.w*p.b.h, 0) {
		return
	}
	looks := rulesFor(rules, p.recipe)
	b := p.b.clone()
	done := map[uint64]uint32{}
	for i, t := range b.tok {
		if int(t) >= len(looks) || (len(looks[t].filters) == 0 && looks[t].opacity == nil) {
			continue
		}
		v := b.at(i)
		key := uint64(t)<<32 | uint64(v)
		out, ok := done[key]
		if !ok {
			c, err := filter(unpack(v), looks[t].filters)
			if err != nil {
				s.warn(looks[t].rule.Pos, CodeState, "use brightness, contrast, saturate, hue-rotate, invert, grayscale, sepia or drop-shadow", "filter %s: %v", quoted(looks[t].rule.Filter), err)
			}
			if o := looks[t].opacity; o != nil {
				c.A = uint8(math.Round(float64(c.A) * min(max(*o, 0), 1)))
			}
			out = pack(c)
			done[key] = out
		}
		b.put(i, out)
	}
	p.b = b
	for i := range looks {
		for _, text := range looks[i].shadows {
			r.dropShadow(p, uint16(i), text, looks[i].rule.Pos, s)
		}
	}
}

// dropShadow draws the flat shadow of one token's pixels: "dx dy [blur] [colour]", where blur is not drawn.
func (r *renderer) dropShadow(p *picture, token uint16, text string, pos int32, s *sink) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "drop-shadow("); ok {
		text = strings.TrimSuffix(inner, ")")
	}
	var nums []float64
	rest := text
	for len(nums) < 3 {
		rest = strings.TrimSpace(rest)
		end := strings.IndexAny(rest, ", ")
		if end < 0 {
			end = len(rest)
		}
		v, ok := number(strings.TrimSuffix(rest[:end], "px"))
		if !ok {
			break
		}
		nums, rest = append(nums, v), strings.TrimLeft(rest[end:], ", ")
	}
	if len(nums) < 2 {
		s.warn(pos, CodeState, `write "1 1 black"`, "invalid drop-shadow %s", quoted(text))
		return
	}
	if len(nums) == 3 && nums[2] != 0 {
		s.warn(pos, CodeState, "", "the blur of a drop-shadow is not drawn")
	}
	o := Op{N: [4]int{whole32(nums[0]), whole32(nums[1])}}
	e := effect{r: r, s: s, dial: r.doc.dialect, colors: p.recipe.colors, names: p.names}
	c := color.NRGBA{A: 128}
	if rest = strings.TrimSpace(rest); rest != "" {
		var err error
		if c, err = e.colour(rest, c); err != nil {
			if c, err = colour.Parse(rest); err != nil {
				s.warn(pos, CodeState, "", "invalid colour in drop-shadow %s", quoted(text))
				return
			}
		}
	}
	if n := p.b.w * p.b.h; !r.spend(s, pos, 2*n, 0) {
		return
	}
	p.b = p.b.tokenShadow(token, o.N[0], o.N[1], c)
}

// tokenShadow grows the canvas and puts the shadow of one token's pixels behind everything.
func (b *bitmap) tokenShadow(token uint16, dx, dy int, c color.NRGBA) *bitmap {
	w, h := b.w+max(dx, -dx), b.h+max(dy, -dy)
	if fits(w, h) != nil {
		return b
	}
	out := newBitmap(w, h, true)
	x, y := max(0, -dx), max(0, -dy)
	for i, t := range b.tok {
		if t == token && b.alpha(i) > 0 {
			out.put((y+dy+i/b.w)*w+x+dx+i%b.w, pack(c))
		}
	}
	out.stamp(b, x, y)
	return out
}
