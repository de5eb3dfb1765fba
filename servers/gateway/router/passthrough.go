package router

import (
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// offerOf is what a server offers in the view.
func (v *View) offerOf(m *registration) offer {
	o := m.current()
	if !v.Spec.Passthrough || o.Passthrough == nil {
		return v.narrowed(o)
	}
	as := *o.Passthrough
	if as.Refuse == nil {
		as.Refuse = o.Refuse
	}
	return offer{&as, o.by}
}

// asIs is how the view's server introduces itself; nil if the deck does.
func (v *View) asIs() *backend.Catalogue {
	if all := v.all(); v.Spec.Passthrough && len(all) == 1 {
		return v.offerOf(all[0]).Catalogue
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

// changing are the capabilities of a server whose lists the deck tells of.
func changing(capabilities json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(capabilities)
	if err != nil {
		return nil
	}
	for _, list := range []string{"tools", "prompts", "resources"} {
		if c, err := rawjson.SplitObject(o.Get(list)); err == nil {
			o = o.With(list, setDefault(c, "listChanged", "true").With("listChanged", json.RawMessage("true")).JSON())
		}
	}
	return o.JSON()
}
