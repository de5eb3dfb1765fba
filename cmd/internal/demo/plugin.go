package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net"

	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
	"github.com/mcpdeck/mcpdeck/servers/socket"
)

// pluginLines are what a plugin says.
type pluginLines struct {
	Socket string // of prompts
	Lines  []json.RawMessage
	Asks   bool // the deck posts something for them
}

// plugin is a connection to the prompt socket as OpenCode's plugin has it.
type plugin struct {
	conn  net.Conn
	posts chan json.RawMessage // bodies of what the deck posts
}

func newPlugin(ctx context.Context, path string) (*plugin, error) {
	conn, err := socket.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	p := &plugin{conn: conn, posts: make(chan json.RawMessage, 1)}
	safe.Go("posts", p.read)
	return p, nil
}

func (p *plugin) say(lines ...json.RawMessage) error {
	for _, l := range lines {
		if _, err := p.conn.Write(append(l, '\n')); err != nil {
			return fmt.Errorf("write to the prompt socket: %w", err)
		}
	}
	return nil
}

// read takes what the deck posts, and says that it has come.
func (p *plugin) read() {
	for lines := rpc.NewLines(p.conn, rpc.MaxLine); ; {
		line, err := lines.Next()
		if err != nil {
			close(p.posts)
			return
		}
		var m struct {
			Post string
			Body json.RawMessage
			N    int
		}
		if json.Unmarshal(line, &m) != nil || m.Post == "" {
			continue // a sign of life
		}
		_ = p.say(fmt.Appendf(nil, `{"posted":%d,"status":200}`, m.N)) // a deck that has gone needs none
		p.posts <- m.Body
	}
}
