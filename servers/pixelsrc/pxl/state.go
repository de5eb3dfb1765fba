package pxl

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl/colour"
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
	filter  string
	opacity *float64
	shadow  string
	rule    *StateRule
}

// rules gathers the state rules that hold for a sprite. The reference applies none.
func (r *renderer) rules(rec *recipe) []activeRule {
	if r.reference() || (len(r.states) == 0 && !r.opt.AllStates) {
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

// active parses a selector and says whether its states hold. One that cannot be read is skipped with a warning.
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
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			switch strings.TrimSpace(key) {
			case "token":
				a.tokens = append(a.tokens, value)
			case "token*":
				a.parts = append(a.parts, value)
			case "role":
				a.roles = append(a.roles, strings.ToLower(value))
			default:
				ok = false
			}
			if !ok || !has {
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
	r.sink("state-rules "+quoted(set.Name)).warn(rule.Pos, CodeState, "use .state, [token=name], [token*=part] and [role=name]", "the selector %s cannot be read and is skipped", quoted(rule.Selector))
}

// matches says whether every part of the selector holds for a region.
func (a *activeRule) matches(g *Region) bool {
	name := bare(g.Token)
	for _, t := range a.tokens {
		if bare(t) != name {
			return false
		}
	}
	for _, p := range a.parts {
		if !strings.Contains(name, p) {
			return false
		}
	}
	for _, role := range a.roles {
		if g.Role != role {
			return false
		}
	}
	return true
}

// rulesFor merges the rules for every region; a later rule wins property by property.
func rulesFor(rules []activeRule, regions []Region) []look {
	if len(rules) == 0 {
		return nil
	}
	out := make([]look, len(regions))
	for i := range regions {
		l := &out[i]
		for k := range rules {
			if !rules[k].matches(&regions[i]) {
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
				l.filter = s.Filter
			}
			if s.Opacity != nil {
				l.opacity = s.Opacity
			}
			if s.Shadow != "" {
				l.shadow = s.Shadow
			}
		}
	}
	return out
}

// states applies what the rules do to finished pixels: filters, opacity and shadows.
func (r *renderer) applyStates(p *picture) {
	rules := r.rules(p.recipe)
	s := r.sink(p.recipe.object)
	if len(rules) == 0 || p.b.tok == nil || !r.spend(s, p.recipe.pos, len(rules)*len(p.recipe.regions)+p.b.w*p.b.h, 0) {
		return
	}
	looks := rulesFor(rules, p.recipe.regions)
	b := p.b.clone()
	done := map[uint64]uint32{}
	for i, t := range b.tok {
		if int(t) >= len(looks) || (looks[t].filter == "" && looks[t].opacity == nil) {
			continue
		}
		v := b.at(i)
		key := uint64(t)<<32 | uint64(v)
		out, ok := done[key]
		if !ok {
			c, err := filter(unpack(v), looks[t].filter)
			if err != nil {
				s.warn(looks[t].rule.Pos, CodeState, "use brightness, contrast, saturate, hue-rotate, invert, grayscale or sepia", "filter %s: %v", quoted(looks[t].filter), err)
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
		if looks[i].shadow != "" {
			r.dropShadow(p, uint16(i), &looks[i], s)
		}
	}
}

// dropShadow draws the flat shadow of one token's pixels: "dx dy [blur] [colour]", where blur is not drawn.
func (r *renderer) dropShadow(p *picture, token uint16, l *look, s *sink) {
	text := strings.TrimSpace(l.shadow)
	if inner, ok := strings.CutPrefix(text, "drop-shadow("); ok {
		text = strings.TrimSuffix(inner, ")")
	}
	text = strings.ReplaceAll(text, ",", " ")
	var nums []float64
	rest := text
	for len(nums) < 3 {
		rest = strings.TrimSpace(rest)
		word, tail, _ := strings.Cut(rest, " ")
		v, ok := number(strings.TrimSuffix(word, "px"))
		if !ok {
			break
		}
		nums, rest = append(nums, v), tail
	}
	if len(nums) < 2 {
		s.warn(l.rule.Pos, CodeState, `write "1 1 black"`, "the drop-shadow %s cannot be read", quoted(l.shadow))
		return
	}
	if len(nums) == 3 && nums[2] != 0 {
		s.warn(l.rule.Pos, CodeState, "", "the blur of a drop-shadow is not drawn")
	}
	o := Op{N: [4]int{whole32(nums[0]), whole32(nums[1])}}
	e := effect{r: r, s: s, dial: r.doc.dialect, colors: p.recipe.colors, names: p.names}
	c := color.NRGBA{A: 128}
	if rest = strings.TrimSpace(rest); rest != "" {
		var err error
		if c, err = e.colour(rest, c); err != nil {
			if c, err = colour.Parse(rest); err != nil {
				s.warn(l.rule.Pos, CodeState, "", "the colour of the drop-shadow %s cannot be read", quoted(l.shadow))
				return
			}
		}
	}
	if n := p.b.w * p.b.h; !r.spend(s, l.rule.Pos, 2*n, 0) {
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
