package hub

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Owned is a hub that this machine's user has made.
type Owned struct {
	Dir    string `json:"-"`
	Listen string `json:"listen"` // where the hub listens
	Public string `json:"public"` // where members reach it
	Pin    []byte `json:"pin"`
	Seed   []byte `json:"seed"` // of the deck that has made it
	List   List   `json:"list"`
}

func (o *Owned) file() string { return filepath.Join(o.Dir, "owner.json") }

// Server is the folder with all that the server needs, and nothing that lets it read or answer.
func (o *Owned) Server() string { return filepath.Join(o.Dir, "server") }

// Conf is the server's configuration.
func (o *Owned) Conf() string { return filepath.Join(o.Server(), "hub.conf") }

// ErrNone means that no hub was made here.
var ErrNone = errors.New("no hub was made here; make one with mcpdeck hub init")

// Load reads a hub that was made in a folder.
func Load(dir string) (*Owned, error) {
	o := &Owned{Dir: dir}
	if err := book.Read(o.file(), o); err != nil {
		return nil, err
	}
	if o.Seed == nil {
		return nil, ErrNone
	}
	return o, nil
}

// Init makes a hub in a folder, with a deck as its owner.
func Init(dir, listen, public, deck string) (*Owned, error) {
	o := &Owned{Dir: dir, Listen: listen, Public: public, Seed: NewSeed()}
	if _, err := os.Lstat(o.file()); err == nil {
		return nil, fmt.Errorf("a hub was made in %s already", dir)
	}
	for _, at := range []string{listen, public} {
		if _, _, err := net.SplitHostPort(at); err != nil {
			return nil, fmt.Errorf("use the address %q: %w", at, err)
		}
	}
	if err := o.add(deck, Deck, o.Seed); err != nil {
		return nil, err
	}
	if err := o.makeTLS(); err != nil {
		return nil, err
	}
	return o, o.Save()
}

// makeTLS makes the server's key and certificate. Members know it by its key, so the dates say nothing.
func (o *Owned) makeTLS() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mcpdeck hub"}, NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	o.Pin = pinOf(c)
	for name, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := file.Write(filepath.Join(o.Server(), name), pem.EncodeToMemory(b), file.Options{Folder: true}); err != nil {
			return err
		}
	}
	return nil
}

func pinOf(c *x509.Certificate) []byte {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return sum[:pinSize]
}

// mostHosts and mostDecks bound a hub: its configuration is written and read as a whole, and a message
// is sealed for each deck.
const (
	mostHosts = 4000
	mostDecks = 16
)

func (o *Owned) add(name string, r Role, seed []byte) error {
	if err := Named(name); err != nil {
		return err
	}
	k, err := KeysOf(seed)
	if err != nil {
		return err
	}
	m, err := k.Member(name, r)
	if err != nil {
		return err
	}
	m.Added = time.Now().UTC().Truncate(time.Second)
	o.List.Members = append(o.List.Members, m)
	o.List.Seq++
	return nil
}

// Add makes a member, and returns what it needs to join: a secret that is kept nowhere here.
func (o *Owned) Add(name string, r Role) (Membership, error) {
	if o.List.find(Deck, name) != nil || o.List.find(Host, name) != nil {
		return Membership{}, fmt.Errorf("%s is a member already; revoke it first, or use another name", name)
	}
	if most := map[Role]int{Host: mostHosts, Deck: mostDecks}[r]; len(o.List.of(r)) >= most {
		return Membership{}, fmt.Errorf("a hub has room for no more than %d of these", most)
	}
	m := o.Owner()
	m.Name, m.Role, m.Seed = name, r, NewSeed()
	if err := o.add(name, r, m.Seed); err != nil {
		return Membership{}, err
	}
	return m, o.Save()
}

// Owner is the membership of the deck that has made the hub.
func (o *Owned) Owner() Membership {
	m := &o.List.Members[0] // it is never removed
	return Membership{Hub: o.Public, Pin: o.Pin, Name: m.Name, Role: Deck, Seed: o.Seed, Owner: m.Sign, Made: m.Name}
}

