package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// ranFile in DATA_DIR is sealed under the platform key of the last start that found the key to be right, or of a later
// rotation.
const ranFile = "kept.key"

// ranBefore reports whether a program has run with this DATA_DIR and this platform key before, or with a previous one
// that is still set. Only then does a start wait for a database that is away, because another one would hide a fault of
// its first configuration, and only then are callbacks kept meanwhile, because what is sealed under a key that does not
// fit the database cannot be read again.
func ranBefore(cfg Config) (bool, error) {
	ring, err := openKeyring(cfg)
	if err != nil {
		return false, err
	}
	return proofOf(cfg, ring) != nil, nil
}

// proofOf reads the file. It is nil when there is none, or none that a key of the ring opens.
func proofOf(cfg Config, ring *secrets.Keyring) []byte {
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, ranFile))
	if err != nil {
		return nil
	}
	if _, err = vault.OpenKept(ring, text); err != nil {
		return nil
	}
	return text
}

// proveRan writes what the next start reads. The vault was opened with the key, so it is right. A program whose disk is
// full works without it.
func (a *App) proveRan(ctx context.Context) {
	if err := writeProof(a.cfg); err != nil {
		a.logger.ErrorContext(ctx, "the next start does not wait for the database and takes no callbacks", "error", err)
	}
}

// writeProof writes the file, unless it is there and sealed under the present key: after a rotation the previous keys
// are taken away, and nothing under them can be opened any more.
func writeProof(cfg Config) error {
	ring, err := openKeyring(cfg)
	if err != nil {
		return err
	}
	if text := proofOf(cfg, ring); text != nil && !ring.Stale(text) {
		return nil
	}
	if err := os.MkdirAll(cfg.DataDir, 0o755); err != nil { //nolint:gosec // the files in it are guarded one by one
		return err
	}
	return writePrivate(filepath.Join(cfg.DataDir, ranFile), string(vault.SealKept(ring, []byte(ranFile))))
}
