package router

import (
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// offerOf is what a module offers in the view.
func (v *View) offerOf(m *registration) Offer {
	o := m.current()
	switch {
	case !v.Spec.AsIs || o.AsIs == nil && (o.Router == nil || route{router: o.Router}.own()):
		return v.narrowed(o)
	case o.AsIs == nil:
		return Offer{Stub: o.Stub, Refuse: o.Refuse, Router: o.Router}
	}
	as := o.AsIs.Offer
	if as.Refuse == nil {
		as.Refuse = o.Refuse
	}
	if as.Router == nil {
		as.Router = o.Router
	}
	return as
}

// asIs is how the view's server introduces itself, nil if the deck does.
func (v *View) asIs() *Passthrough {
	if all := v.all(); v.Spec.AsIs && len(all) == 1 {
		return all[0].current().AsIs
	}
	return nil
}

// serverInfo is who answers in the view, as JSON.
func (v *View) serverInfo() string {
	if a := v.asIs(); a != nil && a.ServerInfo != nil {
		return string(a.ServerInfo)
	}
	return v.info
}

// replace puts a value in the place of a member's, if there is one.
func replace(o rawjson.Object, key string, value json.RawMessage) {
	for i := range o {
		if o[i].Key == key && value != nil {
			o[i].Value = value
		}
	}
}

// changing are the capabilities of a server whose lists the deck tells of.
func changing(capabilities json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(capabilities)
	if err != nil {
		return nil
	}
	for _, list := range []string{"tools", "prompts", "resources"} {
		if c, err := rawjson.SplitObject(o.Get(list)); err == nil {
			c = setDefault(c, "listChanged", "true")
			replace(c, "listChanged", json.RawMessage("true"))
			replace(o, list, c.JSON())
		}
	}
	return o.JSON()
}
