// Package hub carries what package wire does over a hub: a stock nats-server that machines and decks
// dial, none of which needs to be reached itself or to be awake while another is.
//
// The hub is a transport that stores. A host puts there what waits on it and takes the answers that
// decks have left; its queue decides, as over ssh. A deck gets from it a link that replies as the
// host would, and holds an answer until the host has said what became of it. All that matters is
// signed by whose word it is and sealed for whom it is meant, so the hub can be anybody's: it can
// delay, drop and repeat, and it sees names, sizes and times.
package hub

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Keys are those of a member, all made of its seed.
type Keys struct {
	Sign    ed25519.PrivateKey
	box     hpke.PrivateKey
	connect nkeys.KeyPair // what the hub knows the member by
}

// NewSeed returns a seed for a new member.
func NewSeed() []byte {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // it does not fail
	return seed
}

// KeysOf makes the keys of a seed.
func KeysOf(seed []byte) (*Keys, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, errors.New("the seed has another length")
	}
	part := func(use string) []byte {
		b, err := hkdf.Key(sha256.New, seed, nil, "mcpdeck hub "+use, ed25519.SeedSize)
		if err != nil {
			panic(err) // only of a length that is too large
		}
		return b
	}
	k := &Keys{Sign: ed25519.NewKeyFromSeed(part("sign"))}
	var err error
	if k.box, err = hpke.DHKEM(ecdh.X25519()).DeriveKeyPair(part("box")); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if k.connect, err = nkeys.FromRawSeed(nkeys.PrefixByteUser, part("connect")); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return k, nil
}

func (k *Keys) public() ed25519.PublicKey {
	public, _ := k.Sign.Public().(ed25519.PublicKey) // it is always one
	return public
}

// Member returns what others know of the keys.
func (k *Keys) Member(name string, r Role) (m Member, err error) {
	m = Member{Name: name, Role: r, Sign: k.public(), Box: k.box.PublicKey().Bytes()}
	m.Connect, err = k.connect.PublicKey()
	return m, err
}

// What a sealed message is made of: a signature, the number of boxes, the boxes, and the text under
// a key that is used once, which is in each box.
const (
	boxName = 8
	boxSize = 32 + chacha20poly1305.KeySize + chacha20poly1305.Overhead
	mostTo  = 64
)

var (
	errSealed = errors.New("the message is damaged, or not from whom it should be")
	errOthers = errors.New("the message is sealed for others")
)

// bound are the bytes that tie a message to its place and to one sort of use.
func bound(use, subject string) []byte {
	return []byte("mcpdeck-hub-1\n" + use + "\n" + subject + "\n")
}

func nameOf(box []byte) []byte {
	sum := sha256.Sum256(box)
	return sum[:boxName]
}

// attest puts a signature before a body, which counts for one use at a subject alone.
func (k *Keys) attest(use, subject string, body []byte) []byte {
	return append(ed25519.Sign(k.Sign, append(bound(use, subject), body...)), body...)
}

// attested returns the body of a message at a subject, if from has signed it.
func attested(use, subject string, message []byte, from ed25519.PublicKey) ([]byte, error) {
	if len(message) < ed25519.SignatureSize || len(from) != ed25519.PublicKeySize {
		return nil, errSealed
	}
	sign, body := message[:ed25519.SignatureSize], message[ed25519.SignatureSize:]
	if !ed25519.Verify(from, append(bound(use, subject), body...), sign) {
		return nil, errSealed
	}
	return body, nil
}

// seal makes a message of v as JSON, which those in to can read, and which counts at a subject alone.
func (k *Keys) seal(subject string, v any, to ...Member) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	if len(to) > mostTo {
		return nil, fmt.Errorf("a message is sealed for %s, and no more can read it than %d", humanize.Count(len(to), "member"), mostTo)
	}
	once := make([]byte, chacha20poly1305.KeySize)
	_, _ = rand.Read(once) // it does not fail
	out := []byte{byte(len(to))}
	for _, m := range to {
		public, err := hpke.DHKEM(ecdh.X25519()).NewPublicKey(m.Box)
		if err != nil {
			return nil, fmt.Errorf("read the key of %s: %w", m.Name, err)
		}
		box, err := hpke.Seal(public, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), bound("box", subject), once)
		if err != nil {
			return nil, fmt.Errorf("seal for %s: %w", m.Name, err)
		}
		out = append(append(out, nameOf(m.Box)...), box...)
	}
	aead, err := chacha20poly1305.New(once)
	if err != nil {
		return nil, err
	}
	out = aead.Seal(out, make([]byte, chacha20poly1305.NonceSize), text, bound("text", subject))
	return k.attest("sign", subject, out), nil
}

// open reads v from a message at a subject, if from has made it and these keys may read it.
func (k *Keys) open(subject string, message []byte, from ed25519.PublicKey, v any) error {
	rest, err := attested("sign", subject, message, from)
	if err != nil || len(rest) == 0 {
		return errSealed
	}
	boxes := rest[1:]
	n := int(rest[0]) * (boxName + boxSize)
	if len(boxes) < n {
		return errSealed
	}
	own := nameOf(k.box.PublicKey().Bytes())
	for b := boxes[:n]; len(b) > 0; b = b[boxName+boxSize:] {
		if !bytes.Equal(b[:boxName], own) {
			continue
		}
		once, err := hpke.Open(k.box, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), bound("box", subject), b[boxName:boxName+boxSize])
		if err != nil {
			return errSealed
		}
		aead, err := chacha20poly1305.New(once)
		if err != nil {
			return errSealed
		}
		text, err := aead.Open(nil, make([]byte, chacha20poly1305.NonceSize), boxes[n:], bound("text", subject))
		if err != nil {
			return errSealed
		}
		return json.Unmarshal(text, v)
	}
	return errOthers
}
