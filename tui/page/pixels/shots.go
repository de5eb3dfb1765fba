package pixels

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// Shots is the pictures in the results of calls as a source: screenshots of designs, and
// whatever else a tool sends.
type Shots struct {
	// Host keeps the pictures.
	Host interface {
		Pictures() ([]snapshot.Picture, uint64)
	}
	// Hints is where changes are told, among others.
	Hints func() (hint <-chan struct{}, cancel func())
	// Quiet names the server whose pictures are in the list already, as renders; they are
	// shown only when a call is asked for.
	Quiet string
}

// Version implements [Source].
func (s *Shots) Version() uint64 {
	_, version := s.Host.Pictures()
	return version
}

// Subscribe implements [Source].
func (s *Shots) Subscribe() (<-chan struct{}, func()) { return s.Hints() }

// Renders implements [Source]. The pictures are decoded when they are looked at.
func (s *Shots) Renders() []Render {
	list, _ := s.Host.Pictures()
	out := make([]Render, len(list))
	for i, one := range list {
		out[i] = Render{
			ID: shot | one.Call<<8 | uint64(one.Index&0xFF), Call: one.Call,
			Name: one.Tool, Kind: path.Base(one.MIME), Agent: one.Agent, Time: one.Time, Quiet: one.Server == s.Quiet,
			Fetch: func() (*viewer.Picture, error) {
				data, err := base64.StdEncoding.DecodeString(one.Data)
				if err != nil {
					return nil, fmt.Errorf("read the picture of a result: %w", err)
				}
				return viewer.Decode(fmt.Sprintf("call %d %d", one.Call, one.Index), data)
			},
		}
	}
	return out
}

// shot is set in the IDs of pictures in results.
const shot = 1 << 61

// fetchedMsg is a picture that was read because it is looked at.
type fetchedMsg struct {
	id     uint64
	pic    *viewer.Picture
	failed string
}

func fetched(r *Render) tea.Msg {
	pic, err := r.Fetch()
	if err != nil {
		return fetchedMsg{id: r.ID, failed: err.Error()}
	}
	return fetchedMsg{id: r.ID, pic: pic}
}

// took shows a picture that was read, if it is still looked at.
func (p *Page) took(m fetchedMsg) {
	p.shots.put(m.id, m.pic)
	for i := range p.renders {
		if p.renders[i].ID == m.id {
			p.renders[i].Failed = m.failed
		}
	}
	if p.shown == m.id {
		p.view.Set(m.pic)
		p.view.Play(p.seen && p.resume)
		p.view.SetBefore(p.before())
		p.colours.SetLen(len(p.view.Uses()))
	}
}

// lookAt shows the first picture in the result of a call.
func (p *Page) lookAt(call uint64) tea.Cmd {
	p.asked = call
	p.take(p.all)
	for i, r := range slices.Backward(p.renders) {
		if r.Call == call {
			p.pinned, p.Focus = true, browser.PartDetail
			p.List.MoveTo(i)
			p.show(r)
			return tui.Go(p.ID())
		}
	}
	return tui.Toast(tui.Warn, "the pictures of that call are no longer stored")
}

// shots are the pictures read last.
type shots struct {
	ids  []uint64
	pics map[uint64]*viewer.Picture
}

// shotsKept bounds them, beside [pixelsrc.KeptPixels]: a screenshot takes some 10 MB.
const shotsKept = 4

func (s *shots) get(id uint64) *viewer.Picture { return s.pics[id] }

func (s *shots) put(id uint64, pic *viewer.Picture) {
	if s.pics == nil {
		s.pics = map[uint64]*viewer.Picture{}
	}
	s.pics[id] = pic
	s.ids = append(slices.DeleteFunc(s.ids, func(old uint64) bool { return old == id }), id)
	pixels := 0
	for _, pic := range s.pics {
		pixels += pic.Pixels()
	}
	for len(s.ids) > shotsKept || len(s.ids) > 1 && pixels > pixelsrc.KeptPixels {
		pixels -= s.pics[s.ids[0]].Pixels()
		delete(s.pics, s.ids[0])
		s.ids = s.ids[1:]
	}
}
