package hub

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

// Role is what a member of a hub is there for.
type Role string

// Roles.
const (
	Deck Role = "deck" // shows what waits on hosts, and answers
	Host Role = "host" // a machine on which agents work
)

// Member is a deck or host that may use a hub.
type Member struct {
	Name    string            `json:"name"`
	Role    Role              `json:"role"`
	Connect string            `json:"connect"` // an nkey
	Sign    ed25519.PublicKey `json:"sign"`
	Box     []byte            `json:"box"`
	Added   time.Time         `json:"added,omitzero"`
}

// ID is what a host calls itself in what decks sign.
func (m *Member) ID() string { return "hub/" + wire.Fingerprint(m.Sign) }

// List is who may use a hub, by the word of the deck that has made it.
type List struct {
	Seq     uint64   `json:"seq"` // a later list has a higher one
	Members []Member `json:"members"`
}

// of returns the members of a role.
func (l List) of(r Role) (all []Member) {
	for _, m := range l.Members {
		if m.Role == r {
			all = append(all, m)
		}
	}
	return all
}

// find returns the member of a role with a name; nil if there is none.
func (l List) find(r Role, name string) *Member {
	i := slices.IndexFunc(l.Members, func(m Member) bool { return m.Role == r && m.Name == name })
	if i < 0 {
		return nil
	}
	return &l.Members[i]
}

// listSubject is where the list is, and decksSubject what of it hosts need: it is as long on a hub of
// thousands of hosts, each of which reads it, as on one of two.
const (
	listSubject  = "k.list"
	decksSubject = "k.decks"
)

// listOf is where those of a role have the list from.
func listOf(r Role) string {
	if r == Host {
		return decksSubject
	}
	return listSubject
}

// signList makes the message of a list for a subject.
func (k *Keys) signList(l List, subject string) ([]byte, error) {
	if subject == decksSubject {
		l.Members = l.of(Deck)
	}
	body, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return k.attest("list", subject, body), nil
}

// readList returns the list in a message at a subject, if its owner has signed it.
func readList(message []byte, subject string, owner ed25519.PublicKey) (l List, err error) {
	body, err := attested("list", subject, message, owner)
	if err != nil {
		return l, err
	}
	err = json.Unmarshal(body, &l)
	return l, err
}

// names are those of members: they are part of subjects and accounts.
var names = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Named refuses what is no name of a member.
func Named(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("use the name %q: on a hub, a name has small letters, digits and dashes, at most 32", name)
	}
	return nil
}

// Membership is what this machine has of a hub that it has joined.
type Membership struct {
	Hub   string            `json:"hub"` // host:port
	Pin   []byte            `json:"pin"` // the beginning of the digest of its TLS key
	Name  string            `json:"name"`
	Role  Role              `json:"role"`
	Seed  []byte            `json:"seed"`
	Owner ed25519.PublicKey `json:"owner"` // of the deck that has made it
	Made  string            `json:"made"`  // name of that
}

const (
	joinStart = "mcpdeck1:"
	pinSize   = 16
)

// Line is what joins a machine: a secret.
func (m *Membership) Line() string {
	b, _ := json.Marshal([]any{m.Hub, m.Pin, m.Role, m.Name, m.Seed, m.Owner, m.Made}) // it has no other types
	return joinStart + base64.RawURLEncoding.EncodeToString(b)
}

// ReadLine reads what [Membership.Line] has made.
func ReadLine(line string) (m Membership, err error) {
	wrong := errors.New("this is no whole line of mcpdeck hub add")
	text, found := strings.CutPrefix(strings.TrimSpace(line), joinStart)
	if !found {
		return m, wrong
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return m, wrong
	}
	parts := []any{&m.Hub, &m.Pin, &m.Role, &m.Name, &m.Seed, &m.Owner, &m.Made}
	want := len(parts)
	if err := json.Unmarshal(b, &parts); err != nil || len(parts) != want {
		return m, wrong
	}
	return m, m.check()
}

// Fingerprint is how the member's key is shown to people, such as the user of a host that is to take its answers.
func (m *Membership) Fingerprint() string {
	k, err := KeysOf(m.Seed)
	if err != nil {
		return "?" // of a seed that check refuses
	}
	return wire.Fingerprint(k.public())
}

func (m *Membership) check() error {
	if len(m.Pin) != pinSize || len(m.Seed) != ed25519.SeedSize || len(m.Owner) != ed25519.PublicKeySize || m.Role != Deck && m.Role != Host {
		return errors.New("what is known of the hub is damaged; join it again")
	}
	return errors.Join(Named(m.Name), Named(m.Made))
}

// Book is the folder in which this machine keeps which hubs it has joined.
type Book struct{ Dir string }

func (b Book) path() string { return filepath.Join(b.Dir, "hub.json") }

// All returns the memberships; none, if there is no hub.
func (b Book) All() (all []Membership, err error) {
	if err := book.Read(b.path(), &all); err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Join adds a membership, or replaces the one of its role.
func (b Book) Join(m Membership) error {
	all, err := b.All()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Membership) bool {
		if o.Role == m.Role && !o.Owner.Equal(m.Owner) {
			_ = os.Remove(b.listFile(&o)) // the list of another hub says nothing about this one
		}
		return o.Role == m.Role
	})
	return book.Write(b.path(), append(all, m))
}

// Leave removes the memberships but that of a deck which has made its hub, and returns them.
func (b Book) Leave() (gone []Membership, err error) {
	all, err := b.All()
	if err != nil {
		return nil, err
	}
	stays := slices.DeleteFunc(slices.Clone(all), func(m Membership) bool {
		own := m.Role == Deck && m.Made == m.Name
		if !own {
			gone = append(gone, m)
		}
		return !own
	})
	if len(gone) == 0 {
		return nil, errors.New("this machine has joined no hub that it could leave")
	}
	for i := range gone {
		_ = os.Remove(b.listFile(&gone[i])) // as above
	}
	return gone, book.Write(b.path(), stays)
}

// listFile is where a member keeps the last list that it has seen, since one before it does not count.
func (b Book) listFile(m *Membership) string {
	return filepath.Join(b.Dir, "hub-list-"+string(m.Role)+".bin")
}
