package secrets

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyFile lies in the data directory and holds the development key in base64, readable by its owner only.
const keyFile = "platform.key"

// LoadOrCreate reads the platform key of a development installation from dir, and makes one on the first call. Programs
// that start together agree on one key. Without the file no stored secret can be read any more.
func LoadOrCreate(dir string) (*Keyring, error) {
	path := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createKey(dir, path); err != nil {
			return nil, fmt.Errorf("make platform key: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read platform key: %w", err)
	}
	ring, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read platform key from %s: %w", path, err)
	}
	return ring, nil
}

// createKey writes a new key beside path and links it there: an existing key stays, a half-written one never shows.
func createKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the directory holds more than the key
		return err
	}
	key := make([]byte, KeySize)
	_, _ = rand.Read(key)                      // never fails
	f, err := os.CreateTemp(dir, keyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
