package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/lastmile-isp/lastmile/internal/vault"
)

// ranFile in DATA_DIR is sealed under the platform key of the last start that found the key to be right.
const ranFile = "kept.key"

// ranBefore reports whether a program has run with this DATA_DIR and this platform key before. Only then does a start
// wait for a database that is away, because another one would hide a fault of its first configuration, and only then
// are callbacks kept meanwhile, because what is sealed under a key that does not fit the database cannot be read again.
func ranBefore(cfg Config) (bool, error) {
	ring, err := openKeyring(cfg)
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, ranFile))
	if err != nil {
		return false, nil //nolint:nilerr // it is not there, or as good as that
	}
	_, err = vault.OpenKept(ring, text)
	return err == nil, nil
}

// proveRan writes what the next start reads. The vault was opened with the key, so it is right. A program whose disk is
// full works without it.
func (a *App) proveRan(ctx context.Context) {
	if a.ran {
		return
	}
	ring, err := openKeyring(a.cfg)
	if err == nil {
		err = os.MkdirAll(a.cfg.DataDir, 0o755) //nolint:gosec // the files in it are guarded one by one
	}
	if err == nil {
		err = writePrivate(filepath.Join(a.cfg.DataDir, ranFile), string(vault.SealKept(ring, []byte(ranFile))))
	}
	if err != nil {
		a.logger.ErrorContext(ctx, "the next start does not wait for the database and takes no callbacks", "error", err)
	}
}
