package userauth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// minPassphrase is long because the hash lies where a program of the user can
// read it and guess at leisure.
const minPassphrase = 12

// The cost of one guess: RFC 9106's second choice, for little memory.
const (
	argonTime   = 3
	argonMemory = 64 << 10 // KiB
	argonLanes  = 4
	argonKey    = 32
	argonName   = "argon2id,t=3,m=65536,p=4"
)

// SetPassphrase takes a passphrase instead of the one before. It is for the
// deck's screen.
func (g *Gate) SetPassphrase(phrase string) error {
	if utf8.RuneCountInString(phrase) < minPassphrase {
		return fmt.Errorf("use at least %d characters", minPassphrase)
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	g.slow.Lock()
	sealed := strings.Join([]string{argonName, encode(salt), encode(hash(phrase, salt))}, "$")
	g.slow.Unlock()
	if err := file.Write(g.opt.Path, []byte(sealed+"\n"), file.Options{}); err != nil {
		return fmt.Errorf("keep the passphrase: %w", err)
	}
	g.mu.Lock()
	g.sealed = sealed
	g.mu.Unlock()
	g.changed()
	return nil
}

func hash(phrase string, salt []byte) []byte {
	return argon2.IDKey([]byte(phrase), salt, argonTime, argonMemory, argonLanes, argonKey)
}

func encode(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }

// parts splits a hash into salt and key.
func parts(sealed string) (salt, key []byte, err error) {
	f := strings.Split(strings.TrimSpace(sealed), "$")
	if len(f) != 3 || f[0] != argonName {
		return nil, nil, errors.New("it is damaged")
	}
	salt, err = base64.RawStdEncoding.DecodeString(f[1])
	if err == nil {
		key, err = base64.RawStdEncoding.DecodeString(f[2])
	}
	if err != nil || len(salt) < 16 || len(key) != argonKey {
		return nil, nil, errors.New("it is damaged")
	}
	return salt, key, nil
}

func matches(sealed, phrase string) bool {
	salt, key, err := parts(sealed)
	return err == nil && subtle.ConstantTimeCompare(hash(phrase, salt), key) == 1
}

func readHash(path string) (string, error) {
	b, err := file.Read(path, 1<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		_, _, err = parts(string(b))
	}
	if err != nil {
		return "", fmt.Errorf("read the passphrase's hash %s: %w; set the passphrase again", path, err)
	}
	return strings.TrimSpace(string(b)), nil
}
