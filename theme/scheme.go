package theme

// Scheme is a set of colours that has a name: for dark terminals, for light ones, or one
// set for each. The zero Scheme is the built-in colours.
type Scheme struct {
	Name, About string
	// Dark and Light are its colours; nil where the other is for all terminals. What they
	// leave out is taken from the built-in palette, unless Strong.
	Dark, Light *Palette
	// Strong is a high contrast: the row under the cursor swaps ink and ground.
	Strong bool
}

// Follows is the name of the scheme that is dark or light as the terminal is.
const Follows = "auto"

// Schemes are those that every user has, the default first. The user's own changes to the
// dark and the light palette are in them.
func Schemes(dark, light Palette) []Scheme {
	darkest, lightest := HighContrastDark(), HighContrastLight()
	return []Scheme{
		{Name: Follows, About: "dark or light, as the terminal is", Dark: &dark, Light: &light},
		{Name: "dark", About: "for dark terminals", Dark: &dark},
		{Name: "light", About: "for light terminals", Light: &light},
		{Name: "high-contrast", About: "as the terminal is, easier to read", Dark: &darkest, Light: &lightest, Strong: true},
		{Name: "high-contrast-dark", About: "for dark terminals, easier to read", Dark: &darkest, Strong: true},
		{Name: "high-contrast-light", About: "for light terminals, easier to read", Light: &lightest, Strong: true},
	}
}

// palette is the scheme's for a terminal, and whether it is for dark ones.
func (s Scheme) palette(dark bool) (Palette, bool) {
	switch {
	case s.Dark == nil && s.Light == nil:
	case s.Light == nil || dark && s.Dark != nil:
		return s.complete(*s.Dark, Dark()), true
	default:
		return s.complete(*s.Light, Light()), false
	}
	if dark {
		return Dark(), true
	}
	return Light(), false
}

func (s Scheme) complete(p, base Palette) Palette {
	if s.Strong {
		base = Palette{}
	}
	return p.Over(base)
}
