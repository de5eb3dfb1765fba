package host

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Calls is the log of calls of this machine's agents.
type Calls interface {
	// Run tells a run of this deck from others.
	Run() int64
	// Calls are those that have changed since a version, the oldest first, and the present version.
	Calls(since uint64) ([]snapshot.Call, uint64)
	Subscribe() (<-chan struct{}, func())
	// Project is where an agent works; "" if that is not known.
	Project(agent string) string
	// Earlier are calls of earlier runs: the newest of those before one in the log; 0: of all.
	Earlier(ctx context.Context, before uint64, most int) ([]snapshot.Call, error)
	// Body is what a call carried, one of this run or one of the log.
	Body(ctx context.Context, id uint64, earlier bool) (snapshot.CallBody, bool)
	// Pictures are those in the results of this run's calls.
	Pictures() ([]snapshot.Picture, uint64)
}

// callsReply answers a request about calls.
func (h *Host) callsReply(ctx context.Context, req *wire.Request) (r wire.Reply) {
	switch {
	case req.Calls != nil:
		r.Calls = h.calls(ctx, req.Calls.Version)
	case req.Log != nil:
		list, err := h.opt.Calls.Earlier(ctx, req.Log.Before, wire.MostCalls)
		if err != nil {
			r.Error = err.Error()
			return r
		}
		r.Log = h.told(list)
	case req.Body != nil:
		r.Body = h.body(ctx, *req.Body)
	case req.Picture != nil:
		r.Picture = h.picture(req.Picture)
	default:
		r.Error = wire.Unsupported
	}
	return r
}

// calls returns those that have changed, once there are some.
func (h *Host) calls(ctx context.Context, known *uint64) *wire.Calls {
	var since uint64
	if known != nil {
		since = *known
	}
	return next(ctx, h.opt.Calls.Subscribe, func() *wire.Calls {
		list, version := h.opt.Calls.Calls(since)
		if known != nil && len(list) == 0 {
			return nil
		}
		out := h.told(list[max(0, len(list)-wire.MostCalls):])
		out.Version, out.Whole = version, known == nil || len(list) > wire.MostCalls
		return out
	})
}

// told is a list as it travels.
func (h *Host) told(list []snapshot.Call) *wire.Calls {
	out := &wire.Calls{Run: h.opt.Calls.Run(), Now: time.Now()}
	projects := map[string]string{}
	for _, c := range list {
		project, known := projects[c.Agent]
		if !known {
			project = h.opt.Calls.Project(c.Agent)
			projects[c.Agent] = project
		}
		out.Calls = append(out.Calls, wire.Call{Call: c, Project: project})
	}
	return out
}

// body returns what a call carried, unless its number is another one's since.
func (h *Host) body(ctx context.Context, id wire.CallID) *wire.Body {
	if !id.Earlier && id.Run != h.opt.Calls.Run() {
		return &wire.Body{}
	}
	b := wire.BodyOf(h.opt.Calls.Body(ctx, id.ID, id.Earlier))
	for _, data := range h.pictures(id) {
		b.Pictures = append(b.Pictures, wire.PictureHash(data))
	}
	return b
}

// pictures are those of a call that may travel, in order.
func (h *Host) pictures(id wire.CallID) (out [][]byte) {
	if id.Earlier || id.Run != h.opt.Calls.Run() {
		return nil // they are in memory only
	}
	list, _ := h.opt.Calls.Pictures()
	for i := range list {
		if p := &list[i]; p.Call == id.ID {
			if data, err := base64.StdEncoding.DecodeString(p.Data); err == nil && len(data) <= wire.MostPicture {
				out = append(out, data)
			}
		}
	}
	return out
}

// picture returns a picture of a call; an empty one if it is not kept any more.
func (h *Host) picture(s *wire.Shown) *wire.Picture {
	for _, data := range h.pictures(s.CallID) {
		if wire.PictureHash(data) == s.Hash {
			return &wire.Picture{Data: data}
		}
	}
	return &wire.Picture{}
}