// Revoke removes a member, and returns it.
func (o *Owned) Revoke(name string) (m Member, err error) {
	i := slices.IndexFunc(o.List.Members, func(m Member) bool { return m.Name == name })
	switch {
	case i < 0:
		return m, fmt.Errorf("no member is called %q; see mcpdeck hub status", name)
	case i == 0:
		return m, fmt.Errorf("%s has made the hub, and cannot be removed", name)
	}
	m = o.List.Members[i]
	o.List.Members = slices.Delete(o.List.Members, i, i+1)
	o.List.Seq++
	return m, o.Save()
}

// Save writes what is known of the hub, and the server's configuration.
func (o *Owned) Save() error {
	if err := book.Write(o.file(), o); err != nil {
		return err
	}
	return file.Write(o.Conf(), []byte(o.conf()), file.Options{Folder: true})
}

func quoted(all ...string) string { return `["` + strings.Join(all, `", "`) + `"]` }

// conf is the configuration of the server: an account for all decks, which has the streams, and one
// for each host, which can reach nothing there but its own subjects. In one account a host could have
// the server's replies stored as another's messages.
func (o *Owned) conf() string {
	hosts := o.List.of(Host)
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("# Written by mcpdeck hub. What is changed here is lost with the next member.")
	p("server_name: mcpdeck-hub\nlisten: %q\npid_file: \"hub.pid\"\nlog_file: \"hub.log\"\nlogfile_size_limit: 8MB\nlogfile_max_num: 2", o.Listen)
	p("tls { cert_file: \"cert.pem\", key_file: \"key.pem\", min_version: \"1.3\", handshake_first: true, timeout: 10 }")
	p("ping_interval: \"10s\"\nping_max: 2\nwrite_deadline: \"5s\"\nmax_payload: %d\nmax_pending: 32MB\nmax_control_line: 1KB", mostMessage)
	p("jetstream { store_dir: \"store\", max_memory_store: %d, max_file_store: %d, sync_interval: always }", memoryBytes, fileBytes)
	p("accounts {\n  decks {\n    jetstream: enabled")
	p("    exports: [ {service: \"v.*\"}, {service: \"i.*.*\"}, {service: \"o.*.*.*\"}, {service: \"p.*\"}, {service: \"$JS.API.DIRECT.GET.>\"}, {service: \"$JS.API.STREAM.PURGE.*\"}, {stream: \"a.>\"}, {stream: \"k.>\"} ]\n    users: [")
	for i, m := range o.List.of(Deck) {
		publish := []string{"a.*." + m.Name + ".*", liveOf("*", m.Name), "$JS.API.DIRECT.GET.>"}
		if i == 0 {
			publish = append(publish, listSubject, decksSubject, "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.UPDATE.*", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.DELETE.*")
		}
		p("      { nkey: %s, permissions: { publish: { allow: %s }, subscribe: { allow: %s } } }", m.Connect, quoted(publish...), quoted("v.*", "p.*", "o.*."+m.Name+".*", listSubject, inbox(m.Name)+".>"))
	}
	p("    ]\n    imports: [")
	for _, m := range hosts {
		p("      {service: {account: host-%s, subject: %q}}", m.Name, liveOf(m.Name, "*"))
	}
	p("    ]\n  }")
	for _, m := range hosts {
		publish := []string{"v." + m.Name, "i." + m.Name + ".*", "o." + m.Name + ".*.*", "p." + m.Name, "$JS.API.DIRECT.GET." + answersOf(m.Name), "$JS.API.STREAM.PURGE." + answersOf(m.Name), "$JS.API.DIRECT.GET." + listStream + "." + decksSubject}
		subscribe := []string{"a." + m.Name + ".>", decksSubject}
		p("  host-%s {\n    limits: { max_connections: 8, max_subscriptions: 64 }", m.Name)
		p("    exports: [ {service: %q, accounts: [decks]} ]", liveOf(m.Name, "*"))
		p("    users: [ { nkey: %s, permissions: { publish: { allow: %s }, subscribe: { allow: %s }, allow_responses: { max: 1, expires: %q } } } ]\n    imports: [",
			m.Connect, quoted(publish...), quoted(append(subscribe, inbox(m.Name)+".>", liveOf(m.Name, "*"))...), liveWithin.String())
		for _, s := range publish {
			p("      {service: {account: decks, subject: %q}}", s)
		}
		for _, s := range subscribe {
			p("      {stream: {account: decks, subject: %q}}", s)
		}
		p("    ]\n  }")
	}
	p("}")
	return b.String()
}
