package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// keyCommands has the sub-commands of `lastmile keys`, which work beside a running program or alone.
type keyCommands struct {
	Rotate   keysRotate   `cmd:"" help:"Seal what is under a previous key anew under PLATFORM_ENCRYPTION_KEY."`
	Erasures keysErasures `cmd:"" help:"List the ids of erased persons, one on each line."`
	Erase    keysErase    `cmd:"" help:"Forget the persons whose ids are in a file, or again after a restore."`
}

// keysRotate is `lastmile keys rotate`; it needs PLATFORM_ENCRYPTION_KEYS_PREVIOUS.
type keysRotate struct{}

// keysErasures is `lastmile keys erasures`; its output is to be kept apart from the backups.
type keysErasures struct{}

// keysErase is `lastmile keys erase FILE`, for the moment after a restore.
type keysErase struct {
	File string `arg:"" type:"existingfile" help:"What keys erasures has printed."`
}

// withVault opens the database and the vault, calls do, and closes them again. It uses the database of a running
// program, or starts it.
func withVault(ctx context.Context, p program, do func(cfg Config, v *vault.Vault) error) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	s := &storage{}
	if err := s.openDatabase(ctx, cfg, l, storageMode{}, findRunning(ctx, cfg)); err != nil {
		return err
	}
	ring, err := openKeyring(cfg)
	if err != nil {
		return err
	}
	v, err := vault.Open(ctx, vault.Config{DB: s.db, Keyring: ring, Clock: clock.System(), Logger: l.logger})
	if err != nil {
		return err
	}
	return do(cfg, v)
}

// Run rotates and prints the number of values. It may be interrupted and repeated, also while `serve` runs. A program
// that has run with this DATA_DIR needs no start with both keys.
func (keysRotate) Run(ctx context.Context, p program) error {
	return withVault(ctx, p, func(cfg Config, v *vault.Vault) error {
		n, err := v.Rotate(ctx)
		if err != nil {
			return fmt.Errorf("%d values sealed under the present key, and not all: %w", n, err)
		}
		ran, err := ranBefore(cfg)
		if err == nil && ran {
			err = writeProof(cfg)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%d values sealed under the present key\n", n)
		return err
	})
}

// Run prints one id on each line, the oldest erasure first.
func (keysErasures) Run(ctx context.Context, p program) error {
	return withVault(ctx, p, func(_ Config, v *vault.Vault) error {
		list, err := v.SubjectKeys.Erasures(ctx)
		if err != nil {
			return err
		}
		for _, subject := range list {
			if _, err := fmt.Fprintln(p.out, subject); err != nil {
				return err
			}
		}
		return nil
	})
}

// Run reads the whole file before it destroys the first key, so that a faulty line changes nothing.
func (c keysErase) Run(ctx context.Context, p program) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	var subjects []uuid.UUID
	for _, line := range strings.Fields(string(text)) {
		subject, err := uuid.Parse(line)
		if err != nil {
			return fmt.Errorf("%s: %q is not an id", c.File, line)
		}
		subjects = append(subjects, subject)
	}
	return withVault(ctx, p, func(_ Config, v *vault.Vault) error {
		for _, subject := range subjects {
			if err := v.SubjectKeys.Destroy(ctx, subject); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(p.out, "%d persons erased; rebuild the read models that show them\n", len(subjects))
		return err
	})
}
