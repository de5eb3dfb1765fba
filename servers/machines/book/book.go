// Package book keeps which machines a deck shows, and which decks may answer what waits here:
// their names and keys, in files of the user's own.
package book

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Book is the folder with the files. What is missing there is empty, and nothing is written
// before there is something to keep.
type Book struct{ Dir string }

// Machine is another machine that this deck shows.
type Machine struct {
	Name   string    `json:"name"`             // on the screen
	Engine string    `json:"engine,omitempty"` // docker, podman or devcontainer, if it is a container
	Target string    `json:"target"`           // for ssh: a host of its configuration, or user@host; or the container, or the folder of a devcontainer
	Host   string    `json:"host"`             // see wire.Welcome
	Decks  []string  `json:"decks,omitempty"`  // fingerprints of those that may answer there, as far as the user was told
	Added  time.Time `json:"added"`
}

// Deck is a deck whose signed answers this machine takes.
type Deck struct {
	Name  string            `json:"name"`
	Key   ed25519.PublicKey `json:"key"`
	Added time.Time         `json:"added"`
}

// here is what this machine is to others.
type here struct {
	Host    string `json:"host"`
	Decks   []Deck `json:"decks"`
	Refused []Deck `json:"refused,omitempty"`
}

func (b Book) machinesFile() string { return filepath.Join(b.Dir, "machines.json") }
func (b Book) decksFile() string    { return filepath.Join(b.Dir, "decks.json") }
func (b Book) keyFile() string      { return filepath.Join(b.Dir, "deck.key") }

// names are those of machines and decks: they stand before a project's, with a colon.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)

// Named refuses what is no name.
func Named(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("use the name %q: a name has letters, digits, dots, dashes and underscores, at most 32", name)
	}
	return nil
}

// Read reads v from a file, and leaves it as it is if there is none.
func Read(path string, v any) error {
	raw, err := file.Read(path, 8<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// Write writes v to a file of the user's own.
func Write(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return file.Write(path, append(raw, '\n'), file.Options{Folder: true})
}

// Machines returns those that this deck shows.
func (b Book) Machines() (all []Machine, err error) {
	err = Read(b.machinesFile(), &all)
	return all, err
}

// SetMachine adds a machine, or replaces the one with its name.
func (b Book) SetMachine(m Machine) error {
	all, err := b.Machines()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Machine) bool { return o.Name == m.Name })
	return Write(b.machinesFile(), append(all, m))
}

// RemoveMachine removes the one with a name, and returns it; false if there is none.
func (b Book) RemoveMachine(name string) (m Machine, had bool, err error) {
	all, err := b.Machines()
	i := slices.IndexFunc(all, func(o Machine) bool { return o.Name == name })
	if err != nil || i < 0 {
		return Machine{}, false, err
	}
	m = all[i]
	return m, true, Write(b.machinesFile(), slices.Delete(all, i, i+1))
}

// here reads what this machine is to others.
func (b Book) here() (h here, err error) {
	err = Read(b.decksFile(), &h)
	return h, err
}

// Host is what this machine calls itself in what decks sign; "" before it has learned of a deck.
func (b Book) Host() (string, error) {
	h, err := b.here()
	return h.Host, err
}

// Decks returns those whose answers this machine takes.
func (b Book) Decks() ([]Deck, error) {
	h, err := b.here()
	return h.Decks, err
}

// Refused returns those that the user has refused, and is not to be asked about again.
func (b Book) Refused() ([]Deck, error) {
	h, err := b.here()
	return h.Refused, err
}

// Refuse keeps that the user has refused a deck.
func (b Book) Refuse(d Deck) error {
	h, err := b.here()
	if err != nil {
		return err
	}
	h.Refused = append(without(h.Refused, d), d)
	h.Refused = h.Refused[max(0, len(h.Refused)-mostDecks):]
	return Write(b.decksFile(), h)
}

// Reconsider forgets that the user has refused the decks that which tells, and returns them.
func (b Book) Reconsider(which func(Deck) bool) (gone []Deck, err error) {
	return b.remove(func(h *here) *[]Deck { return &h.Refused }, which)
}

// Forget removes the decks that which tells, and returns them.
func (b Book) Forget(which func(Deck) bool) (gone []Deck, err error) {
	return b.remove(func(h *here) *[]Deck { return &h.Decks }, which)
}

// remove removes the decks that which tells from a list in the file, and returns them.
func (b Book) remove(from func(*here) *[]Deck, which func(Deck) bool) (gone []Deck, err error) {
	h, err := b.here()
	if err != nil {
		return nil, err
	}
	list := from(&h)
	*list = slices.DeleteFunc(*list, func(d Deck) bool {
		if which(d) {
			gone = append(gone, d)
			return true
		}
		return false
	})
	if len(gone) == 0 {
		return nil, nil
	}
	return gone, Write(b.decksFile(), h)
}

// find returns the deck with a key.
func find(all []Deck, key ed25519.PublicKey) (d Deck, found bool) {
	i := slices.IndexFunc(all, func(o Deck) bool { return o.Key.Equal(key) })
	if i < 0 {
		return Deck{}, false
	}
	return all[i], true
}

func without(all []Deck, d Deck) []Deck {
	return slices.DeleteFunc(all, func(o Deck) bool { return o.Key.Equal(d.Key) })
}

// mostDecks is how many decks may answer on a machine, and how many refusals are kept.
const mostDecks = 64

// Learn has this machine take a deck's answers, and returns what it calls itself.
func (b Book) Learn(d Deck) (host string, err error) {
	if len(d.Key) != ed25519.PublicKeySize {
		return "", errors.New("this is no key of a deck")
	}
	h, err := b.here()
	if err != nil {
		return "", err
	}
	if h.Host == "" {
		h.Host = rand.Text()
	}
	if before, known := find(h.Decks, d.Key); known {
		d.Added = before.Added
	}
	h.Decks = without(h.Decks, d)
	if len(h.Decks) >= mostDecks {
		return "", fmt.Errorf("%s may answer here already: run mcpdeck remote revoke for one of them first", humanize.Count(mostDecks, "deck"))
	}
	h.Decks, h.Refused = append(h.Decks, d), without(h.Refused, d)
	return h.Host, Write(b.decksFile(), h)
}

// Key is the one that this deck signs with. It is made when it is first needed.
func (b Book) Key() (ed25519.PrivateKey, error) {
	var seed []byte
	if err := Read(b.keyFile(), &seed); err != nil {
		return nil, err
	}
	if seed == nil {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		seed = key.Seed()
		if err := Write(b.keyFile(), seed); err != nil {
			return nil, err
		}
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("read %s: it holds no key", b.keyFile())
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
