// Package token keeps the token that HTTP asks for, and implements the commands that say where it
// is and replace it.
package token

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Read returns the HTTP token, made on first use.
func Read(p config.Paths) (string, error) {
	token, err := Stored(p.Token)
	if errors.Is(err, fs.ErrNotExist) {
		return create(p)
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w; create a new one with: mcpdeck token rotate", err)
	}
	return token, nil
}

// tokenBytes are random.
const tokenBytes = 32

// Stored reads a token that only this program can have made and only the user
// can have read.
func Stored(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	b, err := file.Read(path, 1<<10)
	if err != nil {
		return "", err
	}
	if file.OpenToOthers(info) {
		return "", fmt.Errorf("%s is readable by others (mode %04o)", path, info.Mode().Perm())
	}
	token := strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != tokenBytes {
		return "", fmt.Errorf("%s does not contain an mcpdeck token, which has %d hexadecimal digits", path, 2*tokenBytes)
	}
	return token, nil
}

// create replaces the token: 32 random bytes as hexadecimal digits.
func create(p config.Paths) (string, error) {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	token := hex.EncodeToString(b[:])
	return token, Write(p, token)
}

// Write writes a token to its file.
func Write(p config.Paths, token string) error {
	if err := file.Write(p.Token, []byte(token+"\n"), file.Options{}); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	return nil
}
